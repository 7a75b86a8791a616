"""What `imbrex tune` finds for whole programs over a network, from sources and one command each.

    sudo python benchmarks/tune_table.py --rows FILE [--library mpich] [--only exchange,cg]
        [--budget 90] [--pairs 20] [--seconds 1200] [--insert docs/guide/tune.md]
    python benchmarks/tune_table.py --rows FILE --controls [--only hpcc] [--budget 60] [...]
    python benchmarks/tune_table.py --rows FILE --self 100 [--busy] [...]

Two ranks on two hosts in network namespaces (TCP, 800 Mbit/s, one core each). For each program:
what was recommended, the gain proven, the gain of the variant that overlaps by hand where there is
one, and how long the search took. A recommendation is then carried out as its lines say, and so
many fresh pairs of runs of the program as it was and of what came out are compared. Each program's
row goes into the rows' file when it is whole; a further call goes on with those that have none.
With --controls programs are tried in which overlap has nothing to gain, and with --self one beside
itself, both on this machine alone; they have tables of their own (--busy says that others worked
on it meanwhile: those searches have a row of their own). --insert puts the rows of the
rows' file into the page's table; the page's other rows stand as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from imbrex.tune.statistics import LEAST_PAIRS, Ratio
from imbrex.tune.timed_run import HangError, Line, TimedRun, run_timed
from imbrex.tune.trial import Plan, run_trial
from network_table import ROOT, SCRIPT, launcher
from page import insert, merged, standing
from tune_controls import (
    CONTROLS,
    ControlRow,
    SelfRow,
    control_row,
    control_table,
    read,
    self_row,
    self_table,
    told_controls,
    without_source,
    write,
)
from two_hosts import Network, two_hosts

LIBRARIES = ("openmpi", "mpich")
SOURCES = {"exchange": "tests/network/exchange.c", "sendrecv": "benchmarks/sendrecv.c"}
"""Programs of one file."""
LIMIT_S = 15.0
HANGS = 3
"""So many runs of a line in a row may hang, as MPICH 4.0.2 does in MPI_Finalize over TCP."""
HAND_PAIRS = 8
CERTAIN = 0.95
PREDICTIONS = re.compile(r"^The predictions of (\d+) trials\s[^|]*worst\.", re.MULTILINE)
"""The sentence below the table, and of how many trials it speaks."""


@dataclass(frozen=True)
class Case:
    """A program with its options, and the options of the same done by hand, where there is that.

    `hand_flag`: with which the program of one file is compiled for that.
    """

    app: str
    options: str
    by_hand: str = ""
    hand_flag: str = ""

    @property
    def name(self) -> str:
        return f"{self.app} {self.options}"


def _halo(app: str, size: str, variants: Sequence[str]) -> tuple[Case, ...]:
    """The variants of a halo exchange; overlapped is the one by hand."""
    overlapped = f"--variant overlapped {size}"
    return tuple(
        Case(app, f"--variant {v} {size}", "" if v == "overlapped" else overlapped)
        for v in variants
    )


CASES = (
    Case("exchange", "late 1000000 50 20", "tested 1000000 50 20"),
    Case("exchange", "late 4000000 50 20", "tested 4000000 50 20"),
    Case("sendrecv", "1000000 50 20", "1000000 50 20", "-DOVERLAPPED"),
    Case("sendrecv", "4000000 50 20", "4000000 50 20", "-DOVERLAPPED"),
    *_halo("halo3d", "--n 192 --steps 100", ("blocking", "late-wait", "faces", "overlapped")),
    *_halo(
        "halo2d", "--n 2048 --steps 400", ("blocking", "late-wait", "boundary-first", "overlapped")
    ),
    Case("fft", "--n 64 --steps 20"),
    Case("line", "--n 40 --chunk 400 --steps 20"),
    Case("bucket", "--log-keys 21 --iterations 60"),
    Case("cg", "--n 400 --variant blocking", "--n 400 --variant overlapped"),
    Case("mg", "--n 128 --cycles 22"),
    Case("ssor", "--n 64 --iterations 30"),
    Case("wavefront", "--n 96 --sweeps 40", "--n 96 --sweeps 40 --variant overlapped"),
)
"""Runs of 1 to 3 s, of which MPI takes a part that matters."""


@dataclass(frozen=True)
class Row:
    """Gains are shares of the run time, as (least, most); None: there is none."""

    library: str
    name: str
    run_s: float | None
    verdict: str
    recommended: str
    proven: tuple[float, float] | None
    predicted: float | None
    fresh: tuple[float, float] | None
    fresh_pairs: int
    by_hand: tuple[float, float] | None
    took_s: float
    trials: tuple[dict[str, Any], ...] = ()
    """Of each candidate with runs: `what`, `prediction`, `estimate`, `pairs`."""


class Workshop:
    """A program built from a copy of its sources, in the network's folder."""

    def __init__(self, network: Network, library: str, case: Case, number: int) -> None:
        self.network, self.library, self.case = network, library, case
        self.folder = network.folder / f"{library}-{number}"
        self.folder.mkdir()
        if case.app in SOURCES:
            self.program, words = self._of_one_file(case.app)
        else:
            shutil.copytree(ROOT / "apps", self.folder / "apps")
            compilers = [f"MPICC=mpicc.{library}", f"MPIFC=mpifort.{library}"]
            words = ["make", "-s", "-C", "apps", *compilers, case.app]
            self.program = self.folder / "apps" / "build" / case.app
        self._build = words
        subprocess.run(words, cwd=self.folder, check=True)
        self.before = self.program.with_name(f"{case.app}.before")
        shutil.copy(self.program, self.before)
        self.by_hand = self.before
        if case.hand_flag:
            self.by_hand = self.program.with_name(f"{case.app}.by-hand")
            by_hand = [*words[:-2], self.by_hand.name, case.hand_flag, words[-1]]
            subprocess.run(by_hand, cwd=self.folder, check=True)

    def _of_one_file(self, app: str) -> tuple[Path, list[str]]:
        """The program, and the command that builds it from the copy of its source."""
        source = ROOT / SOURCES[app]
        shutil.copy(source, self.folder)
        words = [f"mpicc.{self.library}", "-O2", "-g", "-w", "-o", app, source.name]
        return self.folder / app, words

    def start(self, program: Path, options: str) -> list[str]:
        return [*launcher(self.library, self.network.folder), str(program), *options.split()]

    def inside(self, words: Sequence[str]) -> list[str]:
        return [str(SCRIPT), "run", self.network.name, str(self.network.folder), *words]

    def tune(self, budget_s: float) -> dict[str, Any]:
        """What `imbrex tune --json` says, and `best`: which candidate its verdict names."""
        imbrex = [sys.executable, "-m", "imbrex.cli", "tune", "--budget", f"{budget_s:.0f}s"]
        imbrex += ["-q", "--json", "-o", str(self.folder / "tune"), "--"]
        done = subprocess.run(
            self.inside([*imbrex, *self.start(self.program, self.case.options)]),
            capture_output=True,
            text=True,
            env=self.network.environment,
            cwd=self.folder,
            timeout=budget_s + 300,
        )
        if done.returncode:
            raise SystemExit(f"tune fails for {self.case.name}:\n{done.stdout}{done.stderr}")
        found: dict[str, Any] = json.loads(done.stdout)
        named = [
            i for i, c in enumerate(found["candidates"]) if f"with {c['what']}" in found["verdict"]
        ]
        proven = [i for i in named if found["candidates"][i]["recommended"]]
        found["best"] = max(proven, key=lambda i: len(found["candidates"][i]["what"]), default=None)
        return found

    def pairs(self, a: Sequence[str], b: Sequence[str], most: int) -> Ratio:
        """`most` pairs of both lines, whatever they say."""
        environment = self.network.environment
        lines = [
            Line(name, tuple(self.inside(words)), environment, limit_s=LIMIT_S)
            for name, words in (("A", a), ("B", b))
        ]
        plan = Plan(most, worth=0.0, confidence=CERTAIN, repeated=most // 2)
        return run_trial(lines[0], lines[1], plan, run_at_last).ratio

    def carry_out(self, lines: Sequence[str]) -> list[str]:
        """Follow the lines of a recommendation; how the program is then started."""
        words = self.start(self.program, self.case.options)
        variables: list[str] = []
        for line in lines:
            if line.startswith("export "):
                variables = shlex.split(line)[1:]
            elif "imbrex-exec" in line:
                words = shlex.split(line)
            else:
                subprocess.run(line, shell=True, cwd=self.folder, check=True)
                subprocess.run(self._build, cwd=self.folder, check=True)
        return ["env", *variables, *words] if variables else words


def run_at_last(line: Line) -> TimedRun:
    """A run that is over in time; one that hangs is run again."""
    for _ in range(HANGS - 1):
        try:
            return run_timed(line)
        except HangError:
            continue
    return run_timed(line)


def measure(shop: Workshop, budget_s: float, most: int) -> Row:
    """One row."""
    case, start = shop.case, time.monotonic()
    said = shop.tune(budget_s)
    took_s = time.monotonic() - start
    best = said["candidates"][said["best"]] if said["best"] is not None else None
    before = shop.start(shop.before, case.options)
    fresh = shop.pairs(before, shop.carry_out(best["apply"]), most).gain if best else None
    by_hand = None
    if case.by_hand:
        by_hand = shop.pairs(before, shop.start(shop.by_hand, case.by_hand), HAND_PAIRS).gain
    return Row(
        shop.library,
        case.name,
        said["baseline"]["median_s"],
        said["verdict"],
        best["what"] if best else "",
        tuple(best["gain"]) if best else None,
        best["prediction"] if best else None,
        fresh,
        most if best else 0,
        by_hand,
        took_s,
        tuple(
            {name: candidate[name] for name in ("what", "prediction", "estimate", "pairs")}
            for candidate in said["candidates"]
            if candidate["pairs"]
        ),
    )


def gain(interval: Sequence[float] | None) -> str:
    """A cell: a share as per cent."""
    return "" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| library | program | takes | recommended | proven | predicted | fresh pairs | by hand "
        "| search |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in sorted(rows, key=lambda r: LIBRARIES.index(r.library)):
        takes = "" if row.run_s is None else f"{row.run_s:.1f} s"
        found = (
            f"`{row.recommended}`" if row.recommended else without_source(row.verdict).rstrip(".")
        )
        predicted = "" if row.predicted is None else f"{100 * row.predicted:.0f} %"
        fresh = f"{gain(row.fresh)} ({row.fresh_pairs})" if row.fresh else ""
        lines.append(
            f"| {row.library} | `{row.name.strip()}` | {takes} | {found} | {gain(row.proven)} "
            f"| {predicted} | {fresh} | {gain(row.by_hand)} | {row.took_s:.0f} s |"
        )
    return lines


def told_searches(standing_text: str, rows: Sequence[Row]) -> str:
    """How far predictions are off, of the page or of these rows: that which knows more trials."""
    old, now = PREDICTIONS.search(standing_text), predictions(rows)
    new = PREDICTIONS.search(now)
    if old is None or (new is not None and int(new[1]) >= int(old[1])):
        return now
    return old[0]


def predictions(rows: Sequence[Row]) -> str:
    """How far the predictions of all trials are from what was measured, in a sentence."""
    off = [
        abs(trial["prediction"] - trial["estimate"])
        for row in rows
        for trial in row.trials
        if trial["prediction"] is not None and trial["pairs"] >= LEAST_PAIRS
    ]
    if not off:
        return ""
    return textwrap.fill(
        f"The predictions of {len(off)} trials differ from what was measured by "
        f"{100 * median(off):.1f} % of the run in the median, {100 * max(off):.1f} % at worst.",
        100,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--library", choices=LIBRARIES)
    parser.add_argument("--only", help="programs, with or without options, commas between them")
    parser.add_argument("--budget", type=float, default=90)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--insert", type=Path)
    parser.add_argument("--controls", action="store_true", help="programs without a gain instead")
    parser.add_argument("--self", type=int, default=0, metavar="N", dest="beside_itself")
    parser.add_argument("--busy", action="store_true", help="with --self: others work meanwhile")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    libraries = [given.library] if given.library else LIBRARIES
    old, name = "", "controls" if given.controls else "self" if given.beside_itself else "tune"
    if given.insert is not None:
        old = standing(given.insert, name)
    if given.controls:
        lines = merged(old, controls(given.rows, libraries, given.only, given.budget, end))
        told = told_controls(lines)
    elif given.beside_itself:
        found = beside_itself(given.rows, libraries, given.beside_itself, given.busy, end)
        lines = merged(old, found)
        told = ""
    else:
        rows = searches(given, libraries, end)
        lines, told = merged(old, table(rows)), told_searches(old, rows)
    text = "\n".join([*lines, "", told] if told else lines)
    print(text)
    if given.insert is not None:
        insert(given.insert, text, name)


def searches(given: argparse.Namespace, libraries: Sequence[str], end: float) -> list[Row]:
    """Go on with the searches that have no row, until `end`; the rows of all."""
    rows = [Row(**row) for row in read(given.rows, "search")]
    has = {(row.library, row.name) for row in rows}
    wanted = [
        (library, case)
        for case in CASES
        for library in libraries
        if (not given.only or {case.app, case.name} & set(given.only.split(",")))
        and (library, case.name) not in has
    ]
    if wanted and time.monotonic() < end:
        with two_hosts() as network:
            for number, (library, case) in enumerate(wanted):
                if time.monotonic() > end:
                    break
                row = measure(Workshop(network, library, case, number), given.budget, given.pairs)
                rows.append(row)
                write(given.rows, "search", row)
                print(table([row])[2], flush=True)
    return rows


def controls(
    file: Path, libraries: Sequence[str], only: str | None, budget_s: float, end: float
) -> list[str]:
    """Go on with the controls that have no row, until `end`; the table of all."""
    rows = [ControlRow(**row) for row in read(file, "control")]
    has = {(row.library, row.name) for row in rows}
    with tempfile.TemporaryDirectory(prefix="imbrex-controls-") as folder:
        for control in CONTROLS:
            if control.library not in libraries or (control.library, control.name) in has:
                continue
            if time.monotonic() > end or (only and only not in control.name):
                continue
            row = control_row(control, Path(folder), budget_s)
            if row is not None:
                rows.append(row)
                write(file, "control", row)
    return control_table(rows)


def beside_itself(
    file: Path, libraries: Sequence[str], wanted: int, busy: bool, end: float
) -> list[str]:
    """Go on until each library has so many searches of a program beside itself, on a machine that
    is busy or is not, or until `end`."""
    rows = [SelfRow(**row) for row in read(file, "self")]
    with tempfile.TemporaryDirectory(prefix="imbrex-self-") as folder:
        for number in range(wanted):
            for library in libraries:
                has = sum((row.library, row.busy) == (library, busy) for row in rows)
                if has <= number and time.monotonic() < end:
                    row = self_row(library, Path(folder), busy)
                    rows.append(row)
                    write(file, "self", row)
    return self_table(rows)


if __name__ == "__main__":
    main()
