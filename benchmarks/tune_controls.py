"""Where `imbrex tune` must find nothing: programs without a gain, and a program beside itself.

What tune_table.py runs with --controls and --self: two ranks on this machine, no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, run_timed
from imbrex.tune.trial import Plan
from network_table import ROOT
from page import cells

MINUTE_S = 60.0
"""So much longer than the program a search may take that has nothing to find."""
WORTH = 0.01
MOST_PAIRS = 10
"""Of a program beside itself: with more than these a search has long gone on to something else."""
SELF_BUDGET_S = 30.0


def without_source(verdict: str) -> str:
    """What a verdict says of what was tried; what stands in the way of the source is too long for a
    table."""
    return re.sub(r",? and (no rewrite of|no call can be|the source at)[^|]*$", ".", verdict)


@dataclass(frozen=True)
class Control:
    """A program in which overlap has nothing to gain. `source`: the C program that is built."""

    workload: str
    library: str
    words: tuple[str, ...]
    source: str = ""

    @property
    def name(self) -> str:
        return " ".join(self.words)


CONTROLS = (
    Control("LAMMPS, a melt", "openmpi", ("lmp", "-in", "melt.lammps", "-log", "none")),
    Control("the HPC Challenge", "openmpi", ("hpcc",)),
    *(
        control
        for library in ("openmpi", "mpich")
        for control in (
            Control(
                "no MPI time",
                library,
                ("./exchange", "blocking", "8", "50", "20"),
                "tests/network/exchange.c",
            ),
            Control(
                "one late rank",
                library,
                ("./late", "sendrecv", "50"),
                "tests/mpi/programs/late.c",
            ),
        )
    ),
)


@dataclass(frozen=True)
class ControlRow:
    """What tune said of a control: `run_s` is the program's own time, `took_s` that of the search,
    `tried` how many candidates had runs."""

    library: str
    workload: str
    name: str
    run_s: float
    verdict: str
    tried: int
    took_s: float


@dataclass(frozen=True)
class SelfRow:
    """One search whose only candidate is the program as it is: whether it was recommended, its
    pairs, those of them that something disturbed, and the gain that it seemed to have."""

    library: str
    name: str
    recommended: bool
    pairs: int
    disturbed: int
    seemed: float
    deviation: float
    busy: bool = False
    """Others worked on the machine meanwhile."""


def read(file: Path, kind: str) -> list[dict[str, Any]]:
    """The rows of one kind in a rows' file; those that name none are of searches."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [
        {k: v for k, v in row.items() if k != "kind"}
        for row in rows
        if row.get("kind", "search") == kind
    ]


def write(file: Path, kind: str, row: Any) -> None:
    with file.open("a") as stream:
        stream.write(json.dumps({"kind": kind, **asdict(row)}) + "\n")


def _environment(folder: Path) -> dict[str, str]:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **root, "IMBREX_CACHE": str(folder / "cache")}


def _built(control: Control, folder: Path) -> Path:
    """The folder where a control is started, with all that it needs there."""
    place = folder / f"{control.library}-{Path(control.words[0]).name}"
    place.mkdir(exist_ok=True)
    if control.source:
        shutil.copy(ROOT / control.source, place)
        source = Path(control.source).name
        compiler = f"mpicc.{control.library}"
        words = [compiler, "-O2", "-g", "-w", "-o", Path(source).stem, source]
        subprocess.run(words, cwd=place, check=True, capture_output=True)
    else:
        for file in (ROOT / "apps" / "real").iterdir():
            shutil.copy(file, place)
    return place


def _started(control: Control) -> list[str]:
    return [f"mpirun.{control.library}", "-n", "2", *control.words]


def control_row(control: Control, folder: Path, budget_s: float) -> ControlRow | None:
    """One search; None where the program is not installed."""
    if not control.source and shutil.which(control.words[0]) is None:
        return None
    place, environment = _built(control, folder), _environment(folder)
    began = time.monotonic()
    subprocess.run(_started(control), cwd=place, env=environment, check=True, capture_output=True)
    run_s, began = time.monotonic() - began, time.monotonic()
    tune = [sys.executable, "-m", "imbrex.cli", "tune", "--budget", f"{budget_s:.0f}s"]
    tune += ["-q", "--json", "-o", "tune", "--", *_started(control)]
    done = subprocess.run(tune, cwd=place, env=environment, capture_output=True, text=True)
    took_s = time.monotonic() - began
    if done.returncode:
        raise SystemExit(f"tune fails for {control.name}:\n{done.stdout}{done.stderr}")
    said = json.loads(done.stdout)
    tried = sum(1 for candidate in said["candidates"] if candidate["pairs"])
    return ControlRow(
        control.library, control.workload, control.name, run_s, said["verdict"], tried, took_s
    )


def self_row(library: str, folder: Path, busy: bool) -> SelfRow:
    """One search with the program as it is as its only candidate: a variable that nobody reads."""
    control = next(c for c in CONTROLS if c.library == library and c.workload == "no MPI time")
    control = replace(control, words=("./exchange", "blocking", "100000", "20", "5"))
    place = _built(control, folder)
    program = str(place / "exchange")
    words = tuple(
        program if argument == "./exchange" else argument for argument in _started(control)
    )
    line = Line("A", words, _environment(folder))
    same = Setup({"IMBREX_TUNE_SELF": "1"})
    tried = [Tried(Candidate("setting", "itself", same, "nothing", "nothing"))]
    search(Request(line, Plan(MOST_PAIRS, worth=WORTH), SELF_BUDGET_S), tried, run_timed)
    (found,) = tried
    pairs = found.trial.pairs if found.trial is not None else ()
    disturbed = sum(pair.disturbed is not None for pair in pairs)
    name = " ".join(control.words)
    return SelfRow(
        library,
        name,
        found.recommended,
        found.pairs,
        disturbed,
        found.estimate,
        found.deviation,
        busy,
    )


def control_table(rows: Sequence[ControlRow]) -> list[str]:
    lines = [
        "| library | program | takes | what it says | tried | search |",
        "|---|---|--:|---|--:|--:|",
    ]
    for row in rows:
        lines.append(
            f"| {row.library} | {row.workload}: `{row.name}` | {row.run_s:.1f} s "
            f"| {without_source(row.verdict)} | {row.tried} | {row.took_s:.0f} s |"
        )
    return lines


def told_controls(table: list[str]) -> str:
    """How many rows of a table of controls are as they must be, in a sentence."""
    found = cells(table)
    right = [
        row for row in found if _nothing(row[3]) and _seconds(row[5]) <= _seconds(row[2]) + MINUTE_S
    ]
    return (
        "Nothing found, within a minute beyond the program's own time: "
        f"{len(right)} of {len(found)}."
    )


def _nothing(verdict: str) -> bool:
    return verdict.startswith("Nothing")


def _seconds(cell: str) -> float:
    return float(cell.removesuffix(" s"))


def self_table(rows: Sequence[SelfRow]) -> list[str]:
    lines = [
        "| library | program | searches | pairs | disturbed | spread of a pair | recommended |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for library, name, busy in dict.fromkeys((row.library, row.name, row.busy) for row in rows):
        mine = [row for row in rows if (row.library, row.name, row.busy) == (library, name, busy)]
        pairs, disturbed = sum(row.pairs for row in mine), sum(row.disturbed for row in mine)
        spread = sorted(row.deviation for row in mine)[len(mine) // 2]
        wrong = sum(row.recommended for row in mine)
        beside = ", while others worked on the machine" if busy else ""
        lines.append(
            f"| {library} | `{name}`{beside} | {len(mine)} | {pairs} | {disturbed} "
            f"| {100 * spread:.1f} % | {wrong} |"
        )
    return lines
