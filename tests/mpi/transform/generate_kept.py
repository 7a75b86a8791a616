"""Whole random programs of Fortran whose sizes an object or a module keeps of what it is given.

The main program and a routine between use their own names for the sizes, or the components, and now
and then they change one of them: loops up to the one then end elsewhere than the other says.
"""

from __future__ import annotations

import random

HEAD = """module halos{number}
  {use}
  implicit none
  integer :: wide, high
{begin}  contains
    procedure :: init => halo_init
    procedure :: exchange => halo_exchange
  end type halo_t
{arrays}contains
  subroutine halo_init(self, nx, ny)
    class(halo_t), intent(inout) :: self
    integer{given} :: nx, ny
    integer :: rank, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    self%peer = 1 - rank
{inside}    self%nx = nx
    self%ny = ny
    wide = nx
    high = ny
  end subroutine halo_init
  subroutine halo_exchange(self, u)
    class(halo_t), intent(in) :: self
    real(8), intent(inout) :: u({shape})
    integer :: ierr, i
    {requests} :: r(4)
    real(8) :: below(64)
{names}{messages}{names_end}  end subroutine halo_exchange
  subroutine halo_both(self, u, v)
    class(halo_t), intent(in) :: self
    real(8), intent(inout) :: u({shape}), v({shape})
    call halo_exchange(self, u)
    call {by}v)
  end subroutine halo_both
  subroutine halo_all(self, u, v, w)
    class(halo_t), intent(in) :: self
    real(8), intent(inout) :: u({shape}), v({shape}), w({shape})
    call halo_both(self, u, v)
    call {by}w)
  end subroutine halo_all
  subroutine made(o, n, m)
    type(halo_t), intent(inout) :: o
    integer :: n, m
    call o%init(n, m)
{in_made}  end subroutine made
{lower}  subroutine less(n)
    integer, intent(inout) :: n
    n = n - 1
  end subroutine less
end module halos{number}
program random
  {use}
  use halos{number}
  implicit none
  type(halo_t) :: h
{own}  integer :: i, j, k, rank, got, ierr{sizes}
  call MPI_INIT(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  open(6, file='rank'//char(48 + rank)//'.txt', position='append')
{calls}
  call MPI_FINALIZE(ierr)
end program random
"""
BLOCKING = """    call MPI_Sendrecv(u(1, {ny}), {nx}, MPI_REAL8, {peer}, 1, u(1, 0), {nx}, &
      MPI_REAL8, self%peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), {nx}, MPI_REAL8, self%peer, 2, u(1, {ny} + 1), {nx}, &
      MPI_REAL8, {peer}, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
"""
# With requests and, now and then, buffers of its own.
NONBLOCKING = """    call MPI_Irecv({low}, {nx}, MPI_REAL8, {peer}, 1, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(u(1, {ny} + 1), {nx}, MPI_REAL8, self%peer, 2, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(u(1, {ny}), {nx}, MPI_REAL8, self%peer, 1, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Isend(u(1, 1), {nx}, MPI_REAL8, {peer}, 2, MPI_COMM_WORLD, r(4), ierr)
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
"""
UNPACKING = """    do i = 1, {nx}
      u(i, 0) = below(i)
    end do
"""
# So that something is rewritten where the main program calls no exchange by itself.
FIRST = """call MPI_Sendrecv(rank, 1, MPI_INTEGER, 1 - rank, 9, got, 1, MPI_INTEGER, 1 - rank, 9, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  do j = 1, 10
    do i = 1, 10
      v(i, j) = 0.5d0 * v(i, j) + i
    end do
  end do
  w(1, 1) = got"""
PLAIN = "  type :: halo_t\n    integer :: peer\n    integer :: nx{first}, ny{first}\n"
# The same components, of which some are another type's.
EXTENDED = (
    "  type :: place_t\n    integer :: nx{first}, ny{first}\n  end type place_t\n"
    "  type, extends(place_t) :: halo_t\n    integer :: peer\n"
)
REQUESTS = ("integer", "type(MPI_Request)")
LOWER = """  subroutine lower(self)
    class(place_t), intent(inout) :: self
    self%ny = self%ny - 1
  end subroutine lower
"""
ARRAYS = "  real(8), allocatable :: u(:, :), v(:, :), w(:, :)\n"
ALLOCATE = (
    "allocate (u(0:{0} + {2}, 0:{1} + {2}), v(0:{0} + {2}, 0:{1} + {2}), &\n"
    "    w(0:{0} + {2}, 0:{1} + {2}))"
)


class _Program:
    """What is chosen for one program."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.named = draw.random() < 0.25  # the sizes are named constants
        self.by_made = draw.random() < 0.4
        self.extended = draw.random() < 0.4
        self.shared = draw.random() < 0.4 or self.by_made
        self.by_others = draw.random() < 0.4  # no exchange is called by the main program itself

    def size(self, number: int) -> str:
        """A name of the width or the height."""
        names = (["nx", "h%nx", "wide"], ["ny", "h%ny", "high"])[number]
        names += [f"h%place_t%{names[0]}"] * self.extended
        return self.draw.choice([names[0], names[0], *names])

    def sweep(self) -> list[str]:
        into, of = self.draw.sample(["u", "v", "w"], 2)
        low, less = self.draw.choice([("1", ""), ("1", ""), ("2", " - 1")])
        terms = self.draw.choice(
            [
                "0.25d0 * ({0}(i - 1, j) + {0}(i + 1, j) + {0}(i, j - 1) + {0}(i, j + 1))",
                "0.5d0 * {0}(i, j) + 0.25d0 * ({0}(i, j - 1) + {0}(i, j + 1))",
                "0.5d0 * {0}(i, j) + 0.25d0",
            ]
        )
        return [
            f"do j = {low}, {self.size(1)}{less}",
            f"  do i = 1, {self.size(0)}",
            f"    {into}(i, j) = {terms.format(of)}",
            "  end do",
            "end do",
        ]

    def change(self) -> list[str]:
        """Another size, from here on: smaller ones alone, so that the arrays hold them."""
        if self.named:
            changes = ["h%ny = h%ny - 1", "call less(h%ny)", "high = high - 1"]
        else:
            changes = ["ny = ny - 1", "h%ny = h%ny - 1", "call less(ny)", "call less(h%ny)"]
            changes.append("nx = nx - 1")
        if self.extended:
            changes += ["call lower(h)", "h%place_t%ny = h%ny - 1", "call lower(h%place_t)"]
        return [self.draw.choice(changes)]

    def steps(self) -> list[str]:
        draw = self.draw
        lines = []
        for _ in range(draw.randint(2, 4)):
            several = draw.choice([2, 2, 3] if self.by_others else [1, 1, 2, 3])
            body = []
            apart = draw.sample("uvw", several)
            if self.by_others or (several > 1 and draw.random() < 0.3):
                body.append(f"call halo_{'both' if several == 2 else 'all'}(h, {', '.join(apart)})")
                apart = []
            elif several > 1:
                apart = draw.choices("uvw", k=several)
            for which in apart:
                how = draw.choice([f"h%exchange({which})", f"halo_exchange(h, {which})"])
                body.append(f"call {how}")
                if draw.random() < 0.05:
                    body.append(
                        draw.choice(
                            [
                                "u(2, 2) = v(2, 1)",
                                "call MPI_Barrier(MPI_COMM_WORLD, ierr)",
                                "v = 0.5d0 * v",
                            ]
                        )
                    )
            for _ in range(draw.randint(1, 2)):
                body += self.sweep()
            if draw.random() < 0.03:
                body += self.change()
            if draw.random() < 0.6:
                body = [f"do k = 1, {draw.randint(2, 4)}", *(f"  {b}" for b in body), "end do"]
            if draw.random() < 0.03:
                body += self.change()
            lines += body
        return lines


def _messages(draw: random.Random, sized: dict[str, str], *, by_others: bool) -> str:
    if draw.random() < 0.4 and not by_others:
        return BLOCKING.format(**sized)
    packed = draw.random() < 0.4
    text = NONBLOCKING.format(low="below" if packed else "u(1, 0)", **sized)
    return text + UNPACKING.format(**sized) if packed else text


def source(seeds: list[int]) -> str:
    """One program of the steps of all seeds; the sizes are those of the first."""
    draw = random.Random(f"kept {seeds[0]}")
    chosen = _Program(draw)
    nx, ny = draw.randint(12, 40), draw.randint(12, 40)
    made = ALLOCATE.format("n", "m", 1)
    calls = [] if chosen.named else [f"nx = {nx}", f"ny = {ny} + 0 * rank"]
    if draw.random() < 0.2 and not chosen.named:
        calls.append("call MPI_Bcast(ny, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)")
    late = draw.random() < 0.1 and not chosen.named
    if chosen.by_made:
        calls.append("call made(h, nx, ny)")
    else:
        calls.append(draw.choice(["call h%init(nx, ny)", "call halo_init(h, nx, ny)"]))
        calls.append(ALLOCATE.format(chosen.size(0), chosen.size(1), draw.choice([1, 1, 2])))
    if late:
        calls.append("ny = ny - 1")
    calls += ["u = 0.25d0", "v = 0.5d0", "w = 0.125d0", "u(3, :) = rank"]
    calls += [FIRST] if chosen.by_others else []
    for seed in seeds:
        calls += chosen.steps()
        results = ["sum(u)", "sum(v)", "sum(w)", "u(2, 1)", "v(3, 2)", "1.0d0 * h%ny"]
        for number, result in enumerate(results):
            line = f"write(*, '(3i10,es25.17)') {seed}, rank, {number}, {result}"
            calls.append(line)
    explicit = draw.random() < 0.3
    own = draw.random() < 0.3
    sizes = f"\n  integer, parameter :: nx = {nx}, ny = {ny}" if chosen.named else ", nx, ny"
    kept = draw.random() < 0.7
    named = draw.choice(["self", "self%place_t"]) if chosen.extended else ""
    if draw.random() < 0.5:
        named = ""
    begin = EXTENDED if chosen.extended else PLAIN
    sized = {
        "nx": ("d%nx" if named else "self%nx") if kept else "wide",
        "ny": ("d%ny" if named else "self%ny") if kept else "high",
        "peer": "to" if named else "self%peer",
    }
    return HEAD.format(
        number=seeds[0],
        messages=_messages(draw, sized, by_others=chosen.by_others),
        requests=REQUESTS[own],
        by=draw.choice(["self%exchange(", "halo_exchange(self, "]),
        use="use mpi_f08" if own else "use mpi",
        arrays=ARRAYS if chosen.shared else "",
        own="" if chosen.shared else ARRAYS,
        begin=begin.format(first=draw.choice(["", "", " = 10"])),
        lower=LOWER if chosen.extended else "",
        names=f"    associate (d => {named}, to => self%peer)\n" if named else "",
        names_end="    end associate\n" if named else "",
        given=draw.choice([", intent(in)", ""]),
        inside="    if (nx < 0) return\n" if draw.random() < 0.1 else "",
        shape="0:self%nx + 1, 0:*" if explicit and kept else "0:, 0:",
        in_made=f"    {made}\n" if chosen.by_made else "",
        sizes=sizes,
        calls="\n".join(f"  {line}" for line in calls),
    )
