"""What a recording in one run or two says beside one in three.

    python benchmarks/recorder_runs.py [--apps halo2d,halo3d,...] [--repeat 3] [--folder DIR]
        [--insert docs/theory/recorder.md]

Each app is built with `imbrex cc --duplicate` and recorded on two ranks with `--times watched`
(three runs), `counted` (two) and `switched` (one), several times each in turns; where ten rounds
are little of the run, in one with more rounds too. Of each recording: T_AP and T_AC of the message
that moves most bytes, what messages add on Gigabit Ethernet, over the calls of the function that is
called most, and how much of that is hidden where they move whole.
--insert puts the rows into the page's table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from imbrex.profile.recording_format import CALL
from page import insert

APPS = Path(__file__).resolve().parents[1] / "apps"
IMBREX = str(Path(sys.executable).with_name("imbrex"))
TABLE = "recorder runs"
RUNS = {"watched": "3", "counted": "2", "switched": "1"}


@dataclass(frozen=True)
class App:
    compiler: str
    sources: str
    arguments: str
    rounds: int | None = None
    """What `--times switched` advises after ten."""

    @property
    def runs(self) -> dict[tuple[str, int | None], str]:
        """How it is recorded: --times, --rounds, and the words of the table."""
        ways: dict[tuple[str, int | None], str] = {(t, None): words for t, words in RUNS.items()}
        if self.rounds:
            ways["switched", self.rounds] = f"1, {self.rounds} rounds"
        return ways


CATALOGUE = {
    "halo2d": App("cc", "halo/halo2d*.c", "--n 512 --steps 300 --variant blocking"),
    "halo3d": App("cc", "halo/halo3d*.c", "--n 96 --steps 60 --variant blocking"),
    "cg": App("cc", "cg/*.c", ""),
    "fft": App("cc", "fft/*.c", "--n 96 --steps 40"),
    "ssor": App("fc", "ssor/ssor.f ssor/sweeps.f ssor/exchange.f", "", 250),
    "line": App("fc", "common/options.f90 line/blocks.f90 line/line.f90", ""),
    "mg": App("fc", "common/options.f90 mg/grids.f90 mg/mg.f90", ""),
}


def build(name: str, folder: Path) -> None:
    app = CATALOGUE[name]
    sources = [str(file) for part in app.sources.split() for file in sorted(APPS.glob(part))]
    command = [IMBREX, app.compiler, "--duplicate", "-O2", "-g", *sources, "-lm", "-o", name]
    subprocess.run(command, cwd=folder, check=True)


def recorded(name: str, times: str, rounds: int | None, folder: Path) -> Path:
    run = folder / f"{name}-{times}"
    line = ["mpirun", "-n", "2", f"./{name}", *CATALOGUE[name].arguments.split()]
    command = [IMBREX, "run", "--record", "--times", times, "--force", "-q", "-o", str(run)]
    command += ["--rounds", str(rounds), "--"] if rounds else ["--"]
    done = subprocess.run(
        [*command, *line], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"OMPI_MCA_rmaps_base_oversubscribe": "1"},
    )  # fmt: skip
    if done.returncode or not (run / "recording").exists():
        sys.exit(f"{name} {times}: {done.stdout[-500:]} {done.stderr[-1500:]}")
    return run


def calls_of(recording: Path) -> int:
    """How often rank 0 has called the function that it calls most."""
    trace = np.load(recording / "trace.npy")
    calls = trace[(trace["kind"] == CALL) & (trace["rank"] == 0)]
    return int(np.unique(calls["id"], return_counts=True)[1].max())


def beside_us(document: dict[str, Any]) -> tuple[float, float]:
    """T_AP and T_AC of the point-to-point message that moves most bytes; NaN without one."""
    found = []
    for kind, name in (("send", "after_produce_s"), ("receive", "before_consume_s")):
        own = [m for r in document["ranks"] for m in r["messages"] if m["kind"] == kind]
        most = max(own, key=lambda m: m["calls"] * m["elements"], default={name: np.nan})
        found.append(float(most[name]) * 1e6)
    return found[0], found[1]


def figures(run: Path) -> list[float]:
    """T_AP, T_AC, added on GigE a call (us), and the share of it that is hidden (%)."""
    recording = run / "recording"
    document = json.loads((recording / "messages.json").read_text())
    command = [IMBREX, "predict", str(run), "-n", "GigE", "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [row] = json.loads(said)["networks"]
    base, none = row["without_network_s"], row["time_s"]["none"]
    hidden = (none - row["time_s"]["independent"]) / (none - base) if none > base else 0.0
    added = (none - base) / calls_of(recording)
    return [*beside_us(document), 1e6 * added, 100 * hidden]


def cell(values: list[float]) -> str:
    if np.isnan(values).any():
        return "-"
    low, high = (f"{v:.3g}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--apps", default=",".join(CATALOGUE))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--insert", type=Path, help="put the rows into a page's table")
    given = parser.parse_args()
    lines = [
        "| app | runs | T_AP, us | T_AC, us | added a call, us | hidden, % of it |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        for name in given.apps.split(","):
            build(name, folder)
            ways = CATALOGUE[name].runs
            found: dict[tuple[str, int | None], list[list[float]]] = {way: [] for way in ways}
            for _ in range(given.repeat):
                for way in ways:
                    found[way].append(figures(recorded(name, *way, folder)))
            for way, runs in ways.items():
                cells = [cell(list(column)) for column in zip(*found[way], strict=True)]
                lines.append(f"| {name} | {runs} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    if given.insert:
        insert(given.insert, "\n".join(lines), TABLE)


if __name__ == "__main__":
    main()
