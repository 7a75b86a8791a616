"""Routines that pack and send: one message leaves while the next is packed and others come in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

AXES = (Path(__file__).parent / "cases" / "axes.f90").read_text()
FIRST, SECOND = "    call give(axis, +1, a)\n", "    call give(axis, -1, a)\n"
MERGED = "buff_id = merge(1, 2, dir == -1)"
COUNTED = "buff_len = buff_len + 1\n"
STORED = f"{COUNTED}      buff(buff_len, buff_id) = a(merge(2, n - 1, dir == -1), j)\n"
SENT = "    call mpi_send(buff(1, buff_id), buff_len, MPI_DOUBLE_PRECISION, next(axis, dir), &\n"
OWN_MERGE = """
integer function merge(a, b, c)
  integer :: a, b
  logical :: c
  merge = a
end function merge
"""

BESIDE: dict[str, dict[str, str]] = {
    "as it is": {},
    "by a sum": {MERGED: "buff_id = (dir + 3) / 2"} | {"(dir + 3) / 2": "2 + dir"},
    "by branches": {
        MERGED: "if (dir == 1) then\n    buff_id = 2\n  else\n    buff_id = 1\n  end if"
    },
    "by another number": {MERGED: "buff_id = merge(2, 1, dir /= -1)"},
    "two elements at a time": {
        STORED: STORED.replace("buff_len + 1\n", "buff_len + 2\n").replace(
            "(buff_len,", "(buff_len,"
        )
    },
    "one element more": {STORED: STORED.replace("(buff_len,", "(buff_len + 1,")},
    "a constant length": {SENT: SENT.replace("buff_len", "nm2"), "2**4 * 2**4": "256"},
    "an array of the program": {
        "  double precision :: buff(nm2, 4)": "  double precision, allocatable :: buff(:, :)",
        "2**4 * 2**4": "256",
        "  call mpi_init(ierr)\n": "  call mpi_init(ierr)\n  allocate (buff(nm2, 4))\n",
        ":: buff(:, :), u(n": ":: buff(:, :)\n  double precision :: u(n",
    },
}
APART: dict[str, dict[str, str]] = {
    "one buffer for both": {MERGED: "buff_id = 1"},
    "one buffer for both, chosen": {MERGED: "buff_id = merge(1, 1, dir == -1)"},
    "what chooses is changed": {
        "  integer, intent(in) :: axis, dir\n  double precision :: a(n, n)\n"
        "  integer :: i, j, buff_len": "  integer :: axis, dir\n  double precision :: a(n, n)\n"
        "  integer :: i, j, buff_len",
        "  buff_len = 0\n": "  buff_len = 0\n  dir = -dir\n",
    },
    "chosen twice": {MERGED: f"buff_id = 2\n  if (me > 0) buff_id = 1\n  if (me < 0) {MERGED}"},
    "chosen by what is not known": {MERGED: "buff_id = merge(1, 2, me == -1)"},
    "a function of the program's": {
        MERGED: MERGED,
        "  integer :: i, j, buff_len, buff_id, ierr\n  buff": "  integer, external :: merge\n"
        "  integer :: i, j, buff_len, buff_id, ierr\n  buff",
        "end subroutine give\n": f"end subroutine give\n{OWN_MERGE}",
    },
    "a branch of its own": {
        MERGED: "if (dir == 1) then\n    buff_id = 2\n    buff_id = 1\n  else\n    buff_id = 1\n"
        "  end if"
    },
    "the length is set otherwise": {SENT: f"    buff_len = 2 * nm2\n{SENT}"},
    "the length goes on": {SENT: f"    buff_len = buff_len + 300\n{SENT}"},
    "the length from below": {"buff_len = 0\n": "buff_len = 300\n"},
    "the length by a call": {SENT: f"    call longer(buff_len)\n{SENT}"},
    "the length is read": {SENT: f"    read *, buff_len\n{SENT}"},
    "stored elsewhere": {
        STORED: STORED.replace("      buff(buff_len, buff_id)", "      u(1, 1 + 0 * buff_len)")
    },
    "stored below": {STORED: STORED.replace("(buff_len,", "(buff_len - 1,")},
    "stored at times": {STORED: STORED.replace("      buff(", "      if (me > 0) buff(")},
    "stored in the other dimension": {
        "buff(nm2, 4)": "buff(4, nm2)",
        STORED: STORED.replace("(buff_len, buff_id)", "(buff_id, buff_len)"),
    },
    "counted and stored apart": {STORED: STORED.replace(COUNTED, f"{COUNTED}      i = 3\n")},
    "the message begins further on": {"mpi_send(buff(1,": "mpi_send(buff(nm2 - 2,"},
    "synchronous": {"mpi_send(": "mpi_ssend("},
    "the axis changes between": {
        "  integer, intent(in) :: axis, dir\n  double precision :: a(n, n)\n"
        "  integer :: i, j, buff_len": "  integer :: axis, dir\n  double precision :: a(n, n)\n"
        "  integer :: i, j, buff_len",
        "  if (axis == 2) then\n    do i = 1, n\n      buff_len": "  axis = 2\n"
        "  if (axis == 2) then\n    do i = 1, n\n      buff_len",
    },
    "the axes are not told apart": {
        "  if (axis == 2) then\n    do i = 1, n\n      buff_len": "  if (axis /= 3) then\n"
        "    do i = 1, n\n      buff_len",
    },
    "filled between": {SECOND: f"    buff(1, 2) = 0.0d0\n{SECOND}"},
    "output between": {SECOND: f"    print *, axis\n{SECOND}"},
    "a buffer of the routine's own": {
        "integer :: i, j, buff_len, buff_id, ierr\n  buff_id": "integer :: i, j, buff_len, buff_id,"
        " ierr\n  double precision :: own(nm2, 4)\n  buff_id",
        "      buff(buff_len, buff_id) = a(m": "      own(buff_len, buff_id) = a(m",
        "      buff(buff_len, buff_id) = a(i": "      own(buff_len, buff_id) = a(i",
        "mpi_send(buff": "mpi_send(own",
    },
}
MORE = """
subroutine longer(k)
  implicit none
  integer :: k
  k = k + 300
end subroutine longer
"""


def rewritten(text: str, folder: Path) -> str:
    path = folder / "axes.f90"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped
    return outcome.after[str(path)].decode()


def beside(text: str) -> bool:
    """Whether the first message is still under way where the second is packed."""
    if "give_start" not in text:
        return False
    first = text.index("call give_start(axis, +1")
    second = text.index("call give_start(axis, -1")
    finish = text.index("call give_finish")
    return first < second < finish


@pytest.mark.parametrize("name", BESIDE)
def test_both_directions_leave_beside_each_other(name: str, tmp_path: Path) -> None:
    text = rewritten(changed(AXES, BESIDE[name]), tmp_path)
    assert beside(text)
    assert text.index("call give_finish") > text.index("call take(axis, -1")
    assert rewritten(text, tmp_path) == text


@pytest.mark.parametrize("name", APART)
def test_one_after_the_other(name: str, tmp_path: Path) -> None:
    text = changed(AXES, APART[name]) + MORE * ("longer(" in str(APART[name]))
    assert not beside(rewritten(text, tmp_path))


def test_what_takes_them_in_fills_the_buffers_again(tmp_path: Path) -> None:
    """Both leave beside each other, and are waited for in front of that."""
    taken = "      indx = indx + 1\n      a(i, "
    filled = "      indx = indx + 1\n      buff(indx, 2) = 0.0d0\n      a(i, "
    after = rewritten(changed(AXES, {taken: filled}), tmp_path)
    assert after.index("call give_finish(give_requests)") < after.index("call take(axis, -1")


C = """\
#include <mpi.h>
#include <stdio.h>
#define N 1000
static double u[N], left[N], right[N], in[2][N], w[N];
static int rank, size;
static void give(int dir, double *buffer)
{
    for (int i = 0; i < N; i++)
        buffer[i] = 0.5 * u[i] + dir;
    MPI_Send(buffer, N, MPI_DOUBLE, (rank + size + 2 * dir - 1) % size, dir, MPI_COMM_WORLD);
}
static void take(int dir)
{
    MPI_Recv(in[dir], N, MPI_DOUBLE, MPI_ANY_SOURCE, dir, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        w[i] += in[dir][i];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 10; step++) {
        give(0, left);
        give(1, right);
        take(0);
        take(1);
        for (int i = 0; i < N; i++)
            u[i] += 0.1 * w[i];
    }
    printf("%d %.17g\\n", rank, u[5]);
    MPI_Finalize();
    return 0;
}
"""


def in_c(changes: dict[str, str], folder: Path) -> list[str]:
    """The calls of the routine's halves, in their order."""
    path = folder / "give.c"
    path.write_text(changed(C, changes))
    outcome = transform([path], Options())
    assert not outcome.skipped
    after = outcome.after[str(path)]
    assert transform([path], Options(contents={path: after})).after[str(path)] == after
    return re.findall(r"give_\w+\([^;{]*(?=;)", after.decode())


def test_requests_of_c(tmp_path: Path) -> None:
    assert in_c({}, tmp_path) == [
        "give_start(0, left, give_requests)",
        "give_start(1, right, &give_requests[1])",
        "give_finish(give_requests)",
        "give_finish(&give_requests[1])",
    ]


def test_a_buffer_that_becomes_the_callers_has_one_message(tmp_path: Path) -> None:
    own = {
        "give(int dir, double *buffer)\n{\n": "give(int dir)\n{\n    double buffer[N];\n",
        "give(0, left)": "give(0)",
        "give(1, right)": "give(1)",
    }
    halves = in_c(own, tmp_path)
    assert [half.partition("(")[0] for half in halves] == ["give_start", "give_finish"] * 2


@pytest.mark.parametrize(
    "changes",
    [
        {"give(1, right)": "give(1, left)"},
        {"MPI_Send(": "MPI_Ssend("},
        {"        give(1, right)": "        left[3] = step;\n        give(1, right)"},
        {"        give(1, right)": "        if (step > 8) break;\n        give(1, right)"},
        {"buffer[i] = 0.5": "right[i] = left[i] = buffer[i] = 0.5"},
    ],
)
def test_one_after_the_other_in_c(changes: dict[str, str], tmp_path: Path) -> None:
    halves = [half.partition("(")[0] for half in in_c(changes, tmp_path)]
    assert halves[:2] != ["give_start", "give_start"]
