"""Whole random programs of Fortran that call procedures by the types of objects.

A module has a type with arrays, exchanges, steps and what only looks like these; another one has
the random routines. Procedures are called by the type or by their own names, on a variable, a
dummy argument, an element or a component. Now and then a type overrides one, or a pointer names an
object.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SIZES = "integer, parameter :: columns = 24, rows = 18"
HEAD = """module fields{number}
  {use}
  implicit none
  {private}{sizes}
  type{public} :: grid_t
    integer :: nx, ny, peer
    double precision, allocatable :: u(:, :), v(:, :), w(:, :)
  contains
{bindings}
  end type grid_t
{more}contains
  subroutine reset(o, first)
    {kind}(grid_t), intent(inout) :: o
    integer, intent(in) :: first
    integer :: i, j, rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    o%nx = columns
    o%ny = rows
    o%peer = 1 - rank
    if (.not. allocated(o%u)) then
      allocate(o%u(0:columns+1, 0:rows+1), o%v(0:columns+1, 0:rows+1), o%w(0:columns+1, 0:rows+1))
    end if
    do j = 0, rows + 1
      do i = 0, columns + 1
        o%u(i, j) = mod(i * 7 + j * 3 + first + rank * 5, 32) / 32.0d0
        o%v(i, j) = mod(i * 5 + j * 3 + first + rank * 5, 32) / 32.0d0
        o%w(i, j) = mod(i * 3 + j * 7 + first + rank * 5, 32) / 32.0d0
      end do
    end do
  end subroutine reset

  subroutine swap_u(o)
    {kind}(grid_t), intent(inout) :: o
    integer :: ierr
    call MPI_Sendrecv(o%u(1, o%ny), o%nx, MPI_DOUBLE_PRECISION, o%peer, 1, o%u(1, 0), o%nx, &
      MPI_DOUBLE_PRECISION, o%peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(o%u(1, 1), o%nx, MPI_DOUBLE_PRECISION, o%peer, 2, o%u(1, o%ny + 1), o%nx, &
      MPI_DOUBLE_PRECISION, o%peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine swap_u

  subroutine swap_v(tag, o)
    integer, intent(in) :: tag
    {kind}(grid_t), intent(inout) :: o
    {request} :: r(2)
    integer :: ierr
    call MPI_Irecv(o%v(1, 0), o%nx, MPI_DOUBLE_PRECISION, o%peer, tag, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Isend(o%v(1, o%ny), o%nx, MPI_DOUBLE_PRECISION, o%peer, tag, MPI_COMM_WORLD, &
      r(2), ierr)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  end subroutine swap_v

  subroutine swap_more(o, tag)
    {kind}(grid_t), intent(inout) :: o
    integer, intent(in) :: tag
    double precision :: sent(rows), got(rows)
    integer :: j, ierr
    do j = 1, rows
      sent(j) = o%u(columns, j)
    end do
    call MPI_Sendrecv(sent, rows, MPI_DOUBLE_PRECISION, o%peer, tag, got, rows, &
      MPI_DOUBLE_PRECISION, o%peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do j = 1, rows
      o%u(0, j) = got(j)
    end do
  end subroutine swap_more

  subroutine swap_both(o)
    {kind}(grid_t), intent(inout) :: o
    call {inner_u}
    call {inner_v}
  end subroutine swap_both

  subroutine step_u(o)
    {kind}(grid_t), intent(inout) :: o
    integer :: i, j
    do j = 1, o%ny
      do i = 1, o%nx
        o%v(i, j) = 0.25d0 * (o%u(i - 1, j) + o%u(i + 1, j)) &
          + 0.125d0 * (o%u(i, j - 1) + o%u(i, j + 1))
      end do
    end do
  end subroutine step_u

  subroutine step_v(o)
    {kind}(grid_t), intent(inout) :: o
    integer :: i, j
    do j = 1, o%ny
      do i = 1, o%nx
        o%u(i, j) = 0.5d0 * o%u(i, j) + 0.25d0 * (o%v(i, j - 1) + o%v(i, j + 1))
      end do
    end do
  end subroutine step_v

  subroutine relax(o, factor)
    {kind}(grid_t), intent(inout) :: o
    double precision, intent(in) :: factor
    integer :: i, j
    do j = 1, o%ny
      do i = 1, o%nx
        o%w(i, j) = factor * o%w(i, j) + 0.125d0
      end do
    end do
  end subroutine relax

  subroutine mark(o)
    {kind}(grid_t), intent(inout) :: o
    o%u(3, o%ny) = 0.5d0 * o%u(3, 0)
  end subroutine mark

  subroutine run(o)
    {kind}(grid_t), intent(inout) :: o
    call {inner_u}
    call {inner_step}
  end subroutine run

  double precision function added(o)
    {kind}(grid_t), intent(in) :: o
    integer :: i, j
    added = 0.0d0
    do j = 0, rows + 1
      do i = 0, columns + 1
        added = 0.99609375d0 * added &
          + (o%u(i, j) + 2 * o%v(i, j) + 3 * o%w(i, j)) * (1 + mod(i + j, 13))
      end do
    end do
  end function added
{extra}end module fields{number}

module runs{number}
  {use}
  use fields{number}{only}
  implicit none
  type :: block_t
    integer :: n
    type(grid_t) :: grid
  end type block_t
  type(grid_t){target} :: g, many(2)
  type(block_t) :: b
{pointer}contains
"""
MAIN = """end module runs{number}

program random
  use mpi
  use fields{number}
  use runs{number}
  implicit none
  type(grid_t) :: h
  integer :: rank, ierr
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  open(6, file='rank'//char(48 + rank)//'.txt', position='append')
{calls}
  call MPI_FINALIZE(ierr)
end program random
"""
CALLS = """  call h%reset(1)
  call g%reset(2)
  call many(1)%reset(3)
  call many(2)%reset(4)
  call b%grid%reset(5)
  call p{seed}(h)
  write(*, '(3i8,es25.17)') {seed}, rank, 1, h%added()
  write(*, '(3i8,es25.17)') {seed}, rank, 2, g%added()
  write(*, '(3i8,es25.17)') {seed}, rank, 3, many(1)%added()
  write(*, '(3i8,es25.17)') {seed}, rank, 4, many(2)%added()
  write(*, '(3i8,es25.17)') {seed}, rank, 5, b%grid%added()
  write(*, '(3i8,es25.17)') {seed}, rank, 6, h%w(3, 3)"""
# A collective that computation follows in each routine.
BEGIN = """    integer :: i, k, round, ierr
    double precision :: shared(40), own
    k = 2
    own = 0.0d0
    shared = h%w(1, 1)
    call MPI_Bcast(shared, 40, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    do i = 1, 400
      own = 0.5d0 * own + i
    end do
"""
# Procedures by what they are called with behind the object, and the place of that.
ARGUMENTS = {
    "swap_u": "", "swap_v": "3", "swap_more": "4", "swap_both": "", "step_u": "", "step_v": "",
    "relax": "0.5d0", "mark": "", "run": "",
}  # fmt: skip
LAST = frozenset({"swap_v"})  # those that have the object as the last argument
OVERRIDE = """
  subroutine mark_more(o)
    class(more_t), intent(inout) :: o
    o%n = o%n + 1
    o%u(4, 4) = o%n
  end subroutine mark_more
"""
MORE = """  type, extends(grid_t){public} :: more_t
    integer :: n = 0
  contains
    procedure :: mark => mark_more
  end type more_t
"""


def by_name(name: str, on: str, *, prefix: str = "") -> str:
    """A call by the procedure's own name."""
    given = [on, ARGUMENTS[name]] if ARGUMENTS[name] else [on]
    return f"{prefix}{name}({', '.join(reversed(given) if name in LAST else given)})"


def by_type(name: str, on: str, draw: random.Random) -> str:
    """A call by the type of the object; two have a generic name too."""
    bound = "move" if name in ("swap_u", "swap_more") and draw.random() < 0.3 else name
    if not ARGUMENTS[name] and draw.random() < 0.2:
        return f"{on} % {bound}"
    return f"{on}%{bound}({ARGUMENTS[name]})"


@dataclass
class Program:
    """What is chosen for all routines of one program."""

    draw: random.Random
    withheld: bool = False
    plain: bool = False  # procedures may be called by their own names
    pointer: bool = False
    extended: bool = False
    lines: list[str] = field(default_factory=list)

    def call(self, name: str, on: str) -> str:
        if self.plain and self.draw.random() < 0.3:
            return by_name(name, on)
        return by_type(name, on, self.draw)

    def routine(self, seed: int) -> str:
        """A few steps, each of calls on one object, with others between them at times."""
        draw = self.draw
        kind = draw.choice(["type", "class"])
        head = f"  subroutine p{seed}(h)\n    {kind}(grid_t), intent(inout) :: h\n"
        head += BEGIN
        objects = ["g", "h", "many(1)", "many(k)", "b%grid", *(["p"] if self.pointer else [])]
        lines = []
        for _ in range(draw.randint(2, 4)):
            on = draw.choice(objects)
            body = self.step(on, objects)
            if draw.random() < 0.6:
                turns = draw.randint(2, 3)
                body = [f"do round = 1, {turns}", *(f"  {line}" for line in body), "end do"]
            lines += body
        lines.append("h%w(3, 3) = shared(3) + own")
        return head + "".join(f"    {line}\n" for line in lines) + f"  end subroutine p{seed}\n"

    def step(self, on: str, objects: list[str]) -> list[str]:
        draw = self.draw
        lines = []
        for _ in range(draw.randint(1, 3)):
            swap = draw.choice(["swap_u", "swap_v", "swap_more", "swap_both", "run"])
            lines.append(f"call {self.call(swap, on)}")
            if draw.random() < 0.25:
                lines.append(
                    draw.choice(["k = 3 - k", f"own = own + {on}%added()", "own = own + 1"])
                )
            for _ in range(draw.randint(1, 2)):
                name = draw.choice(["step_u", "step_v", "relax", "relax", "mark", "step_u"])
                other = on if draw.random() < 0.8 else draw.choice(objects)
                lines.append(f"call {self.call(name, other)}")
        if draw.random() < 0.3:
            lines.append(f"if (own > 1.0d3) call {self.call('mark', on)}")
        return lines


def bindings(draw: random.Random) -> str:
    """The lines that bind the type, several to a line at times."""
    lines = ["procedure :: reset, added", "procedure, pass(o) :: swap_v"]
    names = [name for name in ARGUMENTS if name != "swap_v"]
    draw.shuffle(names)
    while names:
        count = draw.randint(1, 3)
        lines.append("procedure :: " + ", ".join(names[:count]))
        names = names[count:]
    return "\n".join(f"    {line}" for line in [*lines, "generic :: move => swap_u, swap_more"])


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    draw = random.Random(f"bound {seeds[0]}")
    number = seeds[0]
    chosen = Program(draw, withheld=draw.random() < 0.5, pointer=draw.random() < 0.1)
    chosen.plain = draw.random() < 0.5
    chosen.extended = draw.random() < 0.1
    own = draw.random() < 0.3
    listed = draw.random() < 0.5
    names = ["grid_t", *(ARGUMENTS if chosen.plain else [])]
    given = f"private\n  public :: {', '.join(names[1:])}\n  " if chosen.plain else "private\n  "
    inner = [by_type, lambda name, on, _: by_name(name, on)][draw.random() < 0.3]
    head = HEAD.format(
        number=number,
        use="use mpi_f08" if own else "use mpi",
        private=given if chosen.withheld else "",
        public=", public" if chosen.withheld else "",
        sizes=SIZES,
        kind="class",
        request="type(MPI_Request)" if own else "integer",
        bindings=bindings(draw),
        inner_u=inner("swap_u", "o", draw),
        inner_v=inner("swap_v", "o", draw),
        inner_step=inner("step_u", "o", draw),
        more=MORE.format(public=", public" if chosen.withheld else "") if chosen.extended else "",
        extra=OVERRIDE if chosen.extended else "",
        only=f", only: {', '.join(names)}" if listed else "",
        target=", target" if chosen.pointer else "",
        pointer="  type(grid_t), pointer :: p\n" if chosen.pointer else "",
    )
    calls = "\n".join(CALLS.format(seed=seed) for seed in seeds)
    if chosen.pointer:
        calls = f"  p => many(1)\n{calls}"
    text = head + "\n".join(map(chosen.routine, seeds))
    main = MAIN.format(number=number, calls=calls)
    return text + main.replace("use mpi\n", "use mpi_f08\n" if own else "use mpi\n")
