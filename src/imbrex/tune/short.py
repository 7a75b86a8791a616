"""Programs so short that a whole run, which also starts and ends MPI, hides what can be gained."""

from __future__ import annotations

from dataclasses import replace

from imbrex.errors import ImbrexError
from imbrex.tune.answer import Found
from imbrex.tune.timed_run import Line
from imbrex.tune.trial import Run

LONGEST_START_S = 5.0
"""Starting and ending MPI takes no longer than this where few ranks are tried."""
_LIMIT_S = 60.0


def too_short(found: Found, line: Line, run: Run) -> float | None:
    """How long a whole run takes, where all that overlap could gain is less of it than matters.

    `found.most` is a share of the time between MPI_Init and MPI_Finalize, what is tried the time
    of a whole run, unless the user said which time counts. None where it is long enough, where no
    start could take so long, and where it cannot be run: the search says why.
    """
    most_s = found.most * found.run_s
    if line.time_from is not None or most_s >= found.worth * (found.run_s + LONGEST_START_S):
        return None
    try:
        whole_s = run(replace(line, limit_s=_LIMIT_S)).seconds
    except ImbrexError:
        return None
    return whole_s if most_s < found.worth * whole_s else None
