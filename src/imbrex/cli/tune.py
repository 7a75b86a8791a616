"""`imbrex tune`: its options, and where the answer goes."""

from __future__ import annotations

import signal
from pathlib import Path

import click
from click.core import ParameterSource

from imbrex.cli.parameters import COUNT, FILE, FOLDER, LAUNCHER, duration
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import console, emit_json
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import take_environment
from imbrex.report.paragraph import print_paragraph
from imbrex.tune.answer import Found
from imbrex.tune.command import Wanted
from imbrex.tune.command import tune as find
from imbrex.tune.sources import Told
from imbrex.tune.statistics import LEAST_PAIRS
from imbrex.tune.timed_run import Line, time_pattern
from imbrex.tune.trial import Plan

_WIDTH = 100


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: imbrex tune --budget 10m -- mpirun -n 4 ./app input.txt",
)
@click.option(
    "--budget", default="10m", show_default=True, callback=duration, help="The time it may take."
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 50, min_open=True),
    default=1.0,
    show_default=True,
    help="The least gain that matters, in percent.",
)
@click.option(
    "--build",
    metavar="CMD",
    help="How the program is built, as run here [make, CMake or the compiler where that is clear].",
)
@click.option(
    "--sources",
    type=FOLDER,
    metavar="DIR",
    help="The folder with all that a build needs [the repository or folder of the sources].",
)
@click.option(
    "-p", "--database", type=FILE, help="A compile_commands.json, or the directory that holds it."
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Leave patches, not proven and not applied, for calls that stay although they cost much.",
)
@click.option("--check", help="A command that reads a run's output and fails where it is wrong.")
@click.option("--time-from", metavar="REGEX", help="Take the time from the output, in seconds.")
@click.option(
    "--repeat",
    type=click.IntRange(min=LEAST_PAIRS),
    default=30,
    show_default=True,
    help="Pairs of runs per candidate at most.",
)
@click.option("--warm", type=COUNT, default=1, show_default=True, help="Runs that do not count.")
@click.option("--machine", type=FILE, help="A machine profile (imbrex calibrate, imbrex probe).")
@click.option("-o", "--output", type=FOLDER, default="imbrex-tune", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/reference/tune.md).")
@click.option("-q", "--quiet", is_flag=True, help="Only the answer.")
@click.argument("command", nargs=-1, type=LAUNCHER, metavar="COMMAND...")
@click.pass_context
def tune(
    ctx: click.Context,
    budget: float,
    worth: float,
    build: str | None,
    sources: Path | None,
    database: Path | None,
    suggest: bool,
    check: str | None,
    time_from: str | None,
    repeat: int,
    warm: int,
    machine: Path | None,
    output: Path,
    as_json: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Find what makes this program faster, and prove it on the program itself.

    Measures once, tries what could help in turns with the program as it is, and recommends what
    is faster for certain. Started again with the same -o it goes on where it stopped.
    """
    pattern = time_pattern(time_from) if time_from is not None else None
    wanted = Wanted(
        written=command,
        line=Line("A", take_environment(command), time_from=pattern),
        plan=Plan(repeat, warm, worth / 100),
        budget_s=budget,
        check=check,
        output=output,
        machine=machine,
        told=Told(sources, build, database, suggest),
        options=_given(ctx),
    )
    with shown_steps(quiet=quiet):
        found = find(wanted)
    if as_json:
        emit_json(found.to_json())
    else:
        _print(found, quiet=quiet)
    if found.failure is not None:
        raise ImbrexError(found.failure)
    if found.interrupted:
        raise SystemExit(128 + signal.SIGINT)


def _given(ctx: click.Context) -> tuple[str, ...]:
    """The options of the line but the budget, as words."""
    words: list[str] = []
    for option in ctx.command.params:
        name = option.name or ""
        if not isinstance(option, click.Option) or name == "budget":
            continue
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += (
                [option.opts[-1]] if option.is_flag else [option.opts[-1], f"{ctx.params[name]}"]
            )
    return tuple(words)


def _print(found: Found, *, quiet: bool) -> None:
    screen = console()
    width = min(screen.width, _WIDTH)
    for number, line in enumerate(found.lines()):
        if line.startswith("   $"):
            screen.print(line, soft_wrap=True)
        elif line.startswith("- "):
            print_paragraph(screen, line[2:], width, mark="-")
        else:
            print_paragraph(screen, line, width, style="" if number else "bold")
    if not quiet:
        screen.print(f"More: {found.folder}", soft_wrap=True)
