"""ASSOCIATE and BLOCK constructs are read as what they hold, with the names that they give.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.options import Options
from imbrex.transform.readers.fortran_associated import written_out
from imbrex.transform.readers.fortran_lines import logical_lines
from imbrex.transform.reading import read_program

pytestmark = pytest.mark.slow

PROGRAM = """\
module grids
  implicit none
  type :: grid_t
    integer :: nx, ny
    real(8), allocatable :: u(:,:), v(:,:)
  end type grid_t
end module grids
program heat
  use mpi_f08
  use grids
  implicit none
  type(grid_t) :: g
  integer :: rank, np, up, down, it, i, j, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  up = mod(rank + 1, np)
  down = mod(rank + np - 1, np)
  g%nx = 64
  g%ny = 48
  allocate(g%u(0:g%nx+1, 0:g%ny+1), g%v(0:g%nx+1, 0:g%ny+1))
  g%u = rank
  g%v = 0
  do it = 1, 50
    associate (u => g%u, v => g%v, nx => g%nx, ny => g%ny, h => 0.1d0 / 2)
      call MPI_Sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, up, 1, u(1, 0), nx, &
          MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, down, 2, u(1, ny+1), nx, &
          MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      do j = 1, ny
        do i = 1, nx
          v(i, j) = u(i, j) + h * (u(i-1, j) + u(i, j-1) + u(i, j+1))
        end do
      end do
    end associate
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i, j) = g%v(i, j)
      end do
    end do
  end do
  print *, rank, sum(g%u)
  call MPI_Finalize(ierr)
end program heat
"""
ASSOCIATE = "    associate (u => g%u, v => g%v, nx => g%nx, ny => g%ny, h => 0.1d0 / 2)\n"
NEST = "      do j = 1, ny\n        do i = 1, nx\n"
END = "    end associate\n"
OBJECT = "  type(grid_t) :: g\n"
HERE = "    integer :: nx, ny\n"
BACK = PROGRAM[PROGRAM.index(END) + len(END) : PROGRAM.index("  end do\n  print")]
TYPE = "    real(8), allocatable :: u(:,:), v(:,:)\n"
POINTERS = {
    TYPE: "    real(8), pointer :: u(:,:), v(:,:)\n",
    OBJECT: OBJECT + "  real(8), pointer :: tmp(:,:)\n",
}
TURN = "tmp => g%u\n    g%u => g%v\n    g%v => tmp\n"
TURNING = "contains\n  subroutine turn()\n    " + TURN + "  end subroutine turn\nend program heat\n"
MADE = PROGRAM[PROGRAM.index("  g%nx = 64") : PROGRAM.index("  g%u = rank")]
TWO = {
    OBJECT: "  type(grid_t) :: g, o\n  real(8), allocatable :: t(:,:)\n",
    MADE: "  call make(g, 64)\n  call make(o, 60)\n",
    "end program heat\n": "contains\n  subroutine make(f, n)\n"
    "    type(grid_t), intent(inout) :: f\n    integer, intent(in) :: n\n"
    "    f%nx = n\n    f%ny = 48\n"
    "    allocate(f%u(0:f%nx+1, 0:f%ny+1), f%v(0:f%nx+1, 0:f%ny+1))\n    f%u = 0\n"
    "  end subroutine make\nend program heat\n",
}

DIVIDED: dict[str, dict[str, str]] = {
    "an ASSOCIATE": {},
    "one in another": {
        ASSOCIATE: ASSOCIATE + "    associate (top => ny, w => v)\n",
        NEST: NEST.replace("ny", "top"),
        "          v(i, j)": "          w(i, j)",
        END: END + END,
    },
    "a whole number": {
        ASSOCIATE: ASSOCIATE.replace("h =>", "k => nx + 1, h =>").replace("nx + 1", "rank + 1"),
    },
    "a BLOCK": {
        "i, j, ierr": "ierr",
        ASSOCIATE: ASSOCIATE + "    block\n      integer :: i, j\n      real(8) :: c(3)\n",
        END: "    end block\n" + END,
        BACK: "    block\n      integer :: i, j\n" + BACK + "    end block\n",
    },
    "work in a BLOCK": {
        BACK: "    block\n      real(8) :: c\n"
        + BACK.replace("= g%v(i, j)", "= c").replace(
            "        g%u", "        c = g%v(i, j)\n        g%u"
        )
        + "    end block\n",
    },
    "two objects": TWO,
    "swapped behind it": {**POINTERS, BACK: "    " + TURN},
}
STAYS: dict[str, dict[str, str]] = {
    "an element": {ASSOCIATE: ASSOCIATE.replace("v => g%v", "v => g%v(:, :)")},
    "a name that is hidden": {OBJECT: OBJECT + "  integer :: nx\n"},
    "the name of the object": {ASSOCIATE: ASSOCIATE.replace("h =>", "g => g%nx, h =>")},
    "the result of a function": {ASSOCIATE: ASSOCIATE.replace("0.1d0 / 2", "sin(0.1d0)")},
    "a loop by such a name": {
        HERE: HERE + "    integer :: k\n",
        ASSOCIATE: ASSOCIATE.replace("h =>", "m => g%k, h =>"),
        NEST: "      do m = 1, 3\n        j = m\n      end do\n" + NEST,
    },
    "implicit types": {
        "program heat\n  use mpi_f08\n  use grids\n  implicit none": "program heat\n"
        "  use mpi_f08\n  use grids"
    },
    "a directive": {NEST: "!$omp parallel do private(i)\n" + NEST},
    "output": {END: "      if (it == 3) print *, nx\n" + END},
    "a value that may change at any time": {
        OBJECT: OBJECT + "  real(8), volatile :: w\n",
        ASSOCIATE: ASSOCIATE.replace("0.1d0 / 2", "0.1d0 * w"),
    },
    "allocated in it": {NEST: "      if (it < 0) deallocate(g%v)\n" + NEST},
    "a jump out of it": {END: "      if (it == 49) exit\n" + END},
    "a construct with a name": {
        ASSOCIATE: "    inner: " + ASSOCIATE.lstrip(),
        END: "    end associate inner\n",
    },
    "objects that are swapped": {
        OBJECT: "  type(grid_t), pointer :: g, other, tmp\n",
        "  g%nx = 64\n": "  allocate(g, other)\n  g%nx = 64\n",
        BACK: "    tmp => g\n    g => other\n    other => tmp\n",
    },
    "swapped with another object's": {
        **TWO,
        BACK: "    call move_alloc(g%u, t)\n    call move_alloc(o%u, g%u)\n"
        "    call move_alloc(t, o%u)\n",
    },
    "swapped in it": {**POINTERS, BACK: "", END: "    " + TURN + END},
    "swapped by a routine": {
        **POINTERS,
        BACK: "",
        END: "      call turn()\n" + END,
        "end program heat\n": TURNING,
    },
    "pointed at by its name": {
        **POINTERS,
        OBJECT: POINTERS[OBJECT] + "  real(8), pointer :: w(:,:)\n",
        "  do it = 1, 50\n": "  associate (x => g%u)\n    w => x\n  end associate\n"
        "  do it = 1, 50\n",
        NEST: "      w(1, 0) = 5\n" + NEST,
    },
    "a hidden name in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      integer :: up\n      up = 0\n",
        END: "    end block\n" + END,
    },
    "what is kept in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      integer, save :: n\n      n = 0\n",
        END: "    end block\n" + END,
    },
    "a value to begin with in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      integer :: n = 3\n",
        END: "    end block\n" + END,
    },
    "a pointer in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      real(8), pointer :: w(:)\n",
        END: "    end block\n" + END,
    },
    "a constant in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      integer, parameter :: n = 3\n",
        END: "    end block\n" + END,
    },
    "an automatic array in a BLOCK": {
        ASSOCIATE: ASSOCIATE + "    block\n      real(8) :: w(it)\n",
        END: "    end block\n" + END,
    },
}


def text_of(folder: Path, program: str) -> str:
    return rewritten(folder / "heat.f90", program)


def is_divided(text: str) -> bool:
    return "do j = 2, " in text


@pytest.mark.parametrize("name", DIVIDED)
def test_a_site_in_a_construct_is_rewritten_there(name: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, changed(PROGRAM, DIVIDED[name]))
    assert is_divided(text)
    assert text.index("associate (u") < text.index("MPI_Irecv") < text.index("MPI_Waitall")
    assert text.rindex("MPI_Waitall") < text.rindex("end associate")


@pytest.mark.parametrize("name", STAYS)
def test_a_construct_that_is_not_read_stays(name: str, tmp_path: Path) -> None:
    assert not is_divided(text_of(tmp_path, changed(PROGRAM, STAYS[name])))


APART = """\
program work
  use mpi_f08
  implicit none
  type :: pair
    integer :: n
    real(8) :: a(100), b(100)
  end type pair
  type(pair) :: p
  real(8) :: x(100), y(100)
  integer :: i, it, ierr
  call MPI_Init(ierr)
  p%n = 100
  p%a = 1
  p%b = 2
  x = 3
  do it = 1, 5
    call MPI_Sendrecv(x, 100, MPI_DOUBLE_PRECISION, 0, 1, y, 100, MPI_DOUBLE_PRECISION, 0, 1, &
        MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
    associate (a => p%a, n => p%n)
      do i = 1, n
        a(i) = 0.5d0 * a(i)
      end do
    end associate
    x = x + y
  end do
  print *, sum(p%a), sum(p%b), sum(x), sum(y)
  call MPI_Finalize(ierr)
end program work
"""
AROUND = "    associate (a => p%a, n => p%n)\n"


def waits_behind_the_work(text: str) -> bool:
    return text.find("MPI_Wait") > text.index("end associate" if "asso" in text else "end block")


@pytest.mark.parametrize(
    "replacements",
    [
        {},
        {AROUND: "    associate (a => p%b, n => p%n)\n"},
        {AROUND: "    block\n      integer :: n\n      n = 100\n", "end associate": "end block",
         "        a(i) = 0.5d0 * a(i)": "        p%a(i) = 0.5d0 * p%a(i)"},
    ],
    ids=["associate", "another component", "block"],
)  # fmt: skip
def test_a_message_passes_a_construct(replacements: dict[str, str], tmp_path: Path) -> None:
    assert waits_behind_the_work(text_of(tmp_path, changed(APART, replacements)))


@pytest.mark.parametrize(
    "replacements",
    [
        {"  type(pair) :: p\n  real(8) :: x(100), y(100)\n": "  type(pair) :: p\n"
         "  real(8) :: x(100)\n", " y, 100": " p%a, 100", "x + y": "x + p%a", "sum(y)": "0"},
        {AROUND: "    associate (n => p%n)\n", " a(i)": " y(i)"},
        {AROUND: "    associate (a => y, n => p%n)\n"},
        {AROUND: "    associate (a => p%a, n => p%n, y1 => y(1))\n"},
    ],
    ids=["what it receives", "by its own name", "a variable", "an element"],
)  # fmt: skip
def test_a_message_does_not_pass_what_uses_it(replacements: dict[str, str], tmp_path: Path) -> None:
    assert not waits_behind_the_work(text_of(tmp_path, changed(APART, replacements)))


@pytest.mark.parametrize(
    "setting",
    ["read (*, *) m", "call get_environment_variable('NY', length=m)"],
    ids=["input", "a procedure"],
)
def test_what_an_associate_name_sets_is_known_no_more(setting: str, tmp_path: Path) -> None:
    code = f"    associate (m => g%ny)\n      {setting}\n    end associate\n"
    before = "  do it = 1, 50\n"
    assert not is_divided(text_of(tmp_path, changed(PROGRAM, {before: code + before})))


def test_what_a_construct_declares_lives_in_it(tmp_path: Path) -> None:
    source = tmp_path / "heat.f90"
    source.write_text(changed(PROGRAM, DIVIDED["a BLOCK"]))
    variables = read_program([source], Options()).variables.values()
    found = {each.name: each.lifetime for each in variables if each.lifetime is not None}
    assert found.keys() == {"h", "i", "j", "c"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x = f(u=a%u(u)) + u(1)", "x=f(u=a%u(g%u))+g%u(1)"),
        ("u = merge(1, 2, u == 3)", "g%u=merge(1,2,g%u==3)"),
        ("u%u = 1.e0_u + up", "g%u%u=1.e0_u+up"),
        ("write (*, *) 'u', U", "write(*,*)'u',g%u"),
        ("x = y", "x=y"),
    ],
)
def test_names_are_written_out(text: str, written: str) -> None:
    """Not those of components, of arguments and within texts; each stands where its name does."""
    line = logical_lines(text, fixed=False)[0]
    found = written_out(line, {"u": "g%u"})
    assert found.text == written
    assert len(found.bytes) == len(found.text) and found.bytes == sorted(found.bytes)
    assert (found.start, found.end) == (line.start, line.end)
