"""`imbrex run` and `imbrex collect`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn

from imbrex.cli.terminal import console, warn
from imbrex.errors import ImbrexError
from imbrex.launch.collect import complete
from imbrex.launch.measure import Outcome, Prepared, Settings, measure, prepare
from imbrex.profile.summary import show_json
from imbrex.report.findings import endings
from imbrex.report.verdict import judge, print_verdict

FOLDER = click.Path(path_type=Path)


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: imbrex run -o before -- mpirun -n 4 ./app input.txt",
)
@click.option("-o", "--output", type=FOLDER, help="The run directory [imbrex-run, imbrex-run-2..].")
@click.option("--force", is_flag=True, help="Replace the run directory if it exists.")
@click.option("--machine", type=FOLDER, help="The machine profile to use (imbrex calibrate).")
@click.option("--mpicc", type=FOLDER, help="The mpicc that belongs to the program's MPI library.")
@click.option(
    "--events",
    type=click.Choice(["auto", "call", "ucx"]),
    default="auto",
    show_default=True,
    help="Sources of events: the MPI calls (auto, call), or UCX where all messages pass it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print totals and sites as one JSON line.")
@click.option("-q", "--quiet", is_flag=True, help="No verdict, only warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Say what was found before the start.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND...")
def run(
    output: Path | None,
    force: bool,
    machine: Path | None,
    mpicc: Path | None,
    events: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    command: tuple[str, ...],
) -> None:
    """Measure the overlap of an MPI program: put this before the line that starts it.

    The program's output, exit code and signals stay its own; the verdict goes to stderr.
    """
    if command and command[0].startswith("-"):
        raise ImbrexError(f"no such option: {command[0]} (see imbrex run --help)")
    settings = Settings(command, output, force, machine, mpicc, events)
    ready = _prepare(settings)
    if verbose:
        warn(f"library {ready.library.file} ({ready.library.name}), mpicc {ready.library.mpicc}")
        warn(f"runtime {ready.runtime}; machine profile {ready.transfers.machine.origin}")
    outcome = measure(ready)
    try:
        _tell(outcome, quiet=quiet, as_json=as_json)
    except OSError as error:
        warn(f"the verdict could not be printed ({error.strerror})")
    # Whatever became of the measurement, the exit code is the program's.
    sys.stdout.flush()
    sys.exit(outcome.exit_code)


def _prepare(settings: Settings) -> Prepared:
    screen = console(stderr=True)
    if not screen.is_terminal:
        return prepare(settings)
    with Progress(
        TextColumn("calibrating this MPI"), BarColumn(), console=screen, transient=True
    ) as bar:
        task = bar.add_task("calibrating", total=1.0, visible=False)
        report: Callable[[float], None] = lambda done: bar.update(  # noqa: E731
            task, completed=done, visible=True
        )
        return prepare(settings, report)


def _tell(outcome: Outcome, *, quiet: bool, as_json: bool) -> None:
    if outcome.run is None:
        for line in outcome.warnings:
            warn(line)
        return
    if as_json:
        click.echo(json.dumps(show_json(outcome.run, "site")))
    if quiet:
        for line in (*endings(outcome.run), *outcome.warnings):
            warn(line)
        return
    screen = console(stderr=True)
    screen.print()
    print_verdict(judge(outcome.run), screen)


@click.command()
@click.argument("folder", type=FOLDER)
def collect(folder: Path) -> None:
    """Complete a run directory that imbrex-exec alone has written.

    Merges what crashed ranks left, names the call sites, and prints the verdict.
    """
    print_verdict(judge(complete(folder, {})), console())
