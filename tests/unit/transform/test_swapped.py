"""Arrays that a time step swaps, by pointers or `move_alloc`, are arrays of their own all the time.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = """\
program heat
  use mpi_f08
  implicit none
  real(8), pointer :: u(:,:), v(:,:), tmp(:,:)
  integer :: rank, np, nx, ny, up, down, it, i, j, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  up = mod(rank + 1, np)
  down = mod(rank + np - 1, np)
  nx = 64
  ny = 48
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  u = rank
  v = rank
  do it = 1, 50
    call MPI_Sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, up, 1, u(1, 0), nx, &
        MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, down, 2, u(1, ny+1), nx, &
        MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do j = 1, ny
      do i = 1, nx
        v(i, j) = u(i, j) + 0.1d0 * (u(i-1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
    tmp => u
    u => v
    v => tmp
  end do
  print *, rank, sum(u)
  call MPI_Finalize(ierr)
end program heat
"""
NAMES = "  real(8), pointer :: u(:,:), v(:,:), tmp(:,:)\n"
MADE = "  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))\n"
SWAP = "    tmp => u\n    u => v\n    v => tmp\n"
LOOP = "  do it = 1, 50\n"
NEST = "    do j = 1, ny\n      do i"
END = "  call MPI_Finalize(ierr)\nend program heat\n"
ALLOCATABLE = NAMES.replace("pointer", "allocatable")
MOVE = (
    "    call move_alloc(u, tmp)\n    call move_alloc(v, u)\n    call move_alloc(from=tmp, to=v)\n"
)
BY_MOVE = {NAMES: ALLOCATABLE, SWAP: MOVE}
TARGETS = "  real(8), allocatable, target :: a(:,:), b(:,:)\n" + NAMES
MADE_AS_TARGETS = "  allocate(a(0:nx+1, 0:ny+1), b(0:nx+1, 0:ny+1))\n"
SET = "  u => a\n  v => b\n"
BY_TARGET = {NAMES: TARGETS, MADE: MADE_AS_TARGETS + SET}
FIXED = "  real(8), target :: a(0:65, 0:49), b(0:65, 0:49)\n" + NAMES
TURNS = "    if (mod(it, 2) == 0) then\n      u => a\n      v => b\n    else\n      u => b\n"
TURNS += "      v => a\n    end if\n"
INNER = "contains\n  subroutine turn(p, q)\n    real(8), pointer, intent(inout) :: p(:,:), q(:,:)\n"
THIRD = NAMES + "  real(8), pointer :: w(:,:)\n"

DIVIDED: dict[str, dict[str, str]] = {
    "pointers": {},
    "on one line": {SWAP: "    tmp => u; u => v; v => tmp\n"},
    "sometimes": {SWAP: "    if (mod(it, 3) > 0) then\n" + SWAP + "    end if\n"},
    "three in turn": {
        NAMES: THIRD,
        MADE: MADE + "  allocate(w(0:nx+1, 0:ny+1))\n  w = 0\n",
        SWAP: "    tmp => u\n    u => v\n    v => w\n    w => tmp\n",
    },
    "freed in the end": {END: "  nullify(tmp)\n  deallocate(u, v)\n" + END},
    "in a routine": {
        SWAP: "    call turn()\n",
        "end program heat\n": "contains\n  subroutine turn()\n    real(8), pointer :: t(:,:)\n"
        "    t => u\n    u => v\n    v => t\n  end subroutine\nend program heat\n",
    },
    "move_alloc": BY_MOVE,
    "move_alloc, sometimes": {
        NAMES: ALLOCATABLE,
        SWAP: "    if (mod(it, 3) > 0) then\n" + MOVE + "    end if\n",
    },
    "targets": BY_TARGET,
    "targets of fixed size": {NAMES: FIXED, MADE: SET},
    "targets, set apart": {
        NAMES: TARGETS,
        MADE: MADE_AS_TARGETS + "  u => a\n  a = 0\n  v => b\n",
    },
    "targets, set anew": {
        **BY_TARGET,
        SWAP: SWAP + "    if (it == 9) then\n      u => a\n      v => b\n    end if\n",
    },
    "targets in turn": {NAMES: FIXED, MADE: SET, SWAP: TURNS},
    "targets in turn, allocated": {**BY_TARGET, SWAP: TURNS},
}
STAYS: dict[str, dict[str, str]] = {
    "not swapped": {SWAP: "    tmp => u\n    u => v\n"},
    "what keeps the array is used": {NEST: "    if (it > 1) tmp(1, 0) = 5\n" + NEST},
    "what keeps the array is passed": {NEST: "    if (it > 1) print *, sum(tmp)\n" + NEST},
    "a part of the swap sometimes": {SWAP: SWAP.replace("    u =>", "    if (it > 3) u =>")},
    "something within the swap": {SWAP: SWAP.replace("    u =>", "    j = 0\n    u =>")},
    "what keeps the array is swapped": {SWAP: SWAP + "    u => tmp\n    tmp => v\n    v => u\n"},
    "what keeps the array is in another swap": {
        NAMES: THIRD + "  real(8), pointer :: t2(:,:)\n",
        MADE: MADE + "  allocate(w(0:nx+1, 0:ny+1))\n  w = 0\n",
        SWAP: SWAP + "    t2 => tmp\n    tmp => w\n    w => t2\n"
        "    t2 => u\n    u => w\n    w => t2\n",
    },
    "a row that is no swap": {
        NAMES: THIRD,
        MADE: MADE + "  allocate(w(0:nx+1, 0:ny+1))\n  w = 0\n",
        SWAP: "    tmp => u\n    v => w\n    u => tmp\n    j = 0\n"
        "    tmp => u\n    u => w\n    w => tmp\n",
    },
    "a label within the swap": {SWAP: SWAP.replace("    u =>", "10  u =>")},
    "a third name": {NAMES: THIRD, LOOP: "  w => v\n" + LOOP, NEST: "    w = 1\n" + NEST},
    "a third name of all of one": {
        NAMES: THIRD,
        LOOP: "  w => v(:, :)\n" + LOOP,
        NEST: "    w(2, 1) = 5\n" + NEST,
    },
    "a third name in the ring": {
        NAMES: THIRD,
        LOOP: "  w => v\n" + LOOP,
        SWAP: SWAP + "    tmp => u\n    u => w\n    w => tmp\n",
    },
    "a routine that sets one": {
        SWAP: SWAP + "    call turn(u, v)\n",
        END: END.replace("end program", INNER + "    p => q\n  end subroutine\nend program"),
    },
    "other bounds": {MADE: MADE.replace("v(0:nx+1", "v(0:nx+2")},
    "other lower bounds": {MADE: MADE.replace("v(0:nx+1", "v(-1:nx")},
    "allocated anew": {
        SWAP: SWAP + "    if (it == 7) then\n      deallocate(v)\n      allocate(v(0:nx+3, 0:50))\n"
        "    end if\n"
    },
    "sizes set between": {MADE: MADE.replace(", v(", ")\n  nx = nx - 2\n  allocate(v(")},
    "move_alloc of another one": {
        **BY_MOVE,
        SWAP: MOVE + "    if (it == 7) then\n      allocate(tmp(0:nx+4, 0:ny+1))\n"
        "      call move_alloc(tmp, u)\n    end if\n",
    },
    "move_alloc of others": {
        **BY_MOVE,
        NAMES: ALLOCATABLE + "  real(8), allocatable :: x(:,:)\n",
        END: "  allocate(x(3, 3))\n  call move_alloc(x, u)\n" + END,
    },
    "one target": {NAMES: TARGETS, MADE: MADE_AS_TARGETS + SET.replace("b", "a")},
    "one target, set twice": {**BY_TARGET, SWAP: SWAP + "    if (it == 9) u => a\n"},
    "one target, set twice in front": {
        **BY_TARGET,
        LOOP: "  if (np > 2) u => a\n" + LOOP,
    },
    "set once in a loop": {
        **BY_TARGET,
        MADE: MADE_AS_TARGETS + "  do i = 1, 2\n    u => a\n    j = 1\n    v => b\n"
        "    tmp => u; u => v; v => tmp\n  end do\n",
    },
    "set apart by a routine that is called twice": {
        NAMES: TARGETS,
        MADE: MADE_AS_TARGETS
        + "  call begin()\n"
        + SWAP.replace("    ", "  ")
        + "  call begin()\n",
        END: END.replace(
            "end program",
            "contains\n  subroutine begin()\n    u => a\n    j = 1\n    v => b\n"
            "  end subroutine\nend program",
        ),
    },
    "set apart behind a label": {
        NAMES: TARGETS,
        MADE: MADE_AS_TARGETS + "  i = 0\n10 continue\n  u => a\n  j = 1\n  v => b\n"
        "  tmp => u; u => v; v => tmp\n  i = i + 1\n  if (i < 2) goto 10\n",
    },
    "set to a pointer": {
        NAMES: THIRD,
        MADE: MADE + "  allocate(w(0:nx+1, 0:ny+1))\n  w = 0\n",
        LOOP: "  u => w\n" + LOOP,
        SWAP: SWAP + "    tmp => v\n    v => w\n    w => tmp\n",
    },
    "a third name of a target": {
        NAMES: TARGETS + "  real(8), pointer :: w(:,:)\n",
        MADE: BY_TARGET[MADE],
        LOOP: "  w => a\n" + LOOP,
        NEST: "    w = 1\n" + NEST,
    },
    "a target that is used": {**BY_TARGET, NEST: "    a(1, 0) = 5\n" + NEST},
    "a target with other bounds": {
        NAMES: TARGETS,
        MADE: MADE_AS_TARGETS.replace("b(0:nx+1", "b(0:nx+2") + SET,
    },
    "a target of another shape": {
        NAMES: FIXED.replace("b(0:65", "b(0:66"),
        MADE: SET,
    },
    "targets of other shapes in turn": {
        NAMES: FIXED.replace("b(0:65", "b(0:66"),
        MADE: SET,
        SWAP: TURNS,
    },
    "a target that is assigned": {
        **BY_TARGET,
        LOOP: "  a = v(1:3, 1:3)\n  u => a\n  v => b\n" + LOOP,
    },
    "a target that is given away": {
        NAMES: TARGETS,
        MADE: MADE_AS_TARGETS + SET,
        LOOP: "  call shrink(a)\n  u => a\n  v => b\n" + LOOP,
        END: END.replace(
            "end program",
            "contains\n  subroutine shrink(x)\n    real(8), allocatable :: x(:,:)\n"
            "    deallocate(x)\n    allocate(x(5, 5))\n  end subroutine\nend program",
        ),
    },
}


def text_of(folder: Path, replacements: dict[str, str]) -> str:
    return rewritten(folder / "heat.f90", changed(PROGRAM, replacements))


def is_divided(text: str) -> bool:
    return "do j = 2, ny - 1" in text


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_comes_first(name: str, tmp_path: Path) -> None:
    assert is_divided(text_of(tmp_path, DIVIDED[name]))


@pytest.mark.parametrize("name", STAYS)
def test_what_may_be_one_array_or_have_another_shape_stays(name: str, tmp_path: Path) -> None:
    assert not is_divided(text_of(tmp_path, STAYS[name]))


def test_all_that_are_swapped_may_have_what_one_of_them_had(tmp_path: Path) -> None:
    """Nothing is under way in `u` where `w`, which `v` has shared its memory with, is set."""
    text = text_of(tmp_path, STAYS["a third name of all of one"])
    assert "MPI_Isend" not in text


def test_a_target_is_read_behind_the_wait(tmp_path: Path) -> None:
    """It may be what the pointer names that is received into."""
    text = text_of(tmp_path, {**BY_TARGET, NEST: "    if (a(1, 0) > 5) j = 7\n" + NEST})
    assert text.index("MPI_Wait") < text.index("if (a(1, 0) > 5)")


def test_a_wait_behind_the_swap_passes_no_array_that_may_be_the_one_received(
    tmp_path: Path,
) -> None:
    """What was received into `u` is what `v` names by then."""
    receive = (
        "    call MPI_Irecv(u(1, 0), nx, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, q, ierr)\n"
    )
    first = PROGRAM[PROGRAM.index("    call MPI_Sendrecv") : PROGRAM.index("    do j = 1, ny")]
    send = "    call MPI_Send(x, nx, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, ierr)\n"
    wait = "    call MPI_Wait(q, MPI_STATUS_IGNORE, ierr)\n"
    uses = "    x = 2 * x\n    v(1, 0) = 2 * v(1, 0)\n    x = x + 1\n"
    replacements = {
        NAMES: NAMES + "  type(MPI_Request) :: q\n  real(8) :: x(64)\n",
        first: receive,
        SWAP: SWAP + send + wait + uses,
    }
    text = text_of(tmp_path, replacements)
    assert text.index("v => tmp") < text.index("MPI_Wait(q") < text.index("v(1, 0) = 2")
