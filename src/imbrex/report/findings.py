"""What follows from a run's numbers: what weakens them, and what to try next.

Every sentence rests on a rule over the data; none is printed where its rule does not hold.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from imbrex.profile.format import Ended
from imbrex.profile.run import Run
from imbrex.profile.summary import Row, Sums
from imbrex.report import wording

ENDINGS = {
    Ended.ABORTED: "called MPI_Abort",
    Ended.EXITED: "exited without MPI_Finalize",
    Ended.DIED: "died (a signal, _exit, or killed)",
    Ended.MISSING: "left no data",
}
MOST_THREADS = 128
"""Threads of a rank that are measured at a time (runtime/core/engine.c, fill_limits)."""
WORTH = 0.02
"""The share of the ranks' time from which a cause is worth a line."""
SPAWNS = frozenset(["MPI_Comm_spawn", "MPI_Comm_spawn_multiple"])
BLOCKING_SENDS = frozenset(["MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend"])
BLOCKING_RECEIVES = frozenset(["MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace"])
BLOCKING_COLLECTIVES = frozenset(
    "MPI_" + name
    for name in (
        *("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Bcast"),
        *("Exscan", "Gather", "Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block"),
        *("Scan", "Scatter", "Scatterv", "Neighbor_alltoall", "Neighbor_alltoallv"),
        *("Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoallw"),
    )
)


def base(operation: str) -> str:
    """The operation without the suffix of its large-count form."""
    return operation.removesuffix("_c")


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


def nothing_moved(run: Run) -> str:
    """What stands in the place of the transfer time of a run that has no transfers."""
    paused = " while measuring was on" if run.ranks["dropped"].any() else ""
    return f"No user data was transferred by MPI calls{paused}."


def weaknesses(run: Run, sums: Sums) -> list[str]:
    """What makes the numbers weaker than they look."""
    lines = endings(run)
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
    if SPAWNS & {base(run.operation(i)) for i in set(run.measures["operation"].tolist())}:
        lines.append("processes that the program started with MPI_Comm_spawn are not measured")
    lines += [warning for warning in run.job.warnings if warning not in lines]
    return lines


@dataclass(frozen=True)
class Reason:
    """Why transfer time is undetermined: how much of it, in s, and what makes it less."""

    why: str
    seconds: float
    remedy: str


def why_undetermined(run: Run, by_operation: list[Row]) -> list[Reason]:
    """The reasons why transfer time is undetermined, the largest first."""
    weights: defaultdict[str, float] = defaultdict(float)
    for row in by_operation:
        operation = base(row.operation or "")
        # X_hi - X_lo is undetermined whatever the source; the rest is what slack leaves open.
        spread = row.sums.transfer_max_s - row.sums.transfer_min_s
        weights[SPREAD] += spread
        rest = row.sums.undetermined_s - spread
        if rest <= 0 or not row.sums.transfers:
            continue
        if operation in BLOCKING_COLLECTIVES or _is_collective(operation):
            weights[COLLECTIVES] += rest
        elif row.sums.undetermined > row.sums.transfers / 2:
            weights[_unseen(operation)] += rest
        else:
            weights[BOTH] += rest
    remedies = _remedies(run)
    found = [Reason(why, value, remedies[why]) for why, value in weights.items() if value > 0]
    return sorted(found, key=lambda reason: reason.seconds, reverse=True)


SPREAD = "the spread of the calibrated times"
COLLECTIVES = "collectives, which the MPI calls alone do not show inside"
UNSEEN_SENDS = "sends, whose data may leave after they complete"
UNSEEN_RECEIVES = "receives, whose data may come before they are posted"
UNSEEN = "transfers whose begin or end the MPI calls do not show"
BOTH = "transfers that may have moved in MPI calls and between them"


def _remedies(run: Run) -> dict[str, str]:
    """What a user can do about each reason in this run."""
    machine = run.job.machine
    inside = any(source != "call" for source in run.job.events.values())
    see = "" if inside else "`--events ucx` sees them where this MPI sends over UCX"
    return {
        SPREAD: "what a transfer takes, not whether it was hidden; "
        + (
            "the machine profile given is this wide"
            if machine.origin == "given"
            else "`imbrex calibrate` on a quiet machine measures longer than the quick form"
        ),
        COLLECTIVES: see.replace("them", "their messages"),
        UNSEEN_SENDS: see,
        UNSEEN_RECEIVES: see,
        UNSEEN: see,
        BOTH: "`imbrex probe` tells whether this MPI moves data between calls"
        + ("" if inside else "; `--events ucx` sees when, where it sends over UCX"),
    }


def _unseen(operation: str) -> str:
    name = operation.removeprefix("MPI_").removeprefix("I").lower()
    if name.startswith(("recv", "mrecv")):
        return UNSEEN_RECEIVES
    return UNSEEN if name.startswith("sendrecv") or "send" not in name else UNSEEN_SENDS


def _is_collective(operation: str) -> bool:
    name = operation.removeprefix("MPI_I").removesuffix("_init")
    return "MPI_" + name[:1].upper() + name[1:] in BLOCKING_COLLECTIVES


def advice(run: Run, sums: Sums, sites: list[Row], compute_s: float) -> list[str]:
    """What to try next, the most promising first; at most three lines."""
    busy = compute_s + sums.call_s
    if busy <= 0:
        return []
    if not sums.transfers and run.ranks["dropped"].any():
        return ["the program pauses measuring (MPI_Pcontrol) wherever it moves data: take that out"]
    if sums.call_s < WORTH * busy:
        return [
            f"MPI takes {wording.share(sums.call_s, busy)} of the ranks' time: "
            "there is little to gain from overlap"
        ]
    lines: list[tuple[float, str]] = []
    if run.job.machine.origin == "none":
        lines.append(
            (busy, "calibrate first (`imbrex calibrate`), then run again with --machine FILE")
        )
    if sums.wait_min_s > max(sums.exposed_max_s, WORTH * busy):
        worst = max(sites, key=lambda row: row.sums.wait_min_s)
        lines.append(
            (
                sums.wait_min_s,
                f"waiting outweighs transfers: at least {wording.seconds(sums.wait_min_s)} of call "
                f"time has nothing in flight, most at {worst.key} ({worst.operation}). Look for "
                "late partners and imbalance first (`imbrex show DIR --by rank`)",
            )
        )
    for row in sites[:5]:
        text = _advice_for_site(row)
        if text and row.sums.exposed_max_s > WORTH * busy:
            lines.append((row.sums.exposed_min_s or row.sums.exposed_max_s / 2, text))
    if sums.undetermined_s > 0.5 * sums.transfer_max_s > WORTH * busy:
        lines.append(
            (
                sums.undetermined_s / 2,
                "more than half of the transfer time is undetermined: `imbrex probe` measures what "
                "this MPI does between the calls, and its profile narrows the bounds",
            )
        )
    lines.sort(key=lambda line: line[0], reverse=True)
    return [text for _, text in lines[:3]] or _nothing_stands_out(sums, busy)


def _nothing_stands_out(sums: Sums, busy: float) -> list[str]:
    if sums.uncalibrated:
        return []
    if sums.exposed_max_s < WORTH * busy:
        return [
            f"at most {wording.seconds(sums.exposed_max_s)} "
            f"({wording.share(sums.exposed_max_s, busy)} of the ranks' time) is exposed transfer: "
            "overlap can gain little, the rest of the call time is waiting"
        ]
    return ["no call site stands out: `imbrex show DIR --by site` lists them all"]


def _advice_for_site(row: Row) -> str:
    operation = base(row.operation or "")
    if operation in BLOCKING_SENDS or operation in BLOCKING_RECEIVES:
        return (
            f"{row.key}: {operation} blocks while its message moves; start it with "
            "a nonblocking call and wait after work that does not need the data "
            "(`imbrex transform --explain`)"
        )
    if operation in BLOCKING_COLLECTIVES:
        name = operation.removeprefix("MPI_")
        return (
            f"{row.key}: try MPI_I{name[0].lower()}{name[1:]} with independent work before its "
            "wait; `imbrex probe` says whether this library progresses it"
        )
    if operation.startswith(("MPI_I", "MPI_Start", "MPI_R")) and row.sums.exposed_min_s > 0:
        return (
            f"{row.key}: {operation} is nonblocking and still exposed: move its wait behind more "
            "work, or let MPI progress meanwhile (MPI_Test calls, a progress thread)"
        )
    return ""
