"""Time that matching the ranks' calls takes at MPI_Finalize, as a share of the run.

    python benchmarks/matching.py [--ranks 2 4 ...] [--seconds N] [--rate N] [openmpi mpich ...]
    python benchmarks/matching.py --simulated 1024 [--seconds 0.1]

Each rank of a ring sends RATE messages a second (10,000) for N seconds. Prints how many were
matched, how long the run took, how long the slowest rank needed for the matching, and the second as
a share of the first. More ranks than cores take turns: the last column is the share of N seconds
with the time divided by how many ranks share a core, what a core per rank would show where the
ranks do nothing but work. A rank that waits for another and spins takes part of another's turn, so
that this is too much rather than too little. `--simulated N` runs N ranks as threads of one process
(SimGrid), with the call log and without: what the log and the matching add to its processor time,
divided by the ranks, is what each of them needs on a core of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import simulated_ranks
from preloaded import ROOT, build_runtime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, default=1e4)
    parser.add_argument("--simulated", type=int)
    options = parser.parse_args()
    if options.simulated:
        simulated(options.simulated, options)
        return
    print(f"{'library':<8} {'ranks':>5} {'matched':>9} {'run s':>7} {'matching s':>10}", end="")
    print(f" {'of run':>7} {'of N s':>7} {'a core each':>11}")
    cores = len(os.sched_getaffinity(0))
    for library in options.libraries:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "matching"
            source = ROOT / "benchmarks" / "matching.c"
            command = [f"mpicc.{library}", "-O2", "-w", "-o", str(program), str(source)]
            subprocess.run(command, check=True)
            runtime = build_runtime(f"mpicc.{library}", Path(folder))
            for ranks in options.ranks:
                job = run(library, ranks, program, runtime, options)
                took = float(job["matching"]["seconds"])
                print(
                    f"{library:<8} {ranks:>5} {job['matching']['matched']:>9} "
                    f"{job['wall_s']:>7.2f} {took:>10.3f} {took / job['wall_s']:>7.2%} "
                    f"{took / options.seconds:>7.2%} "
                    f"{took / options.seconds / max(1, ranks / cores):>11.2%}",
                    flush=True,
                )


def simulated(ranks: int, options: argparse.Namespace) -> None:
    """One line for a simulated job of many ranks."""
    words = f"{options.seconds} {options.rate}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulated_ranks.build(folder, {"matching": [ROOT / "benchmarks" / "matching.c"]})
        seconds = {}
        for log in ("off", str(2**20)):
            os.environ["IMBREX_LOG"] = log
            one = folder / f"run-{log}"
            seconds[log] = simulated_ranks.simulate(
                folder, "matching", words, ranks, one
            ).processor_s
        job = json.loads((one / "job.json").read_text())
    off, logged = seconds.values()
    each = (logged - off) / ranks / options.seconds
    print("ranks   matched  without a log s  with it s  share on a core each")
    print(f"{ranks:>5} {job['matching']['matched']:>9} {off:>16.2f} {logged:>10.2f} {each:>21.2%}")


def run(
    library: str, ranks: int, program: Path, runtime: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """What job.json says of one run."""
    with tempfile.TemporaryDirectory() as folder:
        many = ["--oversubscribe"] if library == "openmpi" else []
        settings = [f"LD_PRELOAD={runtime}", f"IMBREX_DIR={folder}"]
        words = [f"mpirun.{library}", *many, "-n", str(ranks), "env", *settings, str(program)]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        subprocess.run(
            [*words, str(options.seconds), str(options.rate)],
            env=environment,
            check=True,
            timeout=600,
        )
        return dict(json.loads((Path(folder) / "job.json").read_text()))


if __name__ == "__main__":
    main()
