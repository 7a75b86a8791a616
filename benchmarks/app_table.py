"""What each mini-app hides and exposes: two problem sizes, two ranks, by message size.

    python benchmarks/app_table.py [--library openmpi] [--apps cg,mg] [--insert docs/theory/apps.md]

Calibrates each library in full, then prints a Markdown table of it with the calls as the source of
events, and one more where `imbrex run` finds a source inside the library; with --insert the tables
replace those between the marks of that file. Shares are of the upper bound of the transfer time:
hidden and exposed from what is certain to what is possible, undetermined what is neither for
certain; the hidden share needs no upper bound of the transfer time (docs/theory/measuring.md).
Message sizes with less than 1 % of a run's transfer time are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from imbrex.diagnosis.wording import shares
from imbrex.profile.aggregate import total
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import make_sums
from page import insert

ROOT = Path(__file__).parents[1]
IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment

# app: options of the small and of the large problem
SIZES: dict[str, tuple[str, str]] = {
    "halo2d --variant blocking": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo2d --variant late-wait": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo2d --variant overlapped": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo3d --variant blocking": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "halo3d --variant late-wait": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "halo3d --variant overlapped": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "cg --variant blocking": ("--n 100", "--n 400"),
    "cg --variant separate": ("--n 100", "--n 400"),
    "cg --variant overlapped": ("--n 100", "--n 400"),
    "ssor": ("--n 24 --iterations 50", "--n 64 --iterations 20"),
    "mg": ("--n 32 --cycles 40", "--n 128 --cycles 8"),
    "bucket": ("--log-keys 18 --iterations 40", "--log-keys 22 --log-max 20 --iterations 8"),
    "fft": ("--n 32 --steps 60", "--n 128 --steps 3"),
    "line": ("--n 24 --chunk 32", "--n 40 --chunk 200"),
    "sweep": ("--n 24 --iterations 60", "--n 64 --planes 16 --iterations 20"),
    "bossworker": ("--cells 16 --width 1e-2", "--cells 16"),
}
# message sizes: name, smallest and largest size class (floor of log2 of the bytes)
CLASSES = (("below 1 KiB", 0, 9), ("1 to 64 KiB", 10, 15), ("64 KiB and more", 16, 62))


@dataclass(frozen=True)
class Line:
    """One line of the table; times in s."""

    app: str
    options: str
    sizes: str
    transfers: int
    mebibytes: float
    transfer_s: float
    hidden: tuple[float, float]  # certain and possible share of transfer_s
    exposed: tuple[float, float]
    share: str  # of the transfer time, however long, that was hidden

    def markdown(self) -> str:
        rest = max(0.0, 1.0 - self.hidden[0] - self.exposed[0])
        hidden, exposed = (
            f"{100 * low:.0f}-{100 * high:.0f} %" for low, high in (self.hidden, self.exposed)
        )
        return (
            f"| {self.app} | {self.options} | {self.sizes} | {self.transfers} "
            f"| {self.mebibytes:.1f} | {self.transfer_s * 1e3:.2f} | {hidden} "
            f"| {exposed} | {100 * rest:.0f} % | {self.share} |"
        )


def lines(run: Run, app: str, options: str) -> Iterator[Line]:
    """The lines of one run: one for each class of message sizes that took time."""
    least_s = 0.01 * make_sums(total(run.measures)).transfer_max_s
    for name, low, high in CLASSES:
        size = run.measures["size_class"]
        sums = make_sums(total(run.measures[(size >= low) & (size <= high)]))
        whole = sums.transfer_max_s
        if whole > least_s:
            yield Line(
                app,
                options,
                name,
                sums.transfers,
                sums.bytes / 2**20,
                whole,
                (sums.overlap_min_s / whole, sums.overlap_max_s / whole),
                (sums.exposed_min_s / whole, sums.exposed_max_s / whole),
                shares(sums.hidden_share),
            )


def environment() -> dict[str, str]:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **root}


def build(library: str, folder: Path) -> None:
    subprocess.run(
        [
            *("make", "-s", "-j2", "-C", str(ROOT / "apps"), f"MPICC=mpicc.{library}"),
            *(f"MPIFC=mpifort.{library}", f"BUILD={folder}"),
        ],
        check=True,
    )


@dataclass(frozen=True)
class Setup:
    """One library's launch line, and the folder of the apps that were built with it."""

    launcher: list[str]
    folder: Path

    @property
    def profile(self) -> Path:
        return self.folder / "machine.json"

    def calibrate(self) -> None:
        """Leave a machine profile measured in full, for the line that the apps are started with."""
        words = [IMBREX, "calibrate", "-q", "-o", str(self.profile), "--", *self.launcher]
        subprocess.run(words, env=environment(), check=True)


def measure(setup: Setup, events: str, program: list[str]) -> Run:
    """Run an app on two ranks under `imbrex run`; ends the script if it fails."""
    output = setup.folder / "run"
    imbrex = [IMBREX, "run", "-q", "--force", "-o", str(output), "--events", events]
    words = [*setup.launcher, str(setup.folder / program[0]), *program[1:]]
    done = subprocess.run(
        [*imbrex, "--machine", str(setup.profile), "--", *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or "verification: PASSED" not in done.stdout:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return load_run(output, resolve=False)


def sources(run: Run) -> set[str]:
    return set(run.job.events.values()) or {"call"}


def table(setup: Setup, events: str, wanted: set[str]) -> list[str]:
    """The table of one library and source of events; empty where `auto` finds nothing but calls."""
    text: list[str] = []
    for app, sizes in SIZES.items():
        if wanted and app.split()[0] not in wanted:
            continue
        for options in sizes:
            run = measure(setup, events, [*app.split(), *options.split()])
            if events != "call" and sources(run) == {"call"}:
                return []
            if not text:
                settings = " ".join(["mpirun", *setup.launcher[1:]])
                text += [
                    f"**{' '.join(run.job.library)}**, `{settings}`, both ranks on one node,"
                    f" a full calibration, source of events: {' and '.join(sorted(sources(run)))}",
                    "",
                    "| app | problem | messages | transfers | MiB | transfer time at most, ms"
                    " | hidden | exposed | undetermined | hidden share |",
                    "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
                ]
            name = app.replace(" --variant ", ", ")
            text += [line.markdown() for line in lines(run, name, f"`{options}`")]
    return text


def tables(library: str, mpi_options: list[str], wanted: set[str]) -> list[str]:
    """One library's tables: by its calls, and by what can be seen inside it."""
    with tempfile.TemporaryDirectory(prefix="imbrex-table-") as scratch:
        setup = Setup([f"mpirun.{library}", *mpi_options, "-n", "2"], Path(scratch))
        build(library, setup.folder)
        setup.calibrate()
        found = [table(setup, events, wanted) for events in ("call", "auto")]
    return [line for text in found if text for line in [*text, ""]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--apps", default="", help="only these, separated by commas")
    parser.add_argument(
        "--openmpi-options",
        default="--mca btl tcp,self",
        help="options of Open MPI's mpirun (default: %(default)s)",
    )
    parser.add_argument("--insert", type=Path, help="the page that gets the tables")
    options = parser.parse_args()
    wanted = {name for name in options.apps.split(",") if name}
    text: list[str] = []
    for library in options.library or ["openmpi", "mpich"]:
        mpi_options = options.openmpi_options.split() if library == "openmpi" else []
        text += tables(library, mpi_options, wanted)
    print("\n".join(text))
    if options.insert:
        insert(options.insert, "\n".join(text).strip())


if __name__ == "__main__":
    main()
