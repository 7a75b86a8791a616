"""What brings the next iteration's data in Fortran and C++, and programs in which it must stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

FORTRAN = """\
module counts
  integer :: turns = 0
  double precision :: shared(64)
contains
  subroutine multiply(c, p)
    double precision, intent(inout) :: c(64)
    double precision, intent(in) :: p(64)
    integer :: i
    do i = 1, 64
      c(i) = 0.5d0 * c(i) + p(i) * p(65 - i)
    end do
  end subroutine multiply
  subroutine fill_shared
    shared = 1.0d0
  end subroutine fill_shared
  subroutine fill(p, k)
    double precision, intent(inout) :: p(64)
    integer, intent(in) :: k
    p(1) = k
  end subroutine fill
end module counts
program panels
  use mpi
  use counts
  implicit none
  integer :: rank, size, k, i, j, root, steps, ierr
  double precision :: a(64), c(64), b(64)
  double precision :: panel(64)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  steps = size + 3
  a = rank
  b = 0.0d0
  c = 0.0d0
  panel = 0.0d0
  root = 0
  do k = 1, steps
    if (rank == mod(k, size)) panel = a
    call MPI_Bcast(panel, 64, MPI_DOUBLE_PRECISION, mod(k, size), MPI_COMM_WORLD, ierr)
    call multiply(c, panel)
  end do
  print *, c(1), b(1), root
  call MPI_Finalize(ierr)
end program panels
"""
LOOP = "  do k = 1, steps\n"
FILL = "    if (rank == mod(k, size)) panel = a\n"
CALL = "    call MPI_Bcast(panel, 64, MPI_DOUBLE_PRECISION, mod(k, size), MPI_COMM_WORLD, ierr)\n"
USE = "    call multiply(c, panel)\n"
DECLARED = "  double precision :: panel(64)\n"
SET = "  panel = 0.0d0\n"
NEXT = "call MPI_Ibcast(panel_next, 64, MPI_DOUBLE_PRECISION, mod(k+1,size),"

IN_FORTRAN: dict[str, tuple[dict[str, str], list[str]]] = {
    "as it is": (
        {},
        [
            "double precision, allocatable :: panel_next(:)",
            "allocate(panel_next(lbound(panel, 1):ubound(panel, 1)))",
            "if (1 .le. steps) then",
            "if (rank == mod(1, size)) panel_next = a",
            "    panel = panel_next\n    if (k .lt. steps) then\n",
            "if (rank == mod(k + 1, size)) panel_next = a",
            NEXT,
            "if (allocated(panel_next)) deallocate(panel_next)",
        ],
    ),
    "allocatable": (
        {
            DECLARED: "  double precision, allocatable :: panel(:)\n",
            SET: "  allocate(panel(64))\n" + SET,
        },
        [NEXT],
    ),
    "element by element": (
        {
            FILL: "    if (rank == mod(k, size)) then\n      do i = 1, 64\n"
            "        panel(i) = a(i) + k\n      end do\n    end if\n"
        },
        ["panel_next(i) = a(i) + (k + 1)", NEXT],
    ),
    "a root for each iteration": (
        {
            FILL: "    root = mod(k, size)\n    if (rank == root) panel = a\n",
            CALL: CALL.replace("mod(k, size)", "root"),
        },
        [
            "integer :: root_next",
            "      root_next = mod(k + 1, size)\n",
            "    root = mod(k, size)\n",
        ],
    ),
    "names without blanks": (
        {FILL: "    if(rank.eq.k.or.mod(k,size)==rank)panel=a\n"},
        ["if(rank.eq.(k + 1).or.mod(k + 1,size)==rank)panel_next=a"],
    ),
    "filled by a routine": ({FILL: "    call fill(panel, k)\n"}, ["call fill(panel_next, k + 1)"]),
    "downward": ({LOOP: "  do k = steps, 1, -1\n"}, ["if (k .gt. 1) then", "mod(k - 1, size)"]),
    "on two lines": (
        {CALL: CALL.replace("mod(k, size), ", "mod(k, size), &\n      ")},
        [NEXT],
    ),
    "from a variable on": ({LOOP: "  do k = rank, steps\n"}, ["mod(rank, size)"]),
}
IN_FORTRAN_STAYS: dict[str, dict[str, str]] = {
    "the source is computed": {USE: USE + "    a(1) = c(2)\n"},
    "the buffer is set behind": {USE: USE + "    panel(1) = c(2)\n"},
    "the last panel is looked at first": {
        LOOP: LOOP + "    if (panel(1) > 1) root = 1\n",
        USE: USE + "    b(1) = root\n",
    },
    "the loop is left": {USE: USE + "    if (c(1) > 1.0d9) exit\n"},
    "an iteration is left": {CALL: CALL + "    if (c(1) > 1.0d9) cycle\n"},
    "the program stops": {USE: USE + "    if (c(1) > 1.0d9) stop 1\n"},
    "output": {USE: USE + "    print *, c(1)\n"},
    "the root is computed": {
        CALL: CALL.replace("mod(k, size)", "root"),
        USE: USE + "    if (c(1) > 1.0d9) root = 1\n",
    },
    "the bound is computed": {USE: USE + "    if (c(1) > 1.0d9) steps = steps - 1\n"},
    "an index that is read": {
        FILL: "    do i = 1, 64\n      panel(i) = a(i)\n    end do\n",
        USE: USE + "    root = i\n",
    },
    "it is allocated in each iteration": {
        DECLARED: "  double precision, allocatable :: panel(:)\n",
        SET: "",
        LOOP: LOOP + "    allocate(panel(64))\n",
        USE: USE + "    deallocate(panel)\n",
    },
    "it is allocated in the first iteration": {
        DECLARED: "  double precision, allocatable :: panel(:)\n",
        SET: "",
        LOOP: LOOP + "    if (.not. allocated(panel)) allocate(panel(64))\n",
    },
    "it is allocated in the loop by a routine": {
        "  subroutine fill(p, k)": "  subroutine room(p)\n"
        "    double precision, allocatable, intent(inout) :: p(:)\n"
        "    if (.not. allocated(p)) allocate(p(64))\n  end subroutine room\n"
        "  subroutine fill(p, k)",
        DECLARED: "  double precision, allocatable :: panel(:)\n",
        SET: "",
        LOOP: LOOP + "    call room(panel)\n",
    },
    "a routine allocates it by its name": {
        "double precision :: shared(64)": "double precision, allocatable :: shared(:)",
        "  subroutine fill(p, k)": "  subroutine room\n"
        "    if (.not. allocated(shared)) allocate(shared(64))\n  end subroutine room\n"
        "  subroutine fill(p, k)",
        DECLARED: "",
        SET: "",
        LOOP: LOOP + "    call room()\n",
        FILL: FILL.replace("panel", "shared"),
        CALL: CALL.replace("panel", "shared"),
        USE: USE.replace("panel", "shared"),
    },
    "an assignment allocates it anew": {
        DECLARED: "  double precision, allocatable :: panel(:)\n",
        SET: "",
        USE: USE + "    panel = [1.0d0, 2.0d0]\n",
    },
    "a pointer that is set": {
        DECLARED: "  double precision, pointer :: panel(:)\n",
        "double precision :: a(64), ": "double precision, target :: a(64)\n  double precision :: ",
        SET: "  panel => a\n",
    },
    "an index that is told": {
        FILL: "    do i = 1, 64\n      panel(i) = a(i)\n    end do\n",
        USE: USE + "    if (c(1) > 1.0d9) then\n      do i = 1, 3\n        b(i) = c(i)\n"
        "      end do\n    end if\n",
        "print *, c(1)": "print *, i, c(1)",
    },
    "a target": {
        DECLARED: DECLARED.replace(" ::", ", target ::")
        + "  double precision, pointer :: same(:)\n",
        SET: "  same => panel\n" + SET,
        USE: USE + "    same(1) = c(2)\n",
    },
    "it shares memory": {
        DECLARED: DECLARED + "  double precision :: part(64)\n  equivalence (panel(1), part(1))\n",
    },
    "a message may reach into another array": {
        DECLARED: "  double precision :: panel(32), more(32)\n  common /both/ panel, more\n",
        FILL: FILL.replace("= a", "= a(1:32)"),
        USE: USE.replace("panel", "more").replace("c, more", "c, a"),
    },
    "a routine fills it by its name": {
        DECLARED: "",
        SET: "  shared = 0.0d0\n",
        FILL: "    call fill_shared()\n",
        CALL: CALL.replace("panel", "shared"),
        USE: USE.replace("panel", "shared"),
    },
    "a directive": {
        FILL: "    !$omp parallel workshare\n    panel = a\n    !$omp end parallel workshare\n"
    },
    "several statements on a line": {FILL: "    panel = a; root = k\n"},
    "a barrier": {USE: USE + "    call MPI_Barrier(MPI_COMM_WORLD, ierr)\n"},
    "another collective behind": {
        USE: USE + CALL.replace("panel", "b"),
    },
    "the index is of another kind": {
        "integer :: rank, size, k, i": "integer(8) :: k\n  integer :: rank, size, i",
        "mod(k, size)": "mod(int(k), size)",
    },
    "a step that is computed": {LOOP: "  do k = 1, steps, size\n"},
    "no end": {LOOP: "  k = 0\n  do while (k < steps)\n    k = k + 1\n"},
}

CXX = """\
#include <mpi.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>
constexpr int N = 64;
static void multiply(double *c, const double *p)
{
    for (int i = 0; i < N; i++)
        c[i] = 0.5 * c[i] + p[i] * p[N - 1 - i];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> a(N, 1.0 + rank), c(N);
    std::vector<double> panel(N);
    for (int k = 0; k < 5 + argc; ++k) {
        if (rank == k % size)
            for (int i = 0; i < N; i++)
                panel[i] = a[i] + k;
        MPI_Bcast(panel.data(), N, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
        multiply(c.data(), panel.data());
    }
    std::printf("%g\\n", c[1]);
    MPI_Finalize();
    return 0;
}
"""
OBJECT = "    std::vector<double> panel(N);\n"
PLAIN = {"panel.data()": "panel"}
WORK = "        multiply(c.data(), panel.data());\n"
IN_CXX: dict[str, tuple[dict[str, str], list[str]]] = {
    "a vector": (
        {},
        ["std::vector<double> panel_next(panel);", "panel = panel_next;", "panel_next[i] = a[i]"],
    ),
    "new": (
        {OBJECT: "    double *panel = new double[N];\n", **PLAIN},
        [
            "size_t panel_bytes = (N) * sizeof(double);",
            "double *panel_next = new double[panel_bytes / sizeof(double)];",
            "delete[] panel_next;",
        ],
    ),
    "malloc": (
        {OBJECT: "    auto *panel = (double *)std::malloc(N * sizeof(double));\n", **PLAIN},
        ["double *panel_next = (double *)malloc(panel_bytes);"],
    ),
    "an array": (
        {OBJECT: "    static double panel[N];\n", **PLAIN},
        ["double *panel_next = new double[sizeof panel / sizeof(double)];"],
    ),
}
IN_CXX_STAYS: dict[str, dict[str, str]] = {
    "the source is computed": {WORK: WORK + "        a[0] += c[0];\n"},
    "the vector is set behind": {WORK: WORK + "        panel[0] = c[0];\n"},
    "the vector grows": {WORK: WORK + "        panel.push_back(c[0]);\n"},
    "a vector of the iteration": {
        OBJECT: "",
        "        if (rank": OBJECT.replace("    std", "        std") + "        if (rank",
    },
    "a vector that is sized in each iteration": {
        "        if (rank": "        panel.resize(N + k);\n        if (rank"
    },
    "a vector of vectors": {
        OBJECT: "    std::vector<std::vector<double>> rows(2, std::vector<double>(N));\n",
        "panel": "rows[1]",
    },
    "an array of the library": {OBJECT: "    std::array<double, N> panel;\n"},
    "a pointer that owns": {
        OBJECT: "    std::unique_ptr<double[]> panel(new double[N]);\n",
        "panel.data()": "panel.get()",
    },
    "a reference": {
        OBJECT: OBJECT.replace("panel", "room") + "    std::vector<double> &panel = room;\n",
        WORK: WORK + "        room[0] = c[0];\n",
    },
    "a jump over declarations": {
        OBJECT: OBJECT + "    if (argc > 3)\n        goto out;\n",
        "    std::printf": "out:\n    std::printf",
    },
    "the end of the program": {WORK: WORK + "        if (c[0] > 1e9)\n            throw 1;\n"},
}


def after(tmp_path: Path, name: str, text: str) -> tuple[bool, str]:
    """Whether something goes ahead, and the text."""
    file = tmp_path / name
    file.write_text(text)
    outcome = transform([file], Options())
    done = any("prefetching" in decision.rewrites for decision in outcome.decisions)
    return done, outcome.after[str(file)].decode()


@pytest.mark.parametrize("name", IN_FORTRAN)
def test_fortran(name: str, tmp_path: Path) -> None:
    replacements, expected = IN_FORTRAN[name]
    done, text = after(tmp_path, "program.f90", changed(FORTRAN, replacements))
    assert done, text
    for part in expected:
        assert part in text


@pytest.mark.parametrize("name", IN_FORTRAN_STAYS)
def test_fortran_stays(name: str, tmp_path: Path) -> None:
    done, text = after(tmp_path, "program.f90", changed(FORTRAN, IN_FORTRAN_STAYS[name]))
    assert not done
    assert "_next" not in text


@pytest.mark.parametrize("name", IN_CXX)
def test_cxx(name: str, tmp_path: Path) -> None:
    replacements, expected = IN_CXX[name]
    done, text = after(tmp_path, "program.cpp", changed(CXX, replacements))
    assert done, text
    for part in expected:
        assert part in text


@pytest.mark.parametrize("name", IN_CXX_STAYS)
def test_cxx_stays(name: str, tmp_path: Path) -> None:
    done, text = after(tmp_path, "program.cpp", changed(CXX, IN_CXX_STAYS[name]))
    assert not done
    assert "_next" not in text
