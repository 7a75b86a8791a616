"""How fast `imbrex transform` reads and decides: lines per second on generated sources.

    python benchmarks/transform_speed.py [--lines 20000] [--language c,f] [--every 1,8]

The sources are one main program and as many routines as it takes, each with loops; each one, or
one of eight, with a message in each direction. Whole programs have a call of MPI in a hundred lines
and more, so that the first is the worst case and the second near the usual one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C_ROUTINE = """
static void step_{n}(double *x, int peer)
{{
    static double out_{n}[1000], in_{n}[1000];
    for (int i = 0; i < 1000; i++)
        out_{n}[i] = 0.5 * x[i] + {n}.0;
    MPI_Send(out_{n}, 1000, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD);
    for (int i = 1; i < 1000; i++) {{
        x[i] = 0.25 * x[i - 1] + 0.75 * x[i];
        if (x[i] > 1000.0)
            x[i] = 1.0;
    }}
    MPI_Recv(in_{n}, 1000, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++)
        x[i] += in_{n}[i];
}}
"""
C_MAIN = """
int main(int argc, char **argv)
{{
    static double x[1000];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
{calls}
    MPI_Finalize();
    return 0;
}}
"""
F_ROUTINE = """
      subroutine step{n}(x, peer)
      include 'mpif.h'
      double precision x(1000), outb(1000), inb(1000)
      integer peer, i, ierr
      do i = 1, 1000
        outb(i) = 0.5d0 * x(i) + {n}.0d0
      end do
      call MPI_SEND(outb, 1000, MPI_DOUBLE_PRECISION, peer, {tag},
     &  MPI_COMM_WORLD, ierr)
      do i = 2, 1000
        x(i) = 0.25d0 * x(i-1) + 0.75d0 * x(i)
        if (x(i) .gt. 1000.0d0) x(i) = 1.0d0
      end do
      call MPI_RECV(inb, 1000, MPI_DOUBLE_PRECISION, peer, {tag},
     &  MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      do i = 1, 1000
        x(i) = x(i) + inb(i)
      end do
      end
"""
F_MAIN = """      program speed
      include 'mpif.h'
      double precision x(1000)
      integer rank, ierr
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
{calls}
      call MPI_FINALIZE(ierr)
      end
"""


def without_messages(language: str, routine: str) -> str:
    """The routine with lines that compute in the place of those that send and receive."""
    compute = "    x[0] += 1.0;" if language == "c" else "      x(1) = x(1) + 1.0d0"
    lines = routine.splitlines()
    return "\n".join(compute if "MPI_" in line or "&" in line else line for line in lines) + "\n"


def source(language: str, lines: int, every: int) -> str:
    """A program of about `lines` lines; one of `every` routines communicates."""
    routine = C_ROUTINE if language == "c" else F_ROUTINE
    count = max(1, lines // (routine.count("\n") + 1))
    plain_routine = without_messages(language, routine)
    bodies = "".join(
        (plain_routine if n % every else routine).format(n=n, tag=n % 100) for n in range(count)
    )
    if language == "c":
        calls = "\n".join(f"    step_{n}(x, 1 - rank);" for n in range(count))
        return "#include <mpi.h>\n" + bodies + C_MAIN.format(calls=calls)
    calls = "\n".join(f"      call step{n}(x, 1 - rank)" for n in range(count))
    return F_MAIN.format(calls=calls) + bodies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=20000)
    parser.add_argument("--language", default="c,f")
    parser.add_argument("--every", default="1,8", help="one of so many routines communicates")
    arguments = parser.parse_args()
    families = [
        (language, int(every))
        for language in arguments.language.split(",")
        for every in arguments.every.split(",")
    ]
    for language, every in families:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / f"speed.{language}"
            path.write_text(source(language, arguments.lines, every))
            lines = path.read_text().count("\n")
            start, busy = time.perf_counter(), time.process_time()
            outcome = transform([path], Options())
            seconds, busy = time.perf_counter() - start, time.process_time() - busy
        rewritten = sum(decision.decision == "rewritten" for decision in outcome.decisions)
        name = {"c": "C", "f": "Fortran"}[language]
        print(
            f"{name}: {lines} lines in {seconds:.1f} s, {lines / seconds:.0f} lines/s, "
            f"{busy:.1f} s of one processor "
            f"({rewritten} of {len(outcome.decisions)} calls rewritten: "
            f"one in {lines / max(1, rewritten):.0f} lines)"
        )


if __name__ == "__main__":
    main()
