"""Sizes that stand in elements of small arrays: what sets any element changes all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

CASES = Path(__file__).parent / "cases"
MODULE = (CASES / "local_size.f90").read_text()
GLOBAL = (CASES / "local_size.c").read_text()
IN_OBJECT = {"nx, ny, left": "n(2), left", "%nx": "%n(1)", "%ny": "%n(2)"}
OBJECT = changed((CASES / "domain.f90").read_text(), IN_OBJECT)

Changes = dict[str, str]

BEGIN = "  call begin\n"
UPDATE = "    call update\n"
END = "  call MPI_Finalize(ierr)\nend program\n"
SIZES = "dims(2), local_size(2), comm2d\n"
LOOP = "  do it = 1, 10\n"


def behind(text: str) -> Changes:
    """What stands behind the allocation of the arrays."""
    return {BEGIN: f"{BEGIN}  {text}\n"}


def inside(text: str) -> Changes:
    """A procedure of the main program."""
    return {END: END.replace("end program", f"contains\n{text}end program")}


HALVE = """  subroutine halve(n)
    integer, intent(inout) :: n(2)
    n(2) = n(2) / 2
  end subroutine
"""
HALVE_ONE = HALVE.replace("n(2)", "n")
TARGET = {SIZES: f"{SIZES}  target :: local_size\n  integer, pointer :: p(:)\n"}
HANDED: Changes = {
    "  subroutine exchange\n": "  subroutine exchange(n, u)\n    integer, intent(in) :: n(:)\n"
    "    real(8), intent(inout) :: u(0:, 0:)\n",
    "(u(1, local_size(2)), local_size(1)": "(u(1, n(2)), n(1)",
    "u(1, 0), local_size(1)": "u(1, 0), n(1)",
    "(u(1, 1), local_size(1)": "(u(1, 1), n(1)",
    "u(1, local_size(2)+1), local_size(1)": "u(1, n(2)+1), n(1)",
    "call exchange\n": "call exchange(local_size, u)\n",
}

MODULE_GOES: dict[str, Changes] = {
    "as it is": {},
    "by names of constants": {
        SIZES: f"{SIZES}  integer, parameter :: down_up = 2\n",
        "local_size(2)+1": "local_size(down_up)+1",
    },
    "set as a whole": {
        "      local_size(d) = nglobal(d) / dims(d)\n": "      local_size = nglobal / dims\n"
    },
    "given to a routine that asks": HANDED,
    "given to one that counts from another number": HANDED
    | {
        "integer, intent(in) :: n(:)": "integer, intent(in) :: n(0:1)",
        "(u(1, local_size(2)), local_size(1)": "(u(1, n(1)), n(0)",
        "u(1, 0), local_size(1)": "u(1, 0), n(0)",
        "(u(1, 1), local_size(1)": "(u(1, 1), n(0)",
        "u(1, local_size(2)+1), local_size(1)": "u(1, n(1)+1), n(0)",
    },
}
MODULE_STAYS: dict[str, Changes] = {
    "an element is set": behind("local_size(2) = local_size(2) / 2"),
    "an element is set in the loop": {UPDATE: f"{UPDATE}    local_size(2) = local_size(2) - 1\n"},
    "any element is set": behind("it = 2\n  local_size(it) = local_size(it) / 2"),
    "all elements are set": behind("local_size = local_size / 2"),
    "another message sets it": behind(
        "call MPI_Bcast(local_size, 2, MPI_INTEGER, 0, comm2d, ierr)"
    ),
    "a routine sets it": behind("call halve(local_size)") | inside(HALVE),
    "a routine sets one": behind("call halve(local_size(2))") | inside(HALVE_ONE),
    "a pointer to it": TARGET | behind("p => local_size\n  p(2) = 8"),
    "the same memory": {SIZES: f"{SIZES}  integer :: same(2)\n  equivalence(same, local_size)\n"}
    | behind("same(2) = 8"),
    "it is read": behind("read *, local_size"),
    "it is volatile": {SIZES: f"{SIZES}  volatile :: local_size\n"},
    "it is allocated": {
        SIZES: "dims(2), comm2d\n  integer, allocatable :: local_size(:)\n",
        "    dims = 0\n": "    dims = 0\n    allocate(local_size(2))\n",
    },
    "an element is given to an array": {
        **HANDED,
        "call exchange\n": "call exchange(local_size(1), u)\n",
        "integer, intent(in) :: n(:)": "integer, intent(in) :: n(2)",
    },
    "the routine that is given it sets it": HANDED
    | {
        "    integer, intent(in) :: n(:)\n": "    integer, intent(inout) :: n(:)\n",
        "ierr)\n  end subroutine\n  subroutine sweep": (
            "ierr)\n    n(2) = n(2) - 1\n  end subroutine\n  subroutine sweep"
        ),
    },
}
MODULE_APART: dict[str, Changes] = {
    "loops over another element": {
        "    do j = 1, local_size(2)\n      do i = 1, local_size(1)\n        w(": (
            "    do j = 1, local_size(1)\n      do i = 1, local_size(1)\n        w("
        )
    },
    "a message of another element": {"u(1, 0), local_size(1)": "u(1, 0), local_size(2)"},
}


@pytest.mark.parametrize("replaced", MODULE_GOES.values(), ids=MODULE_GOES)
def test_exchange_is_divided(replaced: Changes, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "local_size.f90", changed(MODULE, replaced))
    assert "call exchange_start" in text and "call sweep_interior" in text


@pytest.mark.parametrize("replaced", MODULE_STAYS.values(), ids=MODULE_STAYS)
def test_exchange_stays(replaced: Changes, tmp_path: Path) -> None:
    text = changed(MODULE, replaced)
    assert rewritten(tmp_path / "local_size.f90", text) == text


@pytest.mark.parametrize("replaced", MODULE_APART.values(), ids=MODULE_APART)
def test_exchange_is_not_divided(replaced: Changes, tmp_path: Path) -> None:
    assert "exchange_start" not in rewritten(tmp_path / "a.f90", changed(MODULE, replaced))


OBJECT_BEGUN = "    call domain_init(d, 64, 48)\n    call field_init(f, d)\n"
OBJECT_STAYS: dict[str, Changes] = {
    "an element is set": {OBJECT_BEGUN: f"{OBJECT_BEGUN}    d%n(2) = d%n(2) / 2\n"},
    "any element is set": {OBJECT_BEGUN: f"{OBJECT_BEGUN}    it = 2\n    d%n(it) = d%n(it) / 2\n"},
    "all elements are set": {OBJECT_BEGUN: f"{OBJECT_BEGUN}    d%n = d%n / 2\n"},
    "another message sets it": {
        OBJECT_BEGUN: f"{OBJECT_BEGUN}    call MPI_Bcast(d%n, 2, MPI_INTEGER, 0, d%comm, ierr)\n"
    },
    "there are two": {"    type(domain_t) :: d\n": "    type(domain_t) :: d, c(2)\n"},
}


def test_component_of_one_object(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "domain.f90", OBJECT)
    assert "call exchange_start(" in text and "call sweep_interior(" in text


@pytest.mark.parametrize("replaced", OBJECT_STAYS.values(), ids=OBJECT_STAYS)
def test_component_stays(replaced: Changes, tmp_path: Path) -> None:
    text = changed(OBJECT, replaced)
    assert rewritten(tmp_path / "domain.f90", text) == text


SWEPT = "        sweep();\n"
NEST = (
    "    for (int j = 1; j <= n[1]; j++)\n        for (int i = 1; i <= n[0]; i++)\n            w["
)
GLOBAL_APART: dict[str, Changes] = {
    "an element is set": {SWEPT: "        n[1]--;\n" + SWEPT},
    "any element is set": {SWEPT: "        n[step % 2]--;\n" + SWEPT},
    "through a pointer": {
        "    create(rank, ranks);\n": "    create(rank, ranks);\n    int *p = n;\n",
        SWEPT: "        p[1]--;\n" + SWEPT,
    },
    "a message sets it": {SWEPT: "        MPI_Bcast(n, 2, MPI_INT, 0, MPI_COMM_WORLD);\n" + SWEPT},
    "a routine sets it": {
        "static void sweep(void)": "static void halve(int *m)\n{\n    m[1] /= 2;\n}\n\n"
        "static void sweep(void)",
        SWEPT: "        halve(n);\n" + SWEPT,
    },
    "loops over another element": {
        "j <= n[1]; j++)\n        for (int i = 1; i <= n[0]; i++)\n            w": (
            "j <= n[0]; j++)\n        for (int i = 1; i <= n[0]; i++)\n            w"
        )
    },
    "it is volatile": {"static int n[2], peer[2]": "static volatile int n[2];\nstatic int peer[2]"},
    "it counts": {
        NEST: (
            "    static int k[2];\n    int *p = k;\n"
            "    for (k[0] = 1; k[0] <= n[1]; k[0]++, p[0]++)\n"
            "        for (int i = 1, j = k[0]; i <= n[0]; i++)\n            w["
        )
    },
}


def test_variable_of_a_file(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "local_size.c", GLOBAL)
    assert "exchange_start(" in text and "sweep_interior(" in text


@pytest.mark.parametrize("replaced", GLOBAL_APART.values(), ids=GLOBAL_APART)
def test_variable_of_a_file_stays(replaced: Changes, tmp_path: Path) -> None:
    assert "exchange_start(" not in rewritten(tmp_path / "a.c", changed(GLOBAL, replaced))
