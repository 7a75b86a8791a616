"""Loops with directives: OpenMP's are read as the loops that they are, and divided with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.text.directives import both_may_have

C = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N + 2], v[N + 2], w[N], last;
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 10; step++) {
        MPI_Recv(&u[0], 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
%s
        for (int i = 1; i <= N; i++)
            v[i] = u[i - 1] + u[i];
    }
    printf("%%g\\n", v[1]);
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """      program p
      include 'mpif.h'
      integer rank, ierr, i, k, st(MPI_STATUS_SIZE)
      double precision u(0:100), v(100), s
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      do k = 1, 10
      call MPI_RECV(u(0), 1, MPI_DOUBLE_PRECISION, 1 - rank, 0,
     &              MPI_COMM_WORLD, st, ierr)
%s
      do i = 1, 100
         v(i) = u(i-1) + u(i)
      end do
%s
      end do
      print *, v(1)
      call MPI_FINALIZE(ierr)
      end
"""


def run(tmp_path: Path, name: str, text: str, flags: tuple[str, ...] = ()) -> tuple[str, str]:
    """The text that comes of a program, and all that is told."""
    source = tmp_path / name
    source.write_text(text)
    outcome = transform([source], Options(flags=list(flags)))
    assert not outcome.skipped
    told = [line for d in outcome.decisions for line in (d.reason.text, *d.details)]
    return outcome.after[str(source)].decode(), "\n".join(told)


@pytest.mark.parametrize("flags", [(), ("-fopenmp",), ("-fopenmp=libgomp",), ("-fopenmp-simd",)])
@pytest.mark.parametrize(
    "directive",
    [
        "#pragma omp parallel for",
        "#  pragma omp parallel for schedule(dynamic, 4) num_threads(2) \\\n    default(shared)",
        "#pragma omp simd safelen(8)",
        "#pragma GCC ivdep",
        "#pragma omp parallel for simd private(rank) if (size > 1)",
        "#pragma omp parallel for collapse(1)",
    ],
)
def test_both_parts_of_a_loop_in_c_have_its_directive(
    directive: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    text, told = run(tmp_path, "p.c", C % directive, flags)
    assert text.count(directive) == 2, told
    interior, boundary = text.split("MPI_Wait")
    behind = interior.split(directive)[1].strip()
    assert behind.startswith("for (int i = 2; i <= N; i++)")
    assert boundary.split(directive)[1].strip().startswith("for (int i = 1; ")


@pytest.mark.parametrize(
    "directive",
    [
        "#pragma omp parallel for reduction(+:last)",
        "#pragma omp parallel for lastprivate(last)",
        "#pragma omp for",
        "#pragma omp parallel for ordered",
        "#pragma omp parallel for linear(rank)",
        "#pragma omp parallel for schedule(static",
        "#pragma imbrex independent(v)",
    ],
)
def test_what_joins_iterations_keeps_the_loop_whole(directive: str, tmp_path: Path) -> None:
    text, told = run(tmp_path, "p.c", C % directive)
    assert text == C % directive
    assert "a directive belongs to the loop" in told


def test_a_region_is_not_passed(tmp_path: Path) -> None:
    text, told = run(tmp_path, "p.c", C % "#pragma omp parallel")
    assert text == C % "#pragma omp parallel"
    assert "#pragma omp parallel" in told


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("c$omp parallel do", "c$omp end parallel do"),
        ("!$OMP PARALLEL DO SCHEDULE(STATIC)", "!$OMP ENDPARALLELDO"),
        ("!$omp parallel do private(i)\n!$omp& shared(u, v)", "!$omp end parallel do"),
        ("!$omp parallel do", ""),
        ("!$omp simd", "!$omp end simd"),
    ],
)
def test_both_parts_of_a_loop_in_fortran_have_its_directives(
    first: str, last: str, tmp_path: Path
) -> None:
    text, told = run(tmp_path, "p.f", FORTRAN % (first, last))
    assert text.count(first) == 2, told
    interior, boundary = text.split("call MPI_WAIT", 1)
    for part, header in ((interior, "do i = 2, 100\n"), (boundary, "do i = 1, min(1, 100)\n")):
        begin = part.index(first) + len(first)
        assert part[begin:].lstrip().startswith(header), part
        if last:
            assert part[begin:].split("end do\n")[1].startswith(last), part


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("!$omp parallel do reduction(+:s)", "!$omp end parallel do"),
        ("!$omp parallel do lastprivate(s)", "!$omp end parallel do"),
        ("!$omp parallel\n!$omp do", "!$omp end do\n!$omp end parallel"),
        ("!$omp parallel workshare", "!$omp end parallel workshare"),
        ("!$omp parallel do\n!$omp parallel do", "!$omp end parallel do"),
    ],
)
def test_other_directives_in_fortran_keep_the_loop_whole(
    first: str, last: str, tmp_path: Path
) -> None:
    text, _ = run(tmp_path, "p.f", FORTRAN % (first, last))
    assert text == FORTRAN % (first, last)


def test_nothing_gets_between_a_directive_and_its_loop(tmp_path: Path) -> None:
    """The start of an exchange in a routine goes in front of the directive of what it passes."""
    exchange = """static void exchange(int rank)
{
    MPI_Recv(&u[0], 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main("""
    loop = """#pragma omp parallel for
        for (int i = 0; i < N; i++)
            w[i] = 0.5 * w[i] + i;
        exchange(rank);"""
    receive = C[C.index("        MPI_Recv") : C.index("%s")]
    program = C.replace(receive, "").replace("int main(", exchange, 1) % loop
    text, told = run(tmp_path, "p.c", program)
    first = "#pragma omp parallel for\n        for (int i = 0;"
    assert text.index("exchange_start(rank, exchange_requests);") < text.index(first), told
    assert text.count("#pragma omp parallel for\n") == text.count(first) == 1


@pytest.mark.parametrize(
    ("text", "cut", "allowed"),
    [
        ("#pragma omp parallel for collapse(2)\n", 1, True),
        ("#pragma omp parallel for collapse(2)\n", 2, False),
        (
            "#pragma omp parallel for private(a, b(1))schedule(static)\n#pragma GCC unroll 4\n",
            2,
            True,
        ),
        ("#pragma omp parallel for nowait\n", 1, False),
        ("#pragma omp target teams distribute parallel for\n", 1, False),
        ("#pragma acc loop\n", 1, False),
        ("10  ", 1, False),
    ],
)
def test_what_both_parts_may_have(text: str, cut: int, allowed: bool) -> None:
    assert both_may_have(text, cut, {}) is allowed


@pytest.mark.parametrize(
    ("clause", "allowed"),
    [
        ("reduction(+:s)", True),
        ("private(a) reduction( + : s , t ) schedule(static)", True),
        ("reduction(max:high)", True),
        ("reduction(MIN: Low)", True),
        ("reduction(+:s) reduction(max:high)", True),
        ("reduction(-:s)", False),
        ("reduction(*:s)", False),
        ("reduction(max:s)", False),
        ("reduction(min:high)", False),
        ("reduction(+:s,other)", False),
        ("reduction(inscan,+:s)", False),
        ("reduction(+:s[0:4])", False),
        ("reduction", False),
        ("lastprivate(s)", False),
    ],
)
def test_a_reduction_has_to_be_what_the_loop_is_known_to_do(clause: str, allowed: bool) -> None:
    known = {"s": "sum", "t": "sum", "high": "chosen max", "low": "extreme min"}
    assert both_may_have(f"#pragma omp parallel for {clause}\n", 1, known) is allowed
    assert both_may_have(f"!$omp parallel do {clause}\n", 1, known) is allowed
