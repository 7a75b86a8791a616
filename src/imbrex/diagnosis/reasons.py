"""Why transfer time is undetermined, and what makes less of it so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from imbrex import mpi_facts
from imbrex.diagnosis.knowledge import Knowledge
from imbrex.profile.summary import Row

SPREAD = "the spread of the calibrated times"
COLLECTIVES = "collectives, which the MPI calls alone do not show inside"
UNSEEN_SENDS = "sends, whose data may leave after they complete"
UNSEEN_RECEIVES = "receives, whose data may come before they are posted"
UNSEEN = "transfers whose begin or end the MPI calls do not show"
BOTH = "transfers that may have moved in MPI calls and between them"


@dataclass(frozen=True)
class Reason:
    """Why transfer time is undetermined: how much of it, in s, and what makes it less."""

    why: str
    seconds: float
    remedy: str


def why_undetermined(knowledge: Knowledge, by_operation: list[Row]) -> list[Reason]:
    """The reasons why transfer time is undetermined, the largest first."""
    weights: defaultdict[str, float] = defaultdict(float)
    for row in by_operation:
        operation = row.operation or ""
        # X_hi - X_lo is undetermined whatever the source; the rest is what slack leaves open.
        spread = row.sums.transfer_max_s - row.sums.transfer_min_s
        weights[SPREAD] += spread
        rest = row.sums.undetermined_s - spread
        if rest <= 0 or not row.sums.transfers:
            continue
        if mpi_facts.is_collective(operation):
            weights[COLLECTIVES] += rest
        elif row.sums.undetermined > row.sums.transfers / 2:
            weights[_unseen(operation)] += rest
        else:
            weights[BOTH] += rest
    remedies = _remedies(knowledge)
    found = [Reason(why, value, remedies[why]) for why, value in weights.items() if value > 0]
    return sorted(found, key=lambda reason: reason.seconds, reverse=True)


def _remedies(knowledge: Knowledge) -> dict[str, str]:
    """What a user can do about each reason; nothing that has been done, or is known not to work."""
    see = when = ""
    if not knowledge.inside and not knowledge.inside_refused:
        see = "`--events ucx` sees them where this MPI sends over UCX"
        when = "; `--events ucx` sees when, where it sends over UCX"
    spread, between = "", f"the probe knows whether this MPI moves data between calls{when}"
    if not knowledge.thorough:
        spread = "; `imbrex calibrate` on a quiet machine measures longer than the quick form"
        between = f"`imbrex probe` tells whether this MPI moves data between calls{when}"
    return {
        SPREAD: f"what a transfer takes, not whether it was hidden{spread}",
        COLLECTIVES: see.replace("them", "their messages"),
        UNSEEN_SENDS: see,
        UNSEEN_RECEIVES: see,
        UNSEEN: see,
        BOTH: between,
    }


def _unseen(operation: str) -> str:
    name = operation.removeprefix("MPI_").removeprefix("I").lower()
    if name.startswith(("recv", "mrecv")):
        return UNSEEN_RECEIVES
    return UNSEEN if name.startswith("sendrecv") or "send" not in name else UNSEEN_SENDS
