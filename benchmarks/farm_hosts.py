"""Let real networks judge farms: who gets which task on one host and on two, predicted and run.

    sudo python benchmarks/farm_hosts.py openmpi|mpich [--repeat 5] [--tasks 1200] [--longer 2500]
        [--keep DIR | --from DIR]

A boss and two workers (task_farm.c) run on one host and on two (tests/network/two-hosts, TCP at 800
Mbit/s), where the boss and one worker have the first host: results of the other, of 20 to 800 KB,
take longer, so that it gets fewer tasks. Tasks are waits, as of an accelerator, and ranks sleep
between polls (tests/mpi/programs/yields.c), so that three ranks on two cores take what they would
take on three; what else runs waits for them. Each run predicts the other network, with its tasks
in the order of the run and given to whoever asks first; what messages take within and between hosts
is calibrated with two ranks that sleep so. Where `imbrex predict` would keep the order of the run,
so does this. Prints the table of docs/theory/predict.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imbrex.network import load
from imbrex.profile.run import load_run
from imbrex.replay.arrays import ArraySchedule, Kind
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Replayer
from imbrex.replay.farm_schedule import as_served, serves_as_it_did
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.run_log import read_run_log
from imbrex.replay.situation import Situation, situations

sys.path.insert(0, str(Path(__file__).resolve().parent))
from network_table import launcher
from replay_hosts import ROOT
from two_hosts import Network, two_hosts

RANKS, PER_HOST, POINT_NS = 3, 2, 6000
LONG = 6000
"""A tenth of those of the simulated farm: who has the last long one is a matter of chance."""
SLEEPS = {"TESTS_RUN_BESIDE": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
"""See tests/mpi/programs/yields.c."""
HOSTS = {"one": 1, "two": 2}
QUICK = ("--quick", "--time-limit", "90", "--max-bytes", "1M")


def build(mpi: str, folder: Path) -> Path:
    program = folder / "task_farm"
    source = ROOT / "benchmarks" / "task_farm.c"
    words = [f"mpicc.{mpi}", "-std=gnu11", "-O2", "-g", f"-DTASK_POINT_NS={POINT_NS}"]
    words += [f"-DTASK_LONG={LONG}", str(source), "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def asleep(folder: Path) -> None:
    """From here on ranks sleep while they wait, and have a core before what else runs."""
    library = folder / "yields.so"
    source = ROOT / "tests" / "mpi" / "programs" / "yields.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    os.environ.update({**SLEEPS, "LD_PRELOAD": str(library)})
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def lines(mpi: str, folder: Path, ranks: int) -> dict[str, list[str]]:
    """The launcher's words for one host and for two."""
    given = [f"-x{name}" for name in ("LD_PRELOAD", "TESTS_RUN_BESIDE")]
    more = [part for each in given for part in (each[:2], each[2:])] if mpi == "openmpi" else []
    return {
        name: [line[0], *more, *line[1:]]
        for name, hosts in HOSTS.items()
        for line in [launcher(mpi, folder, ranks, hosts)]
    }


def calibrated(network: Network, mpi: str) -> Path:
    """A profile of both paths, each of a pair of ranks that nobody else keeps from its cores."""
    files = {}
    for hosts, line in lines(mpi, network.folder, 2).items():
        files[hosts] = network.folder / f"pair-{mpi}-{hosts}.json"
        words = ["calibrate", *QUICK, "-o", str(files[hosts]), "--", *line]
        network.imbrex(*words)
    within, between = load(files["one"]), load(files["two"])
    file = network.folder / f"pairs-{mpi}.json"
    replace(between, paths={**within.paths, **between.paths}).save(file)
    return file


@dataclass(frozen=True)
class Told:
    """Of a run, in s: what it took, what its replay says of it, and what it says of the other
    network with its tasks in the order of the run and as whoever asks first gets them; and how many
    tasks each worker had, and has there."""

    measured: float
    itself: float
    in_order: float
    served: float
    had: tuple[int, ...]
    has: tuple[int, ...]


def tasks(schedule: ArraySchedule) -> tuple[int, ...]:
    """What each worker sent: a result for each of its tasks."""
    ops = schedule.operations
    streams = np.repeat(np.arange(schedule.streams), np.diff(schedule.first.astype(np.int64)))
    sent = Counter(streams[(ops["kind"] == Kind.SEND) & (ops["peer"] == 0)].tolist())
    return tuple(sent[worker] for worker in range(1, schedule.streams))


def told(folder: Path) -> Told:
    """The run's profile knows both paths: on the other network the ranks are placed anew."""
    run = load_run(folder)
    made = schedule_from_log(read_run_log(run))
    own, *_ = situations(run, (), [], "probed", None)
    node = tuple(rank // PER_HOST for rank in range(RANKS)) if own.on_one_node else (0,) * RANKS
    there = replace(own, node=node)
    here = own.place(made.schedule)
    farms = made.farms
    placed = there.place(made.schedule)
    played = serves_as_it_did(here, farms, own.network, made.measured_ns)
    served = as_served(placed, farms, there.network) if played else None
    if served is None:
        print(f"{folder.name}: its farm keeps the order of the run", file=sys.stderr, flush=True)
        served = placed

    def time_s(schedule: ArraySchedule, situation: Situation) -> float:
        return Replayer(as_messages(schedule)).run(situation.network).run_ns * 1e-9

    return Told(
        made.measured_ns * 1e-9,
        time_s(here, own),
        time_s(placed, there),
        time_s(served, there),
        tasks(made.schedule),
        tasks(served),
    )


def shares(rows: list[tuple[int, ...]]) -> str:
    """Tasks of each worker, in the mean."""
    return ", ".join(f"{mean:.0f}" for mean in np.mean(rows, axis=0))


def table(mpi: str, folder: Path, begin: str, repeat: int) -> str:
    found = {
        hosts: [told(folder / f"{begin}{hosts}-{turn}") for turn in range(repeat)]
        for hosts in ("one", "two")
    }
    rows = []
    for hosts, opposite, words in (("one", "two", "one host"), ("two", "one", "two hosts")):
        own, other = found[hosts], found[opposite]
        times = [each.measured for each in own]
        truth = statistics.median(times)
        cells = [
            f"{statistics.median(values) / truth - 1:+.1%}"
            for values in (
                [each.itself for each in own],
                [each.in_order for each in other],
                [each.served for each in other],
            )
        ]
        rows.append(
            f"| {mpi} | {words} | {truth:.3f} s | {(max(times) - min(times)) / truth:.1%} | "
            f"{' | '.join(cells)} | {shares([each.had for each in own])} | "
            f"{shares([each.has for each in other])} |"
        )
    return "\n".join(rows)


def measured(
    network: Network, folder: Path, machine: Path, line: list[str], program: list[str]
) -> None:
    words = ["-q", "--keep-log", "--machine", str(machine), "-o", str(folder)]
    network.imbrex("run", *words, "--", *line, *program)


HEAD = (
    "| library | on | measured | runs differ by | replay of itself | from the other, in its order "
    "| as whoever asks first | tasks of the workers | predicted |\n"
    "|---|---|--:|--:|--:|--:|--:|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mpi", choices=("openmpi", "mpich"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=1200)
    parser.add_argument("--longer", type=int, default=2500)
    parser.add_argument("--keep", type=Path, help="a folder for the run directories")
    parser.add_argument("--from", dest="kept", type=Path, help="such a folder: no runs are made")
    options = parser.parse_args()
    print(HEAD)
    if options.kept:
        print(table(options.mpi, options.kept, f"{options.mpi}-farm-", options.repeat))
        return
    with tempfile.TemporaryDirectory() as scratch:
        asleep(Path(scratch))
        with two_hosts(apart=False) as network:
            program = [str(build(options.mpi, network.folder))]
            program += [str(options.tasks), str(options.longer)]
            machine = calibrated(network, options.mpi)
            for turn in range(options.repeat):
                for hosts, line in lines(options.mpi, network.folder, RANKS).items():
                    folder = network.folder / f"farm-{hosts}-{turn}"
                    measured(network, folder, machine, line, program)
            if options.keep:
                for folder in network.folder.glob("farm-*"):
                    shutil.copytree(folder, options.keep / f"{options.mpi}-{folder.name}")
            print(table(options.mpi, network.folder, "farm-", options.repeat), flush=True)


if __name__ == "__main__":
    main()
