"""Loops of blocking messages: all are started, and one wait behind the loop completes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
C = (CASES / "each_field.c").read_text()
FORTRAN = (CASES / "each_field.f90").read_text()
HEAD = "    for (int k = 0; k < FIELDS; k++) {\n        out"
LEFT = (
    "        MPI_Sendrecv(&out[k][0], 1, MPI_DOUBLE, left, k, &in[k][1], 1, MPI_DOUBLE, right, k,\n"
    "                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
)
UNPACK = "            u[k][N + 1] = in[k][1];\n"
HEADER = "    for (int k = 0; k < FIELDS; k++) {\n"

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "from 1 to the last": {
        HEAD: HEAD.replace("k = 0; k < FIELDS", "k = 0; k <= FIELDS - 1"),
    },
    "a number that a sum of a macro tells": {"#define FIELDS 3": "#define FIELDS 1 + 2"},
    "a number with a name": {"#define FIELDS 3": "enum { FIELDS = 3 };"},
    "within what checks a code": {
        "static int left": "#define CHECK(c) \\\n"
        "    do { if (c) MPI_Abort(MPI_COMM_WORLD, 1); } while (0)\nstatic int left",
        LEFT: LEFT.replace("MPI_Sendrecv", "CHECK(MPI_Sendrecv").replace("IGNORE);", "IGNORE));"),
    },
    "on a condition": {LEFT: f"        if (left != right)\n    {LEFT}"},
    "a status that nobody reads": {
        HEAD: f"    MPI_Status status;\n{HEAD}",
        LEFT: LEFT.replace("MPI_STATUS_IGNORE", "&status"),
    },
    "a send and a receive": {
        LEFT: "        MPI_Send(&out[k][0], 1, MPI_DOUBLE, left, k, MPI_COMM_WORLD);\n"
        "        MPI_Recv(&in[k][1], 1, MPI_DOUBLE, right, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
    },
}
STAY: dict[str, dict[str, str]] = {
    "one buffer for all fields": {"&in[k][1]": "&in[0][1]", "= in[k][1]": "= in[0][1]"},
    "what one before has received is sent": {
        "out[k][0] = u[k][1]": "out[k][0] = k > 0 ? in[k - 1][1] : u[k][1]"
    },
    "what comes is packed next": {"u[k][N + 1] = in": "u[(k + 1) % FIELDS][1] = in"},
    "a number that is not constant": {
        "#define FIELDS 3": "#define FIELDS 3\nstatic int fields = 3;",
        HEAD: HEAD.replace("FIELDS", "fields"),
        "MPI_Init(": "fields = argc > 7 ? 2 : 3;\n    MPI_Init(",
    },
    "a constant of its own": {HEAD: f"    const int m = 3;\n{HEAD.replace('FIELDS', 'm')}"},
    "an iteration that is left": {
        LEFT: f"        if (left == right)\n            continue;\n{LEFT}"
    },
    "a ready send": {
        LEFT: LEFT + "        MPI_Rsend(&u[k][3], 1, MPI_DOUBLE, MPI_PROC_NULL, 9,\n"
        "                  MPI_COMM_WORLD);\n"
    },
    "a status that is read": {
        HEAD: f"    MPI_Status status;\n{HEAD}",
        LEFT: LEFT.replace("MPI_STATUS_IGNORE", "&status"),
        UNPACK: "            u[k][N + 1] = in[k][1] + 0 * status.MPI_SOURCE;\n",
    },
    "any source": {"MPI_DOUBLE, right, k,\n": "MPI_DOUBLE, MPI_ANY_SOURCE, k,\n"},
    "a directive": {HEAD: f"#pragma omp simd\n{HEAD}"},
    "a call between": {LEFT: f"{LEFT}        MPI_Barrier(MPI_COMM_WORLD);\n"},
}


def loop(text: str) -> str:
    """The exchange of the fields, or its start."""
    return text[text.index("static void exchange") : text.index("int main")]


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_they_are_started(replaced: dict[str, str], tmp_path: Path) -> None:
    text = loop(rewritten(tmp_path / "p.c", changed(C, replaced)))
    start, finish = text.index("exchange_start("), text.index("exchange_finish(")
    assert text.count("MPI_Irecv(", start, finish) == 2
    assert "MPI_Waitall(" not in text[start:finish]
    assert text.index("MPI_Waitall(", finish) < text.index("= in[k][1]")


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    text = loop(rewritten(tmp_path / "p.c", changed(C, replaced)))
    assert "MPI_Irecv(" not in text
    assert "MPI_Isend(" not in text


def test_each_loop_has_requests_of_its_own(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.c", C)
    names = [f"imbrex_loop_{kind}{n}" for kind in ("receives", "sends") for n in ("", 2, 3)]
    assert all(f"MPI_Request {name}[" in text for name in names)
    assert "MPI_Request exchange_imbrex_loop_receives[2 * FIELDS];" in text


def test_it_is_told_at_the_calls(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(C)
    told = {
        (d.site.call.name, d.decision, "message-loops" in d.rewrites)
        for d in transform([path], Options()).decisions
    }
    assert told == {("MPI_Sendrecv", "rewritten", True)}


def test_why_iterations_end_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(changed(C, STAY["one buffer for all fields"]))
    first = transform([path], Options()).decisions[0]
    assert any(
        each.startswith("message-loops: not done, because iterations may depend on each other")
        for each in first.details
    )


def test_loops_of_fortran(tmp_path: Path) -> None:
    """Fences behind the wait name what is not known by another routine; what is local is passed."""
    text = rewritten(tmp_path / "p.f90", FORTRAN)
    assert "imbrex_loop_receives(k)" in text
    assert "call MPI_WAITALL(nv, imbrex_loop_receives, MPI_STATUSES_IGNORE, ierr)" in text
    behind = text[text.index("call MPI_WAITALL(nv, imbrex_loop_receives") :]
    assert "call MPI_GET_ADDRESS(v, imbrex_address" in behind


ONE = {
    "a number": ("      one = u(1,k)\n", "one"),
    "an array": ("      few = u(1:2,k)\n", "few"),
}


@pytest.mark.parametrize("name", ONE)
def test_what_all_iterations_have_together(name: str, tmp_path: Path) -> None:
    """A scalar that each iteration sets anew is one buffer for all of its messages."""
    filled, buffer = ONE[name]
    text = changed(
        FORTRAN,
        {
            "    real(8) :: out(nv), in(nv)\n": "    real(8) :: out(nv), in(nv), one, few(2)\n",
            "      out(k) = u(1,k)\n": filled,
            "      call MPI_SENDRECV(out(k), 1,": f"      call MPI_SENDRECV({buffer}, 1,",
        },
    )
    after = rewritten(tmp_path / "p.f90", text)
    assert f"call MPI_SENDRECV({buffer}, 1," in after


@pytest.mark.parametrize(("each", "goes"), [(2, True), (1, False)])
def test_several_elements_in_each_iteration(each: int, goes: bool, tmp_path: Path) -> None:
    """Of one array each iteration has a part: that of two, or one that overlaps with the next."""
    text = changed(
        C,
        {
            "out[FIELDS][2], in[FIELDS][2];": "out[FIELDS][2], in[FIELDS][2], flat[99], got[99];",
            "        out[k][0] = u[k][1]; /* to the left */\n": (
                f"        flat[{each} * k] = u[k][1];\n        flat[{each} * k + 1] = u[k][2];\n"
            ),
            "&out[k][0], 1, MPI_DOUBLE, left, k, &in[k][1], 1,": (
                f"&flat[{each} * k], 2, MPI_DOUBLE, left, k, &got[{each} * k], 2,"
            ),
            "= in[k][1]": f"= got[{each} * k]",
        },
    )
    after = loop(rewritten(tmp_path / "p.c", text))
    assert ("MPI_Irecv(&got[" in after) is goes


def test_loops_with_labels_in_turn(tmp_path: Path) -> None:
    """Each loop behind a wait ends at a label of its own."""
    one = (
        "    do 10 k = 1, nv\n      call MPI_SENDRECV(u(1,k), 1, MPI_DOUBLE_PRECISION, left, 0, &\n"
        "        v(1,k), 1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &\n"
        "        ierr)\n      u(n+1,k) = v(1,k)\n10  continue\n"
    )
    start = FORTRAN.index("    do k = 1, nv\n      call MPI_SENDRECV(v(1,k)")
    end = FORTRAN.index("    end do\n", start) + len("    end do\n")
    two = one + one.replace("10", "20").replace("u(n+1", "u(0").replace("v(1", "v(n")
    after = rewritten(tmp_path / "p.f90", FORTRAN[:start] + two + FORTRAN[end:])
    assert after.count("MPI_WAITALL(nv, imbrex_loop_receives") >= 2
    labels = re.findall(r"(?m)^\s*(\d+)\s+continue", after)
    assert len(labels) == len(set(labels)) == 4


def test_a_loop_that_its_call_ends(tmp_path: Path) -> None:
    ends = (
        "    do 10 k = 1, nv\n10  call MPI_SENDRECV(v(1,k), 1, MPI_DOUBLE_PRECISION, left, 0, &\n"
    )
    loop = (
        "    do k = 1, nv\n      call MPI_SENDRECV(v(1,k), 1, MPI_DOUBLE_PRECISION, left, 0, "
        "v(n+1,k), 1, &\n"
    )
    text = changed(
        FORTRAN,
        {
            loop: ends + "        v(n+1,k), 1, &\n",
            "right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n    end do\n": "right, 0, "
            "MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n",
        },
    )
    after = rewritten(tmp_path / "p.f90", text)
    assert "10  call MPI_SENDRECV(v(1,k)" in after
