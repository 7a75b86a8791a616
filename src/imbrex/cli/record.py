"""`imbrex record`: its options, and where the answer goes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from imbrex.cli.parameters import FILE, FOLDER, LAUNCHER, SHARE
from imbrex.cli.terminal import emit_json, warn
from imbrex.recorder.record import ProgramFailedError, summary
from imbrex.recorder.record import record as make


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: imbrex record -o rec -- mpirun -n 2 ./app input.txt",
)
@click.option(
    "--plain",
    type=FILE,
    help="The program as built without imbrex cc [its twin PROGRAM.plain]: times come from it.",
)
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    default=Path("imbrex-recording"),
    show_default=True,
    help="The directory of the recording.",
)
@click.option(
    "--sample",
    type=SHARE,
    help="Record only this part of the calls, as 10%, the first, and end the recorded run there.",
)
@click.option("--force", is_flag=True, help="Replace the result if it exists.")
@click.option("--mpicc", type=FILE, help="The mpicc of the program's MPI.")
@click.option("--json", "as_json", is_flag=True, help="Print messages.json.")
@click.argument("command", nargs=-1, type=LAUNCHER, required=True)
def record(
    plain: Path | None,
    output: Path,
    sample: float | None,
    force: bool,
    mpicc: Path | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Record when a program writes what it sends and reads what it receives.

    Starts the program twice: plainly, for times, and as imbrex cc, cxx or fc built it, for the
    order of its accesses. `imbrex run --record` does the same beside a measurement.
    """
    try:
        document = make(
            command, output, plain=plain, mpicc=mpicc, force=force, sample=sample, say=warn
        )
    except ProgramFailedError as error:
        warn(str(error))
        sys.exit(error.code)
    if as_json:
        emit_json(document)
    else:
        click.echo(summary(document))
