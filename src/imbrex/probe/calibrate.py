"""Measure transfer times and write a machine profile: what `imbrex calibrate` does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from imbrex import network
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import (
    LauncherLine,
    parse_launcher_line,
    take_environment,
)
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import cache
from imbrex.network.measure import PROGRAM
from imbrex.network.obtain import FULL_LIMIT_S, QUICK_LIMIT_S
from imbrex.network.profile import MachineProfile, NetworkPath, Point
from imbrex.steps import step

DEFAULT_LAUNCHER = ("mpirun", "-n", "2")
QUICK_TAKES = "some seconds"
FULL_TAKES = "about a minute"


@dataclass(frozen=True)
class Request:
    """What is to be calibrated. `printed`: the profile is printed as JSON, so it need not be kept
    anywhere. `most_bytes`: the largest message, of a profile that is then not kept."""

    launcher: tuple[str, ...] = ()
    output: Path | None = None
    quick: bool = False
    mpicc: Path | None = None
    time_limit_s: float | None = None
    printed: bool = False
    most_bytes: int | None = None


@dataclass(frozen=True)
class Calibrated:
    """A profile, the file where it is (None: nowhere), and what there is to say of it."""

    profile: MachineProfile
    file: Path | None
    notes: tuple[str, ...] = ()


def calibrate(request: Request) -> Calibrated:
    """Measure transfer times on the ranks of the launcher, keep the profile, write it to `output`.

    ImbrexError where it cannot be measured or written.
    """
    check_output(request.output)
    is_kept = request.most_bytes is None
    if not is_kept and request.output is None and not request.printed:
        raise ImbrexError("--max-bytes makes a profile that is not kept: name its file with -o")
    lost = cache.unwritable()
    if lost is not None and request.output is None and not request.printed:
        raise ImbrexError(f"{lost}: name a file with -o, or set IMBREX_CACHE")
    line = line_for_probes(request.launcher)
    library = library_of_launcher(line, request.mpicc)
    binary = build("probes", library) / "bin" / PROGRAM
    limit_s = request.time_limit_s or (QUICK_LIMIT_S if request.quick else FULL_LIMIT_S)
    takes = f"{QUICK_TAKES if request.quick else FULL_TAKES}, at most {limit_s:.0f} s"
    with step("calibrating this MPI", takes) as tell:
        profile = network.calibrate(
            line.with_program,
            binary,
            line.circumstances,
            quick=request.quick,
            progress=tell,
            time_limit_s=limit_s,
            most_bytes=request.most_bytes,
        )
    name = cache.key(library.identity, line.circumstances, os.environ)
    better = cache.better(name, profile) if is_kept else None
    better = better or network.cut_short(profile) or network.too_noisy(profile)
    kept = cache.keep(name, profile) if is_kept else None
    notes = [] if better is None else [better]
    if request.output is not None:
        profile.save(request.output)
        if is_kept and lost is not None:
            notes.append(f"{lost}: give {request.output} to imbrex run with --machine")
    return Calibrated(profile, request.output or kept, tuple(notes))


def line_for_probes(launcher: Sequence[str]) -> LauncherLine:
    """The launcher's line with the probes as its program; ImbrexError where no launcher is in it.

    An unknown word would be taken for the program, and the probes be started in its place.
    """
    line = parse_launcher_line(take_environment([*(launcher or DEFAULT_LAUNCHER), PROGRAM]))
    if line.family == "none":
        raise ImbrexError(
            f"{launcher[0]}: no launcher that is known here; write its line and imbrex-exec, "
            f"as in `{' '.join(launcher)} imbrex-exec`, or as in `mpirun -n 2`"
        )
    return line


def check_output(output: Path | None) -> None:
    """Refuse a place that cannot be written before anything is measured."""
    if output is None:
        return
    folder = output.absolute().parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ImbrexError(f"cannot write {output}: name a file in a folder that is there")


def print_profile(profile: MachineProfile, file: Path | None) -> None:
    """The profile as tables on the terminal."""
    console = Console(highlight=False)
    kind = "quick " if profile.quick else ""
    console.print(
        f"{profile.library_name} {profile.library_version}, {profile.ranks} ranks on "
        f"{', '.join(profile.hosts)}: {kind}machine profile of {profile.created}"
    )
    for key, value in profile.settings.items():
        console.print(f"  {key}={value}")
    for name, path in profile.paths.items():
        console.print(_path_table(name, path))
        if path.loggp:
            fit = path.loggp
            console.print(
                f"  LogGP: EEL {_us(fit.EEL_s)} us (L {_us(fit.L_s)}, o_s {_us(fit.o_s_s)}, "
                f"o_r {_us(fit.o_r_s)}), g {_us(fit.g_s)} us, G {fit.G_s_per_byte * 1e9:.3g} ns/B, "
                f"residual {100 * fit.residual:.0f} %",
                soft_wrap=True,
            )
    measured = sorted({c.operation for c in profile.collectives})
    if measured:
        console.print(
            f"  collectives on {profile.ranks} ranks: {', '.join(measured)}",
            soft_wrap=True,
        )
    price = profile.thread_multiple
    if price is not None:
        added = f"{price.lowest_s * 1e9:.0f} to {price.highest_s * 1e9:.0f} ns"
        if price.sendrecv_s is not None:
            added += f" to a call, {price.sendrecv_s * 1e9:.0f} ns to MPI_Sendrecv"
        else:
            added += " to a call"
        console.print(f"  MPI_THREAD_MULTIPLE adds {added}")
    if file is not None:
        console.print(f"profile: {file}", soft_wrap=True)


def _path_table(name: str, path: NetworkPath) -> Table:
    table = Table(title=f"{name} (us)", title_justify="left", box=None, pad_edge=False)
    for column in ("bytes", "X_lo", "X_hi", "tail", "head", "blocking send"):
        table.add_column(column, justify="right")
    for point in path.points:
        table.add_row(
            f"{point.size_bytes:,}",
            _us(point.x_lo_s),
            _us(point.x_hi_s),
            _us(point.tail_s),
            _us(point.head_s),
            _blocking(point),
        )
    return table


def _blocking(point: Point) -> str:
    if point.send_returns_before_match is None:
        return "not tried"
    return "returns early" if point.send_returns_before_match else "waits for its match"


def _us(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:,.2f}"
