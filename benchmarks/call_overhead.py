"""Added time per MPI call, bare against preloaded, in alternating pairs.

    python benchmarks/call_overhead.py [--pairs N] [--build FOLDER] [openmpi mpich ...]

Builds the runtime and call_overhead.c with mpicc.NAME (or NAME itself, if it is a path to an
mpicc), runs the program alternately without and with the runtime, and prints the median over the
pairs of the difference per call, with its quartiles, and the ratio of the medians. "cold": before
each the program sweeps 8 MiB, so that neither the library's nor the runtime's code and data are in
the core's own caches. Last, what two readings of the time-stamp counter take: part of every
recorded call.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from preloaded import ROOT, build_runtime, time_calls

# Where call_overhead.c prints what it found.
CALLS = {"Irecv+Isend+Waitall": 0, "Iprobe": 1, "the three, cold": 3, "Iprobe, cold": 4}
READINGS = 2


def build(mpicc: str, folder: Path) -> tuple[Path, Path]:
    """The program and the runtime's object."""
    program = folder / "call_overhead"
    source = ROOT / "benchmarks" / "call_overhead.c"
    subprocess.run([mpicc, "-O2", "-w", "-o", str(program), str(source)], check=True)
    return program, build_runtime(mpicc, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--build", type=Path, help="build here and keep it")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error("--pairs: at least 1 (with one pair there are no quartiles)")
    print(f"{'library':<10} {'calls':<24} {'bare ns':>8} {'measured':>8} {'ratio':>6}  added ns")
    for library in options.libraries:
        mpicc = shutil.which(f"mpicc.{library}") or shutil.which(library)
        if mpicc is None:
            print(f"{library:<10} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.build is None else options.build / Path(library).name
            folder.mkdir(parents=True, exist_ok=True)
            program, runtime = build(mpicc, folder)
            pairs = [
                (time_calls(program, None), time_calls(program, runtime))
                for _ in range(options.pairs)
            ]
        for calls, index in CALLS.items():
            bare = statistics.median(b[index] for b, _ in pairs)
            loaded = statistics.median(m[index] for _, m in pairs)
            added = sorted(m[index] - b[index] for b, m in pairs)
            low, middle, high = statistics.quantiles(added, n=4) if len(added) > 1 else added * 3
            print(
                f"{library:<10} {calls:<24} {bare:8.1f} {loaded:8.1f} {loaded / bare:6.2f}"
                f"  {middle:.1f} ({low:.1f} to {high:.1f})"
            )
        readings = statistics.median(run[READINGS] for pair in pairs for run in pair)
        print(f"{library:<10} two readings of the counter: {readings:.1f} ns")


if __name__ == "__main__":
    main()
