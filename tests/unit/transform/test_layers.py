"""Communication in layers: what calls wrappers of MPI is called by what its callers' work needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

CASES = Path(__file__).parent / "cases"
C = (CASES / "layered.c").read_text()
FORTRAN = (CASES / "layered.f90").read_text()

FIRST = "    send_and_receive(r, &a[n], &a[0], 1, r->right, r->left, 1);\n"
SECOND = "    send_and_receive(r, &a[1], &a[n + 1], 1, r->left, r->right, 2);\n"
ENDS = "    ends(r, f->u, f->n);\n    ends(r, f->v, f->n);\n"
WAIT = "    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);\n"
IRECV = "    MPI_Irecv(received,"

C_GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "one field": {ENDS: "    ends(r, f->u, f->n);\n"},
    "four routines": {
        "static void step(": "static void all(struct ranks *r, struct fields *f)\n{\n"
        "    update(r, f);\n}\n\nstatic void step(",
        "        update(&r, &f);\n": "        all(&r, &f);\n",
    },
}
C_STAY: dict[str, dict[str, str]] = {
    "one end twice": {SECOND: FIRST},
    "the second receives what the first sends": {SECOND: SECOND.replace("&a[n + 1]", "&a[n]")},
    "the second sends what the first receives": {SECOND: SECOND.replace("&a[1]", "&a[0]")},
    "where the second receives is not known": {SECOND: SECOND.replace("&a[n + 1]", "&a[n - 1]")},
    "it may end in between": {WAIT: WAIT + "    if (received[0] > 1e30)\n        exit(3);\n"},
    "it may give up in between": {
        WAIT: WAIT + "    if (received[0] > 1e30)\n        MPI_Abort(r->comm, 3);\n"
    },
    "work in between": {
        FIRST: FIRST + "    for (int i = 1; i < n; i++)\n        a[i] *= 0.5;\n",
    },
    "the middle one has its address taken": {
        ENDS: "    void (*both)(struct ranks *, double *, int) = ends;\n"
        "    both(r, f->u, f->n);\n    both(r, f->v, f->n);\n",
    },
    "called by each other": {
        ENDS: ENDS + "    if (f->n < 0)\n        update(r, f);\n",
    },
    "no work behind": {
        "        step(&f);\n": "        MPI_Barrier(r.comm);\n        step(&f);\n",
    },
}


@pytest.mark.parametrize("replaced", C_GO.values(), ids=C_GO)
def test_all_are_split(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "layered.c", changed(C, replaced))
    name = "all" if "    all(" in text or "all_start" in text else "update"
    start, finish = text.index(f"{name}_start(&r, &f"), text.index(f"  {name}_finish(", 9)
    assert "step_interior(&f);" in text[start:]
    assert finish >= 0
    inside = text[text.index("static void ends_start") :]
    inside = inside[: inside.index("}")]
    assert inside.count("send_and_receive_start(r, &a[") == 2
    assert "finish" not in inside


@pytest.mark.parametrize("replaced", C_STAY.values(), ids=C_STAY)
def test_they_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    """Not both messages of a field may be under way at one time."""
    text = rewritten(tmp_path / "layered.c", changed(C, replaced))
    inside = text[text.find("static void ends_start") :]
    inside = inside[: inside.find("}")]
    assert inside.count("send_and_receive_start(r, &a[") < 2


COLUMNS = "    call send_and_receive(a(:, m), a(:, 0), n, right, left, 1)\n"
BACK = "    call send_and_receive(a(:, 1), a(:, m + 1), n, left, right, 2)\n"
SIZES = "    double precision, intent(in) :: sent(n)\n"
GIVEN = "    double precision, intent(out) :: received(n)\n"

FORTRAN_GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "columns by their first elements": {
        COLUMNS: COLUMNS.replace("a(:,", "a(1,"),
        BACK: BACK.replace("a(:,", "a(1,"),
    },
    "parts of columns": {
        COLUMNS: COLUMNS.replace("a(:,", "a(2:n - 1,").replace(" n, r", " n - 2, r"),
        BACK: BACK.replace("a(:,", "a(2:n - 1,").replace(" n, l", " n - 2, l"),
    },
    "of a size that is assumed": {
        SIZES: SIZES.replace("sent(n)", "sent(*)"),
        GIVEN: GIVEN.replace("received(n)", "received(*)"),
    },
}
FORTRAN_STAY: dict[str, dict[str, str]] = {
    "one column twice": {BACK: COLUMNS},
    "it is received what is sent": {BACK: BACK.replace("a(:, m + 1)", "a(:, m)")},
    "from the middle of a column over its end": {
        COLUMNS: COLUMNS.replace("a(:, m), a(:, 0)", "a(1, m), a(2, 0)"),
        BACK: BACK.replace("a(:,", "a(1,"),
    },
    "columns that are longer than it is told": {
        COLUMNS: COLUMNS.replace("a(:,", "a(1,").replace(" n, r", " n + 1, r"),
        BACK: BACK.replace("a(:,", "a(1,").replace(" n, l", " n + 1, l"),
    },
}


def _both_under_way(text: str) -> bool:
    inside = text[text.find("subroutine columns_start") :]
    inside = inside[: inside.find("end subroutine columns_start")]
    return "subroutine columns_start" in text and (
        inside.count("call send_and_receive_start(") == 2 and "finish" not in inside
    )


@pytest.mark.parametrize("replaced", FORTRAN_GO.values(), ids=FORTRAN_GO)
def test_all_are_split_in_fortran(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "layered.f90", changed(FORTRAN, replaced))
    assert _both_under_way(text)
    assert "call update_start(" in text
    assert "call step_interior()" in text


@pytest.mark.parametrize("replaced", FORTRAN_STAY.values(), ids=FORTRAN_STAY)
def test_they_stay_in_fortran(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "layered.f90", changed(FORTRAN, replaced))
    assert not _both_under_way(text)


def test_requests_of_two_slots_have_names_of_their_own(tmp_path: Path) -> None:
    """`requests` and `requests2` of the one that is called twice by another are four arrays."""
    text = rewritten(tmp_path / "layered.c", C)
    calls = [line for line in text.splitlines() if "  ends_start(r, " in line]
    names = [name.strip(" );") for line in calls for name in line.split("(", 1)[1].split(",")[3:]]
    assert len(names) == len(set(names)) == 4
