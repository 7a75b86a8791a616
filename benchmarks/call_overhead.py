"""Added time per MPI call, bare against preloaded, in turns.

    python benchmarks/call_overhead.py [--pairs N] [--build FOLDER] [--baseline CHECKOUT]
                                       [--insert] [openmpi mpich ...]

Builds the runtime and call_overhead.c with mpicc.NAME (or NAME itself, if it is a path to an
mpicc), runs the program in turns without and with the runtime, and prints per kind of call

- bare and measured: the median time of a call, and the ratio of the two;
- added ns: the median over the turns of the difference, with its quartiles;
- least: the difference of the least times, which other load on the machine cannot lower but also
  hardly raises;
- floor: that in multiples of what two readings of the time-stamp counter take, which no recorded
  call can do without.

The runtime is measured without the call log, with it in memory that is there, and while its memory
still grows (the first million calls of a run with 64 MiB).

--baseline: also with the runtime of another checkout of Imbrex, in the same turns and the same
table ("before"; this one is "after"). "cold": before each the program sweeps 8 MiB, so that neither
the library's nor the runtime's code and data are in the core's own caches.

--insert: the medians for Open MPI and MPICH into the guide, README and CHANGELOG (cost_pages.py).
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from cost_pages import NAMES, Cost, write
from preloaded import ROOT, build_runtime, time_calls

# Where call_overhead.c prints what it found.
CALLS = {"Irecv+Isend+Waitall": 0, "Iprobe": 1, "the three, cold": 3, "Iprobe, cold": 4}
READINGS = 2
# More than the program's calls need, so that all of them are logged.
LOGS = {
    "no log": {"IMBREX_LOG": "off"},
    "log": {"IMBREX_LOG": "128M", "IMBREX_LOG_STEP": "128M"},
    "log grows": {"IMBREX_LOG": "128M"},
}


def build_program(mpicc: str, folder: Path) -> Path:
    program = folder / "call_overhead"
    source = ROOT / "benchmarks" / "call_overhead.c"
    subprocess.run([mpicc, "-O2", "-w", "-o", str(program), str(source)], check=True)
    return program


def take_turns(
    program: Path, runtimes: dict[str, Path], turns: int
) -> tuple[list[list[float]], dict[str, list[list[float]]]]:
    """What each run printed: the bare ones, and those with each runtime and log."""
    bare: list[list[float]] = []
    loaded: dict[str, list[list[float]]] = {f"{n} {log}": [] for n in runtimes for log in LOGS}
    for _ in range(turns):
        bare.append(time_calls(program, None))
        for name, runtime in runtimes.items():
            for log, settings in LOGS.items():
                loaded[f"{name} {log}"].append(time_calls(program, runtime, settings))
    return bare, loaded


def line(bare: list[float], loaded: list[float], floor: float) -> str:
    """One kind of call with one runtime, in the order of the turns."""
    added = sorted(after - before for before, after in zip(bare, loaded, strict=True))
    low, middle, high = statistics.quantiles(added, n=4) if len(added) > 1 else added * 3
    least = min(loaded) - min(bare)
    whole = statistics.median(loaded)
    ratio = whole / statistics.median(bare)
    spread = f"{middle:.1f} ({low:.1f} to {high:.1f})"
    times = f"{least / floor:5.2f}" if floor > 0 else "    -"
    return (
        f"{statistics.median(bare):8.1f} {whole:8.1f} {ratio:6.2f}  "
        f"{spread:<24} {least:6.1f} {times}"
    )


def cost_of(bare: list[list[float]], loaded: dict[str, list[list[float]]], floor: float) -> Cost:
    """What this checkout's runtime adds: medians over the turns."""

    def added(log: str, calls: str) -> int:
        place = CALLS[calls]
        pairs = zip(bare, loaded[f"after {log}"], strict=True)
        return round(statistics.median(run[place] - alone[place] for alone, run in pairs))

    exchange = "Irecv+Isend+Waitall"
    return Cost(
        iprobe_ns=added("no log", "Iprobe"),
        exchange_ns=added("no log", exchange),
        logged_ns=added("log", exchange),
        floor_ns=round(floor),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--build", type=Path, help="build here and keep it")
    parser.add_argument("--baseline", type=Path, help="another checkout of Imbrex to compare with")
    parser.add_argument("--insert", action="store_true", help="the medians into the pages")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error("--pairs: at least 1 (with one pair there are no quartiles)")
    if options.baseline and not (options.baseline / "runtime" / "CMakeLists.txt").is_file():
        parser.error(f"--baseline: {options.baseline} is no checkout of Imbrex (no runtime/)")
    if options.insert and set(options.libraries) != set(NAMES):
        parser.error(f"--insert: of {' and '.join(NAMES)}, both")
    costs: dict[str, Cost] = {}
    checkouts = {"after": ROOT}
    if options.baseline:
        checkouts = {"before": options.baseline.resolve(), "after": ROOT}
    print(
        f"{'library':<8} {'calls':<20} {'runtime':<16} {'bare ns':>8} "
        f"{'measured':>8} {'ratio':>6}  {'added ns':<24} {'least':>6} {'floor':>5}"
    )
    for library in options.libraries:
        mpicc = shutil.which(f"mpicc.{library}") or shutil.which(library)
        if mpicc is None:
            print(f"{library:<8} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.build is None else options.build / Path(library).name
            folder.mkdir(parents=True, exist_ok=True)
            program = build_program(mpicc, folder)
            runtimes = {
                name: build_runtime(mpicc, folder / name, checkout)
                for name, checkout in checkouts.items()
            }
            bare, loaded = take_turns(program, runtimes, options.pairs)
        every = [run[READINGS] for runs in (bare, *loaded.values()) for run in runs]
        floor = min(every)
        if options.insert:
            costs[library] = cost_of(bare, loaded, floor)
        for calls, index in CALLS.items():
            for name, runs in loaded.items():
                label = name if options.baseline else name.removeprefix("after ")
                cells = line([run[index] for run in bare], [run[index] for run in runs], floor)
                print(f"{library:<8} {calls:<20} {label:<16} {cells}")
        print(f"{library:<8} two readings of the counter: {floor:.1f} ns")
    if costs:
        write(ROOT, {name: costs[name] for name in NAMES})


if __name__ == "__main__":
    main()
