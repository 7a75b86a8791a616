"""Time that bringing clocks together takes, and how well it does, on 2 to 64 ranks.

    python benchmarks/clock_comparison.py [--ranks 2 4 ...] [--simulated 1024] [openmpi mpich ...]

Runs tests/mpi/clocks/clocks.c on this node: once with the one clock that all ranks share, once with
a clock of its own on each rank (7 s ahead and 5 ppm faster than the one before). Prints the longest
time that a rank spent in it, at begin and end together, both ways and as a ratio, the largest error
bound, and the largest error that there really was. More ranks than cores wait for each other.
`--simulated N` adds a simulated cluster of N nodes (SimGrid), where the truth is known exactly.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from preloaded import ROOT

PROGRAM = ROOT / "tests" / "mpi" / "clocks"
SOURCES = ("base/clock.c", "core/clock_line.c", "job/clocks.c")
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="nodes" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="2us"/>
</platform>
"""


def build(compiler: str, program: Path, *options: str) -> None:
    """Build the program with the runtime's sources of the clocks."""
    runtime = ROOT / "runtime"
    words = [compiler, "-O2", "-w", "-D_GNU_SOURCE", f"-I{runtime}", f"-I{PROGRAM}", *options]
    words += [str(PROGRAM / "clocks.c"), *(str(runtime / name) for name in SOURCES)]
    subprocess.run([*words, "-o", str(program)], check=True)


def run(command: list[str], distortion: str) -> tuple[float, float, float]:
    """Longest time in ms, largest error bound and largest error in us, over the ranks."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "IMBREX_TEST_CLOCK": distortion}
    environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    rows = [[float(field) for field in line.split()] for line in done.stdout.splitlines()]
    bound, error, cost = (max(row[column] for row in rows) for column in (2, 3, 4))
    return cost / 1e3, bound / 1e3, error / 1e3


def report(name: str, ranks: int, one: float, apart: tuple[float, float, float]) -> None:
    """One line of the table."""
    cost, bound, error = apart
    print(f"{name:<9} {ranks:>5} {one:>8.2f} {cost:>9.2f} {cost / one:>6.1f} ", end="")
    print(f"{bound:>8.1f} {error:>8.2f}", flush=True)


def simulated(ranks: int, folder: Path) -> tuple[float, float, float]:
    """The same in a simulated cluster; its time is simulated time."""
    program, platform, hosts = folder / "simulated", folder / "nodes.xml", folder / "hosts"
    build("smpicc", program, "-DIMBREX_SIMULATED", "-DSAMPLES=4")
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts.write_text("".join(f"n{rank}\n" for rank in range(ranks)))
    words = ["smpirun", "-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts)]
    words += ["--cfg=smpi/coll-selector:mpich", "--cfg=smpi/simulate-computation:no"]
    return run([*words, "--log=root.thres:warning", str(program), "2000"], "1e6,0.1")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--simulated", type=int)
    options = parser.parse_args()
    print("library   ranks   one ms  apart ms  ratio bound us error us")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for library in options.libraries:
            program = folder / library
            build(f"mpicc.{library}", program)
            many = ["--oversubscribe"] if library == "openmpi" else []
            for ranks in options.ranks:
                line = [f"mpirun.{library}", *many, "-n", str(ranks), str(program), "300"]
                report(library, ranks, run(line, "")[0], run(line, "7e9,5"))
        if options.simulated:
            apart = simulated(options.simulated, folder)
            print(f"simulated {options.simulated:>5} {'':>8} {apart[0]:>9.2f} {'':>6} ", end="")
            print(f"{apart[1]:>8.1f} {apart[2]:>8.2f}")


if __name__ == "__main__":
    main()
