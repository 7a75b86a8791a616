"""Let real networks judge replays of plain runs: measured on one, predicted for another.

    sudo python benchmarks/replay_hosts.py openmpi|mpich [--apps halo2d,halo3d,cg,exchange]
        [--repeat 3] [--real-time] [--keep DIR | --from DIR]

Makes two hosts in network namespaces (tests/network/two-hosts, TCP at 800 Mbit/s). Each app runs
plainly on two ranks of one host and on one rank of each. From the run on one host comes the
prediction for two, with the machine profile that `imbrex run` measured there, and the other way
round; beside them stands what the first run predicts of itself, and how far apart the repeated runs
lie. Run time is what the program needs from the end of MPI_Init to MPI_Finalize, without what lies
around a pause of its own (messages in it are in no log), median of the repeated runs; a run beside
which others had the cores is made again. Two minutes for each MPI. `--real-time` lets ranks go
before all else that the machine does (SCHED_RR), for one that others use; Linux takes 50 ms of each
second for the others all the same, so that runs have to be shorter. `--from` takes the runs that
`--keep` left, and predicts them once more.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from imbrex.launch.disturbance import busy_before, counts, disturbance
from network_table import ROOT, launcher
from two_hosts import Network, two_hosts

MOST_TRIES = 4
HALO3D = tuple(
    f"halo/halo3d{part}.c" for part in ("", "_blocking", "_faces", "_late_wait", "_overlapped")
)
HALO2D = tuple(
    f"halo/halo2d{part}.c"
    for part in ("", "_blocking", "_boundary_first", "_late_wait", "_overlapped")
)


@dataclass(frozen=True)
class App:
    """Its sources in apps/ (or tests/network/exchange.c) and arguments."""

    sources: tuple[str, ...]
    arguments: str


APPS = {
    "halo2d": App(HALO2D, "--n 1024 --steps 1000 --variant blocking"),
    "halo3d": App(HALO3D, "--n 160 --steps 20 --variant late-wait"),
    "cg": App(("cg/cg.c", "cg/mesh.c"), "--n 512 --tolerance 0.05"),
    "exchange": App(("../tests/network/exchange.c",), "late 4000000 50 15"),
}


def build(mpi: str, name: str, folder: Path) -> Path:
    sources = [str(ROOT / "apps" / source) for source in APPS[name].sources]
    program = folder / name
    words = [f"mpicc.{mpi}", "-std=gnu11", "-O2", "-g", "-w", *sources, "-o", str(program), "-lm"]
    subprocess.run(words, check=True)
    return program


def here(mpi: str) -> list[str]:
    """Two ranks of node1, on a core each."""
    return [f"mpirun.{mpi}", *(["--bind-to", "none"] if mpi == "openmpi" else []), "-n", "2"]


def measured_run(folder: Path, words: list[str]) -> list[str]:
    imbrex = [sys.executable, "-m", "imbrex.cli", "run", "--keep-log"]
    return [*imbrex, "-o", str(folder), "--", *words]


def run_undisturbed(network: Network, folder: Path, words: list[str]) -> None:
    """A measured run, again (at most four times in all) where others had the cores beside it."""
    for _ in range(MOST_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        before = counts(time.monotonic())
        time.sleep(0.5)
        begun = counts(time.monotonic())
        network.run(measured_run(folder, words))
        told = disturbance(begun, counts(time.monotonic()), busy_before(before, begun))
        if told is None:
            return
        print(f"{folder.name}: {told}", file=sys.stderr, flush=True)


def told(folder: Path, *options: str) -> dict[str, Any]:
    words = [sys.executable, "-m", "imbrex.cli", "predict", str(folder), *options, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return cast("dict[str, Any]", json.loads(done.stdout))


def wall_s(folder: Path) -> float:
    """Of a run directory: what its log says."""
    document = told(folder)
    return float(document["measured_s"] - document["paused_s"])


def predicted(folder: Path, machine: Path) -> tuple[float, float]:
    """Run time as measured, and on the other machine."""
    document = told(folder, "--network", str(machine))
    rows, paused_s = document["networks"], document["paused_s"]
    return rows[0]["time_s"] - paused_s, rows[1]["time_s"] - paused_s


def middle(runs: list[float]) -> float:
    return statistics.median(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mpi", choices=("openmpi", "mpich"))
    parser.add_argument("--apps", default=",".join(APPS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for the run directories")
    parser.add_argument("--from", dest="kept", type=Path, help="such a folder: no runs are made")
    options = parser.parse_args()
    names = options.apps.split(",")
    if options.kept:
        kept = [row(name, options.kept, f"{options.mpi}-{name}", options.repeat) for name in names]
        print(table(options.mpi, kept))
        return
    with two_hosts() as network:
        rows = []
        for name in names:
            program = build(options.mpi, name, network.folder)
            rows.append(
                judge(options.mpi, name, program, network, options.repeat, options.real_time)
            )
            if options.keep:
                for folder in network.folder.glob(f"{name}-*"):
                    shutil.copytree(folder, options.keep / f"{options.mpi}-{folder.name}")
    print(table(options.mpi, rows))


@dataclass(frozen=True)
class Row:
    """Run times in s on one host and on two: of all runs, of itself predicted, from the other."""

    app: str
    measured: dict[str, list[float]]
    itself: dict[str, float]
    other: dict[str, float]


def judge(mpi: str, name: str, program: Path, network: Network, repeat: int, first: bool) -> Row:
    line = [str(program), *APPS[name].arguments.split()]
    lines = {"one": [*here(mpi), *line], "two": [*launcher(mpi, network.folder), *line]}
    for turn in range(repeat):
        for hosts, words in lines.items():
            folder = network.folder / f"{name}-{hosts}-{turn}"
            if first:
                network.run(["chrt", "-r", "20", *measured_run(folder, words)])
            else:
                run_undisturbed(network, folder, words)
    found = row(name, network.folder, name, repeat)
    print(table(mpi, [found]), file=sys.stderr, flush=True)
    return found


def row(name: str, folder: Path, begin: str, repeat: int) -> Row:
    """Of the run directories BEGIN-one-0, BEGIN-two-0, ... in a folder."""
    measured, itself, other = {}, {}, {}
    for hosts, opposite in (("one", "two"), ("two", "one")):
        machine = folder / f"{begin}-{opposite}-0" / "machine.json"
        folders = [folder / f"{begin}-{hosts}-{turn}" for turn in range(repeat)]
        measured[hosts] = [wall_s(each) for each in folders]
        runs = [predicted(each, machine) for each in folders]
        itself[hosts] = middle([own for own, _ in runs])
        other[opposite] = middle([there for _, there in runs])
    return Row(name, measured, itself, other)


def table(mpi: str, rows: list[Row]) -> str:
    """As Markdown; errors against the median of the runs there."""
    lines = [
        "| library | app | on | measured | runs differ by | replay of itself | from the other |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        for hosts, words in (("one", "one host"), ("two", "two hosts")):
            runs = row.measured[hosts]
            truth = middle(runs)
            spread = (max(runs) - min(runs)) / truth
            cells = [f"{value / truth - 1:+.1%}" for value in (row.itself[hosts], row.other[hosts])]
            lines.append(
                f"| {mpi} | {row.app} | {words} | {truth:.3f} s | {spread:.1%} | "
                f"{cells[0]} | {cells[1]} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
