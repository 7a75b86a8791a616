"""Synchronization overlap: does a message complete although one side computes?

White and Bova, "Where's the Overlap?", section II. There, seconds of delay make the transfer's
own time vanish; here the delays are milliseconds, so that it is taken off before judging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network.exchanges import Exchange

CLEAR = 0.25
"""A median within this of 0 or 1 is a verdict."""
ENOUGH_CONFIDENCE = 0.75


@dataclass(frozen=True)
class Synchronization:
    """Verdict for one size; `overlaps` None: cannot tell."""

    overlaps: bool | None
    score: float | None
    confidence: float
    trials: int


def score(x: Exchange, transfer_ns: float) -> float | None:
    """0: the blocking side was done a transfer after both had called; 1: after the other's wait.

    "-early" trials: the blocking side comes before the computing one has called at all.

    None where noise turned the order round, so that the trial says nothing.
    """
    computing, blocking = (
        (x.sender, x.receiver) if x.label.startswith("isend") else (x.receiver, x.sender)
    )
    early = x.label.endswith("-early")
    begin = max(blocking.enter_ns, computing.enter_ns) if early else blocking.enter_ns
    window = computing.wait_ns - begin
    if window < 4 * transfer_ns / 3 or early != (computing.started_ns > blocking.enter_ns):
        return None
    return (blocking.done_ns - begin - transfer_ns) / window


def judge(trials: Sequence[Exchange], transfer_ns: float) -> Synchronization:
    """The verdict over the trials of one size.

    The confidence is the posterior mean of the share of trials on the verdict's side, from a
    uniform prior (Laplace's rule): five of five give 0.86.
    """
    scores = [s for s in (score(x, transfer_ns) for x in trials) if s is not None]
    if not scores:
        return Synchronization(None, None, 0.0, 0)
    median = float(np.median(np.asarray(scores)))
    overlaps = median < 0.5
    same_side = sum((s < 0.5) == overlaps for s in scores)
    confidence = (same_side + 1) / (len(scores) + 2)
    clear = median < CLEAR or median > 1 - CLEAR
    verdict = overlaps if clear and confidence >= ENOUGH_CONFIDENCE else None
    return Synchronization(verdict, median, confidence, len(scores))


def judge_early(early: Sequence[bool]) -> Synchronization:
    """The verdict from trials in which the other side was done before the computing one was."""
    if not early:
        return Synchronization(None, None, 0.0, 0)
    late = sum(not e for e in early) / len(early)
    confidence = (max(late, 1 - late) * len(early) + 1) / (len(early) + 2)
    clear = (late < CLEAR or late > 1 - CLEAR) and confidence >= ENOUGH_CONFIDENCE
    return Synchronization(late < 0.5 if clear else None, late, confidence, len(early))
