"""How much slower a stencil, and other loops, run when every access is recorded, or guarded.

    python benchmarks/recorder_slowdown.py [--mpi openmpi] [--n 500] [--steps 60] [--kernels 200]

A 5-point stencil with a halo exchange on two ranks, in C and Fortran, -O2: built as always, with
-fno-tree-vectorize, and with imbrex cc or fc (run alone, recording, under the guard). Prints the
processor time of a step's computation (the fastest step: other work on the machine can only add),
and that of whole steps with their MPI calls (the mean: it spins in MPI), as multiples of the plain
program's in the same run; the best of three runs of each. Rows are exchanged, or rows and columns
(a derived datatype): then every page of the array holds communicated data.

Then loops with branches, calls and addresses from memory (recorder_kernels.c and .f90) on arrays of
--kernels x --kernels elements, of each the processor time of the fastest round: rows of a table.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_line

C = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int n = atoi(argv[1]), steps = atoi(argv[2]), columns = atoi(argv[3]), rank, w;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    w = n + 2;
    double *a = calloc((size_t)w * w, sizeof *a), *b = calloc((size_t)w * w, sizeof *b);
    MPI_Datatype column;
    MPI_Type_vector(n, 1, w, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double start = 0, least = 1e9, begin;
    for (int s = -2; s < steps; s++) {
        if (s == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = now();
        }
        MPI_Request q[4];
        int k = 0, other = 1 - rank;
        MPI_Irecv(a + 1, n, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &q[k++]);
        MPI_Isend(a + (size_t)n * w + 1, n, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &q[k++]);
        if (columns) {
            MPI_Irecv(a + w, 1, column, other, 2, MPI_COMM_WORLD, &q[k++]);
            MPI_Isend(a + w + n, 1, column, other, 2, MPI_COMM_WORLD, &q[k++]);
        }
        MPI_Waitall(k, q, MPI_STATUSES_IGNORE);
        begin = now();
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++)
                b[(size_t)i * w + j] =
                    0.25 * (a[(size_t)(i - 1) * w + j] + a[(size_t)(i + 1) * w + j] +
                            a[(size_t)i * w + j - 1] + a[(size_t)i * w + j + 1]);
        begin = now() - begin;
        least = begin < least ? begin : least;
        double *t = a;
        a = b;
        b = t;
    }
    if (rank == 0)
        printf("seconds %.9f %.9f\n", least, (now() - start) / steps);
    MPI_Finalize();
    return 0;
}
"""

FORTRAN = """
program stencil
  use mpi
  implicit none
  real(8), allocatable :: a(:, :, :)
  real(8) :: start, least, begin, end
  integer :: n, steps, columns, rank, ierr, s, i, j, k, q(4), row, old, new
  character(len=32) :: text
  call mpi_init(ierr)
  call get_command_argument(1, text); read (text, *) n
  call get_command_argument(2, text); read (text, *) steps
  call get_command_argument(3, text); read (text, *) columns
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  allocate(a(0:n + 1, 0:n + 1, 2))
  a = 0
  call mpi_type_vector(n, 1, n + 2, mpi_double_precision, row, ierr)
  call mpi_type_commit(row, ierr)
  old = 1
  least = 1d9
  do s = -2, steps - 1
    if (s == 0) then
      call mpi_barrier(mpi_comm_world, ierr)
      call cpu_time(start)
    end if
    new = 3 - old
    k = 2
    call mpi_irecv(a(1, 0, old), n, mpi_double_precision, 1 - rank, 1, mpi_comm_world, q(1), ierr)
    call mpi_isend(a(1, n, old), n, mpi_double_precision, 1 - rank, 1, mpi_comm_world, q(2), ierr)
    if (columns /= 0) then
      k = 4
      call mpi_irecv(a(0, 1, old), 1, row, 1 - rank, 2, mpi_comm_world, q(3), ierr)
      call mpi_isend(a(n, 1, old), 1, row, 1 - rank, 2, mpi_comm_world, q(4), ierr)
    end if
    call mpi_waitall(k, q, mpi_statuses_ignore, ierr)
    call cpu_time(begin)
    do j = 1, n
      do i = 1, n
        a(i, j, new) = 0.25d0 * (a(i - 1, j, old) + a(i + 1, j, old) &
          + a(i, j - 1, old) + a(i, j + 1, old))
      end do
    end do
    call cpu_time(end)
    least = min(least, end - begin)
    old = new
  end do
  call cpu_time(end)
  if (rank == 0) print '(a, 2f14.9)', 'seconds ', least, (end - start) / steps
  call mpi_finalize(ierr)
end program stencil
"""


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Of a step: its computation, and all of it."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    computation, whole = done.stdout.split("seconds")[1].split()[:2]
    return float(computation), float(whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--n", default="500")
    parser.add_argument("--steps", default="60")
    parser.add_argument("--kernels", default="200")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for language, text, compiler, ending in (
            ("cc", C, f"mpicc.{options.mpi}", "c"),
            ("fc", FORTRAN, f"mpifort.{options.mpi}", "f90"),
        ):
            source = folder / f"stencil.{ending}"
            source.write_text(text)
            plain, built = folder / f"plain-{ending}", folder / f"recorded-{ending}"
            words = ["-w", "-O2", "-g", str(source), "-o"]
            subprocess.run([compiler, *words, str(plain)], check=True)
            scalar = folder / f"scalar-{ending}"
            subprocess.run([compiler, "-fno-tree-vectorize", *words, str(scalar)], check=True)
            wrapper = [sys.executable, "-m", "imbrex.cli", language, f"--compiler={compiler}"]
            subprocess.run([*wrapper, *words, str(built)], check=True)
            measure(options, folder, language, plain, scalar, built)
        print("| loop | plain, ns an element | alone | recording | under the guard |")
        print("|---|--:|--:|--:|--:|")
        for language, compiler, ending in (
            ("cc", f"mpicc.{options.mpi}", "c"),
            ("fc", f"mpifort.{options.mpi}", "f90"),
        ):
            words = ["-w", "-O2", "-g", str(Path(__file__).with_name(f"recorder_kernels.{ending}"))]
            words += [f"-J{folder}"] if language == "fc" else []
            plain, built = folder / "plain", folder / "recorded"
            subprocess.run([compiler, *words, "-o", str(plain)], check=True)
            wrapper = [sys.executable, "-m", "imbrex.cli", language, f"--compiler={compiler}"]
            subprocess.run([*wrapper, *words, "-o", str(built)], check=True)
            measure_kernels(options, folder, "C" if language == "cc" else "Fortran", plain, built)


def recording(options: argparse.Namespace, folder: Path, plain: Path) -> dict[str, str]:
    """The environment in which a program writes its recording."""
    library = library_of_line(parse_launcher_line([*launcher(options), str(plain)]), None)
    preload = native.build("runtime", library) / "lib" / "libimbrex.so"
    return {
        "IMBREX_DIR": str(folder / "run"),
        "IMBREX_ACCESS_DIR": str(folder),
        "LD_PRELOAD": str(preload),
    }


def launcher(options: argparse.Namespace) -> list[str]:
    return [f"mpirun.{options.mpi}", "-n", "2"]


def kernel_times(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    found = re.findall(r"^ ?kernel (.*?): *(\S+)$", done.stdout, re.MULTILINE)
    return {name: float(time) for name, time in found}


def measure_kernels(
    options: argparse.Namespace, folder: Path, language: str, plain: Path, built: Path
) -> None:
    here = recording(options, folder, plain)
    cases = {
        "plain": (plain, {}),
        "alone": (built, {}),
        "recording": (built, {**here, "IMBREX_ACCESS": "record"}),
        "guarded": (built, {**here, "IMBREX_GUARD": "1"}),
    }
    best: dict[str, dict[str, float]] = {case: {} for case in cases}
    for _ in range(3):
        for case, (program, environment) in cases.items():
            command = [*launcher(options), str(program), options.kernels, "30"]
            for name, time in kernel_times(command, environment).items():
                best[case][name] = min(best[case].get(name, time), time)
    for name, alone in best["plain"].items():
        times = [f"{best[case][name] / alone:.1f} x" for case in cases if case != "plain"]
        print(f"| {language}, {name} | {alone:.2f} |", " | ".join(times), "|", flush=True)


def measure(
    options: argparse.Namespace, folder: Path, language: str, plain: Path, scalar: Path, built: Path
) -> None:
    here = recording(options, folder, plain)
    start = launcher(options)
    for columns in ("0", "1"):
        arguments = [options.n, options.steps, columns]
        seconds([*start, str(plain), *arguments], {**here, "IMBREX_ACCESS": "clean"})
        cases = {
            "plain": (plain, {}),
            "not vectorized": (scalar, {}),
            "instrumented": (built, {}),
            "recording": (built, {**here, "IMBREX_ACCESS": "record"}),
            "guarded": (built, {**here, "IMBREX_GUARD": "1"}),
        }
        best = dict.fromkeys(cases, (float("inf"), float("inf")))
        for _ in range(3):
            for case, (program, environment) in cases.items():
                took = seconds([*start, str(program), *arguments], environment)
                best[case] = min(best[case][0], took[0]), min(best[case][1], took[1])
        layout = "rows and columns" if columns == "1" else "rows"
        alone, whole = best["plain"]
        elements = int(options.n) ** 2
        print(
            f"{language}, {layout}: plain {alone / elements * 1e9:.2f} ns an element; computation "
            + ", ".join(f"{case} {took[0] / alone:.1f} x" for case, took in best.items())
            + "; whole steps "
            + ", ".join(f"{case} {took[1] / whole:.1f} x" for case, took in best.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
