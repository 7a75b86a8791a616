"""`imbrex probe`: whether this MPI can overlap, where it stops, and how sure that is."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import LauncherLine, parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import cache, settings
from imbrex.network.assemble import assemble
from imbrex.network.measure import run_probes
from imbrex.probe.answer import Answer, Operation, answer
from imbrex.probe.calibrate import DEFAULT_LAUNCHER, PROGRAM, check_output, progress_bar
from imbrex.probe.knobs import Tried, compare, knobs_for
from imbrex.probe.ranges import Range

# Experiments in their order, with their share of the time, about.
EXPERIMENTS = {
    "advertised": 0.01,
    "delay": 0.19,
    "moved": 0.15,
    "nonblocking": 0.1,
    "self": 0.04,
    "pingpong": 0.1,
    "streaming": 0.06,
    "earlylate": 0.14,
    "collectives": 0.06,
    "progress": 0.1,
    "grid": 0.05,
    "krylov": 0.02,
    "onesided": 0.05,
    "persistent": 0.03,
}
QUICK_LIMIT_S = 15.0
FULL_LIMIT_S = 120.0
_SYNCHRONIZES = {True: "overlaps", False: "no", None: "cannot tell"}


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the answer (JSON).")
@click.option("--machine", type=click.Path(path_type=Path), help="Write the machine profile.")
@click.option("--report", type=click.Path(path_type=Path), help="Write a page with plots (HTML).")
@click.option("--quick", is_flag=True, help="Fewer sizes, up to 8 MiB: under 15 s.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--mpicc", type=click.Path(path_type=Path), help="The compiler of this MPI.")
@click.option("--time-limit", type=click.FloatRange(min=1), help="Seconds; 15 quick, 120 full.")
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
    try_settings: bool,
    quiet: bool,
    launcher: tuple[str, ...],
) -> None:
    """Find out what overlaps on this MPI and network: imbrex probe -- mpirun -n 2

    Leaves a machine profile that `imbrex run` uses with the same launcher line.
    """
    for file in (output, machine, report):
        check_output(file)
    line = parse_launcher_line([*(launcher or DEFAULT_LAUNCHER), PROGRAM])
    library = library_of_launcher(line, mpicc)
    binary = build("probes", library) / "bin" / PROGRAM
    limit_s = time_limit or (QUICK_LIMIT_S if quick else FULL_LIMIT_S)
    argv = [str(binary), "--pairs", "--experiments", ",".join(EXPERIMENTS)]
    # The ranks begin nothing new shortly before the limit; then the launcher is ended.
    argv += ["--time-limit", f"{max(1.0, 0.8 * limit_s):.0f}", *(["--quick"] if quick else [])]
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
    in_force = settings.relevant(line.launcher_words, os.environ)
    profile = assemble(measured, in_force, quick, partial=measured.interrupted)
    found = answer(measured, profile, list(EXPERIMENTS))
    name = cache.key(library.identity, line.launcher_words, os.environ)
    kept = None if found.missing else cache.keep(name, found.profile)
    tried: list[Tried] = []
    if try_settings and not measured.interrupted:
        tried = _try_settings(line, binary, found, limit_s, quiet or as_json)
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


# What it takes to see whether a setting changed anything.
_TRIED = ("delay", "moved", "pingpong", "earlylate")


def _try_settings(
    line: LauncherLine, binary: Path, before: Answer, limit_s: float, silent: bool
) -> list[Tried]:
    """Probe quickly with each knob set, one after the other; each has the same time limit."""
    found: list[Tried] = []
    argv = [str(binary), "--quick", "--experiments", ",".join(_TRIED)]
    argv += ["--time-limit", f"{max(1.0, 0.8 * limit_s):.0f}"]
    shares = {name: 1 / len(_TRIED) for name in _TRIED}
    for knob in knobs_for(before.profile.library_name, before.profile.settings):
        environment = {**os.environ, **knob.variables}
        with progress_bar(f"trying {', '.join(knob.variables)}", silent) as report:
            measured = run_probes(line.with_program(argv), environment, limit_s, report, shares)
        if not measured.round_trips:
            continue
        now = {**before.profile.settings, **knob.variables}
        after = answer(measured, assemble(measured, now, True), _TRIED)
        found += compare(knob, before, after)
    return found


def print_tried(tried: Sequence[Tried]) -> None:
    """Before and after, what it costs, and the line to export."""
    console = Console(highlight=False, soft_wrap=True)
    seen: set[str] = set()
    for t in tried:
        if t.knob.export not in seen:
            seen.add(t.knob.export)
            console.print(f"{t.knob.export}\n  {t.knob.effect}; costs {t.knob.cost}")
        console.print(
            f"  {t.operation}, {t.path}: overlaps {_up_to(t.before_bytes)} -> "
            f"{_up_to(t.after_bytes)}; largest {t.before_class} -> {t.after_class}; X_hi of 1 B "
            f"{_us(t.latency_before_s)} -> {_us(t.latency_after_s)} us, of 1 MiB "
            f"{_us(t.mebibyte_before_s)} -> {_us(t.mebibyte_after_s)} us"
        )


def _us(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds * 1e6:.2f}"


def _up_to(size: int | None) -> str:
    return "at all sizes" if size is None else "at no size" if size == 0 else f"up to {size:,}"


def print_answer(found: Answer, file: Path | None) -> None:
    """The answer on the terminal: a table per operation and path, then what to do with it."""
    console = Console(highlight=False, soft_wrap=True)
    profile = found.profile
    console.print(
        f"{profile.library_name} {profile.library_version}, {profile.ranks} ranks on "
        f"{', '.join(profile.hosts)}"
    )
    for key, value in profile.settings.items():
        console.print(f"  {key}={value}")
    console.print("moved while computing: the sender, the receiver, both (share of the data)")
    for o in found.operations:
        table = Table(title=f"{o.operation}, {o.path}", title_justify="left", box=None)
        for column in ("bytes", "sync", "class"):
            table.add_column(column, no_wrap=True)
        for column in ("sender", "receiver", "both", "sure"):
            table.add_column(column, justify="right", no_wrap=True)
        for r in o.ranges:
            table.add_row(
                _span(r),
                _SYNCHRONIZES[r.synchronization],
                r.transfer_class,
                _percent(r.moved.sender_computing),
                _percent(r.moved.receiver_computing),
                _percent(r.moved.both_computing),
                _percent(r.confidence),
            )
        console.print(table)
        if o.step:
            console.print(
                f"  synchronization overlap ends between {o.step.last_bytes:,} and "
                f"{o.step.first_bytes:,} bytes"
            )
    if found.others:
        console.print(_others_table(found.others))
    if found.collectives:
        console.print(_collective_table(found.collectives))
    for name, path in profile.paths.items():
        for kind, size in path.limits.items():
            console.print(f"{name}: {kind.removesuffix('_bytes')} up to {size:,} bytes")
    limits = [f"{k} {v:,}" for k, v in found.advertised.items() if v > 0]
    if limits:
        console.print(f"advertised by the library: {', '.join(limits)}")
    for name, progress in found.progress.items():
        interval = found.interval_s[name]
        if interval is not None:
            console.print(
                f"{name}: call MPI_Test about every {interval * 1e6:,.0f} us during work "
                f"(a call costs {found.test_cost_s[name]['MPI_Test'] * 1e6:.2f} us)"
            )
        elif all(p.needed == 0 for p in progress) and progress:
            console.print(f"{name}: no MPI_Test is needed, data moves by itself")
        elif progress:
            console.print(f"{name}: no number of MPI_Test calls hides large messages completely")
    if found.krylov:
        console.print(found.krylov.sentence)
    for note in found.notes:
        console.print(f"note: {note}")
    if found.missing:
        why = "it was interrupted" if found.interrupted else "the time was over"
        console.print(f"missing, because {why}: {', '.join(found.missing)}")
    if not profile.paths:
        console.print("no machine profile: nothing was calibrated")
    elif file is not None:
        console.print(f"machine profile: {file}")


def _others_table(others: Sequence[Operation]) -> Table:
    """One line per range of the persistent, partitioned and one-sided operations."""
    table = Table(title="persistent, partitioned, one-sided", title_justify="left", box=None)
    for column in ("operation", "bytes", "sync", "class"):
        table.add_column(column, no_wrap=True)
    for column in ("sender/receiver/both", "sure"):
        table.add_column(column, justify="right", no_wrap=True)
    for o in others:
        name = o.operation.replace("/MPI_Win_", ", ").split("/")[0]
        for r in o.ranges:
            moved = (r.moved.sender_computing, r.moved.receiver_computing, r.moved.both_computing)
            table.add_row(
                name,
                _span(r).replace(" and above", "+"),
                "-" if name.endswith("fence") else _SYNCHRONIZES[r.synchronization],
                r.transfer_class,
                "/".join(_percent(m).removesuffix(" %") for m in moved) + " %",
                _percent(r.confidence),
            )
    return table


def _collective_table(collectives: Sequence[Operation]) -> Table:
    """One line per nonblocking collective: the share hidden while all ranks compute, by size."""
    table = Table(title="hidden while all ranks compute", title_justify="left", box=None)
    table.add_column("operation", no_wrap=True)
    for column in ("bytes", "without calls", "with MPI_Test", "sure"):
        table.add_column(column, justify="right", no_wrap=True)
    for o in collectives:
        for r, tested in zip(o.ranges, o.tested, strict=True):
            table.add_row(
                o.operation,
                f"{r.last_measured_bytes:,}",
                _percent(r.moved.both_computing),
                _percent(tested.moved.both_computing),
                _percent(r.confidence),
            )
    return table


def _span(r: Range) -> str:
    return (
        f"{r.from_bytes:,} and above" if r.to_bytes is None else f"{r.from_bytes:,}-{r.to_bytes:,}"
    )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
