"""Times that the recorder finds against those that the program itself measures.

    python benchmarks/recorder_times.py [--mpi openmpi] [--repeat 3]

A kernel writes 2,000 elements, computes for a while, sends; receives, computes, reads them. It
clocks its own parts without any tool; then `imbrex record` has to find them. Prints T_P, T_AP,
T_AC and T_C of both.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KERNEL = r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
enum { N = 2000, STEPS = 100 };
static double out[N], in[N], table[4096];
static volatile double sink;
static double work(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i & 4095];
    return sum;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    double at[5], sum[4] = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4096; i++)
        table[i] = argc + i;
    for (int s = 0; s < STEPS; s++) {
        at[0] = MPI_Wtime();
        for (int i = 0; i < N; i++)
            out[i] = sqrt(s + i + table[i]);
        at[1] = MPI_Wtime();
        sink = work(12000);
        at[2] = MPI_Wtime();
        sum[0] += at[1] - at[0];
        sum[1] += at[2] - at[1];
        MPI_Request q[2];
        MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, N, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        at[0] = MPI_Wtime();
        sink = work(9000);
        at[1] = MPI_Wtime();
        double total = 0;
        for (int i = 0; i < N; i++)
            total += sqrt(in[i] + 1) * in[i];
        sink = total;
        at[2] = MPI_Wtime();
        sum[2] += at[1] - at[0];
        sum[3] += at[2] - at[1];
    }
    if (rank == 0)
        printf("own %.3f %.3f %.3f %.3f\n", sum[0] / STEPS / N * 1e9, sum[1] / STEPS * 1e6,
               sum[2] / STEPS * 1e6, sum[3] / STEPS / N * 1e9);
    MPI_Finalize();
    return 0;
}
"""


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    launcher = [f"mpirun.{options.mpi}", "-n", "2"]
    imbrex = [sys.executable, "-m", "imbrex.cli"]
    print("         T_P ns   T_AP us   T_AC us   T_C ns")
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name) / "kernel.c", Path(name) / "kernel"
        source.write_text(KERNEL)
        words = ["-w", "-O2", "-g", str(source), "-o", str(program), "-lm"]
        run(*imbrex, "cc", f"--compiler=mpicc.{options.mpi}", *words)
        for number in range(options.repeat):
            own = run(*launcher, f"{program}.plain").split("own")[1].split()[:4]
            print("own     ", *(f"{float(value):8.2f} " for value in own), flush=True)
            result = Path(name) / f"recording{number}"
            run(*imbrex, "record", "-o", str(result), "--", *launcher, str(program))
            rank = json.loads((result / "messages.json").read_text())["ranks"][0]
            send, receive = (
                next(m for m in rank["messages"] if m["kind"] == k) for k in ("send", "receive")
            )
            found = (
                send["t_produce_s"] * 1e9,
                send["after_produce_s"] * 1e6,
                receive["before_consume_s"] * 1e6,
                receive["t_consume_s"] * 1e9,
            )
            print(f"{send['times']:8}", *(f"{value:8.2f} " for value in found), flush=True)


if __name__ == "__main__":
    main()
