"""What measuring costs whole programs: mini-apps bare, measured and bare again.

    python benchmarks/app_overhead.py [--rounds 8] [--library openmpi] [--apps cg,ssor]
                                      [--events ucx] [--save FILE] [--insert docs/theory/cost.md]

Two figures for each app, each with a 95 % interval, so that one can be held against the other:

- the share of the ranks' processor time that is spent in the runtime, from samples (samples.py);
- the time of the app's solver, measured / bare. Both, and the bare app a second time, run at once
  and move in turns of 25 ms (turns.py), so that what disturbs the machine disturbs all three. The
  figure is the Hodges-Lehmann middle of the rounds (interval.py). Bare / bare, whose true value is
  1, is treated alike: that is the noise of the method.

--save keeps what was measured in a file, to which further calls add; --rounds 0 only prints it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from imbrex.launch.measure import Settings, prepare
from imbrex.launch.prefix import write_prefix
from imbrex.profile.run import load_run
from interval import hodges_lehmann, share
from page import insert
from samples import inside
from turns import build_clock, in_turns

ROOT = Path(__file__).parents[1]

# About a second each on two ranks. The first of an app is small, for many calls a second.
PROGRAMS = {
    "halo2d": "halo2d --n 512 --steps 4000 --variant late-wait",
    "halo3d": "halo3d --n 64 --steps 2500 --variant overlapped",
    "cg": "cg --n 300 --variant separate",
    "ssor": "ssor --n 48 --iterations 60",
    "mg": "mg --n 64 --cycles 100",
    "bucket": "bucket --log-keys 20 --iterations 150",
    "fft": "fft --n 64 --steps 40",
    "line": "line --n 32 --steps 48",
    "sweep": "sweep --n 48 --iterations 60",
    "halo2d-larger": "halo2d --n 2048 --steps 250 --variant late-wait",
    "halo3d-larger": "halo3d --n 160 --steps 160 --variant overlapped",
    "mg-larger": "mg --n 128 --cycles 12",
}
RUNS_LOOKED_AT = 4
"""In each round: of a run of a second some twenty looks fall into the runtime."""
LEAST_ROUNDS = 6
"""Of which the interval of hodges_lehmann is one of 95 %."""
HEAD = """\
| library | program | recorded calls a second | inside the runtime | 95 % interval \
| measured / bare | 95 % interval | bare / bare | 95 % interval |
|---|---|--:|--:|--:|--:|--:|--:|--:|"""


@dataclass(frozen=True)
class Finding:
    """One round of an app: `runs_s` is [bare, measured, bare again]; `samples` is [in, all]."""

    library: str
    app: str
    calls_per_s: float  # of a rank
    runs_s: Sequence[float]
    samples: Sequence[int]


def row(findings: Sequence[Finding]) -> str:
    """The line of one app and library."""

    def percent(values: Sequence[float], sign: str = "+") -> list[str]:
        middle, low, high = (100 * value for value in values)
        return [f"{middle:{sign}.2f} %", f"{low:{sign}.2f} to {high:{sign}.2f} %"]

    ratios, control = [], []
    for finding in findings:
        bare, measured, again = finding.runs_s
        ratios.append(measured / (0.5 * (bare + again)) - 1)
        control.append(again / bare - 1)
    part, whole = (sum(finding.samples[i] for finding in findings) for i in (0, 1))
    calls_per_s = sum(finding.calls_per_s for finding in findings) / len(findings)
    first = findings[0]
    fields = [first.library, f"`{PROGRAMS[first.app]}`", f"{calls_per_s:,.0f}"]
    fields += percent(share(part, whole), "")
    for values in (ratios, control):
        enough = len(values) >= LEAST_ROUNDS
        fields += percent(hodges_lehmann(values)) if enough else ["too few rounds", ""]
    return f"| {' | '.join(fields)} |"


def table(findings: Sequence[Finding]) -> str:
    lines = [HEAD]
    for key in sorted({(finding.library, finding.app) for finding in findings}):
        lines.append(
            row([finding for finding in findings if (finding.library, finding.app) == key])
        )
    return "\n".join(lines)


class Measurement:
    """One app with one library, ready to be measured."""

    def __init__(
        self, library: str, app: str, events: str, built: Path, folder: Path, clock: Path
    ) -> None:
        self.library = library if events == "call" else f"{library}, `{events}`"
        self.app = app
        words = PROGRAMS[app].split()
        self._bare = [str(built / words[0]), *words[1:]]
        self._launcher = [f"mpirun.{library}", "-n", "2", "--bind-to", "core"]
        self._run = folder / f"run-{app}"
        ready = prepare(Settings((*self._launcher, *self._bare), output=self._run))
        self._runtime = ready.runtime
        self._run.mkdir()
        times = ready.transfers.save(self._run)
        if times is None:
            sys.exit(f"{library}: no transfer times ({ready.transfers.warning})")
        variables = {"IMBREX_DIR": str(self._run), "IMBREX_TABLE": str(times)}
        variables["IMBREX_EVENTS"] = events
        self._prefix = str(write_prefix(self._run, ready.runtime, variables))
        self._clock = ["env", f"LD_PRELOAD={clock}"]

    def round(self, turn: int) -> Finding:
        """One round; `turn` decides who moves first."""
        measured = [self._prefix, *self._bare]
        programs = [[*self._clock, *words] for words in (self._bare, measured, self._bare)]
        order = [(turn + i) % 3 for i in range(3)]
        seconds = in_turns(self._launcher, [programs[i] for i in order])
        runs_s = [seconds[order.index(i)] for i in range(3)]
        calls = load_run(self._run, resolve=False).ranks["calls"]
        name = Path(self._bare[0]).name
        launch = [*self._launcher, *measured]
        samples = inside(launch, name, self._runtime.name, RUNS_LOOKED_AT)
        rate = float(calls.mean()) / runs_s[1]
        return Finding(self.library, self.app, rate, runs_s, samples)


def build(library: str, folder: Path) -> None:
    words = ["make", "-s", "-j2", "-C", str(ROOT / "apps"), f"MPICC=mpicc.{library}"]
    words += [f"MPIFC=mpifort.{library}", f"BUILD={folder}"]
    subprocess.run(words, check=True)


def measure(
    library: str,
    apps: Sequence[str],
    events: str,
    rounds: int,
    save: Path | None,
    built: Path | None,
) -> list[Finding]:
    found = []
    with tempfile.TemporaryDirectory(prefix="imbrex-overhead-") as scratch:
        folder = Path(scratch)
        programs = folder if built is None else built.absolute() / library
        build(library, programs)
        clock = build_clock(folder)
        measurements = [Measurement(library, app, events, programs, folder, clock) for app in apps]
        for turn in range(rounds):
            for measurement in measurements:
                found.append(measurement.round(turn))
                if save is not None:
                    with save.open("a") as file:
                        file.write(json.dumps(asdict(found[-1])) + "\n")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--apps", default=",".join(PROGRAMS), help="separated by commas")
    parser.add_argument("--events", default="call", choices=["call", "ucx"], help="their source")
    parser.add_argument("--rounds", type=int, default=8, help="six at least for a 95 %% interval")
    parser.add_argument("--save", type=Path, help="add what was measured to this file")
    parser.add_argument("--build", type=Path, help="build the apps here and keep them")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        sys.exit("perf is missing (Debian: linux-perf)")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that turns.py leaves no rank behind
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    findings = []
    if options.save and options.save.exists():
        for line in options.save.read_text().splitlines():
            findings.append(Finding(**json.loads(line)))
    if options.rounds > 0:
        for library in options.library or ["openmpi", "mpich"]:
            apps = options.apps.split(",")
            where = (options.save, options.build)
            findings += measure(library, apps, options.events, options.rounds, *where)
    text = table(findings)
    print(text)
    if options.insert:
        insert(options.insert, text, "overhead")


if __name__ == "__main__":
    main()
