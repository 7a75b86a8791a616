"""`imbrex probe`: its options, and where the answer goes."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.output import Kind, kind_of
from imbrex.cli.parameters import FILE, LAUNCHER, Bytes, TimeLimit
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import emit_json, warn
from imbrex.probe.command import Request
from imbrex.probe.command import probe as measure
from imbrex.probe.terminal import print_answer, print_tried


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-o", "--output", type=FILE, help="Write the answer (JSON).")
@click.option("--machine", type=FILE, help="Write the machine profile.")
@click.option("--report", type=FILE, help="Write a page with plots (HTML).")
@click.option("--quick", is_flag=True, help="Fewer sizes, up to 8 MiB: under 15 s.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--mpicc", type=FILE, help="The compiler of this MPI.")
@click.option("--time-limit", type=TimeLimit(min=1), help="Seconds; 15 quick, 120 full.")
@click.option("--max-bytes", type=Bytes(), help="The largest message, as 4M; 8M quick, 64M full.")
@click.option("--try-settings", is_flag=True, help="Also try settings known to change overlap.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.argument("launcher", nargs=-1, type=LAUNCHER)
def probe(
    output: Path | None,
    machine: Path | None,
    report: Path | None,
    quick: bool,
    as_json: bool,
    mpicc: Path | None,
    time_limit: float | None,
    max_bytes: int | None,
    try_settings: bool,
    quiet: bool,
    launcher: tuple[str, ...],
) -> None:
    """Find out what overlaps on this MPI and network: imbrex probe -- mpirun -n 2

    Leaves a machine profile that `imbrex run` uses with the same launcher line.
    """
    kind_of(output, "imbrex probe", (Kind.JSON,))
    kind_of(report, "imbrex probe --report", (Kind.HTML,))
    request = Request(
        launcher=launcher,
        output=output,
        machine=machine,
        report=report,
        quick=quick,
        mpicc=mpicc,
        time_limit_s=time_limit,
        most_bytes=max_bytes,
        try_settings=try_settings,
    )
    with shown_steps(quiet=quiet or as_json):
        found = measure(request)
    for note in found.notes:
        warn(note)
    if as_json:
        emit_json(found.to_json())
    elif not quiet:
        print_answer(found.answer, found.machine)
        print_tried(list(found.tried))
