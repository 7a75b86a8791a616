"""The line solver before and after progress calls, as in figures 21 to 26 of Shet et al.

    sudo python benchmarks/transform_progress.py [--mpis openmpi,mpich] [--profiles DIR]

Two hosts in network namespaces (TCP, 800 Mbit/s), one rank on each. `imbrex transform`
puts progress calls into apps/line, at the interval that the machine profile recommends, else at
--interval; both versions are run under `imbrex run` in turns. Prints the fastest: its time in MPI
calls and bounds of overlap, for two sizes of chunk. --profiles takes the machine profiles
DIR/MPI.json of `imbrex probe --machine`; a quick probe leaves them there where there are none.
About two minutes for each MPI.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
from pathlib import Path

from imbrex.network import load
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from network_table import launcher
from transform_apps import APPS, PROGRAMS, build
from two_hosts import Network, two_hosts

SIZES = ("512", "2048")  # lines of a chunk: messages of 120 and 480 KiB
OPTIONS = ["--n", "64", "--steps", "4"]
REPEATS = 7  # in turns; the fastest is printed, and the median of the times
_OUTPUT = re.compile(r"time: *([0-9.]+) s")


def profile(network: Network, mpi: str, folder: Path) -> Path:
    """The machine profile of a probe, made where there is none yet."""
    file = folder / f"{mpi}.json"
    if not file.exists():
        words = ["probe", "--quick", "--time-limit", "100", "-q", "--machine", str(file), "--"]
        network.imbrex(*words, *launcher(mpi, network.folder))
    return file


def versions(network: Network, mpi: str, interval_s: float) -> dict[str, Path]:
    """The app as it is, and with progress calls alone."""
    programs = {}
    for side in ("before", "after"):
        folder = network.folder / f"{mpi}-{side}"
        shutil.copytree(APPS, folder)
        paths = [p for pattern in PROGRAMS["line"].sources.split() for p in folder.glob(pattern)]
        if side == "after":
            options = Options(rewrites=frozenset({"nonblocking"}), progress_interval_s=interval_s)
            outcome = transform(sorted(paths, key=lambda p: p.name != "options.f90"), options)
            for decision in outcome.decisions:
                if "progress" in decision.rewrites:
                    print("<!-- " + "; ".join(Path(d).name for d in decision.details) + " -->")
            for name, data in outcome.after.items():
                Path(name).write_bytes(data)
        programs[side] = build("line", folder, mpi)
    return programs


def measure(
    network: Network, mpi: str, machine: Path, program: Path, chunk: str, number: int
) -> list[float]:
    """Run time, time in MPI calls per rank, and the bounds of overlap, of one run."""
    folder = network.folder / f"run-{mpi}-{program.parts[-3]}-{chunk}-{number}"
    words = ["run", "-q", "-o", str(folder), "--machine", str(machine), "--"]
    line = [*launcher(mpi, network.folder), str(program), *OPTIONS, "--chunk", chunk]
    printed = network.imbrex(*words, *line)
    match = _OUTPUT.search(printed)
    if match is None or "verification:" not in printed:
        raise SystemExit(printed)
    totals = json.loads(network.imbrex("show", str(folder), "--json"))["totals"]
    whole = totals["transfer_max_s"] or 1.0
    shares = [100 * totals[f"overlap_{side}_s"] / whole for side in ("min", "max")]
    return [float(match[1]), totals["call_s"] / totals["ranks"], *shares]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpis", default="openmpi,mpich")
    parser.add_argument("--profiles", type=Path)
    parser.add_argument(
        "--interval", type=float, default=500, help="us, where the profile recommends none"
    )
    arguments = parser.parse_args()
    with two_hosts() as network:
        kept = arguments.profiles or network.folder
        kept.mkdir(parents=True, exist_ok=True)
        print("| MPI | interval | lines | version | time s | in MPI s | overlap % of transfer |")
        print("|---|---|---|---|---|---|---|")
        for mpi in arguments.mpis.split(","):
            machine = profile(network, mpi, kept)
            interval_s = load(machine).progress_interval_s
            source = "recommended"
            if interval_s is None:
                interval_s, source = arguments.interval * 1e-6, "given"
            programs = versions(network, mpi, interval_s)
            for chunk in SIZES:
                runs: dict[str, list[list[float]]] = {side: [] for side in programs}
                for number in range(REPEATS):
                    for side, program in programs.items():
                        runs[side].append(measure(network, mpi, machine, program, chunk, number))
                for side, found in runs.items():
                    seconds, calls, low, high = min(found)
                    middle = statistics.median(run[0] for run in found)
                    place = f"{interval_s * 1e6:.0f} us, {source} | {chunk} | {side}"
                    cells = f"{seconds:.3f} ({middle:.3f}) | {calls:.3f} | {low:.0f} to {high:.0f}"
                    print(f"| {mpi} | {place} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
