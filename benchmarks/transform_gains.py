"""What `imbrex transform` brings on the mini-apps, beside the figures of the paper.

    sudo python benchmarks/transform_gains.py [--mpi openmpi] [--network] [--smpi] [--apps LIST]
                                              [--profiles DIR] [--builds DIR [--prepare]]

--network: two ranks on two network namespaces (TCP, 800 Mbit/s), real. --smpi: SimGrid's SMPI on 2
to 16 nodes of a network like InfiniBand (2 us, 10 Gbit/s) and of one like Gigabit Ethernet (50 us,
1 Gbit/s); SMPI's progress is ideal. Each app is built as it is, rewritten, and (on the network)
rewritten with progress calls every --progress us; the programs run in turns, and the time is what
they print. Outputs must be the same but for the times. What there is to overlap is told by `imbrex
run` with the machine profile DIR/MPI.json (a quick probe leaves it there): computation, time in MPI
calls and in those that are rewritten, and what was hidden afterwards, each as seconds per rank.
--builds keeps the programs of the network, so that --prepare makes them while the machine is in use
and a later call of the script only measures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imbrex.network import load
from network_table import launcher
from transform_apps import APPS, App, build, rewrite
from transform_progress import profile
from two_hosts import Network, two_hosts

_TIME = re.compile(r"time: *([0-9.]+) s")
_ANSWER = re.compile(r"^(?:time|verification): .*", re.MULTILINE)
_NUMBER = re.compile(r"\d\.\d+e[-+]\d+")
# Of each of the two links that a message passes.
PLATFORMS = {"InfiniBand-like": ("1us", "10Gbps"), "GigE-like": ("25us", "1Gbps")}
FREE = ("0us", "100000Gbps")


@dataclass(frozen=True)
class Case:
    app: str  # its target in apps/Makefile
    sources: str
    options: str  # on the network
    simulated: str  # under SMPI, all nodes of which share one core
    paper: str = "-"
    by_hand: str = ""  # words that choose the variant overlapped by hand
    reassociation: bool = False  # its sums of floating-point numbers may be rounded otherwise


CASES: dict[str, Case] = {
    "ssor": Case(
        "ssor",
        "ssor/*.f",
        "--n 64 --iterations 12",
        "--n 64 --iterations 3",
        "LU 10-17 % (A), 5-17 % (B)",
    ),
    "mg": Case(
        "mg",
        "common/options.f90 mg/*.f90",
        "--n 128 --cycles 10",
        "--n 128 --cycles 1",
        "MG 5-8 %",
    ),
    "bucket": Case(
        "bucket",
        "bucket/*.c",
        "--log-keys 22 --iterations 8",
        "--log-keys 20 --iterations 3",
        "IS 11-39 % (A), 17-22 % (B)",
    ),
    "cg": Case("cg", "cg/*.c", "--n 600", "--n 200", reassociation=True),
    "halo2d": Case(
        "halo2d",
        "halo/halo2d*.c",
        "--variant blocking --n 1024 --steps 500",
        "--variant blocking --n 1024 --steps 30",
        by_hand="--variant overlapped",
    ),
    "halo3d": Case(
        "halo3d",
        "halo/halo3d*.c",
        "--variant blocking --n 192 --steps 60",
        "--variant blocking --n 128 --steps 10",
        by_hand="--variant overlapped",
    ),
    "halo3d-faces": Case(
        "halo3d",
        "halo/halo3d*.c",
        "--variant faces --n 192 --steps 60",
        "--variant faces --n 128 --steps 10",
        by_hand="--variant overlapped",
    ),
    "fft": Case("fft", "fft/*.c", "--n 128 --steps 3", "--n 64 --steps 3"),
    "line": Case(
        "line",
        "common/options.f90 line/*.f90",
        "--n 48 --chunk 256 --steps 10",
        "",  # smpif90 does not link programs of several free-form files
        "BT: nothing",
    ),
}


@dataclass(frozen=True)
class Times:
    """Median seconds of each program, the shortest and the longest."""

    median: dict[str, float]
    shortest: dict[str, float]
    longest: dict[str, float]

    def gain(self, side: str) -> float:
        """Per cent of the time before."""
        before = self.median["before"]
        return 100 * (before - self.median[side]) / before

    def seconds(self, side: str) -> str:
        range_of = f"{self.shortest[side]:.3g} to {self.longest[side]:.3g}"
        return f"{self.median[side]:.4g} [{range_of}]"

    def fastest(self, side: str) -> float:
        """Gain of the fastest run against the fastest before, per cent."""
        before = self.shortest["before"]
        return 100 * (before - self.shortest[side]) / before

    def cell(self, side: str) -> str:
        if side not in self.median:
            return "-"
        gains = f"{self.gain(side):+.1f} %, fastest {self.fastest(side):+.1f} %"
        return f"{self.seconds(side)} ({gains})"

    def beside_hand(self) -> str:
        """What overlapping by hand gains, and how much of that the rewrite has."""
        if "hand" not in self.median:
            return "-"
        best = max(self.gain(side) for side in ("after", "driven") if side in self.median)
        hand = self.gain("hand")
        return f"{self.cell('hand')}" + (f", of it {100 * best / hand:.0f} %" if hand > 1 else "")


def seconds_of(output: str, name: str) -> float:
    match = _TIME.search(output)
    if match is None or "verification:" not in output:
        raise SystemExit(f"{name}:\n{output}")
    return float(match[1])


def in_turns(
    runs: dict[str, list[str]],
    pairs: int,
    run: Callable[[list[str]], str],
    *,
    rounded: bool = False,
) -> Times:
    """Run all programs in turns; what is rewritten must print what the program before it prints.

    `rounded`: but for its numbers, which the program itself has verified.
    """
    times: dict[str, list[float]] = {side: [] for side in runs}
    texts: dict[str, str] = {}
    for _ in range(pairs):
        for side, command in runs.items():
            output = run(command)
            times[side].append(seconds_of(output, " ".join(command)))
            texts[side] = _TIME.sub("time", "\n".join(_ANSWER.findall(output)))
            if rounded:
                texts[side] = _NUMBER.sub("number", texts[side])
    for side in ("after", "driven"):
        if texts.get(side, texts["before"]) != texts["before"]:
            raise SystemExit(f"the outputs differ:\n{texts['before']}\n{texts[side]}")
    return Times(
        {side: statistics.median(found) for side, found in times.items()},
        {side: min(found) for side, found in times.items()},
        {side: max(found) for side, found in times.items()},
    )


@dataclass(frozen=True)
class Versions:
    """The sides of a case that differ, each in a folder of its own."""

    sides: list[str]
    share: str  # of the call sites, those that are rewritten
    lines: frozenset[tuple[str, int]]  # file and line of those


def sources(name: str, folder: Path, progress_s: float | None) -> Versions:
    """Write the app as it is, rewritten, and with progress calls; once for each folder."""
    known = folder / "versions.json"
    if known.exists():
        sides, share, lines = json.loads(known.read_text())
        return Versions(sides, share, frozenset((file, line) for file, line in lines))
    made = _write(name, folder, progress_s)
    known.write_text(json.dumps([made.sides, made.share, sorted(made.lines)]))
    return made


def _write(name: str, folder: Path, progress_s: float | None) -> Versions:
    case = CASES[name]
    app = App(case.sources, case.options)
    share, lines = "", frozenset[tuple[str, int]]()
    sides = ["before", "after"] + (["driven"] if progress_s else [])
    for side in sides:
        shutil.copytree(APPS, folder / side)
        if side != "before":
            interval = progress_s if side == "driven" else None
            outcome = rewrite(app, folder / side, case.reassociation, interval)
        if side == "after":
            chosen = [d.site for d in outcome.decisions if d.decision == "rewritten"]
            share = f"{len(chosen)} of {len(outcome.decisions)}"
            lines = frozenset((Path(s.routine.file).name, s.call.line) for s in chosen)
    files = [[f.read_bytes() for f in sorted((folder / s).rglob("*.[cf]*"))] for s in sides]
    different = [s for n, s in enumerate(sides) if s == "before" or files[n] != files[n - 1]]
    return Versions(different, share, lines)


def programs(
    name: str, mpi: str, builds: Path, interval_s: float
) -> tuple[Versions, dict[str, Path]]:
    """What runs on the network, built where it is not yet."""
    folder = builds / f"{name}-{mpi}"
    folder.mkdir(parents=True, exist_ok=True)
    made = sources(name, folder, interval_s)
    return made, {side: build(CASES[name].app, folder / side, mpi) for side in made.sides}


def on_network(names: list[str], arguments: argparse.Namespace) -> None:
    mpi, pairs = arguments.mpi, arguments.pairs
    with two_hosts() as network:
        machine = profile(network, mpi, arguments.profiles or network.folder)
        recommended_s = load(machine).progress_interval_s
        interval_s = recommended_s or 1e-6 * arguments.progress
        builds = arguments.builds or network.folder
        if arguments.prepare:
            for name in names:
                print(name, programs(name, mpi, builds, interval_s)[0].share, flush=True)
            return
        print(
            f"\nTwo hosts, TCP at 800 Mbit/s, {mpi}, one rank on each; medians [and ranges] "
            f"of {pairs} runs in turns, s. Progress calls every {1e6 * interval_s:.0f} us "
            f"({'recommended' if recommended_s else 'given'}).\n"
        )
        print("| app | sites rewritten | before | after | with progress calls | by hand |", end="")
        print(
            " computation | in MPI before, after, with progress | in the rewritten calls |", end=""
        )
        print(" hidden before, after, with progress | paper |")
        print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for name in names:
            case = CASES[name]
            made, built = programs(name, mpi, builds, interval_s)
            line = launcher(mpi, network.folder)
            runs = {s: [*line, str(p), *case.options.split()] for s, p in built.items()}
            if case.by_hand and len(made.sides) > 1:
                runs["hand"] = [*runs["before"], *case.by_hand.split()]
            times = in_turns(runs, pairs, network.run, rounded=case.reassociation)
            spent = {
                s: available(network, machine, f"{name}-{s}", runs[s], made.lines)
                for s in made.sides
            }
            cells = [f"{name} `{case.options}`", made.share, times.seconds("before")]
            cells += [times.cell("after"), times.cell("driven"), times.beside_hand()]
            cells += [f"{spent['before'].computation_s:.2f}"]
            cells += [", ".join(f"{spent[s].calls_s:.2f}" for s in made.sides)]
            cells += [f"{spent['before'].rewritten_s:.2f}"]
            cells += [", ".join(spent[s].hidden for s in made.sides), case.paper]
            print(f"| {' | '.join(cells)} |", flush=True)


@dataclass(frozen=True)
class Available:
    """Seconds per rank, from start-up to the end."""

    computation_s: float
    calls_s: float
    rewritten_s: float  # in the calls that are to be rewritten
    hidden: str  # transfer time that was surely, and at most, hidden


def available(
    network: Network,
    machine: Path,
    name: str,
    command: list[str],
    lines: frozenset[tuple[str, int]],
) -> Available:
    """What `imbrex run` tells of one run. `lines` are of the program before the rewrite."""
    folder = network.folder / f"run-{name}"
    words = ["run", "-q", "-o", str(folder), "--machine", str(machine), "--"]
    network.imbrex(*words, *command)
    shown = json.loads(network.imbrex("show", str(folder), "--json"))
    totals = shown["totals"]
    ranks = totals["ranks"]
    rewritten = [s for s in shown["sites"] if (Path(s["file"] or "").name, s["line"]) in lines]
    return Available(
        totals["compute_s"] / ranks,
        totals["call_s"] / ranks,
        sum(site["call_s"] for site in rewritten) / ranks,
        f"{totals['overlap_min_s'] / ranks:.2f} to {totals['overlap_max_s'] / ranks:.2f}",
    )


def platform(file: Path, latency: str, bandwidth: str) -> Path:
    file.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
        '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1"><zone id="z" routing="Full">'
        f'<cluster id="c" prefix="n" suffix="" radical="0-15" speed="2Gf" bw="{bandwidth}" '
        f'lat="{latency}"/></zone></platform>\n'
    )
    return file


def on_smpi(names: list[str], nodes: list[int], pairs: int) -> None:
    print(
        "\nSimulated (SMPI), computation as measured here; medians [and ranges] of "
        f"{pairs} runs in turns, s. At most: what the program as it is gains on a network that "
        "costs nothing.\n"
    )
    print(
        "| app | sites rewritten | platform | nodes | before | after | at most | by hand |", end=""
    )
    print(" paper |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in names:
        case = CASES[name]
        if not case.simulated:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            made = sources(name, folder, None)
            programs = {side: smpi_program(name, folder / side) for side in made.sides}
            left = len(made.sides) == 1
            for kind, of_links in PLATFORMS.items():
                file = platform(folder / "cluster.xml", *of_links)
                free = platform(folder / "free.xml", *FREE)
                for count in nodes:
                    options = case.simulated.split()
                    begin = simulated(count, file)
                    runs = {s: [*begin, str(p), *options] for s, p in programs.items()}
                    if case.by_hand and not left:
                        runs["hand"] = [*runs["before"], *case.by_hand.split()]
                    runs["free"] = [*simulated(count, free), str(programs["before"]), *options]
                    times = in_turns(runs, pairs, simulate, rounded=case.reassociation)
                    cells = [name, made.share, kind, str(count), times.seconds("before")]
                    cells += ["left as it is" if left else times.cell("after")]
                    cells += [f"{times.gain('free'):.1f} %"]
                    cells += [times.beside_hand(), case.paper]
                    print(f"| {' | '.join(cells)} |", flush=True)


def simulated(count: int, cluster: Path) -> list[str]:
    """The beginning of the line that runs a program on so many nodes."""
    begin = ["smpirun", "-np", str(count), "-platform", str(cluster)]
    begin += ["--cfg=smpi/host-speed:2e9", "--log=root.thres:critical"]
    # Eager messages leave before their receive is posted, as in real libraries.
    return [*begin, "--cfg=smpi/async-small-thresh:65536"]


def smpi_program(name: str, folder: Path) -> Path:
    app = CASES[name].app
    command = ["make", "-C", str(folder), f"BUILD={folder / 'build'}"]
    # SMPI's mpif.h has MPI_STATUS_IGNORE as a procedure, which gfortran takes for a mismatch.
    command += ["MPICC=smpicc", "MPIFC=smpif90", "FFLAGS=-O2 -fallow-argument-mismatch", app]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} does not build for SMPI:\n{done.stderr}")
    return folder / "build" / app


def simulate(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=300)
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--smpi", action="store_true")
    parser.add_argument("--apps", default=",".join(CASES))
    parser.add_argument("--nodes", default="2,4,16")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument(
        "--progress", type=float, default=500, help="us, where the profile recommends none"
    )
    parser.add_argument("--profiles", type=Path)
    parser.add_argument("--builds", type=Path)
    parser.add_argument("--prepare", action="store_true", help="build only")
    arguments = parser.parse_args()
    names = arguments.apps.split(",")
    if arguments.network:
        on_network(names, arguments)
    if arguments.smpi:
        on_smpi(names, [int(n) for n in arguments.nodes.split(",")], arguments.pairs)


if __name__ == "__main__":
    main()
