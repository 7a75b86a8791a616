"""A trial: runs of two lines in turns, until their times are told apart or no pair is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from imbrex.tune.statistics import (
    CONFIDENCE,
    WORTH,
    Answer,
    Ratio,
    deviation_of,
    pairs_needed,
    ratio,
)
from imbrex.tune.timed_run import Line, TimedRun

LEAST_DISTURBED = 3
"""So many disturbed pairs are repeated at least before disturbed ones count too."""

Run = Callable[[Line], TimedRun]


@dataclass(frozen=True)
class Plan:
    """`most` pairs at most; the first `warm` runs of each line do not count; differences of less
    than `worth`, a share of the time, do not matter."""

    most: int
    warm: int = 1
    worth: float = WORTH
    confidence: float = CONFIDENCE
    repeated: int | None = None
    """Disturbed pairs that are repeated; None: half as many as `most`."""

    @property
    def most_repeated(self) -> int:
        """How many disturbed pairs are repeated; the statistics bear those after them too."""
        return max(LEAST_DISTURBED, self.most // 2) if self.repeated is None else self.repeated


@dataclass(frozen=True)
class Pair:
    """A run of each line, one after the other; `counted`: it is among those that decide."""

    a: TimedRun
    b: TimedRun
    a_first: bool
    counted: bool

    @property
    def log_ratio(self) -> float:
        """ln(B/A)."""
        return math.log(self.b.seconds / self.a.seconds)

    @property
    def disturbed(self) -> str | None:
        """What disturbed one of the two."""
        return self.a.disturbed or self.b.disturbed


@dataclass(frozen=True)
class Trial:
    """What the pairs say of line B beside line A."""

    a: Line
    b: Line
    plan: Plan
    pairs: tuple[Pair, ...]

    @property
    def counted(self) -> tuple[Pair, ...]:
        """The pairs that decide."""
        return tuple(pair for pair in self.pairs if pair.counted)

    @property
    def log_ratios(self) -> tuple[float, ...]:
        """ln(B/A) of each counted pair."""
        return tuple(pair.log_ratio for pair in self.counted)

    @property
    def ratio(self) -> Ratio:
        """The time of B over that of A, with an interval."""
        return ratio(self.log_ratios, self.plan.confidence)

    @property
    def answer(self) -> Answer:
        """What is certain."""
        return self.ratio.answer(self.plan.worth)

    @property
    def medians_s(self) -> tuple[float, float]:
        """The median time of each line over the counted pairs."""
        return (
            median(pair.a.seconds for pair in self.counted),
            median(pair.b.seconds for pair in self.counted),
        )

    @property
    def disturbances(self) -> tuple[str, ...]:
        """What disturbed pairs, each in words."""
        return tuple(pair.disturbed for pair in self.pairs if pair.disturbed is not None)

    @property
    def needed(self) -> int | None:
        """How many pairs tell `worth` apart with the noise of these; None: no reasonable number."""
        return pairs_needed(deviation_of(self.log_ratios), self.plan.worth, 1000)

    def to_json(self) -> dict[str, object]:
        """The object of `imbrex compare --repeat --json`."""
        found = self.ratio
        known = math.isfinite(found.high)
        medians = self.medians_s if self.counted else (None, None)
        return {
            "schema_version": 1,
            "answer": self.answer.value,
            "confidence": self.plan.confidence,
            "worth": self.plan.worth,
            "ratio": found.estimate if self.counted else None,
            "ratio_interval": [found.low, found.high] if known else None,
            "gain": list(found.gain) if known else None,
            "lines": [
                {"name": line.name, "command": list(line.words), "median_s": middle}
                for line, middle in zip((self.a, self.b), medians, strict=True)
            ],
            "pairs": [
                {
                    "a_s": pair.a.seconds,
                    "b_s": pair.b.seconds,
                    "a_first": pair.a_first,
                    "counted": pair.counted,
                    "disturbed": pair.disturbed,
                }
                for pair in self.pairs
            ],
        }


def run_trial(
    a: Line,
    b: Line,
    plan: Plan,
    run: Run,
    tell: Callable[[Sequence[Pair]], None] = lambda pairs: None,
    before: Sequence[Pair] = (),
    goes_on: Callable[[Trial], bool] = lambda trial: True,
) -> Trial:
    """Run pairs of the two lines, A first in every second, until `enough` or `plan.most`.

    `tell` hears all pairs after each; `before` are those that were run earlier, and `goes_on` says
    whether there is reason and time for one more. ImbrexError where a run fails.
    """
    pairs: list[Pair] = list(before)
    repeated = sum(not pair.counted for pair in pairs)
    warm = plan.warm if goes_on(Trial(a, b, plan, tuple(pairs))) else 0
    for _ in range(warm):
        run(a)
        run(b)
    while True:
        trial = Trial(a, b, plan, tuple(pairs))
        done = len(trial.counted)
        if done >= plan.most or (done and trial.ratio.enough(plan.worth)) or not goes_on(trial):
            return trial
        a_first = len(pairs) % 2 == 0
        first, second = (a, b) if a_first else (b, a)
        one, other = run(first), run(second)
        times = (one, other) if a_first else (other, one)
        quiet = times[0].disturbed is None and times[1].disturbed is None
        counted = quiet or repeated >= plan.most_repeated
        repeated += not counted
        pairs.append(Pair(*times, a_first, counted))
        tell(pairs)
