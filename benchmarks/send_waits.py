"""How much of a run standard sends wait for their receivers: what sending from a copy could save.

    sudo python benchmarks/send_waits.py --build FOLDER --rows FILE [--library mpich]
        [--only two,shared] [--insert docs/theory/progress.md]

Each mini-app that calls MPI_Send runs once behind `imbrex run` on two ranks: on two hosts in
network namespaces (TCP, 800 Mbit/s), and on one node as the library is set. Shown is the share of
the ranks' time that calls of MPI_Send took, and the most of it that was `late_receiver`: the
receive was not posted yet. A copy that is sent later saves no more than that, and has to be made.

What is measured goes into the rows' file, to which further calls add (`--only none` only prints).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from network_table import launcher
from page import insert
from preloaded import ROOT
from two_hosts import Network, two_hosts

LIBRARIES = ("openmpi", "mpich")
PLACES = {"two": "two hosts", "shared": "one node, shared memory"}
APPS = (
    "sweep --n 32 --iterations 100",
    "ssor --n 32 --iterations 60",
    "wavefront --n 48 --nz 48 --planes 4 --sweeps 8",
    "bossworker --cells 24",
)


def build(library: str, folder: Path) -> Path:
    """The apps for one library."""
    apps = folder / library / "apps"
    names = [app.split()[0] for app in APPS]
    words = ["make", "-s", "-C", str(ROOT / "apps"), f"BUILD={apps}"]
    compilers = [f"MPICC={shutil.which(f'mpicc.{library}')}", f"MPIFC=mpifort.{library}"]
    subprocess.run([*words, *compilers, *names], check=True)
    return apps


def measured(network: Network | None, library: str, words: list[str], folder: Path) -> Any:
    """What `imbrex show --by operation --json` says of a run of this program."""
    run = folder / "measured"
    shutil.rmtree(run, ignore_errors=True)
    if network is not None:
        line = [*launcher(library, network.folder), *words]
        network.imbrex("run", "-o", str(run), "--", *line)
    else:
        binding = ["--bind-to", "none"] if library == "openmpi" else []
        line = [f"mpirun.{library}", *binding, "-n", "2", *words]
        command = [sys.executable, "-m", "imbrex.cli", "run", "-o", str(run), "--", *line]
        subprocess.run(command, check=True, capture_output=True)
    command = [sys.executable, "-m", "imbrex.cli", "show", str(run), "--by", "operation", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def row_of(shown: Any) -> dict[str, float]:
    """Shares of the ranks' time, in per cent."""
    whole_s = shown["totals"]["wall_s"] * shown["totals"]["ranks"]
    sends = [row for row in shown["operations"] if row["operation"] == "MPI_Send"]
    waiting_s = sum(row["causes"]["late_receiver"][1] for row in sends)
    inside_s = sum(row["call_s"] for row in sends)
    return {"late_receiver": 100 * waiting_s / whole_s, "call": 100 * inside_s / whole_s}


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One run of each."""
    places = [place for place in PLACES if place in options.only.split(",")]
    folder = options.build.absolute()
    with ExitStack() as stack:
        network = stack.enter_context(two_hosts()) if "two" in places else None
        for library in (options.library or LIBRARIES) if places else ():
            apps = build(library, folder)
            for place in places:
                for app in APPS:
                    name, *words = app.split()
                    on = network if place == "two" else None
                    shown = measured(on, library, [str(apps / name), *words], folder)
                    yield {"place": place, "library": library, "app": app, **row_of(shown)}


def table(rows: list[dict[str, Any]]) -> str:
    """One line for each run."""
    lines = ["| where | library | app | in MPI_Send | waiting for the receiver, at most |"]
    lines.append("|---|---|---|--:|--:|")
    for row in rows:
        where = f"{PLACES[row['place']]} | {row['library']} | `{row['app']}`"
        lines.append(f"| {where} | {row['call']:.2f} % | {row['late_receiver']:.2f} % |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build here and keep it")
    parser.add_argument("--rows", type=Path, required=True, help="add what was measured to this")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("--only", default=",".join(PLACES), help="places: two,shared")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    rows: list[dict[str, Any]] = []
    if options.rows.exists():
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    for row in measure(options):
        rows.append(row)
        with options.rows.open("a") as file:
            file.write(json.dumps(row) + "\n")
    text = table(rows)
    print(text)
    if options.insert:
        insert(options.insert, text, "sends")


if __name__ == "__main__":
    main()
