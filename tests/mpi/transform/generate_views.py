"""Random Fortran programs in which routines declare what they get of whole arrays in several ways.

Exchanges and steps are routines of a module that take arrays, components in a type of types, with
the sizes of their lines: mostly those of the object, at times others. Buffers are as long as these
sizes say, and the number of messages is counted. Some nests are DO CONCURRENT.
"""

from __future__ import annotations

import random
import re

COLUMNS, ROWS = 24, 18
HEAD = """module views
  {use}
  implicit none
  integer, parameter :: columns = {columns}, rows = {rows}
  type :: fields_t
    double precision, {owned} :: u(:, :), v(:, :), w(:, :)
  end type fields_t
  type :: chunk_t
    integer :: nx, ny, peer
    type(fields_t) :: f
  end type chunk_t
  type(chunk_t) :: a, b
  integer :: rank
contains
  subroutine rows_of(x, m, k, peer)
    integer, intent(in) :: m, k, peer
    double precision, intent(inout) :: x(0:m+1, 0:k+1)
    integer :: ierr
    call MPI_Sendrecv(x(1, k), m, MPI_DOUBLE_PRECISION, peer, 1, x(1, 0), m, &
      MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine rows_of

  subroutine ends_of(x, m, k, peer)
    integer, intent(in) :: m, k, peer
    double precision, intent(inout) :: x(0:m+1, 0:k+1)
    double precision :: sent(k), got(k)
    double precision, dimension(k, 2) :: more
    {request} :: request(4)
    integer :: number, j, ierr
    number = 0
    if (peer >= 0) then
      do j = 1, k
        sent(j) = x(m, j)
      end do
      call MPI_Isend(sent, k, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, request(number + 1), &
        ierr)
      call MPI_Irecv(got, k, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, request(number + 2), &
        ierr)
      number = number + 2
    end if
    do j = 1, k
      more(j, 1) = x(1, j)
    end do
    call MPI_Isend(more(1, 1), k, MPI_DOUBLE_PRECISION, peer, 3, MPI_COMM_WORLD, &
      request(number + 1), ierr)
    call MPI_Irecv(more(1, 2), k, MPI_DOUBLE_PRECISION, peer, 3, MPI_COMM_WORLD, &
      request(number + 2), ierr)
    number = number + 2
    call MPI_Waitall(number, request, MPI_STATUSES_IGNORE, ierr)
    if (peer >= 0) then
      do j = 1, k
        x(0, j) = got(j)
      end do
    end if
    do j = 1, k
      x(m + 1, j) = more(j, 2)
    end do
  end subroutine ends_of

  subroutine sides_of(x, low, high, k, peer)
    integer, intent(in) :: low, high, k, peer
    double precision, intent(inout) :: x(low:high, 0:k+1)
    double precision, dimension(k*(high-low+1)) :: sent, got
    integer :: at, j, ierr
    at = 0
    do j = 1, k
      at = at + 1
      sent(at) = x(high - 1, j)
    end do
    call MPI_Sendrecv(sent, at, MPI_DOUBLE_PRECISION, peer, 4, got, at, MPI_DOUBLE_PRECISION, &
      peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    at = 0
    do j = 1, k
      at = at + 1
      x(low, j) = got(at)
    end do
  end subroutine sides_of

  subroutine tops_of(x, m, k, peer)
    integer, intent(in) :: m, k, peer
    double precision, intent(inout) :: x(0:m+1, 0:k+1)
    double precision, allocatable :: sent(:), got(:)
    {request}, allocatable :: request(:)
    integer :: i, ierr
    allocate(sent(m), got(0:m-1), request(2), stat=ierr)
    call MPI_Irecv(got, m, MPI_DOUBLE_PRECISION, peer, 5, MPI_COMM_WORLD, request(1), ierr)
    do i = 1, m; sent(i) = x(i, 1); end do
    call MPI_Isend(sent, m, MPI_DOUBLE_PRECISION, peer, 5, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
    do i = 1, m
      x(i, k + 1) = got(i - 1)
    end do
    {freed}
  end subroutine tops_of

  subroutine step(x, y, m, k)
    integer, intent(in) :: m, k
    double precision, intent(in) :: x(0:m+1, 0:k+1)
    double precision, intent(inout) :: y(0:m+1, 0:k+1)
    integer :: i, j
    do j = 1, k
      do i = 1, m
        y(i, j) = 0.25d0 * (x(i - 1, j) + x(i + 1, j)) + 0.125d0 * (x(i, j - 1) + x(i, j + 1))
      end do
    end do
  end subroutine step

  subroutine whole(x, y, m, k)
    integer, intent(in) :: m, k
    double precision, intent(in) :: x(0:m+1, 0:k+1)
    double precision, intent(inout) :: y(0:m+1, 0:k+1)
    y(1:m, 1:k) = 0.5d0*y(1:m, 1:k) + 0.25d0*(x(0:m-1, 1:k) + x(1:m, 0:k-1)) &
      - 0.125d0*x(2:m+1, 2:k+1)
  end subroutine whole

  subroutine deep_of(x, m, k, peer)
    integer, intent(in) :: m, k, peer
    double precision, intent(inout) :: x(0:m+1, 0:k+1)
    integer :: ierr
    call MPI_Sendrecv(x(0, k - 1), 2 * (m + 2), MPI_DOUBLE_PRECISION, peer, 6, x(0, 0), &
      2 * (m + 2), MPI_DOUBLE_PRECISION, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine deep_of

  subroutine wide(x, y, m, k)
    integer, intent(in) :: m, k
    double precision, intent(in) :: x(0:m+1, 0:k+1)
    double precision, intent(out) :: y(0:m+1, 0:k+1)
    integer :: i, j
    do j = 2, k
      do i = 1, m
        y(i, j) = 0.5d0 * (x(i, j - 2) + x(i, j - 1)) - 0.125d0 * (x(i - 1, j) + x(i, j + 1))
      end do
    end do
    y(:, 0:1) = 0.25d0
    y(0, 2:) = 0.5d0
    y(m + 1, 2:) = 0.5d0
    y(1:m, k + 1) = 0.125d0
  end subroutine wide

  subroutine from_one(x, y, m, k)
    integer, intent(in) :: m, k
    double precision, intent(in) :: x(m + 2, k + 2)
    double precision, intent(inout) :: y(m + 2, k + 2)
    integer :: i, j
    do j = 2, k + 1
      do i = 2, m + 1
        y(i, j) = 0.5d0 * y(i, j) + 0.25d0 * (x(i - 1, j) + x(i, j - 1))
      end do
    end do
  end subroutine from_one

  subroutine in_lines(x, m, k)
    integer, intent(in) :: m, k
    double precision, intent(inout) :: x(m, k)
    integer :: i, j
    do j = 1, k
      do i = 1, m
        x(i, j) = 0.5d0 * x(i, j) + 0.25d0
      end do
    end do
  end subroutine in_lines

  subroutine inside(x, low, high, k)
    integer, intent(in) :: low, high, k
    double precision, intent(inout) :: x(low:high, 0:k+1)
    integer :: i, j
    do j = 1, k
      do i = low + 1, high - 1
        x(i, j) = 0.5d0 * x(i, j) + 0.125d0
      end do
    end do
  end subroutine inside

  subroutine reset(c, first)
    type(chunk_t), intent(inout) :: c
    integer, intent(in) :: first
    integer :: i, j
    c%nx = columns
    c%ny = rows
    c%peer = 1 - rank
    if (.not. {asked}(c%f%u)) then
      allocate(c%f%u(0:columns+{more}, 0:rows+3), c%f%v(columns+{more}+1, rows+4))
      allocate(c%f%w(0:columns+1, 0:rows+3))
    end if
    do j = 0, rows + 1
      do i = 0, columns + 1
        c%f%u(i, j) = mod(i * 7 + j * 3 + first + rank * 5, 32) / 32.0d0
        c%f%v(i + 1, j + 1) = mod(i * 5 + j * 3 + first + rank * 5, 32) / 32.0d0
        c%f%w(i, j) = mod(i * 3 + j * 7 + first + rank * 5, 32) / 32.0d0
      end do
    end do
    c%f%u(columns + 1:, :) = 0.5d0
    c%f%u(:, rows + 1:) = 0.25d0
    c%f%v(columns + 2:, :) = 0.5d0
    c%f%v(:, rows + 2:) = 0.25d0
    c%f%w(:, rows + 1:) = 0.25d0
  end subroutine reset

  subroutine check(number, c, first)
    integer, intent(in) :: number, first
    type(chunk_t), intent(in) :: c
    write(*, '(3i8,es25.17)') number, rank, first, added(c%f%u)
    write(*, '(3i8,es25.17)') number, rank, first + 1, added(c%f%v)
    write(*, '(3i8,es25.17)') number, rank, first + 2, added(c%f%w)
  end subroutine check

  double precision function added(x)
    double precision, intent(in) :: x(:, :)
    integer :: i, j
    added = 0.0d0
    do j = 1, size(x, 2)
      do i = 1, size(x, 1)
        added = 0.99609375d0 * added + x(i, j) * (1 + mod(i + j, 13))
      end do
    end do
  end function added
"""
MAIN = """end module views

program random
  use views
  implicit none
  integer :: ierr
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  open(6, file='rank'//char(48 + rank)//'.txt', position='append')
{calls}
  call MPI_FINALIZE(ierr)
end program random
"""
CALLS = """  call reset(a, 1)
  call reset(b, 2)
  call p{seed}
  call check({seed}, a, 1)
  call check({seed}, b, 4)"""
# What each routine begins with, so that something is rewritten in each program.
FIRST = """    sent = rank + 0.5d0
    call MPI_Sendrecv(sent, 40, MPI_DOUBLE_PRECISION, 1 - rank, 9, got, 40, &
      MPI_DOUBLE_PRECISION, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, 400
      own = 0.5d0 * own + i
    end do
    a%f%w(3, 3) = got(3) + own"""


class _Routine:
    """One routine: a few steps, each of exchanges and nests on the fields of one object."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.wild = self.random.random() < 0.4  # sizes that are not those of the object

    def text(self) -> str:
        steps: list[str] = []
        for _ in range(self.random.choice((2, 3))):
            chunk = self.random.choice("ab")
            steps += [self._exchange(chunk)]
            if self.random.random() < 0.3:
                steps += self._between(chunk)
            same = chunk if self.random.random() < 0.8 else self.random.choice("ab")
            steps += self._work(same)
        inner = "\n".join(f"      {line}" for line in steps)
        return (
            f"  subroutine p{self.seed}\n    double precision :: sent(40), got(40), own\n"
            "    integer :: i, j, m, k, round, ierr\n    m = a%nx\n    k = a%ny\n    own = 0.0d0\n"
            f"{FIRST}\n    do round = 1, 3\n{inner}\n    end do\n  end subroutine p{self.seed}\n"
        )

    def _field(self, chunk: str) -> str:
        return f"{chunk}%f%{self.random.choice('uuvw')}"

    def _sizes(self, chunk: str) -> tuple[str, str]:
        """How long lines are, and how many."""
        if self.wild and self.random.random() < 0.3:
            return self.random.choice((f"{chunk}%nx - 1", "columns - 2", "m")), self._rows(chunk)
        if self.random.random() < 0.3:
            return "m", "k"
        return f"{chunk}%nx", self._rows(chunk)

    def _rows(self, chunk: str) -> str:
        return self.random.choice((f"{chunk}%ny", f"{chunk}%ny", f"{chunk}%ny - 1"))

    def _exchange(self, chunk: str) -> str:
        m, k = self._sizes(chunk)
        name = self.random.choice(
            ("rows_of", "ends_of", "ends_of", "sides_of", "tops_of", "deep_of", "deep_of")
        )
        if name == "sides_of":
            low, high = self.random.choice((("0", f"{m} + 1"), ("1", f"{m} + 2"), ("0", m)))
            m = f"{low}, {high}"
        return f"call {name}({self._field(chunk)}, {m}, {k}, {chunk}%peer)"

    def _between(self, chunk: str) -> list[str]:
        choices = [
            [f"{self._field(chunk)}(4, 2) = 0.5d0 * own"],
            [f"if (mod(round, 2) == 0) {chunk}%ny = {chunk}%ny - 1"],
            [f"k = {chunk}%ny - 2"],
        ]
        if self.wild:
            choices += [
                [f"{chunk}%nx = {chunk}%nx - 1"],
                ["m = columns - mod(round, 3)"],
                [f"if (round == 2) {chunk}%nx = columns - 3"],
            ]
        return self.random.choice(choices)

    def _work(self, chunk: str) -> list[str]:
        m, k = self._sizes(chunk)
        one, other = self.random.sample(["u", "v", "w"], 2)
        x, y = f"{chunk}%f%{one}", f"{chunk}%f%{other}"
        draw = self.random.random()
        if draw < 0.15:
            return [f"call wide({x}, {y}, {m}, {k})"]
        if draw < 0.4:
            return [f"call step({x}, {y}, {m}, {k})"]
        if draw < 0.5:
            return [f"call whole({x}, {y}, {m}, {k})"]
        if draw < 0.6:
            return [f"call from_one({x}, {y}, {m}, {k})"]
        if draw < 0.7:
            return [f"call in_lines({x}, {m}, {k})"]
        if draw < 0.8:
            return [f"call inside({x}, 0, {m} + 1, {k})"]
        if draw < 0.9:
            return self._whole_lines(x, y, m, k)
        first = self.random.choice("12")
        # v begins at 1, the others at 0.
        beside = f"{y}(i + 1, j + 1)" if other == "v" else f"{y}(i + 1, j - 1)"
        inner = self.random.choice((f"0.5d0 * {y}(i, j)", f"0.5d0 * {beside}", "0.75d0"))
        header = self.random.choice(
            (f"(j = {first}:{k}, i = 1:{m})", f"(i = {m}:{first}:-1, j = 1:{k})")
        )
        return [f"do concurrent {header}", f"  {x}(i, j) = {inner}", "end do"]

    def _whole_lines(self, x: str, y: str, m: str, k: str) -> list[str]:
        """Assignments of whole lines, under a mask or beside others."""
        part = other = f"(1:{m}, 1:{k})"
        if self.random.random() < 0.3:
            other = f"(1:{m}, 0:{k} - 1)" if "%v" not in y else f"(2:{m} + 1, 1:{k})"
        return self.random.choice(
            (
                [f"where ({y}{part} > 0.25d0) &\n        {x}{part} = 0.5d0 * {y}{other}"],
                [
                    f"where ({x}{part} > 0.5d0)",
                    f"  {x}{part} = 0.5d0 * {x}{part}",
                    f"elsewhere ({y}{part} > 0.25d0)",
                    f"  {x}{part} = 0.25d0 + {y}{part} / 2.0d0",
                    "elsewhere",
                    f"  {x}{part} = 0.125d0",
                    "end where",
                ],
                [f"do j = 1, {k}; {x}(1:{m}, j) = 0.5d0 * {y}(1:{m}, j); own = j; end do"],
                [
                    f"do j = 1, {k}; do i = 1, {m}",
                    f"  {x}(i, j) = 0.5d0 * {y}(i, j) + 0.125d0",
                    "end do; end do",
                ],
                [self._sections(x, self.random.choice((x, y, y)), part, m, k)],
                [f"own = 0.5d0 * own; {x}{part} = {y}{part} - 0.25d0; i = 2; j = i"],
            )
        )

    def _sections(self, x: str, y: str, part: str, m: str, k: str) -> str:
        """Sections beside each other: which are the same elements depends on where v begins."""
        add = 1 if "%v" in y else 0
        columns = f"{1 + add}:{m} + {add}" if add else f"1:{m}"
        rows = f"{1 + add}:{k} + {add}" if add else f"1:{k}"
        beside = (f"{add}:{m} - {1 - add}", f"{2 + add}:{m} + {1 + add}")
        above = (f"{add}:{k} - {1 - add}", f"{2 + add}:{k} + {1 + add}")
        terms = [f"{y}({each}, {rows})" for each in beside]
        terms += [f"{y}({columns}, {each})" for each in above]
        chosen = self.random.sample(terms, self.random.choice((1, 2, 2, 3)))
        return (
            f"{x}{part} = 0.5d0*{x}{part} &\n        + 0.125d0*("
            + " &\n        + ".join(chosen)
            + ")"
        )


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn; its module has its own name.

    Every second one uses the handles of mpi_f08.
    """
    own = seeds[0] // 2 % 2 == 1
    pointers = seeds[0] // 4 % 3 == 0
    head = HEAD.format(
        use="use mpi_f08" if own else "use mpi",
        request="type(MPI_Request)" if own else "integer",
        columns=COLUMNS,
        rows=ROWS,
        more=seeds[0] % 3 + 1,
        owned="pointer" if pointers else "allocatable",
        asked="associated" if pointers else "allocated",
        freed="deallocate(sent, got, request)" if seeds[0] // 4 % 2 else "i = 0",
    )
    if pointers:
        head = head.replace("v(:, :), w(:, :)", "v(:, :), w(:, :) => null()")
        head = head.replace("u(:, :), v", "u(:, :) => null(), v")
    calls = "\n".join(CALLS.format(seed=seed) for seed in seeds)
    routines = "\n".join(_Routine(seed).text() for seed in seeds)
    text = head + "\n" + routines + MAIN.format(calls=calls)
    if random.Random(seeds[0]).random() < 0.5:  # the datatype is in a variable of the module
        handle = "type(MPI_Datatype)" if own else "integer"
        text = text.replace("MPI_DOUBLE_PRECISION", "held")
        text = text.replace("  implicit none\n", f"  implicit none\n  {handle} :: held\n", 1)
        start = "  call MPI_INIT(ierr)\n"
        text = text.replace(start, f"{start}  held = MPI_DOUBLE_PRECISION\n")
    text = _sizes_in_object(text, random.Random(seeds[0] + 1))
    text = _sizes_in_arrays(text, random.Random(seeds[0] + 2))
    for kind in ("module", "use"):
        text = text.replace(f"{kind} views", f"{kind} views{seeds[0]}")
    return text


def _sizes_in_object(text: str, draw: random.Random) -> str:
    """In some programs the sizes are those of an object, of which there may be another one."""
    if draw.random() < 0.35:
        return text
    head, constants, rest = re.split(r"  (integer, parameter :: columns.*)\n", text, maxsplit=1)
    names = draw.choice(("extent", "extent", "extent, other"))
    rest = re.sub(r"\b(columns|rows)\b", r"extent%\1", rest)
    if "other" in names:
        rest = re.sub(r"allocate\(c%f.*", lambda m: m[0].replace("extent", "other"), rest)
    given = "".join(
        f"  {name}%columns = {COLUMNS}\n  {name}%rows = {ROWS}\n" for name in names.split(", ")
    )
    start = "  call MPI_INIT(ierr)\n"
    rest = rest.replace(start, start + given)
    if draw.random() < 0.4:  # arrays that exist keep the sizes that they have
        smaller = "  extent%columns = extent%columns - 1\n"
        rest = rest.replace("  call reset(b, 2)\n", f"  call reset(b, 2)\n{smaller}", 1)
    kind = (
        f"  type :: extent_t\n    {constants.split(',')[0]} :: columns, rows\n  end type extent_t\n"
    )
    return f"{head}{kind}  type(extent_t) :: {names}\n{rest}"


def _sizes_in_arrays(text: str, draw: random.Random) -> str:
    """In some programs the sizes of an object, or of what others have, are elements of an array."""
    if draw.random() < 0.5:
        text = re.sub(r"\b(extent|other)%columns\b", r"\1%of(1)", text)
        text = re.sub(r"\b(extent|other)%rows\b", r"\1%of(2)", text)
        text = re.sub(r"(type :: extent_t\n.*) :: columns, rows\n", r"\1 :: of(2)\n", text)
    if draw.random() < 0.5:
        text = text.replace("integer :: nx, ny, peer", "integer :: n(2), peer")
        text = re.sub(r"%nx\b", "%n(1)", text)
        text = re.sub(r"%ny\b", "%n(2)", text)
    return text
