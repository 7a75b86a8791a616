"""What makes a run's numbers weaker than they look, one line each."""

from __future__ import annotations

from collections import Counter

import numpy as np

from imbrex import mpi_facts
from imbrex.diagnosis import wording
from imbrex.diagnosis.places import short_place
from imbrex.profile.format import Ended
from imbrex.profile.matching import Matching
from imbrex.profile.run import Run
from imbrex.profile.summary import Sums

ENDINGS = {
    Ended.ABORTED: "called MPI_Abort",
    Ended.EXITED: "exited without MPI_Finalize",
    Ended.DIED: "died (a signal, _exit, or killed)",
    Ended.MISSING: "left no data",
}
WORTH_TELLING = 0.01
"""The share of transfers without a match from which that is told."""
OUTSIDE = "with a process outside the job"
NO_RULE = "one-sided"
"""What the runtime calls transfers of which the calls do not say who needs whom."""
_CALIBRATE = "imbrex calibrate"
"""What a warning about the machine profile advises."""
MOST_THREADS = 128
"""Threads of a rank that are measured at a time (runtime/core/engine.c, fill_limits)."""


def endings(run: Run) -> list[str]:
    """One line per way in which ranks ended other than through MPI_Finalize."""
    ended = run.ranks["ended"]
    lines = []
    for state, text in ENDINGS.items():
        ranks = run.ranks["rank"][ended == state].tolist()
        if ranks:
            lines.append(f"{_ranks(ranks, len(run.ranks))} {text}")
    return lines


def _ranks(ranks: list[int], world: int) -> str:
    if len(ranks) == world:
        return "every rank" if world > 1 else "the only rank"
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= 8:
        return "ranks " + ", ".join(map(str, ranks))
    return f"{len(ranks)} ranks ({', '.join(map(str, ranks[:6]))}, ...)"


def met_with(run: Run) -> list[str]:
    """What the run itself met with: how ranks ended, what else kept the machine busy, and what its
    measuring found to say, but for what another calibration would mend."""
    lines = endings(run)
    if (load := other_load(run)) is not None:
        lines.append(load)
    told = (warning for warning in run.job.warnings if _CALIBRATE not in warning)
    return list(dict.fromkeys([*lines, *told]))


def other_load(run: Run) -> str | None:
    """What else kept the cores busy while the program ran."""
    if run.job.crowded is None:
        return None
    return (
        f"while it ran, {run.job.crowded}: waits and stalled transfers are longer for it; "
        "measure again when nothing else runs"
    )


def nothing_moved(run: Run) -> str:
    """What stands in the place of the transfer time of a run that has no transfers."""
    paused = " while measuring was on" if run.ranks["dropped"].any() else ""
    return f"No user data was transferred by MPI calls{paused}."


def weaknesses(run: Run, sums: Sums) -> list[str]:
    """What makes the numbers weaker than they look; what the run itself met with comes first."""
    lines = met_with(run)
    lines += [warning for warning in run.job.warnings if warning not in lines]
    lines += _of_the_log(run)
    transfers = sums.transfers
    if transfers and sums.uncalibrated:
        lines.append(
            f"{wording.part(sums.uncalibrated, transfers)} transfers have no calibrated "
            "time and count as 0 s: the machine profile lacks their path, or collectives on "
            "communicators of their size"
        )
    if transfers and sums.contradicted:
        lines.append(
            f"{wording.part(sums.contradicted, transfers)} transfers were faster than the "
            "machine profile allows: it does not fit this run"
        )
    if transfers and sums.unknown_end:
        lines.append(
            f"{wording.part(sums.unknown_end, transfers)} transfers have an unknown end "
            "(freed, cancelled, still open, or more open requests than the table holds)"
        )
    ranks = run.ranks
    for name, text in (
        (
            "overflow",
            "rows, sites or sections did not fit: counted as (other) or one level up",
        ),
        ("dropped", "transfers were dropped because measuring was paused"),
        ("section_errors", "sections ended twice, out of order, or never"),
    ):
        number = int(ranks[name].sum())
        if number:
            lines.append(f"{number} {text}")
    crowded = (ranks["threads"] > MOST_THREADS) & (ranks["overflow"] > 0)
    if crowded.any():
        lines.append(
            f"more than {MOST_THREADS} threads in MPI ({crowded.sum()} of {len(ranks)} ranks): "
            "the calls of those beyond that number at a time are missing in all numbers"
        )
    used = map(run.operation, set(run.measures["operation"].tolist()))
    if any(map(mpi_facts.spawns, used)):
        lines.append("processes that the program started with MPI_Comm_spawn are not measured")
    return lines


def _of_the_log(run: Run) -> list[str]:
    """What the call log, the clocks and the matching leave open."""
    lines = []
    matching, clocks = run.job.matching, run.job.clocks
    if matching is not None and matching.reason:
        lines.append(f"calls were not matched with those of other ranks: {matching.reason}")
    elif matching is not None:
        lines += _unmatched(run, matching)
    if clocks is not None and clocks.violations:
        lines.append(
            f"{clocks.violations:,} messages ended before they began on the ranks' common clock: "
            "lateness may be wrong by as much"
        )
    return lines


def _unmatched(run: Run, matching: Matching) -> list[str]:
    """How many transfers have no match and why, where it is many or they leave much open."""
    left = {reason: n for reason, n in matching.unmatched.items() if n}
    number = sum(left.values())
    whole = matching.matched + number
    if not number or (number < WORTH_TELLING * whole and _unattributed(run) < WORTH_TELLING):
        return []
    most = max(left, key=left.__getitem__)
    if most == NO_RULE:
        most = f"{NO_RULE}, which Imbrex does not match"
    if most == OUTSIDE:
        return [
            f"{wording.part(left[most], whole)} transfers are with processes that are not measured "
            "(MPI_Comm_spawn, MPI_Comm_connect): why calls waited for them is not "
            f"known{_open(run)}"
        ]
    return [
        f"{wording.part(number, whole)} transfers have no match on the other side, most because: "
        f"{most}; why calls waited for them is unknown{_open(run)}, and what of them was hidden "
        "follows from the calls of one side alone"
    ]


def _open(run: Run) -> str:
    """Where messages have no known cause: `, 46 % of the run at a.c:7 (MPI_Recv)`; at most two."""
    if run.causes is None:
        return ""
    busy_ns = int(run.ranks["compute_ns"].sum() + run.ranks["call_ns"].sum())
    sites: Counter[tuple[int, int]] = Counter()
    for row in run.causes:
        if mpi_facts.facts(run.operation(int(row["operation"]))).kind != "call":
            key = int(row["site"]), int(row["operation"])
            sites[key] += int(row["unattributed_min_ns"])
    places = [
        f", {wording.percent(waited / busy_ns)} of the run at {short_place(run.site(site))} "
        f"({run.operation(operation)})"
        for (site, operation), waited in sites.most_common(2)
        if waited >= WORTH_TELLING * busy_ns > 0
    ]
    return "".join(places)


def _unattributed(run: Run) -> float:
    """The share of the time in MPI that certainly has no known cause."""
    if run.causes is None:
        return 0.0
    call_ns = int(run.causes["call_ns"].sum(dtype=np.int64))
    return int(run.causes["unattributed_min_ns"].sum(dtype=np.int64)) / max(call_ns, 1)
