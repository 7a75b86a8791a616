"""What `imbrex tune` finds for whole programs over a network, from sources and one command each.

    sudo python benchmarks/tune_table.py --rows FILE [--library mpich] [--only exchange,cg]
        [--budget 90] [--pairs 20] [--seconds 1200] [--insert docs/guide/tune.md]

Two ranks on two hosts in network namespaces (TCP, 800 Mbit/s, one core each). For each program:
what was recommended, the gain proven, the gain of the variant that overlaps by hand where there is
one, and how long the search took. A recommendation is then carried out as its lines say, and so
many fresh pairs of runs of the program as it was and of what came out are compared. Each program's
row goes into the rows' file when it is whole; a further call goes on with those that have none.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from imbrex.tune.statistics import Ratio
from imbrex.tune.timed_run import Line, run_timed
from imbrex.tune.trial import Plan, run_trial
from network_table import ROOT, SCRIPT, launcher
from page import insert
from two_hosts import Network, two_hosts

LIBRARIES = ("openmpi", "mpich")
LIMIT_S = 60.0
HAND_PAIRS = 8
CERTAIN = 0.95


@dataclass(frozen=True)
class Case:
    """A program with its options, and the options of the same done by hand, where there is that."""

    app: str
    options: str
    by_hand: str = ""

    @property
    def name(self) -> str:
        return f"{self.app} {self.options}"


CASES = (
    Case("exchange", "late 1000000 50 10", "tested 1000000 50 10"),
    Case("exchange", "late 4000000 50 10", "tested 4000000 50 10"),
    Case("exchange", "blocking 1000000 50 10", "tested 1000000 50 10"),
    Case("exchange", "blocking 4000000 50 10", "tested 4000000 50 10"),
    Case(
        "halo3d",
        "--variant blocking --n 192 --steps 60",
        "--variant overlapped --n 192 --steps 60",
    ),
    Case("halo3d", "--variant late-wait --n 192 --steps 60"),
    Case("halo3d", "--variant overlapped --n 192 --steps 60"),
    Case(
        "halo2d",
        "--variant blocking --n 4096 --steps 40",
        "--variant overlapped --n 4096 --steps 40",
    ),
    Case("fft", "--n 64 --steps 12"),
    Case("line", "--n 40 --chunk 400 --steps 8"),
    Case("bucket", "--log-keys 20 --iterations 30"),
    Case("cg", "--n 300 --variant blocking", "--n 300 --variant overlapped"),
    Case("mg", "--n 64 --cycles 30"),
    Case("ssor", ""),
    Case("wavefront", "", "--variant overlapped"),
)


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


class Workshop:
    """A program built from a copy of its sources, in the network's folder."""

    def __init__(self, network: Network, library: str, case: Case, number: int) -> None:
        self.network, self.library, self.case = network, library, case
        self.folder = network.folder / f"{library}-{number}"
        self.folder.mkdir()
        if case.app == "exchange":
            shutil.copy(ROOT / "tests" / "network" / "exchange.c", self.folder)
            words = [f"mpicc.{library}", "-O2", "-g", "-w", "-o", "exchange", "exchange.c"]
            self.program = self.folder / "exchange"
        else:
            shutil.copytree(ROOT / "apps", self.folder / "apps")
            compilers = [f"MPICC=mpicc.{library}", f"MPIFC=mpifort.{library}"]
            words = ["make", "-s", "-C", "apps", *compilers, case.app]
            self.program = self.folder / "apps" / "build" / case.app
        self._build = words
        subprocess.run(words, cwd=self.folder, check=True)
        self.before = self.program.with_name(f"{case.app}.before")
        shutil.copy(self.program, self.before)

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
        return run_trial(lines[0], lines[1], plan, run_timed).ratio

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
                subprocess.run(shlex.split(line), cwd=self.folder, check=True)
                subprocess.run(self._build, cwd=self.folder, check=True)
        return ["env", *variables, *words] if variables else words


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
        by_hand = shop.pairs(before, shop.start(shop.before, case.by_hand), HAND_PAIRS).gain
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
    )


def gain(interval: Sequence[float] | None) -> str:
    """A cell: a share as per cent."""
    return "" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| library | program | takes | recommended | proven | predicted | fresh pairs | by hand "
        "| search |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for row in sorted(rows, key=lambda r: LIBRARIES.index(r.library)):
        takes = "" if row.run_s is None else f"{row.run_s:.1f} s"
        found = f"`{row.recommended}`" if row.recommended else row.verdict.rstrip(".")
        predicted = "" if row.predicted is None else f"{100 * row.predicted:.0f} %"
        fresh = f"{gain(row.fresh)} ({row.fresh_pairs})" if row.fresh else ""
        lines.append(
            f"| {row.library} | `{row.name.strip()}` | {takes} | {found} | {gain(row.proven)} "
            f"| {predicted} | {fresh} | {gain(row.by_hand)} | {row.took_s:.0f} s |"
        )
    return "\n".join(lines)


def read(file: Path) -> list[Row]:
    if not file.exists():
        return []
    return [Row(**json.loads(line)) for line in file.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--library", choices=LIBRARIES)
    parser.add_argument("--only", help="programs, with commas between them")
    parser.add_argument("--budget", type=float, default=90)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--insert", type=Path)
    given = parser.parse_args()
    rows = read(given.rows)
    has = {(row.library, row.name) for row in rows}
    end = time.monotonic() + given.seconds
    wanted = [
        (library, case)
        for case in CASES
        for library in LIBRARIES
        if given.library in (None, library)
        and (not given.only or case.app in given.only.split(","))
        and (library, case.name) not in has
    ]
    if wanted and given.seconds:
        with two_hosts() as network:
            for number, (library, case) in enumerate(wanted):
                if time.monotonic() > end:
                    break
                row = measure(Workshop(network, library, case, number), given.budget, given.pairs)
                rows.append(row)
                with given.rows.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
                print(table([row]).splitlines()[-1], flush=True)
    print(table(rows))
    if given.insert is not None:
        insert(given.insert, table(rows), "tune")


if __name__ == "__main__":
    main()
