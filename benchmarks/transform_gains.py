"""What `imbrex transform` brings on the mini-apps, beside the figures of the paper.

    sudo python benchmarks/transform_gains.py [--mpi openmpi] [--network] [--smpi] [--apps LIST]

--network: two ranks on two network namespaces (TCP, 800 Mbit/s), real. --smpi: SimGrid's SMPI on 2
to 16 nodes, links like InfiniBand (2 us, 10 Gbit/s) and Gigabit Ethernet (50 us, 1 Gbit/s); SMPI's
progress is ideal. Each app is built as it is and rewritten, and run in alternating pairs; the time
is what it prints. Outputs must be the same but for the times. "in MPI" tells what there is to
overlap: the share of the ranks' time before the rewrite that `imbrex run` finds in MPI calls.
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
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from network_table import launcher
from transform_apps import APPS, App, build, rewrite
from two_hosts import Network, two_hosts

_TIME = re.compile(r"time: *([0-9.]+) s")
PLATFORMS = {"InfiniBand-like": ("2us", "10Gbps"), "GigE-like": ("50us", "1Gbps")}


@dataclass(frozen=True)
class Case:
    app: str  # its target in apps/Makefile
    sources: str
    options: str
    paper: str = "-"


CASES: dict[str, Case] = {
    "ssor": Case("ssor", "ssor/*.f", "--n 64 --iterations 10", "LU 10-17 % (A), 5-17 % (B)"),
    "mg": Case("mg", "common/options.f90 mg/*.f90", "--n 64 --cycles 6", "MG 5-8 %"),
    "bucket": Case(
        "bucket", "bucket/*.c", "--log-keys 20 --iterations 5", "IS 11-39 % (A), 17-22 % (B)"
    ),
    "cg": Case("cg", "cg/*.c", "--n 200"),
    "halo2d": Case("halo2d", "halo/halo2d*.c", "--variant blocking --n 2048 --steps 20"),
    "halo3d": Case("halo3d", "halo/halo3d*.c", "--variant blocking --n 128 --steps 20"),
    "fft": Case("fft", "fft/*.c", "--n 64 --steps 5"),
    "line": Case(
        "line", "common/options.f90 line/*.f90", "--n 32 --chunk 64 --steps 4", "BT: nothing"
    ),
}
BY_HAND = {"halo2d": "--variant overlapped --n 2048 --steps 20"} | {
    "halo3d": "--variant overlapped --n 128 --steps 20"
}


def seconds_of(output: str, name: str) -> float:
    match = _TIME.search(output)
    if match is None or "verification:" not in output:
        raise SystemExit(f"{name}:\n{output}")
    return float(match[1])


def alternate(runs: dict[str, list[str]], pairs: int, run) -> dict[str, float]:
    """Median seconds of each command, run in turns; same outputs for "before" and "after"."""
    times: dict[str, list[float]] = {side: [] for side in runs}
    texts: dict[str, str] = {}
    for _ in range(pairs):
        for side, command in runs.items():
            output = run(command)
            times[side].append(seconds_of(output, " ".join(command)))
            texts[side] = _TIME.sub("time", output[output.index("time:") :])
    if texts["before"] != texts["after"]:
        raise SystemExit(f"the outputs differ:\n{texts['before']}\n{texts['after']}")
    return {side: statistics.median(found) for side, found in times.items()}


def prepared(name: str, folder: Path, library: str) -> tuple[dict[str, Path], str]:
    """The app before and after, and its share of sites rewritten."""
    case = CASES[name]
    app = App(case.sources, case.options)
    for side in ("before", "after"):
        shutil.copytree(APPS, folder / side)
    outcome = rewrite(app, folder / "after", reassociation=False)
    counts = Counter(decision.decision for decision in outcome.decisions)
    share = f"{counts['rewritten']} of {len(outcome.decisions)}"
    return {s: build(case.app, folder / s, library) for s in ("before", "after")}, share


def gain(before: float, after: float) -> str:
    return f"{before:.3f} | {after:.3f} | {100 * (before - after) / before:+.1f} %"


def on_network(names: list[str], mpi: str, pairs: int) -> None:
    print(f"\nTwo hosts, TCP at 800 Mbit/s, {mpi}, one rank on each; medians of {pairs} runs.\n")
    print("| app | sites rewritten | before s | after s | gain | by hand | in MPI | paper |")
    print("|---|---|---|---|---|---|---|---|")
    with two_hosts() as network:
        for name in names:
            folder = network.folder / name
            programs, share = prepared(name, folder, mpi)
            line = launcher(mpi, network.folder)
            options = CASES[name].options.split()
            runs = {s: [*line, str(program), *options] for s, program in programs.items()}
            if name in BY_HAND:
                runs["hand"] = [*line, str(programs["before"]), *BY_HAND[name].split()]
            times = alternate(runs, pairs, network.run)
            hand = "-"
            if "hand" in times:
                hand = f"{100 * (times['before'] - times['hand']) / times['before']:+.1f} %"
            inside = available(network, name, runs["before"])
            cells = f"| {name} | {share} | {gain(times['before'], times['after'])} | {hand} "
            print(f"{cells}| {inside} | {CASES[name].paper} |", flush=True)


def available(network: Network, name: str, command: list[str]) -> str:
    """Communication there is to overlap: the share of the ranks' time in MPI calls."""
    folder = network.folder / f"run-{name}"
    network.imbrex("run", "-q", "-o", str(folder), "--", *command)
    totals = json.loads(network.imbrex("show", str(folder), "--json"))["totals"]
    return f"{100 * totals['call_s'] / (totals['call_s'] + totals['compute_s']):.0f} %"


def platform(folder: Path, latency: str, bandwidth: str) -> Path:
    file = folder / "cluster.xml"
    file.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
        '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1"><zone id="z" routing="Full">'
        f'<cluster id="c" prefix="n" suffix="" radical="0-15" speed="2Gf" bw="{bandwidth}" '
        f'lat="{latency}"/></zone></platform>\n'
    )
    return file


def on_smpi(names: list[str], nodes: list[int], pairs: int) -> None:
    print("\nSimulated (SMPI), computation as measured on this machine.\n")
    print("| app | platform | nodes | before s | after s | gain | paper |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            programs = smpi_programs(name, folder)
            for kind, (latency, bandwidth) in PLATFORMS.items():
                file = platform(folder, latency, bandwidth)
                for count in nodes:
                    begin = ["smpirun", "-np", str(count), "-platform", str(file)]
                    begin += ["--cfg=smpi/host-speed:2e9", "--log=root.thres:critical"]
                    options = CASES[name].options.split()
                    runs = {s: [*begin, str(p), *options] for s, p in programs.items()}
                    times = alternate(runs, pairs, simulate)
                    cells = gain(times["before"], times["after"])
                    print(
                        f"| {name} | {kind} | {count} | {cells} | {CASES[name].paper} |", flush=True
                    )


def smpi_programs(name: str, folder: Path) -> dict[str, Path]:
    case = CASES[name]
    programs = {}
    for side in ("before", "after"):
        shutil.copytree(APPS, folder / side)
        if side == "after":
            rewrite(App(case.sources, case.options), folder / side, reassociation=False)
        command = ["make", "-C", str(folder / side), f"BUILD={folder / side / 'build'}"]
        command += ["MPICC=smpicc", "MPIFC=smpif90", case.app]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{name} does not build for SMPI:\n{done.stderr}")
        programs[side] = folder / side / "build" / case.app
    return programs


def simulate(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=300)
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--smpi", action="store_true")
    parser.add_argument("--apps", default=",".join(CASES))
    parser.add_argument("--nodes", default="2,4,8,16")
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    names = arguments.apps.split(",")
    if arguments.network:
        on_network(names, arguments.mpi, arguments.pairs)
    if arguments.smpi:
        on_smpi(names, [int(n) for n in arguments.nodes.split(",")], arguments.pairs)


if __name__ == "__main__":
    main()
