"""Which candidates deserve more pairs: what is hopeless, and what can still become the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from imbrex.tune.candidate import Tried, proven
from imbrex.tune.combination import go_together

DOUBT = 2.0
"""So many standard errors above its estimate a gain may still be: one in forty is higher."""
LEAST_SEEN = 2
"""After so many pairs a candidate may be dropped."""
_LEAST_FREEDOM = 2
"""Degrees of freedom from which on the noise of pairs is known."""


def noise_of(tried: Sequence[Tried]) -> float:
    """How much the ratio of a pair varies on this machine: the standard deviation within all
    trials; 0 where there are too few pairs to tell."""
    squares, freedom = 0.0, 0
    for found in tried:
        if found.pairs >= 2:
            squares += (found.pairs - 1) * found.deviation**2
            freedom += found.pairs - 1
    return math.sqrt(squares / freedom) if freedom >= _LEAST_FREEDOM else 0.0


def at_best(found: Tried, noise: float) -> float:
    """The share of the time that a candidate may well save, as far as its pairs tell."""
    spread = max(found.deviation, noise)
    if found.pairs < LEAST_SEEN or not noise:
        return found.candidate.most
    error = spread / math.sqrt(found.pairs)
    return 1 - (1 - found.estimate) * math.exp(-DOUBT * error)


def can_become_the_answer(found: Tried, best: Tried | None, noise: float, worth: float) -> bool:
    """Whether it may save more than what is proven, by `worth`, or help beside the best of it."""
    hoped = at_best(found, noise)
    if best is None:
        return hoped >= worth
    least = best.certain_gain + worth
    if hoped >= least:
        return True
    room = max(found.candidate.most, best.candidate.most) >= least
    return found.looks_faster and room and go_together(best.candidate, found.candidate)


def left_out(tried: Sequence[Tried], worth: float) -> list[Tried]:
    """The same, with those finished that more pairs, or the first, would not make the answer."""
    noise = noise_of(tried)
    best = next(iter(proven(tried)), None)
    return [
        found
        if found.finished or found.recommended or can_become_the_answer(found, best, noise, worth)
        else replace(found, finished=True)
        for found in tried
    ]


def next_to_narrow(tried: Sequence[Tried], worth: float) -> Tried | None:
    """Of what is proven: what may still overtake the best, else the best itself; None where neither
    needs more pairs."""
    found = proven(tried)
    if not found:
        return None
    # A combination says its gain beside that of the best alone.
    best = found[: 2 if found[0].candidate.kind == "combination" else 1]
    noise = noise_of(tried)
    rivals = [
        rival
        for rival in found[len(best) :]
        if not rival.finished and at_best(rival, noise) >= best[-1].certain_gain + worth
    ]
    if rivals:
        return max(rivals, key=lambda t: t.estimate)
    return next((t for t in best if not t.finished), None)
