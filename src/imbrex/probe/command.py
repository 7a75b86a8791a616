"""Whether this MPI can overlap, where it stops, and how sure that is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import MARKER
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import cache, settings
from imbrex.network.assemble import assemble
from imbrex.network.experiments import all_experiments, calibration
from imbrex.network.measure import PROGRAM, run_probes
from imbrex.network.thread_price import thread_price
from imbrex.probe.answer import Answer, answer
from imbrex.probe.calibrate import check_output, line_for_probes
from imbrex.probe.knobs import Tried
from imbrex.probe.try_settings import QUICK_MOST_BYTES, try_settings_of
from imbrex.steps import step
from imbrex.whole_file import write_whole

QUICK_LIMIT_S = 15.0
FULL_LIMIT_S = 120.0
FULL_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Request:
    """What is to be probed, and where the answer goes."""

    launcher: tuple[str, ...] = ()
    output: Path | None = None
    machine: Path | None = None
    report: Path | None = None
    quick: bool = False
    mpicc: Path | None = None
    time_limit_s: float | None = None
    most_bytes: int | None = None
    try_settings: bool = False


@dataclass(frozen=True)
class Probed:
    """The answer, the settings tried, the file of the profile (None: nowhere), notes to tell."""

    answer: Answer
    tried: tuple[Tried, ...]
    machine: Path | None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object of `imbrex probe --json`."""
        return {**self.answer.to_json(), "knobs": [tried.to_json() for tried in self.tried]}


def probe(request: Request) -> Probed:
    """Find out what overlaps on the ranks of the launcher, and write what was asked for.

    ImbrexError where it cannot be measured or written.
    """
    for file in (request.output, request.machine, request.report):
        check_output(file)
    line = line_for_probes(request.launcher)
    library = library_of_launcher(line, request.mpicc)
    binary = build("probes", library) / "bin" / PROGRAM
    limit_s = request.time_limit_s or (QUICK_LIMIT_S if request.quick else FULL_LIMIT_S)
    experiments = all_experiments()
    argv = [str(binary), "--pairs", "--experiments", ",".join(experiments)]
    # The ranks begin nothing new shortly before the limit; then the launcher is ended.
    ranks_s = max(1.0, 0.75 * limit_s, 0.9 * limit_s - 2)
    argv += ["--time-limit", f"{ranks_s:.1f}", *(["--quick"] if request.quick else [])]
    most = request.most_bytes or (QUICK_MOST_BYTES if request.quick else FULL_MOST_BYTES)
    argv += ["--max-bytes", str(most)]
    with step("probing this MPI") as update:
        measured = run_probes(line.with_program(argv), os.environ, limit_s, update, experiments)
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
    profile = assemble(measured, in_force, request.quick, partial=measured.interrupted)
    if not measured.interrupted:
        price = thread_price(measured, line.with_program, binary, os.environ)
        profile = replace(profile, thread_multiple=price)
    found = answer(measured, profile, list(experiments), most)
    name = cache.key(library.identity, line.circumstances, os.environ)
    whole = not set(found.missing) & calibration().keys()
    better = cache.better(name, found.profile) if whole else None
    kept = cache.keep(name, found.profile) if whole else None
    tried: list[Tried] = []
    if request.try_settings and not measured.interrupted:
        largest = min(most, QUICK_MOST_BYTES)
        tried, notes = try_settings_of(
            line,
            binary,
            found,
            limit_s,
            largest,
            lambda: build("runtime", library) / "bin" / MARKER,
        )
        found = replace(found, notes=(*found.notes, *notes))
    machine = request.machine or kept
    done = Probed(found, tuple(tried), machine, () if better is None else (better,))
    if request.machine is not None and profile.paths:
        found.profile.save(request.machine)
    if request.output is not None:
        content = json.dumps(done.to_json(), indent=1, allow_nan=False)
        write_whole(request.output, content + "\n")
    if request.report is not None:
        # matplotlib takes a second to load: only where something is drawn.
        from imbrex.probe.page import write_page

        write_page(found, measured, tried, request.report)
    return done
