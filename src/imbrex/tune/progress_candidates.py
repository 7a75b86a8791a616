"""Candidates of the progress thread: the program as it is behind `imbrex-exec --progress`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from imbrex import mpi_facts
from imbrex.diagnosis import thread_price
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.knowledge import LARGE_BYTES
from imbrex.errors import ImbrexError
from imbrex.launch.measure import Settings, measure, prepare
from imbrex.launch.progress import AUTOMATIC, ProgressOptions
from imbrex.mpi_environment.launcher_line import MARKER, parse_launcher_line
from imbrex.profile.progress import Progress
from imbrex.profile.run import load_run
from imbrex.profile.summary import By, Row, rows
from imbrex.steps import step
from imbrex.tune.candidate import Candidate, Setup
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.rewriting import INTERVAL_S
from imbrex.tune.source_candidates import Place

HELPED = "run-with-progress"
"""The run directory of the first run with a progress thread, in the folder of a search."""
SHORTEST_US, LONGEST_US = 200, 3000
"""Looks that are further apart help less, and those that are closer disturb."""

Once = Callable[[Place], tuple[Path, Progress | None]]
"""Runs the program once with a progress thread: where imbrex-exec is, and what the thread did."""


def progress_candidates(
    place: Place, account: Account, worth: float, written: Sequence[str], once: Once | None = None
) -> list[Candidate]:
    """The thread with an interval that it adapts, and with a fixed one; none where it cannot save
    `worth`, a share of the run time, or the line has it already. `written` is the line as the user
    wrote it.

    NotPossibleError with what stands in the way, as one run with the thread shows it.
    """
    most = saved_at_most(account)
    if most < worth or MARKER in (Path(argument).name for argument in place.words):
        return []
    if "IMBREX_PROGRESS" in os.environ:
        return []
    if thread_price.is_above_gain(account):
        raise NotPossibleError(
            f"it takes more than it can gain: {thread_price.price_words(account)}"
        )
    if place.left_s() <= account.wall_s:
        raise NotPossibleError("the time was over")
    script, seen = (once or _once)(place)
    if seen is None or not seen.ranks:
        raise NotPossibleError("this MPI library grants no MPI_THREAD_MULTIPLE")
    if not seen.looks:
        raise NotPossibleError(
            "in a run with it, nothing that needs progress was open while the ranks computed"
        )
    line = parse_launcher_line(written)
    found = []
    for option in ("--progress", f"--progress={_fixed_us(account)}"):
        prefix = (str(script), option)
        found.append(
            Candidate(
                kind="progress",
                label=f"{MARKER} {option}",
                setup=Setup(prefix=prefix),
                effect="a thread of Imbrex makes MPI progress while the program computes",
                cost="up to 3 % of a core for looks in vain, and MPI with support of threads",
                most=most,
                progress=True,
                thread=seen,
                start=shlex.join(line.with_prefix(prefix)),
            )
        )
    return found


def saved_at_most(account: Account) -> float:
    """What progress while the ranks compute saves at most, as a share of the run time: nothing
    where the thread would never look."""
    run = account.run
    if not any(_is_helped(account, row) for by in _BY for row in rows(run, by)):
        return 0.0
    return min(account.gainable.high, account.share(account.whole.progress).high)


_BY: tuple[By, ...] = ("size", "operation")


def _is_helped(account: Account, row: Row) -> bool:
    """Whether the thread looks for transfers of this size, or of this nonblocking collective."""
    knowledge = account.knowledge
    if row.sizes is None or not row.sums.transfers:
        return False
    smallest, largest = row.sizes
    if row.operation is None:
        return knowledge.progress_can_help and 2 << largest > LARGE_BYTES
    name = row.operation
    if not mpi_facts.is_collective(name):
        return False
    moves = knowledge.moves_without_calls(name, 1 << smallest)
    return mpi_facts.is_nonblocking(name) and moves is not True


def _fixed_us(account: Account) -> int:
    """The fixed interval: what the probe recommends for calls, within what suits a thread."""
    interval_s = account.knowledge.progress_interval_s or INTERVAL_S
    return min(max(round(1e6 * interval_s), SHORTEST_US), LONGEST_US)


def _once(place: Place) -> tuple[Path, Progress | None]:
    """Measure the program once with the thread, or read what an earlier start measured."""
    folder = place.folder.resolve() / HELPED
    machine = place.machine or place.run.directory / "machine.json"
    settings = Settings(
        place.words,
        folder,
        force=folder.exists(),
        machine=machine if machine.exists() else None,
        silent=True,
        progress=ProgressOptions(AUTOMATIC),
    )
    try:
        ready = prepare(settings)
        if (folder / "run.json").exists():
            run = load_run(folder)
        else:
            with step("running the program with a progress thread"):
                outcome = measure(ready)
            if outcome.exit_code or outcome.run is None:
                raise NotPossibleError(f"a run with it ended with exit code {outcome.exit_code}")
            run = outcome.run
    except ImbrexError as error:
        raise NotPossibleError(str(error)) from error
    if run.job.exit_code:
        raise NotPossibleError(f"a run with it ended with exit code {run.job.exit_code}")
    return ready.runtime.parents[1] / "bin" / MARKER, run.job.progress
