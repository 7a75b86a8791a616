"""Error codes of Fortran that procedures give to others, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysis.success import always_success
from imbrex.transform.analysis.whole_program import unseen_code
from imbrex.transform.known_libraries import libraries_of
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """module halo
  use mpi
  implicit none
  integer :: kept, codes(3)
  {declared}
contains
  subroutine exchange(n, code)
    integer, intent(in) :: n
    integer :: code, own
    call mpi_barrier(MPI_COMM_WORLD, code)
    {inside}
  end subroutine exchange
  subroutine check(asked, what)
    integer, intent(in) :: asked
    character(*), intent(in) :: what
    if (asked /= 0) print *, what
  end subroutine check
  subroutine set(given, n)
    integer :: given, n
    {set}
  end subroutine set
  subroutine some(given, also)
    integer :: given
    integer, optional :: also
    call mpi_barrier(MPI_COMM_WORLD, given)
    if (present(also)) also = given
  end subroutine some
  subroutine later(given)
    integer :: given
    call set(given, 1)
  end subroutine later
end module halo
program main
  use halo
  implicit none
  integer :: ierr, info, m
  {local}
  m = 3
  call mpi_init(info)
  {calls}
  if (ierr /= 0) stop 1
  call mpi_finalize(info)
{contained}
end program main
"""
PLAIN = {
    "declared": "",
    "inside": "",
    "set": "n = 1",
    "local": "",
    "calls": "call exchange(m, ierr)",
    "contained": "",
}
INSIDE = (
    "contains\n  subroutine run(p)\n    external p\n    integer :: e\n    e = 7\n    call p(m, e)\n"
)
INSIDE += "  end subroutine run"
ENTRY = "return\n    entry other(n, code)\n    code = 7"
BLOCK = "interface both\n    module procedure exchange\n  end interface"
HOLDS = [
    {},
    {"inside": "if (code /= MPI_SUCCESS) return\n    call mpi_barrier(MPI_COMM_WORLD, code)"},
    {"inside": "code = MPI_SUCCESS"},
    {"inside": "call mpi_barrier(MPI_COMM_WORLD, own)\n    code = own"},
    {"inside": "if (code /= 0) call mpi_abort(MPI_COMM_WORLD, code, own)"},
    {"inside": "call set(code, own)"},
    {"inside": "print *, code\n    open (newunit=own, file='p')"},
    {"inside": "call later(code)"},
    {"calls": "call some(info)\n  call some(kept, ierr)"},
    {"calls": "call exchange(m, ierr)\n  call check(ierr, 'exchange')"},
    {"calls": "call exchange(m, ierr)\n  call check(ierr, 'exchange')\n  call check(m, 'm')"},
    {"calls": "call exchange(m, ierr)\n  call check(7, 'exchange')"},
    {"calls": "call exchange(m, info)\n  ierr = info"},
    {"calls": "call exchange(m, ierr)\n  call set(ierr, info)", "set": "given = 0"},
]
MAY_NOT = [
    {"inside": "code = 7"},
    {"inside": "if (n > 3) code = n"},
    {"inside": "code = code + 1"},
    {"inside": "code = -own"},
    {"inside": "own = n\n    code = own"},
    {"inside": "read *, code"},
    {"inside": "if (n > 3) read (5, *) own, code"},
    {"inside": "open (newunit=code, file='p')"},
    {"inside": "inquire (5, number=code)"},
    {"calls": "call exchange(m, ierr)\n  read (5, nml=options)",
     "local": "namelist /options/ ierr"},
    {"inside": "call set(code, own)", "set": "given = n"},
    {"inside": "call set(code, own)", "set": "read *, given"},
    {"inside": "call set(own, code)"},
    {"inside": "call later(code)", "set": "given = 7"},
    {"inside": "call mpi_comm_rank(MPI_COMM_WORLD, code, own)"},
    {"inside": "call unknown(code)"},
    {"inside": ENTRY},
    {"calls": "call exchange(m, ierr)\n  call other(ierr)", "local": "external other"},
    {"calls": "call exchange(m, ierr)\n  ierr = m"},
    {"calls": "call exchange(m, info)\n  ierr = info + 1"},
    {"calls": "call exchange(m, info)\n  ierr = codes(2)"},
    {"calls": "call exchange(m, codes(1))\n  ierr = codes(1)"},
    {"calls": "call exchange(m, ierr)\n  call set(info, ierr)"},
    {"calls": "call exchange(m, ierr)\n  call set(n=ierr, given=info)"},
    {"calls": "call exchange(m, ierr)\n  call p(ierr, info)", "set": "given = 7",
     "local": "procedure(set), pointer :: p => set"},
    {"calls": "kept = 7\n  call exchange(m, kept)\n  ierr = kept"},
    {"calls": "call exchange(m, kept)\n  ierr = kept",
     "declared": "integer :: other = 7\n  equivalence (other, kept)"},
    {"calls": "call exchange(m, last)\n  ierr = last", "declared": "integer :: last = 7"},
]  # fmt: skip


def success(folder: Path, parts: dict[str, str]) -> dict[str, bool]:
    """Whether each variable of the program holds nothing but the code of success, by its name."""
    file = folder / "p.f90"
    file.write_text(PROGRAM.format(**{**PLAIN, **parts}))
    program = read_program([file], Options())
    found = always_success(program, frozenset(), unseen_code(program, libraries_of(program)))
    return {v.name: key in found for key, v in program.variables.items()}


@pytest.mark.parametrize("parts", HOLDS, ids=str)
def test_a_code_comes_back(tmp_path: Path, parts: dict[str, str]) -> None:
    assert success(tmp_path, parts)["ierr"]


@pytest.mark.parametrize("parts", MAY_NOT, ids=str)
def test_another_value_may_come_back(tmp_path: Path, parts: dict[str, str]) -> None:
    assert not success(tmp_path, parts)["ierr"]


@pytest.mark.parametrize(
    ("parts", "asked", "code"),
    [
        ({"calls": "call exchange(m, ierr)\n  call check(ierr, 'a')"}, True, True),
        ({"calls": "call exchange(m, ierr)\n  call check(m, 'a')"}, False, True),
        ({"calls": "call exchange(m, ierr)\n  call check(ierr, 'a')\n  call check(7, 'b')"},
         False, True),
        ({"calls": "ierr = 7\n  call exchange(m, ierr)\n  call check(ierr, 'a')"}, False, False),
        ({"calls": "call exchange(m, 7)"}, False, False),
        ({"calls": "call exchange(m, codes(2))\n  call check(ierr, 'a')"}, False, True),
        ({"calls": "codes(1) = 7\n  call exchange(m, codes(2))"}, False, False),
        ({"calls": "call exchange(m, ierr)\n  call check(asked=m, what='a')"}, False, True),
        ({"calls": "call exchange(m, ierr)\n  call check(what='a', asked=ierr)"}, True, True),
        ({"calls": "call run(exchange)", "contained": INSIDE}, False, False),
        ({"declared": BLOCK, "calls": "call both(m, ierr)"}, False, False),
    ],
    ids=str,
)  # fmt: skip
def test_a_dummy_argument_has_what_is_passed(
    tmp_path: Path, parts: dict[str, str], asked: bool, code: bool
) -> None:
    found = success(tmp_path, parts)
    assert (found["asked"], found["code"]) == (asked, code)


def test_no_argument_is_known_where_callers_are_not(tmp_path: Path) -> None:
    file = tmp_path / "p.f90"
    file.write_text(PROGRAM.format(**PLAIN).partition("program main")[0])
    program = read_program([file], Options(errors_are_fatal=True))
    unseen = unseen_code(program, libraries_of(program))
    assert unseen is not None
    assert always_success(program, frozenset(), unseen) == frozenset()


def test_arguments_are_not_followed_from_c(tmp_path: Path) -> None:
    files = [tmp_path / "p.f90", tmp_path / "q.c"]
    files[0].write_text(PROGRAM.format(**PLAIN))
    files[1].write_text("void exchange_(int *, int *);\nvoid f(void)\n{\n    int a = 1, b = 7;\n"
                        "    exchange_(&a, &b);\n}\n")  # fmt: skip
    program = read_program(files, Options())
    found = always_success(program, frozenset(), None)
    assert "code" not in [program.variables[key].name for key in found]


EXTERNAL = """subroutine two(a, b)
  integer a, b
  {body}
end subroutine two
"""


@pytest.mark.parametrize(
    ("calls", "bodies", "holds"),
    [
        ("call two(ierr, m)", ["b = 1"], True),
        ("call two(ierr)", ["b = 1"], False),
        ("call two(ierr, m, m)", ["b = 1"], False),
        ("call two(ierr, m)", ["b = 1", "a = 7"], False),
    ],
)
def test_external_procedures(tmp_path: Path, calls: str, bodies: list[str], holds: bool) -> None:
    calls = f"call mpi_barrier(MPI_COMM_WORLD, ierr)\n  {calls}"
    files = [tmp_path / "p.f90", *(tmp_path / f"q{n}.f90" for n in range(len(bodies)))]
    files[0].write_text(PROGRAM.format(**{**PLAIN, "calls": calls, "local": "external two"}))
    for file, body in zip(files[1:], bodies, strict=True):
        file.write_text(EXTERNAL.format(body=body))
    program = read_program(files, Options())
    found = always_success(program, frozenset(), None)
    assert ("ierr" in [program.variables[key].name for key in found]) is holds


def test_a_dummy_procedure_is_no_procedure_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "p.f90"
    inside = INSIDE.replace("run(p)", "run(set)").replace("external p", "external set")
    inside = inside.replace("e = 7", "call mpi_barrier(MPI_COMM_WORLD, e)")
    inside = inside.replace("call p(m, e)", "call set(e, m)")
    calls = "call exchange(m, ierr)\n  call run(exchange)"
    file.write_text(PROGRAM.format(**{**PLAIN, "calls": calls, "contained": inside}))
    program = read_program([file], Options(errors_are_fatal=True))
    unseen = unseen_code(program, libraries_of(program))
    assert unseen is not None
    found = always_success(program, frozenset(), unseen)
    assert "e" not in [program.variables[key].name for key in found]
