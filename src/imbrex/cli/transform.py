"""`imbrex transform`: its options, and where the answer goes."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.output import Kind, kind_of
from imbrex.cli.terminal import warn, write_text
from imbrex.errors import ImbrexError
from imbrex.transform.command import WORTH_PERCENT, Action, Request, answer
from imbrex.transform.rewrites.registry import REWRITES


@click.command("transform")
@click.option(
    "--explain",
    is_flag=True,
    help="Say for each communication call what would be done, or why not, in full.",
)
@click.option("--diff", is_flag=True, help="Print the rewrites as a unified diff.")
@click.option("--apply", is_flag=True, help="Change the files in place.")
@click.option("--json", "as_json", is_flag=True, help="Print the call sites as JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what is printed to a file.",
)
@click.option(
    "-p",
    "--database",
    type=click.Path(path_type=Path),
    help="A compile_commands.json, or the directory that holds it.",
)
@click.option("--only", multiple=True, metavar="FILE:LINE", help="Only these call sites.")
@click.option(
    "--rewrites",
    default=",".join(REWRITES),
    show_default=True,
    help="The rewrites to use, separated by commas; `list` shows each with an example.",
)
@click.option(
    "--allow-reassociation",
    is_flag=True,
    help="Rewrite floating-point reductions too: their last digits may change.",
)
@click.option(
    "--single-thread",
    is_flag=True,
    help="One thread calls MPI and uses what it communicates, though MPI_THREAD_MULTIPLE is asked "
    "for.",
)
@click.option(
    "--errors-are-fatal",
    is_flag=True,
    help="No file, also none that is not given, sets an error handler that lets MPI return from an "
    "error: checks of error codes stand in no message's way.",
)
@click.option(
    "--graph",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT.svg",
    help="Draw the control flow and the communication of a routine, and do nothing else.",
)
@click.option("--routine", metavar="NAME", help="The routine that --graph draws.")
@click.option(
    "--progress",
    type=click.FloatRange(min=1),
    metavar="MICROSECONDS",
    help="Put progress calls into the loops of windows, about so far apart.",
)
@click.option(
    "--machine",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A machine profile: progress calls at the interval that it recommends, if it does.",
)
@click.option(
    "--run",
    "run_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="A measured run: sites by exposed time, those below --worth left alone.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="With --run: the least share of the ranks' time that a site must expose "
    f"({WORTH_PERCENT}).",
)
@click.option(
    "--suggest",
    metavar="FILE:LINE",
    help="For one call that stays: a diff with what you could state, each with why it is not "
    "proven. Never applied.",
)
@click.option("--dirty", is_flag=True, help="Apply also to files with changes not committed.")
@click.argument("words", nargs=-1, metavar="[FILES...] [-- FLAGS...]")
def transform(
    explain: bool,
    diff: bool,
    apply: bool,
    as_json: bool,
    output: Path | None,
    database: Path | None,
    only: tuple[str, ...],
    rewrites: str,
    allow_reassociation: bool,
    single_thread: bool,
    errors_are_fatal: bool,
    graph: Path | None,
    routine: str | None,
    run_directory: Path | None,
    worth: float | None,
    progress: float | None,
    machine: Path | None,
    suggest: str | None,
    dirty: bool,
    words: tuple[str, ...],
) -> None:
    """Rewrite MPI sources so that communication overlaps computation.

    Give all files of the program: what the others do then counts as known. FLAGS are the
    compiler's (-I, -D, -std). With --run and no FILES they are the measured program's, as its debug
    information names them, and so are the FLAGS where there are none.
    """
    chosen = {Action.EXPLAIN: explain, Action.DIFF: diff, Action.APPLY: apply}
    actions = [action for action, given in chosen.items() if given]
    if len(actions) > 1:
        raise ImbrexError("--explain, --diff and --apply: give one of them")
    formats = (Kind.PATCH, Kind.TEXT) if diff else (Kind.TEXT, Kind.JSON)
    as_json = kind_of(output, "imbrex transform", formats) is Kind.JSON or as_json
    request = Request(
        arguments=words,
        action=actions[0] if actions else Action.SUMMARY,
        as_json=as_json,
        database=database,
        only=only,
        rewrites=rewrites,
        allow_reassociation=allow_reassociation,
        single_thread=single_thread,
        errors_are_fatal=errors_are_fatal,
        graph=graph,
        routine=routine,
        run_directory=run_directory,
        worth_percent=worth,
        progress_us=progress,
        machine=machine,
        dirty=dirty,
        suggest=suggest,
    )
    found = answer(request)
    if output is None or graph is not None:
        click.echo(found.text, nl=False)
    else:
        write_text(output, found.text)
    for warning in found.warnings:
        warn(warning)
    if not found.complete:
        raise SystemExit(2)
