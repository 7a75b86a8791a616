"""What the replay of the measured run says that a candidate saves, and in which order to try them.

The replay knows two kinds of change: data that moves while the ranks compute, and another size up
to which messages leave without asking. Of all else only the limit is known: what is gainable.

Who moves data while the ranks compute needs a core. Where the ranks leave none idle it is taken
from the computation, which lasts longer then: by the processor time of the looks, as one run with
the thread of Imbrex showed it, or, for a thread that never pauses, by its share of the cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from imbrex.errors import ImbrexError
from imbrex.profile.progress import Progress
from imbrex.profile.run import Run
from imbrex.replay.ahead import sent
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Network, Replayer
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.run_log import has_log, read_run_log
from imbrex.replay.situation import AS_MEASURED, situations
from imbrex.tune.candidate import Candidate

_UNKNOWN = 0.5
"""Where only the limit is known, a candidate is tried as if it brought half of it."""
_EASE = ("setting", "progress", "source")
"""What is tried first among equals: what takes least to apply."""


def with_predictions(run: Run, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The same with `saves_s` where the run's log can be replayed on the network that it had: s of
    the run time, below 0 where it costs more than it saves."""
    if not any(c.progress or c.eager_bytes for c in candidates) or not has_log(run.directory):
        return list(candidates)
    try:
        log = read_run_log(run)
        found = situations(run, (), [], "probed", None, sent(log))[0]
        if not found.name.startswith(AS_MEASURED):
            return list(candidates)
        schedule = found.place(as_messages(schedule_from_log(log).schedule))
        replayer = Replayer(schedule)
        today_ns = replayer.run(found.network).run_ns
        thread = next((c.thread for c in candidates if c.thread is not None), None)

        def saved(candidate: Candidate) -> float | None:
            changed = _changed(found.network, candidate)
            if changed is None:
                return None
            longer = computation_longer(run, candidate, thread)
            if longer == 1:
                time_ns = replayer.run(changed).run_ns
            else:  # computation that is n times longer is all else n times shorter
                late = replace(schedule, start_ns=schedule.start_ns / longer)
                time_ns = longer * Replayer(late).run(changed.faster(longer)).run_ns
            return (today_ns - time_ns) * 1e-9

        return [replace(candidate, saves_s=saved(candidate)) for candidate in candidates]
    except ImbrexError:  # a log that covers a part of the run, or no network: nothing is predicted
        return list(candidates)


def computation_longer(run: Run, candidate: Candidate, thread: Progress | None) -> float:
    """How many times longer the computation lasts because something else makes progress; 1 where a
    core is idle, or where it is not known how many cores there are. `thread` is what a run with the
    thread of Imbrex showed, of which every other takes the looks that moved data."""
    cores, ranks = run.job.cores, len(run.ranks)
    if not candidate.progress or cores is None or ranks == 0:
        return 1.0
    if candidate.spins:
        return max(1.0, 2 * ranks / cores) / max(1.0, ranks / cores)
    if cores > ranks or thread is None:
        return 1.0
    takes_s = thread.moving_s + (thread.looking_s if candidate.thread is not None else 0.0)
    computes_s = float(run.ranks["compute_ns"].sum()) * 1e-9
    return 1 + takes_s / computes_s if computes_s > 0 else 1.0


def in_order(candidates: Sequence[Candidate], run_s: float) -> list[Candidate]:
    """Those first that are predicted to save most; `run_s` is how long the program takes."""

    def expected(candidate: Candidate) -> float:
        if candidate.saves_s is None or run_s <= 0:
            return _UNKNOWN * candidate.most
        return min(candidate.saves_s / run_s, candidate.most)

    # A thread that never pauses costs a core for each rank: the others first, where it is equal.
    return sorted(candidates, key=lambda c: (-round(expected(c), 3), c.spins, _EASE.index(c.kind)))


def _changed(network: Network, candidate: Candidate) -> Network | None:
    if candidate.progress:
        return network.progressing("ideal")
    if not candidate.eager_bytes:
        return None
    within, between = (
        replace(route, eager_bytes=max(route.eager_bytes, float(candidate.eager_bytes)))
        for route in (network.within, network.between)
    )
    return replace(network, within=within, between=between)
