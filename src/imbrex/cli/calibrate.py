"""`imbrex calibrate`: its options, and where the answer goes."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.output import Kind, kind_of
from imbrex.cli.parameters import FILE, LAUNCHER, Bytes, TimeLimit
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import emit_json, warn
from imbrex.probe.calibrate import Request, print_profile
from imbrex.probe.calibrate import calibrate as measure


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-o", "--output", type=FILE, help="Write the profile here (JSON).")
@click.option("--quick", is_flag=True, help="Fewer and smaller sizes: seconds in all.")
@click.option("--json", "as_json", is_flag=True, help="Print the profile as JSON.")
@click.option("--mpicc", type=FILE, help="The compiler of this MPI.")
@click.option("--time-limit", type=TimeLimit(min=1), help="Seconds; 60 quick, 240 full.")
@click.option(
    "--max-bytes",
    type=Bytes(),
    help="The largest message, as 4M, for the file of -o alone; 8M quick, 64M full.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.argument("launcher", nargs=-1, type=LAUNCHER)
def calibrate(
    output: Path | None,
    quick: bool,
    as_json: bool,
    mpicc: Path | None,
    time_limit: float | None,
    max_bytes: int | None,
    quiet: bool,
    launcher: tuple[str, ...],
) -> None:
    """Measure this machine's transfer times: imbrex calibrate -- mpirun -n 2

    The profile is also kept for `imbrex run` with the same launcher line, hosts and settings.
    """
    kind_of(output, "imbrex calibrate", (Kind.JSON,))
    with shown_steps(quiet=quiet or as_json):
        found = measure(
            Request(launcher, output, quick, mpicc, time_limit, as_json, most_bytes=max_bytes)
        )
    if as_json:
        emit_json(found.profile.to_json())
    elif not quiet:
        print_profile(found.profile, found.file)
    for note in found.notes:
        warn(note)
