"""What a progress thread costs programs that give it nothing to do, and which part of it does.

    python benchmarks/progress_controls.py --build FOLDER --rows FILE [--seconds 75]
        [--library mpich] [--insert docs/guide/progress.md]

Apps that block, and one whose messages are too short to need help, two ranks on one node over
shared memory, each bound to a core. Of each there are five at once that move in turns of 25 ms
(turns.py), so that what disturbs the machine disturbs all alike: bare, bare again (whose true
ratio is 1: the noise of the method), bare with MPI_THREAD_MULTIPLE (spinning_thread.c with
SPINNING=0), with libimbrex-progress.so preloaded and IMBREX_PROGRESS=off, and with the same and
IMBREX_PROGRESS=on. The time is the processor time of the process, and so also that of its progress
thread. A round's ratio is to the mean of both bare ones; the interval is hodges_lehmann's
(interval.py): 95 % from six rounds on. Where others use the machine `nice -n -20` keeps them away
from the ranks.

Of all that is to be measured the next round is always one of what has the fewest: what is measured
goes into the rows' file, to which further calls add, --seconds each (0 only builds and prints).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from interval import hodges_lehmann
from page import insert
from preloaded import ROOT, build_runtime
from turns import build_clock, in_turns

LIBRARIES = ("openmpi", "mpich")
APPS = (
    "halo2d --n 1024 --steps 800 --variant blocking",
    "halo3d --n 96 --steps 240 --variant blocking",
    "mg --n 64 --cycles 120",
    "bucket --log-keys 20 --iterations 120",
    "sweep --n 32 --iterations 200",
    "cg --n 300 --variant overlapped",
)
WAYS = {
    "again": "bare again",
    "multiple": "MPI_THREAD_MULTIPLE alone",
    "loaded": "`libimbrex-progress.so`, `IMBREX_PROGRESS=off`",
    "progress": "`--progress`",
}


@dataclass(frozen=True)
class Row:
    """One round, in s of processor time; `times` by way, with `bare`."""

    library: str
    app: str
    times: dict[str, float]

    def ratio(self, way: str) -> float:
        bare = self.times["bare"]
        if way == "again":
            return self.times["again"] / bare
        return self.times[way] / (0.5 * (bare + self.times["again"]))


class Built:
    """The apps, the runtime and the object that raises the level, for one library."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library = library
        mine = folder / library
        mine.mkdir(parents=True, exist_ok=True)
        mpicc = shutil.which(f"mpicc.{library}")
        if mpicc is None:
            sys.exit(f"mpicc.{library} is not installed")
        runtime = mine / "runtime" / "libimbrex-progress.so"
        if not runtime.exists():
            build_runtime(mpicc, mine, production=True)
        names = sorted({app.split()[0] for app in APPS})
        compilers = [f"MPICC={mpicc}", f"MPIFC=mpifort.{library}", f"BUILD={mine / 'apps'}"]
        subprocess.run(["make", "-s", "-C", str(ROOT / "apps"), *compilers, *names], check=True)
        level = mine / "level.so"
        source = str(ROOT / "benchmarks" / "spinning_thread.c")
        flags = ["-O2", "-w", "-fPIC", "-shared", "-pthread"]
        subprocess.run([mpicc, *flags, "-o", str(level), source], check=True)
        self._apps = mine / "apps"
        clock = build_clock(mine)
        self._preloaded = {
            "bare": [f"LD_PRELOAD={clock}"],
            "again": [f"LD_PRELOAD={clock}"],
            "multiple": ["SPINNING=0", f"LD_PRELOAD={level}:{clock}"],
            "loaded": ["IMBREX_PROGRESS=off", f"LD_PRELOAD={runtime}:{clock}"],
            "progress": ["IMBREX_PROGRESS=on", f"LD_PRELOAD={runtime}:{clock}"],
        }

    def round(self, app: str, turn: int) -> Row:
        """All ways at once; `turn` decides who moves first."""
        name, *words = app.split()
        ways = list(self._preloaded)
        order = ways[turn % len(ways) :] + ways[: turn % len(ways)]
        program = [str(self._apps / name), *words]
        launcher = [f"mpirun.{self.library}", "-n", "2", "--bind-to", "core"]
        lines = [["env", "-u", "IMBREX_DIR", *self._preloaded[way], *program] for way in order]
        return Row(self.library, app, dict(zip(order, in_turns(launcher, lines), strict=True)))


def measure(options: argparse.Namespace, rows: list[Row]) -> None:
    """Rounds of what has the fewest until the time is over; each goes to the file at once."""
    built = [Built(name, options.build.absolute()) for name in options.library or LIBRARIES]
    counts = Counter((row.library, row.app) for row in rows)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        b, app = min(((b, app) for app in APPS for b in built), key=lambda t: _count(counts, t))
        rows.append(b.round(app, counts[b.library, app]))
        counts[b.library, app] += 1
        with options.rows.open("a") as file:
            file.write(json.dumps(asdict(rows[-1])) + "\n")


def _count(counts: Counter[tuple[str, str]], of: tuple[Built, str]) -> int:
    return counts[of[0].library, of[1]]


def line_of(library: str, app: str, rows: Sequence[Row]) -> str:
    """One line of the table."""
    cells = []
    for way in WAYS:
        middle, low, high = hodges_lehmann([row.ratio(way) for row in rows])
        cells.append(f"{middle:.4f} ({low:.4f} to {high:.4f})")
    return f"| {library} | {app} | {len(rows)} | {' | '.join(cells)} |"


def table(rows: Sequence[Row]) -> str:
    """Each app, and all of a library and of both together."""
    lines = [f"| library | app | rounds | {' | '.join(WAYS.values())} |"]
    lines.append("|---|---|--:|" + "--:|" * len(WAYS))
    for library in LIBRARIES:
        mine = [row for row in rows if row.library == library]
        for app in APPS:
            found = [row for row in mine if row.app == app]
            if found:
                lines.append(line_of(library, f"`{app}`", found))
        if mine:
            lines.append(line_of(library, "all", mine))
    if rows:
        lines.append(line_of("both", "all", rows))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build here and keep it")
    parser.add_argument("--rows", type=Path, required=True, help="add what was measured to this")
    parser.add_argument("--seconds", type=float, default=75, help="begin no round after these")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that turns.py leaves no rank behind
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    rows: list[Row] = []
    if options.rows.exists():
        rows = [Row(**json.loads(line)) for line in options.rows.read_text().splitlines()]
    measure(options, rows)
    text = table(rows)
    print(text)
    if options.insert:
        insert(options.insert, text, "controls")


if __name__ == "__main__":
    main()
