"""`imbrex probe`: whether this MPI can overlap, where it stops, and how sure that is."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import cache, settings
from imbrex.network.assemble import assemble
from imbrex.network.measure import CALIBRATION_SHARES, PROGRAM, run_probes
from imbrex.probe.answer import answer
from imbrex.probe.calibrate import TimeLimit, check_output, line_for_probes, progress_bar
from imbrex.probe.knobs import Tried
from imbrex.probe.terminal import print_answer, print_tried
from imbrex.probe.try_settings import QUICK_MOST_BYTES, try_settings_of

# Experiments in their order, with their share of the time, about.
EXPERIMENTS = {
    "advertised": 0.02,
    "delay": 0.19,
    "moved": 0.08,
    "nonblocking": 0.02,
    "self": 0.02,
    "pingpong": 0.22,
    "streaming": 0.04,
    "earlylate": 0.12,
    "collectives": 0.06,
    "rma": 0.04,
    "progress": 0.02,
    "grid": 0.06,
    "krylov": 0.07,
    "onesided": 0.02,
    "persistent": 0.02,
}
QUICK_LIMIT_S = 15.0
FULL_LIMIT_S = 120.0
FULL_MOST_BYTES = 64 << 20
_SUFFIXES = {"": 0, "K": 10, "M": 20, "G": 30}


class Bytes(click.ParamType[int]):
    """A number of bytes, with K, M or G for powers of 1,024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes, at least 1,024: below there is nothing to find out."""
        found = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", str(value), re.IGNORECASE)
        size = int(found[1]) << _SUFFIXES[found[2].upper()] if found else 0
        if size < 1024:
            self.fail(f"{value}: write a size of 1K or more, as 512K, 4M, 1G", param, ctx)
        return size


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the answer (JSON).")
@click.option("--machine", type=click.Path(path_type=Path), help="Write the machine profile.")
@click.option("--report", type=click.Path(path_type=Path), help="Write a page with plots (HTML).")
@click.option("--quick", is_flag=True, help="Fewer sizes, up to 8 MiB: under 15 s.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--mpicc", type=click.Path(path_type=Path), help="The compiler of this MPI.")
@click.option("--time-limit", type=TimeLimit(min=1), help="Seconds; 15 quick, 120 full.")
@click.option("--max-bytes", type=Bytes(), help="The largest message, as 4M; 8M quick, 64M full.")
@click.option("--try-settings", is_flag=True, help="Also try settings known to change overlap.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED)
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
    for file in (output, machine, report):
        check_output(file)
    line = line_for_probes(launcher)
    library = library_of_launcher(line, mpicc)
    binary = build("probes", library) / "bin" / PROGRAM
    limit_s = time_limit or (QUICK_LIMIT_S if quick else FULL_LIMIT_S)
    argv = [str(binary), "--pairs", "--experiments", ",".join(EXPERIMENTS)]
    # The ranks begin nothing new shortly before the limit; then the launcher is ended.
    ranks_s = max(1.0, 0.75 * limit_s, 0.9 * limit_s - 2)
    argv += ["--time-limit", f"{ranks_s:.1f}", *(["--quick"] if quick else [])]
    most = max_bytes or (QUICK_MOST_BYTES if quick else FULL_MOST_BYTES)
    argv += ["--max-bytes", str(most)]
    with progress_bar("probing", quiet or as_json) as update:
        measured = run_probes(line.with_program(argv), os.environ, limit_s, update, EXPERIMENTS)
    if measured.jobs > 1:
        raise ImbrexError("every rank runs alone: the launcher belongs to another MPI library")
    if measured.ranks < 2 or measured.ranks % 2:
        raise ImbrexError(
            f"the probe needs an even number of ranks, the launcher started {measured.ranks}: "
            "imbrex probe -- mpirun -n 2"
        )
    if not measured.round_trips and not measured.interrupted:
        raise ImbrexError(f"nothing was calibrated within {limit_s:.0f} s: raise --time-limit")
    in_force = settings.relevant(line.circumstances, os.environ)
    profile = assemble(measured, in_force, quick, partial=measured.interrupted)
    found = answer(measured, profile, list(EXPERIMENTS), most)
    name = cache.key(library.identity, line.circumstances, os.environ)
    whole = not set(found.missing) & set(CALIBRATION_SHARES)
    kept = cache.keep(name, found.profile) if whole else None
    tried: list[Tried] = []
    if try_settings and not measured.interrupted:
        largest = min(most, QUICK_MOST_BYTES)
        tried, notes = try_settings_of(line, binary, found, limit_s, quiet or as_json, largest)
        found = replace(found, notes=(*found.notes, *notes))
    answered = {**found.to_json(), "knobs": [t.to_json() for t in tried]}
    if machine is not None and profile.paths:
        found.profile.save(machine)
    if output is not None:
        output.write_text(json.dumps(answered, indent=1) + "\n", encoding="utf-8")
    if report is not None:
        # matplotlib takes a second to load: only where something is drawn.
        from imbrex.probe.page import write_page

        write_page(found, measured, tried, report)
    if as_json:
        click.echo(json.dumps(answered, indent=1))
    elif not quiet:
        print_answer(found, machine or kept)
        print_tried(tried)
