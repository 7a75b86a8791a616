"""A called loop nest whose loops no argument bounds: divided by two routines, or left whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {{
    {size} nx, ny;
    int up, down;
    double *u, *v;
}} strip;
static double total;
#define AT(s, i, j) ((i) * ((s)->nx + 2) + (j))
static void exchange(const strip *s, double *p)
{{
    MPI_Request r[4];
    MPI_Irecv(&p[AT(s, 0, 1)], {count}, MPI_DOUBLE, s->down, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&p[AT(s, s->ny + 1, 1)], s->nx, MPI_DOUBLE, s->up, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&p[AT(s, s->ny, 1)], s->nx, MPI_DOUBLE, s->up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&p[AT(s, 1, 1)], s->nx, MPI_DOUBLE, s->down, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}}
{lead} relax({parameters})
{{
    {first}
    {directive}
    for (int i = {low}; i <= s->ny; i++)
        for (int j = 1; j <= s->nx; j++) {{
            {body}
        }}
    {behind}
}}
static void turn(strip *s, strip *other)
{{
    {turn}
}}
int main(int argc, char **argv)
{{
    strip s, other;
    strip *at = &s;
    MPI_Init(&argc, &argv);
    s.nx = argc;
    s.ny = 3 * argc;
    s.up = s.down = MPI_PROC_NULL;
    other.nx = other.ny = argc;
    other.up = other.down = MPI_PROC_NULL;
    s.u = calloc(1000, sizeof(double));
    s.v = {second};
    other.u = calloc(1000, sizeof(double));
    other.v = calloc(1000, sizeof(double));
    for (int step = 0; step < 20; step++) {{
        exchange({given});
        {between}
        {call};
        turn(&s, &other);
    }}
    {once}
    printf("%g %g %d\\n", s.u[3], total, at->up);
    MPI_Finalize();
    return 0;
}}
"""
USUAL = {
    "size": "int",
    "count": "s->nx",
    "lead": "static void",
    "parameters": "const strip *s, const double *p, double *q",
    "first": "",
    "directive": "",
    "low": "1",
    "body": "q[AT(s, i, j)] = p[AT(s, i - 1, j)] + p[AT(s, i + 1, j)];",
    "behind": "",
    "turn": "double *t = s->u; s->u = s->v; s->v = t; (void)other;",
    "second": "calloc(1000, sizeof(double))",
    "given": "&s, s.u",
    "between": "",
    "call": "relax(&s, s.u, s.v)",
    "once": "",
}
GOES: dict[str, dict[str, str]] = {
    "more behind the loops": {"behind": "total += q[5];"},
    "as usual": {},
    "through a pointer": {"given": "at, at->u", "call": "relax(at, at->u, at->v)"},
    "bounds that have a name": {"first": "const double half = 0.5; (void)half;"},
    "also called as a whole": {"once": "relax(&s, s.v, s.u);"},
    "a value of one iteration": {
        "body": "double w = p[AT(s, i - 1, j)] + p[AT(s, i + 1, j)]; q[AT(s, i, j)] = w;"
    },
    "nothing turns": {"turn": "(void)s; (void)other;"},
    "work between": {"between": "total += 1.0;"},
    "its fields by name": {
        "parameters": "const strip *s",
        "body": "s->v[AT(s, i, j)] = s->u[AT(s, i - 1, j)] + s->u[AT(s, i + 1, j)];",
        "call": "relax(&s)",
    },
    "a value": {"lead": "static int", "behind": "return 1;"},
    "sizes without a sign": {"size": "unsigned"},
}
STAYS = {
    "in place": {"call": "relax(&s, s.u, s.u)"},
    "both arrays are one": {"second": "s.u"},
    "both arrays are of one piece of memory": {"second": "s.u + 4"},
    "not turned, but copied": {"turn": "s->u = s->v; (void)other;"},
    "turned with another object's": {
        "turn": "double *t = s->u; s->u = s->v; other->v = t; other->u = s->u;"
    },
    "one object's into another": {
        "turn": "double *t = s->u; s->u = other->v; s->v = t;",
    },
    "two objects that share": {
        "turn": "other->u = s->u;",
        "call": "relax(&s, s.u, other.u)",
    },
    "an object that was copied": {"turn": "*other = *s;", "call": "relax(&s, s.u, other.u)"},
    "the size that is sent is that of others": {
        "given": "&other, s.u",
    },
    "a longer message": {"count": "2 * s->nx + 4"},
    "a row beyond": {"low": "0", "body": "q[AT(s, i, j)] = p[AT(s, 0, j)];"},
    "a sum": {"body": "total += p[AT(s, i, j)];"},
    "of what is computed before": {"body": "q[AT(s, i, j)] = q[AT(s, i - 1, j)] + 1.0;"},
    "a value carried on": {
        "first": "double w = 0.0;",
        "body": "q[AT(s, i, j)] = w; w = p[AT(s, i, j)];",
    },
    "a directive of the loop": {"directive": "\n#pragma omp parallel for ordered\n"},
    "a directive of a region": {"directive": "\n#pragma omp parallel\n"},
    "a condition of the preprocessor": {"directive": "\n#ifdef FAST\ns->ny;\n#endif\n"},
    "a declaration reads what comes": {
        "first": "double w = p[AT(s, 0, 1)];",
        "body": "q[AT(s, i, j)] = w + p[AT(s, i - 1, j)];",
    },
    "a declaration reads what it computes": {
        "first": "double w = q[AT(s, 1, 1)];",
        "body": "q[AT(s, i, j)] = w + p[AT(s, i - 1, j)];",
    },
    "memory of its own": {
        "parameters": "const strip *s, const double *p, double *q",
        "body": "static double w; w = p[AT(s, i - 1, j)]; q[AT(s, i, j)] = w;",
    },
    "the last value is wanted behind the loops": {
        "first": "double d;",
        "body": "d = p[AT(s, i - 1, j)]; q[AT(s, i, j)] = d;",
        "behind": "total += d;",
    },
    "a return": {"body": "if (p[AT(s, i, j)] < 0.0) return; q[AT(s, i, j)] = 1.0;"},
    "the pointer moves on": {
        "between": "s.u += 2;",
    },
    "another object is meant": {
        "given": "at, at->u",
        "between": "at = &other;",
        "call": "relax(at, at->u, at->v)",
    },
    "the size changes": {"between": "s.nx--;"},
    "a row is set between": {"between": "s.u[AT(&s, s.ny / 2, 1)] = 0.0;"},
}


def rewritten(changes: dict[str, str], folder: Path) -> str:
    path = folder / "program.c"
    path.write_text(PROGRAM.format(**{**USUAL, **changes}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    text = rewritten(GOES[name], tmp_path)
    order = ["exchange_start(", "relax_interior(", "exchange_finish(", "relax_boundary("]
    loop = text[text.index("for (int step") :]
    assert sorted(order, key=loop.index) == order
    bound = "i + 1 <= s->ny" if GOES[name].get("size") == "unsigned" else "i <= s->ny - 1"
    assert text.count(f"int i = 2; {bound}; i++") == 1
    assert ("static void relax(" in text) is ("relax(" in GOES[name].get("once", ""))


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(STAYS[name], tmp_path)
    assert "relax_interior" not in text


def test_again_nothing_changes(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(rewritten({}, tmp_path))
    outcome = transform([path], Options())
    assert outcome.after == outcome.before


def test_parts_that_are_there_are_used(tmp_path: Path) -> None:
    """A name that is taken by another routine is left to it."""
    taken = "static void relax_interior(void) { total += 1.0; }\nstatic void"
    text = rewritten({"lead": taken, "once": "relax_interior();"}, tmp_path)
    assert "relax_interior2(&s, s.u, s.v)" in text
    assert "relax_boundary2(&s, s.u, s.v)" in text


def test_in_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.format(**{**USUAL, "lead": "void"})
    first, middle = text.index("static void exchange"), text.index("void relax")
    behind = text.index("static void turn")
    prototype = "void relax(const strip *s, const double *p, double *q);\n"
    Path("strip.h").write_text(text[:first] + prototype)
    own = '#include "strip.h"\n'
    Path("main.c").write_text(own + text[first:middle] + text[behind:])
    Path("relax.c").write_text(own + text[middle:behind])
    outcome = transform([Path("main.c"), Path("relax.c")], Options())
    assert not outcome.skipped, outcome.skipped
    main, other = outcome.after["main.c"].decode(), outcome.after["relax.c"].decode()
    assert "void relax_interior(const strip *s, const double *p, double *q);" in main
    assert main.index("exchange_start(&s") < main.index("relax_interior(&s")
    assert "void relax(const" in other and "void relax_boundary(const" in other


COMMON = """      program p
      include 'mpif.h'
      integer nx, ny, next, prev, ierr
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, next, prev
      call MPI_INIT(ierr)
      nx = 100
      ny = 60
      next = MPI_PROC_NULL
      prev = MPI_PROC_NULL
      call exch
      call relax
      print *, v(1,1)
      call MPI_FINALIZE(ierr)
      end
      subroutine exch
      include 'mpif.h'
      integer nx, ny, next, prev, ierr, r(2)
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, next, prev
      call MPI_IRECV(u(1,0), {count}, MPI_DOUBLE_PRECISION, prev, 1,
     &               MPI_COMM_WORLD, r(1), ierr)
      call MPI_ISEND(u(1,ny), nx, MPI_DOUBLE_PRECISION, next, 1,
     &               MPI_COMM_WORLD, r(2), ierr)
      call MPI_WAITALL(2, r, MPI_STATUSES_IGNORE, ierr)
      end
      subroutine relax
      integer nx, ny, next, prev, i, j
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, next, prev
      do j = 1, ny
        do i = 1, {last}
          {condition}v(i,j) = u(i,j-1) + u(i,j+1)
        end do
      end do
      end
"""


@pytest.mark.parametrize(
    ("changes", "goes"),
    [
        ({}, True),
        ({"last": "nx - 1"}, False),  # column nx may be one that the array does not have
        ({"last": "nx + 1"}, True),
        ({"count": "nx + 1"}, False),
        ({"count": "2*nx"}, False),
        ({"condition": "if (i .lt. ny) "}, False),  # it need not touch all that it goes over
    ],
)
def test_a_message_that_fits_into_a_row(
    changes: dict[str, str], goes: bool, tmp_path: Path
) -> None:
    """Column `nx` is one of the array, since the loop behind the message touches it."""
    path = tmp_path / "program.f"
    path.write_text(COMMON.format(**{"count": "nx", "last": "nx", "condition": "", **changes}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert ("call relax_interior" in outcome.after[str(path)].decode()) is goes


SECTION = """module m
  use mpi_f08
  implicit none
contains
  subroutine exchange(f, n, next)
    double precision, intent(inout) :: f(0:, 0:)
    integer, intent(in) :: n, next
    type(MPI_Request) :: r(2)
    call MPI_Irecv(f({received}), n, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(f(:, 2), n, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
  end subroutine exchange
  subroutine relax(f, g, n)
    double precision, intent(in) :: f(0:, 0:)
    double precision, intent(inout) :: g(0:, 0:)
    integer, intent(in) :: n
    integer :: i, j, m
    m = n
    do j = 1, m
      do i = 1, n
        g(i, j) = f(i, j - 1) + f(i, j + 1)
      end do
    end do
  end subroutine relax
end module m
program p
  use m
  implicit none
  double precision, allocatable :: u(:, :), v(:, :)
  call MPI_Init()
  allocate (u(0:41, 0:41), v(0:41, 0:41))
  u = 1.0d0
  v = u
  call exchange({given}, {count}, MPI_PROC_NULL)
  call relax(u, v, 40)
  print *, v(3, 3)
  call MPI_Finalize()
end program p
"""

SECTION_PLAIN = {"received": ":, 0", "given": "u", "count": "42"}


@pytest.mark.parametrize(
    ("changes", "goes"),
    [
        ({}, True),
        ({"received": "0:41, 0"}, True),
        ({"received": ":, 0:1"}, True),
        ({"received": ":, 0:3"}, False),
        ({"received": ":, 5"}, False),
        ({"received": "0, 0"}, True),
        ({"received": "0, 0", "count": "252"}, False),  # it goes on behind the row of its element
        ({"given": "u(:, ::2)"}, False),
    ],
)
def test_a_message_from_a_section(changes: dict[str, str], goes: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.f90"
    path.write_text(SECTION.format(**SECTION_PLAIN | changes))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert ("relax_interior" in outcome.after[str(path)].decode()) is goes


def test_no_interface_goes_out_of_date(tmp_path: Path) -> None:
    """Outside a module its callers write the interface of a routine with such arguments."""
    outside = SECTION.replace("module m\n  use mpi_f08\n  implicit none\ncontains\n", "")
    outside = outside.replace("end module m\n", "")
    for line in ("  subroutine exchange(f, n, next)\n", "  subroutine relax(f, g, n)\n"):
        use = "    use mpi_f08\n" if "exchange" in line else ""
        outside = outside.replace(line, f"{line}{use}    implicit none\n")
    interface = """  use mpi_f08
  implicit none
  interface
    subroutine exchange(f, n, next)
      double precision, intent(inout) :: f(0:, 0:)
      integer, intent(in) :: n, next
    end subroutine exchange
    subroutine relax(f, g, n)
      double precision, intent(in) :: f(0:, 0:)
      double precision, intent(inout) :: g(0:, 0:)
      integer, intent(in) :: n
    end subroutine relax
  end interface
"""
    outside = outside.replace("  use m\n  implicit none\n", interface)
    path = tmp_path / "program.f90"
    path.write_text(outside.format(**SECTION_PLAIN))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert "exchange_start" not in text and "relax_interior" not in text
    told = [detail for decision in outcome.decisions for detail in decision.details]
    assert any("stands in no module" in detail for detail in told)


CARRIED = """module m
  use mpi
  implicit none
  integer, parameter :: n = 100
  real(8) :: u(0:n+1), v(0:n+1)
  integer :: left, right
contains
  subroutine exchange()
    integer :: ierr
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, u(0), 1, MPI_DOUBLE_PRECISION, &
         left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine step()
    integer :: i
    real(8) :: %(declared)s
    %(first)s
    do i = 1, n
      %(body)s
    end do
  end subroutine step
end module m
program p
  use m
  integer :: t, ierr
  call MPI_Init(ierr)
  do t = 1, 10
    call exchange()
    call step()
    u = v
  end do
  call MPI_Finalize(ierr)
end program p
"""


@pytest.mark.parametrize(
    ("declared", "first", "body", "divided"),
    [
        ("s", "s = 0", "s = u(i-1)\n      v(i) = s + u(i+1)", True),
        ("s", "s = 0", "s = s + u(i-1)\n      v(i) = s + u(i+1)", False),
        ("s(1)", "s(1) = 0", "s(1) = s(1) + u(i-1)\n      v(i) = s(1) + u(i+1)", False),
        ("s", "s = 0", "v(i) = s + u(i+1)\n      s = u(i-1)", False),
    ],
)
def test_a_local_that_iterations_carry(
    declared: str, first: str, body: str, divided: bool, tmp_path: Path
) -> None:
    """What is gone when the routine returns may still carry values through its loop."""
    path = tmp_path / "carried.f90"
    path.write_text(CARRIED % {"declared": declared, "first": first, "body": body})
    outcome = transform([path], Options())
    assert (b"step_interior" in outcome.after[str(path)]) is divided
