"""What a setting saves in starting and ending MPI alone, however long the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import median, variance

from imbrex.diagnosis import wording
from imbrex.errors import ImbrexError
from imbrex.launch.machine import PROBES
from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_line
from imbrex.tune.candidate import Tried
from imbrex.tune.choosing import DOUBT
from imbrex.tune.timed_run import Line
from imbrex.tune.trial import Run

STARTS = 4
"""Pairs of runs of a program that only starts MPI and ends it."""
NO_EXPERIMENT = ("--experiments", "none")


def only_starts(line: Line) -> tuple[str, ...]:
    """The launcher line with a program that starts MPI, moves next to nothing, and ends it."""
    parsed = parse_launcher_line(line.words)
    probes = native.build("probes", library_of_line(parsed)) / PROBES
    return tuple(parsed.with_program([str(probes), *NO_EXPERIMENT]))


def saved_in_start(
    line: Line, run: Run, starts: Callable[[Line], tuple[str, ...]] = only_starts
) -> Callable[[Tried], str | None]:
    """Says of a setting that is proven why it is out: what it saves is saved by any program, in
    starting MPI. None for what helps the program itself, for all else than settings, where the user
    has told which time counts, and where that program cannot be run."""

    def why(found: Tried) -> str | None:
        if found.candidate.kind != "setting" or line.time_from is not None or found.trial is None:
            return None
        try:
            empty = replace(line, words=starts(line), limit_s=60.0)
            changed = found.candidate.setup.line("B", empty)
            times = [(run(empty).seconds, run(changed).seconds) for _ in range(STARTS)]
        except ImbrexError:
            return None
        start_s = median(before for before, _ in times)
        started_s = start_s - median(after for _, after in times)
        doubt_s = DOUBT * math.sqrt(sum(variance(side) for side in zip(*times, strict=True)))
        doubt_s /= math.sqrt(STARTS)
        before_s, after_s = found.trial.medians_s
        saved_s = before_s - after_s
        worth_s = found.trial.plan.worth * max(before_s - start_s, 0.0)
        if started_s <= doubt_s or saved_s - started_s - doubt_s >= worth_s:
            return None
        return (
            f"what it saves ({wording.seconds(saved_s)} a run) it saves in the start and the end "
            f"of MPI ({wording.seconds(started_s)}), however long the program runs"
        )

    return why
