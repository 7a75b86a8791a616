"""Added time per MPI call from Fortran, bare against preloaded, in alternating pairs.

    python benchmarks/fortran_overhead.py [--pairs N] [openmpi mpich ...]

Builds the runtime with mpicc.NAME and fortran_overhead.F90 with mpif90.NAME, with `use mpi` and
with `use mpi_f08`, runs the programs alternately without and with the runtime, and prints the
median over the pairs of the difference per call, with its quartiles, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from preloaded import ROOT, build_runtime, time_calls

INTERFACES = {"mpi": [], "mpi_f08": ["-DUSE_F08"]}


def build(library: str, flags: list[str], folder: Path) -> tuple[Path, Path]:
    """The program and the runtime's object."""
    program = folder / "fortran_overhead"
    source = ROOT / "benchmarks" / "fortran_overhead.F90"
    command = [f"mpif90.{library}", "-O2", "-w", "-fallow-argument-mismatch", *flags]
    subprocess.run([*command, "-o", str(program), str(source)], check=True)
    return program, build_runtime(f"mpicc.{library}", folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error("--pairs: at least 1 (with one pair there are no quartiles)")
    heading = f"{'library':<8} {'use':<8} {'calls':<20} {'bare ns':>8} {'measured':>8} {'ratio':>6}"
    print(f"{heading}  added ns")
    for library in options.libraries:
        if shutil.which(f"mpif90.{library}") is None:
            print(f"{library:<8} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            for interface, flags in INTERFACES.items():
                program, runtime = build(library, flags, Path(scratch))
                pairs = [
                    (time_calls(program, None), time_calls(program, runtime))
                    for _ in range(options.pairs)
                ]
                for index, calls in enumerate(("Irecv+Isend+Waitall", "Iprobe")):
                    bare = statistics.median(b[index] for b, _ in pairs)
                    loaded = statistics.median(m[index] for _, m in pairs)
                    added = sorted(m[index] - b[index] for b, m in pairs)
                    low, middle, high = (
                        statistics.quantiles(added, n=4) if len(added) > 1 else added * 3
                    )
                    print(
                        f"{library:<8} {interface:<8} {calls:<20} {bare:8.1f} {loaded:8.1f}"
                        f" {loaded / bare:6.2f}  {middle:.1f} ({low:.1f} to {high:.1f})"
                    )


if __name__ == "__main__":
    main()
