"""What the progress thread brings to whole apps, and what it costs those that block.

    sudo python benchmarks/progress_apps.py --build FOLDER --rows FILE [--seconds 75]
        [--library mpich] [--only two,tcp,shared] [--insert docs/theory/progress.md]

Two ranks: on two hosts in network namespaces (TCP, 800 Mbit/s, one core each, so that a thread
takes its time from the program), on one node over TCP, and on one node as the library is set
(shared memory). Each app runs without and with `imbrex-exec --progress`, one after the other, in
turns; what is compared is the time that the app says its solver took. `fft` is rewritten by
`imbrex transform` before. Apps that block, or whose messages are small, are controls.

Of all that is to be measured the next pair is always one of what has the fewest: what is measured
goes into the rows' file, to which further calls add, --seconds each (0 only builds and prints).
The interval is hodges_lehmann's (interval.py): 95 % from six pairs on, below that the range.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from interval import hodges_lehmann
from network_table import launcher
from page import insert
from preloaded import ROOT, build_runtime
from progress_table import helped
from transform_apps import PROGRAMS, rewrite
from two_hosts import Network, two_hosts

LIBRARIES = ("openmpi", "mpich")
LIMIT_S = 25
"""Of one run, which takes one to four seconds."""
PLACES = {
    "two": "two hosts",
    "tcp": "one node, TCP",
    "shared": "one node, shared memory",
}
_TIME = re.compile(r"^time: *([0-9.]+) s", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One app with its options; `blocks`: a control."""

    app: str
    variant: str
    options: str
    places: tuple[str, ...]
    blocks: bool = False

    @property
    def name(self) -> str:
        return f"{self.app}, {self.variant}" if self.variant else self.app

    @property
    def words(self) -> list[str]:
        variant = ["--variant", self.variant] if " " not in self.variant and self.variant else []
        return [*variant, *self.options.split()]


ALL = ("two", "tcp", "shared")
CASES = (
    Case("line", "", "--n 40 --chunk 400 --steps 8", ALL),
    Case("halo2d", "late-wait", "--n 4096 --steps 48", ("two",)),
    Case("halo2d", "overlapped", "--n 4096 --steps 48", ("two",)),
    Case("halo3d", "late-wait", "--n 192 --steps 80", ("two",)),
    Case("halo3d", "overlapped", "--n 192 --steps 80", ALL),
    Case("fft", "after transform", "--n 64 --steps 16", ALL),
    Case("cg", "overlapped", "--n 300", ("two",)),
    Case("halo2d", "blocking", "--n 4096 --steps 48", ("two",), blocks=True),
    Case("halo3d", "blocking", "--n 192 --steps 80", ALL, blocks=True),
    Case("mg", "", "--n 64 --cycles 60", ALL, blocks=True),
    Case("bucket", "", "--log-keys 20 --iterations 60", ("two",), blocks=True),
    Case("sweep", "", "--n 32 --iterations 100", ("two",), blocks=True),
)


@dataclass(frozen=True)
class Row:
    """One pair of runs, solver times in s."""

    place: str
    library: str
    name: str
    options: str
    plain_s: float
    helped_s: float


class Built:
    """The apps and the runtime for one library, built in `folder` where they are not yet."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library, self.folder = library, folder / library
        mpicc = shutil.which(f"mpicc.{library}")
        if mpicc is None:
            sys.exit(f"mpicc.{library} is not installed")
        self.runtime = self.folder / "runtime" / "libimbrex.so"
        if not self.runtime.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            build_runtime(mpicc, self.folder)
        self._make(ROOT / "apps", "apps", sorted({c.app for c in CASES if c.app != "fft"}))
        sources = self.folder / "transformed"
        if not sources.exists():
            shutil.copytree(ROOT / "apps", sources)
            rewrite(PROGRAMS["fft"], sources, False)
        self._make(sources, "rewritten", ["fft"])

    def _make(self, sources: Path, into: str, names: Sequence[str]) -> None:
        compilers = [f"MPICC=mpicc.{self.library}", f"MPIFC=mpifort.{self.library}"]
        words = ["make", "-s", "-C", str(sources), f"BUILD={self.folder / into}", *compilers]
        subprocess.run([*words, *names], check=True)

    def program(self, case: Case) -> list[str]:
        folder = "rewritten" if case.app == "fft" else "apps"
        return [str(self.folder / folder / case.app), *case.words]


def on_one_node(built: Built, place: str, words: Sequence[str]) -> str:
    """What the ranks print; TimeoutExpired where they do not end."""
    environment = dict(os.environ)
    line = [f"mpirun.{built.library}", "-n", "2"]
    if built.library == "openmpi":
        line += ["--bind-to", "none"]
    if place == "tcp":
        environment |= {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}
    running = subprocess.Popen(
        [*line, *words],
        env=environment,
        cwd=built.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return running.communicate(timeout=LIMIT_S)[0]
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        raise


def run(built: Built, place: str, words: list[str], network: Network | None) -> float:
    """Seconds of the solver; TimeoutExpired where a run does not end."""
    if network is not None and place == "two":
        line = [*launcher(built.library, network.folder), *words]
        printed = network.run(line, timeout_s=LIMIT_S)
    else:
        printed = on_one_node(built, place, words)
    found = _TIME.search(printed)
    if found is None:
        raise SystemExit(f"{' '.join(words)} fails:\n{printed}")
    return float(found[1])


def pair(built: Built, place: str, case: Case, network: Network | None, turned: bool) -> Row | None:
    """A run without and one with the thread, or the other way round; None where one hangs."""
    plain = built.program(case)
    sides = {"plain": plain, "helped": helped(built.runtime, plain)}
    seconds = {}
    for side in sorted(sides, reverse=not turned):
        try:
            seconds[side] = run(built, place, sides[side], network)
        except subprocess.TimeoutExpired:
            run_label = f"{built.library}, {PLACES[place]}, {case.name}, {side}"
            print(f"{run_label}: no end in {LIMIT_S} s", file=sys.stderr)
            return None
    return Row(place, built.library, case.name, case.options, seconds["plain"], seconds["helped"])


def key_of(built: Built, place: str, case: Case) -> tuple[str, str, str, str]:
    """What pairs belong together."""
    return built.library, place, case.name, case.options


def measure(options: argparse.Namespace, rows: list[Row]) -> None:
    """Pairs of what has the fewest until the time is over; each goes to the file at once."""
    built = [Built(name, options.build.absolute()) for name in options.library or LIBRARIES]
    places = options.only.split(",")
    todo = [(b, p, c) for c in CASES for b in built for p in c.places if p in places]
    counts = Counter((r.library, r.place, r.name, r.options) for r in rows)
    end = time.monotonic() + options.seconds
    with ExitStack() as stack:
        network = stack.enter_context(two_hosts()) if "two" in places and options.seconds else None
        while time.monotonic() < end:
            b, place, case = min(todo, key=lambda t: counts[key_of(*t)])
            key = key_of(b, place, case)
            found = pair(b, place, case, network, counts[key] % 2 == 1)
            counts[key] += 1
            if found is not None:
                rows.append(found)
                with options.rows.open("a") as file:
                    file.write(json.dumps(asdict(found)) + "\n")


def line_of(case: Case, rows: Sequence[Row]) -> str:
    """One line of the table: medians, and the ratio of pairs."""
    middle, low, high = hodges_lehmann([r.helped_s / r.plain_s for r in rows])
    plain, with_it = (
        statistics.median(side) for side in ([r.plain_s for r in rows], [r.helped_s for r in rows])
    )
    kind = "blocks" if case.blocks else "overlaps"
    return (
        f"| {PLACES[rows[0].place]} | {rows[0].library} | {case.name} | `{case.options}` | {kind} "
        f"| {plain:.3f} s | {with_it:.3f} s "
        f"| {middle:.3f} ({low:.3f} to {high:.3f}, {len(rows)} pairs) |"
    )


def sum_of(rows: Sequence[Row]) -> str:
    """The controls together: what the thread costs where it helps nothing."""
    names = {(c.name, c.options) for c in CASES if c.blocks}
    ratios = [r.helped_s / r.plain_s for r in rows if (r.name, r.options) in names]
    if not ratios:
        return ""
    middle, low, high = hodges_lehmann(ratios)
    ratio = f"{middle:.3f} ({low:.3f} to {high:.3f}, {len(ratios)} pairs)"
    return f"| all | both | all that block | | blocks | | | {ratio} |"


def table(rows: Sequence[Row]) -> str:
    """All that was measured, by place and library."""
    lines = [
        "| where | library | app | problem | messages | without | `--progress` | of it |",
        "|---|---|---|---|---|--:|--:|--:|",
    ]
    for place in PLACES:
        for library in LIBRARIES:
            for case in CASES:
                key = (place, library, case.name, case.options)
                found = [r for r in rows if (r.place, r.library, r.name, r.options) == key]
                if found:
                    lines.append(line_of(case, found))
    lines += filter(None, [sum_of(rows)])
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build here and keep it")
    parser.add_argument("--rows", type=Path, required=True, help="add what was measured to this")
    parser.add_argument("--seconds", type=float, default=75, help="begin no pair after these")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("--only", default=",".join(PLACES), help="places: two,tcp,shared")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    rows: list[Row] = []
    if options.rows.exists():
        rows = [Row(**json.loads(line)) for line in options.rows.read_text().splitlines()]
    measure(options, rows)
    text = table(rows)
    print(text)
    if options.insert:
        insert(options.insert, text, "apps")


if __name__ == "__main__":
    main()
