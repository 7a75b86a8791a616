"""Whole random programs whose data are components of objects: see random_objects.py."""

from __future__ import annotations

import re

from random_objects import LENGTH, routines  # type: ignore[import-not-found]

HEAD = """module objects
  {use}
  implicit none
  integer, parameter :: n = {length}
  type :: inner_t
    double precision :: x(n)
    integer :: tag
  end type inner_t
  type :: grid_t
    integer :: nx, peer
    double precision :: s, t
    double precision, allocatable :: u(:)
    double precision :: e(n), f(n)
    {request} :: r(4)
    double precision, allocatable :: v(:)
    type(inner_t) :: inner
  end type grid_t
  type(grid_t) :: g, many(3)
  integer :: rank
contains
  subroutine reset(o, first)
    type(grid_t), intent(inout) :: o
    integer, intent(in) :: first
    integer :: i
    if (.not. allocated(o%u)) allocate(o%u(n))
    if (.not. allocated(o%v)) allocate(o%v(n))
    o%nx = n
    o%peer = 1 - rank
    o%inner%tag = 9
    o%s = 0.0d0
    o%t = 0.0d0
    do i = 1, n
      o%u(i) = mod(i * 7 + first + rank * 5, 32) / 32.0d0
      o%v(i) = mod(i * 7 + first + 3 + rank * 5, 32) / 32.0d0
      o%e(i) = mod(i * 7 + first + 6 + rank * 5, 32) / 32.0d0
      o%f(i) = mod(i * 7 + first + 9 + rank * 5, 32) / 32.0d0
      o%inner%x(i) = mod(i * 7 + first + 12 + rank * 5, 32) / 32.0d0
    end do
  end subroutine reset

  subroutine add(x, sum)
    double precision, intent(in) :: x(n)
    double precision, intent(inout) :: sum
    integer :: i
    do i = 1, n
      sum = 0.99609375d0 * sum + x(i) * (1 + mod(i, 13))
    end do
  end subroutine add

  subroutine add_object(o, sums)
    type(grid_t), intent(in) :: o
    double precision, intent(inout) :: sums(6)
    call add(o%u, sums(1))
    call add(o%v, sums(2))
    call add(o%e, sums(3))
    call add(o%f, sums(4))
    call add(o%inner%x, sums(5))
    sums(6) = 0.5d0 * sums(6) + o%s + 0.25d0 * o%t
  end subroutine add_object

  subroutine check(number, h)
    integer, intent(in) :: number
    type(grid_t), intent(in) :: h
    double precision :: sums(6)
    integer :: i
    sums = 0.0d0
    call add_object(g, sums)
    call add_object(h, sums)
    do i = 1, 3
      call add_object(many(i), sums)
    end do
    do i = 1, 6
      write(*, '(3i8,es25.17)') number, rank, i, sums(i)
    end do
  end subroutine check

  subroutine work(x, m)
    integer, intent(in) :: m
    double precision, intent(inout) :: x(m)
    integer :: i
    do i = 1, m
      x(i) = 0.5d0 * x(i) + 0.25d0
    end do
  end subroutine work

  subroutine mix(x, y)
    double precision, intent(inout) :: x(:)
    double precision, intent(in) :: y(*)
    integer :: i
    do i = 1, min(size(x), n)
      x(i) = 0.5d0 * (x(i) + y(i))
    end do
  end subroutine mix

  subroutine smooth(o)
    type(grid_t), intent(inout) :: o
    integer :: i
    do i = 1, n
      o%v(i) = 0.5d0 * o%v(i) + 0.25d0 * o%e(i)
    end do
  end subroutine smooth

  subroutine mark(o)
    type(grid_t), intent(inout) :: o
    o%u(3) = 0.5d0 * o%s
    o%inner%x(n) = 0.5d0 * o%t
  end subroutine mark

  subroutine blend(o, x)
    type(grid_t), intent(inout) :: o
    double precision, intent(in) :: x(:)
    integer :: i
    do i = 1, n
      o%f(i) = 0.5d0 * o%f(i) + 0.25d0 * x(i) + 0.125d0 * o%s
    end do
  end subroutine blend
"""
_ROUTINE = re.compile(
    r"(?s)  subroutine (\w+)\([^)]*\)\n(?:    integer, intent\(in\) :: \w+\n)?"
    r"    type\(grid_t\), intent\((\w+)\) :: (\w+)\n(.*?)(  end subroutine)"
)
EXTENT = """  type :: extent_t
    integer :: n
  end type extent_t
  type(extent_t) :: extent
"""
MAIN = """end module objects

program random
  use objects
  implicit none
  type(grid_t) :: h
  integer :: ierr
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  open(6, file='rank'//char(48 + rank)//'.txt', position='append')
{calls}
  call MPI_FINALIZE(ierr)
end program random
"""
CALLS = """  call reset(h, 1)
  call reset(g, 2)
  call reset(many(1), 3)
  call reset(many(2), 4)
  call reset(many(3), 5)
  call p{seed}(h)
  call check({seed}, h)"""


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn; its module has its own name.

    Every second one uses the handles of mpi_f08.
    """
    own = seeds[0] // 2 % 2 == 1
    head = HEAD.format(
        use="use mpi_f08" if own else "use mpi",
        request="type(MPI_Request)" if own else "integer",
        length=LENGTH,
    )
    calls = "\n".join(CALLS.format(seed=seed) for seed in seeds)
    text = head + "\n".join(map(routines, seeds)) + "\n" + MAIN.format(calls=calls)
    if seeds[0] % 4:  # the sizes of arrays are those of an object, and it gets others at times
        text = text.replace("  type :: inner_t\n", f"{EXTENT}  type :: inner_t\n")
        text = text.replace("allocate(o%u(n))", "allocate(o%u(extent%n))")
        text = text.replace("allocate(o%v(n))", "allocate(o%v(extent%n))")
        text = text.replace("MPI_INIT(ierr)\n", "MPI_INIT(ierr)\n  extent%n = n\n")
        if seeds[0] % 4 == 2:
            text = text.replace("reset(g, 2)\n", "reset(g, 2)\n  extent%n = n + 8\n", 1)
    if seeds[0] // 8 % 4 == 3:
        text = with_views(text)
    return text.replace("module objects", f"module objects{seeds[0]}").replace(
        "use objects", f"use objects{seeds[0]}"
    )


def with_views(text: str) -> str:
    """The program with pointers to components, set first of all, in routines that get an object."""
    text = text.replace("type(grid_t) :: g,", "type(grid_t), target :: g,")
    text = text.replace("  type(grid_t) :: h\n", "  type(grid_t), target :: h\n")
    return _ROUTINE.sub(_with_view, text)


def _with_view(match: re.Match[str]) -> str:
    """A routine that names components of numbers which an object allocates by pointers instead."""
    head, given, name, body, _ = match.groups()
    found = sorted(set(re.findall(rf"\b{name}%([uv])\(", body)))
    if not found or head in ("reset", "check", "add_object"):
        return match[0]
    declared = ", ".join(f"to_{part}(:)" for part in found)
    lines = [f"    type(grid_t), intent({given}), target :: {name}"]
    lines.append(f"    double precision, pointer, contiguous :: {declared}")
    first = re.search(r"(?m)^    integer :: i\b.*\n", body)
    at = 0 if first is None else first.end()
    sets = "".join(f"    to_{part} => {name}%{part}\n" for part in found)
    rest = re.sub(rf"\b{name}%([uv])\(", r"to_\1(", body[at:])
    new = "\n".join([*lines, body[:at] + sets + rest])
    return match[0].replace(f"    type(grid_t), intent({given}) :: {name}\n{body}", new)
