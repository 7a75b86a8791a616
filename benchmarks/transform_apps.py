"""What `imbrex transform` does to the mini-apps: sites, reasons, and run time before and after.

    python benchmarks/transform_apps.py [--library openmpi] [--ranks 2] [--pairs 5] [--apps fft,mg]

Each app is built twice, as it is and rewritten, and run in alternating pairs on this machine; the
times are those that the app prints, in s. All outputs but those times must be the same, bit for
bit, or the script fails. On one node little time is lost in transfers, so little can be gained:
the table shows what the rewrite costs or brings here, not on a network.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

APPS = Path(__file__).parents[1] / "apps"
_TIME = re.compile(r"time: *([0-9.]+) s")


@dataclass(frozen=True)
class App:
    sources: str  # patterns below apps/, in the order of compilation
    options: str


PROGRAMS: dict[str, App] = {
    "fft": App("fft/*.c", "--n 64 --steps 10"),
    "bucket": App("bucket/*.c", "--log-keys 20 --iterations 10"),
    "cg": App("cg/*.c", "--n 200"),
    "halo2d": App("halo/halo2d*.c", "--variant blocking --n 2048 --steps 40"),
    "halo3d": App("halo/halo3d*.c", "--variant blocking --n 128 --steps 20"),
    "ssor": App("ssor/*.f", "--n 48 --iterations 20"),
    "mg": App("common/options.f90 mg/*.f90", "--n 64 --cycles 10"),
    "sweep": App("common/options.f90 sweep/*.f90", "--n 32 --iterations 20"),
    "line": App("common/options.f90 line/*.f90", "--n 24 --chunk 32"),
    "bossworker": App("boss/*.c", "--cells 16 --width 1e-2"),
}


def rewrite(
    app: App, folder: Path, reassociation: bool, progress_interval_s: float | None = None
) -> Outcome:
    """Rewrite the app's sources below `folder` in place."""
    paths = [path for pattern in app.sources.split() for path in sorted(folder.glob(pattern))]
    options = Options(
        flags=["-D_GNU_SOURCE"],
        reassociation=reassociation,
        progress_interval_s=progress_interval_s,
    )
    outcome = transform(paths, options)
    for name, data in outcome.after.items():
        Path(name).write_bytes(data)
    return outcome


def build(name: str, folder: Path, library: str) -> Path:
    compilers = [f"MPICC=mpicc.{library}", f"MPIFC=mpifort.{library}"]
    command = ["make", "-C", str(folder), f"BUILD={folder / 'build'}", *compilers, name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} does not build:\n{done.stderr}")
    return folder / "build" / name


def run(program: Path, app: App, library: str, ranks: int) -> tuple[float, str]:
    """The time that the app prints, and its output without it."""
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    command = [f"mpirun.{library}", "-n", str(ranks)]
    if library == "openmpi" and ranks > (os.cpu_count() or 1):
        command.append("--oversubscribe")
    done = subprocess.run(
        [*command, str(program), *app.options.split()],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    if "verification:" not in done.stdout:
        raise SystemExit(f"{program} fails:\n{done.stdout}{done.stderr}")
    match = _TIME.search(done.stdout)
    return float(match[1]) if match else float("nan"), _TIME.sub("time", done.stdout)


def short(reason: str) -> str:
    """A reason without the names of this one place."""
    text = reason.removeprefix("a call that may match it would have to change too: ")
    return re.sub(r"`[^`]*`", "X", text).split(":")[0][:60]


def compare(name: str, arguments: argparse.Namespace, folder: Path) -> str:
    """One row of the table.

    Raises SystemExit where the outputs differ.
    """
    app = PROGRAMS[name]
    for side in ("before", "after"):
        shutil.copytree(APPS, folder / side)
    outcome = rewrite(app, folder / "after", arguments.allow_reassociation)
    counts = Counter(decision.decision for decision in outcome.decisions)
    reasons = Counter(short(d.reason.text) for d in outcome.decisions if d.decision == "refused")
    why = "; ".join(f"{text} ({count})" for text, count in reasons.most_common())
    row = f"| {name} | {len(outcome.decisions)} | {counts['rewritten']} | "
    row += f"{counts['nothing-to-gain']} | {why or '-'} "
    if not counts["rewritten"]:
        return row + "| - | - | - |"
    programs = [build(name, folder / side, arguments.library) for side in ("before", "after")]
    times: list[list[float]] = [[], []]
    outputs = set()
    for pair in range(arguments.pairs):
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds, text = run(programs[side], app, arguments.library, arguments.ranks)
            times[side].append(seconds)
            outputs.add(text)
    if len(outputs) != 1:
        raise SystemExit(f"{name}: the outputs differ:\n" + "\n".join(sorted(outputs)))
    before, after = (statistics.median(side) for side in times)
    ratios = sorted(b / a for a, b in zip(*times, strict=True))
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return row + f"| {before:.3f} | {after:.3f} | {after / before:.2f} ({spread}) |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--apps", default=",".join(PROGRAMS))
    parser.add_argument("--allow-reassociation", action="store_true")
    arguments = parser.parse_args()
    print(f"One node, {arguments.ranks} ranks, {arguments.library}, {arguments.pairs} pairs.\n")
    print(
        "| app | sites | rewritten | nothing to gain | refused | before | after | ratio (range) |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.apps.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            print(compare(name, arguments, Path(scratch)), flush=True)


if __name__ == "__main__":
    main()
