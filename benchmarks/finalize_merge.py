"""Time of MPI_Finalize, bare against merging the ranks' profiles, and the memory of a rank.

    python benchmarks/finalize_merge.py [--pairs N] [--ranks 2 4 ...] [openmpi mpich ...]

Runs a program with 64 call sites on 2 to 64 ranks of this node, alternately without and with the
runtime, and prints the median time that rank 0 spent in MPI_Finalize, the difference, the ratio,
and the bytes that the runtime held in a rank. More ranks than cores wait for each other: the
figures are then an upper limit of what a cluster would show.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from preloaded import ROOT, build_runtime


def build(mpicc: str, folder: Path) -> tuple[Path, Path]:
    """The program and the runtime's object."""
    program = folder / "finalize_merge"
    source = ROOT / "benchmarks" / "finalize_merge.c"
    subprocess.run([mpicc, "-O2", "-w", "-o", str(program), str(source)], check=True)
    return program, build_runtime(mpicc, folder)


def run(launcher: list[str], program: Path, runtime: Path | None) -> tuple[float, int]:
    """Seconds of rank 0 in MPI_Finalize, and the largest memory of a rank in bytes (0: bare)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher, str(program)]
        if runtime is not None:
            settings = [f"LD_PRELOAD={runtime}", f"IMBREX_DIR={folder}"]
            command = [*launcher, "env", *settings, str(program)]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        done = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=120
        )
        if runtime is None:
            return float(done.stdout), 0
        return float(done.stdout), int(np.load(Path(folder) / "ranks.npy")["memory_bytes"].max())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    options = parser.parse_args()
    print(
        f"{'library':<8} {'ranks':>5} {'bare ms':>8} {'measured':>8} {'ratio':>6} {'added ms':>8}"
    )
    for library in options.libraries:
        mpicc = shutil.which(f"mpicc.{library}")
        if mpicc is None:
            print(f"{library:<8} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            program, runtime = build(mpicc, Path(scratch))
            for ranks in options.ranks:
                launcher = [f"mpirun.{library}", "-n", str(ranks)]
                launcher += ["--oversubscribe"] if library == "openmpi" else []
                pairs = [
                    (run(launcher, program, None), run(launcher, program, runtime))
                    for _ in range(options.pairs)
                ]
                bare = 1e3 * statistics.median(b[0] for b, _ in pairs)
                measured = 1e3 * statistics.median(m[0] for _, m in pairs)
                memory_mb = max(m[1] for _, m in pairs) / 1e6
                print(
                    f"{library:<8} {ranks:5d} {bare:8.1f} {measured:8.1f} {measured / bare:6.1f}"
                    f" {measured - bare:8.1f}  {memory_mb:.2f} MB a rank",
                    flush=True,
                )


if __name__ == "__main__":
    main()
