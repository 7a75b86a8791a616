"""What a trial says, in words."""

from __future__ import annotations

import math
from collections import Counter

from imbrex.diagnosis import wording
from imbrex.tune.statistics import LEAST_PAIRS, Answer, deviation_of
from imbrex.tune.trial import Trial


def sentence(trial: Trial) -> str:
    """The answer: how much faster or slower B is, for certain, or that it cannot be told."""
    found, worth = trial.ratio, wording.percent(trial.plan.worth)
    count = _pairs(found.pairs)
    if math.isinf(found.high):
        return f"Too few pairs to say anything: {count}, and {LEAST_PAIRS} are the least."
    low, high = found.gain
    answer = trial.answer
    if answer is Answer.FASTER:
        best = _percent(1 - found.estimate)
        text = f"B is {best} faster ({_share(low)} to {_percent(high)}, {count})"
    elif answer is Answer.SLOWER:
        best = _percent(found.estimate - 1)
        text = f"B is {best} slower ({_share(-high)} to {_percent(-low)}, {count})"
    elif answer is Answer.SAME:
        return f"No difference: less than {worth} either way ({count}).{_times(trial)}"
    else:
        text = f"Too noisy to say: B is between {_signed(high)} and {_signed(low)} ({count})"
    return f"{text}.{_times(trial)}"


def remarks(trial: Trial) -> list[str]:
    """What weakens the answer, and what would help."""
    lines = []
    if trial.answer is Answer.OPEN and len(trial.counted) >= LEAST_PAIRS:
        spread = wording.percent(deviation_of(trial.log_ratios))
        text = f"The ratio of a pair varies by {spread} (standard deviation)"
        needed = trial.needed
        if needed is not None:
            text += (
                f": about {needed} pairs would tell {wording.percent(trial.plan.worth)} apart "
                f"(--repeat {needed})"
            )
        else:
            text += (
                f": no reasonable number of pairs would tell {wording.percent(trial.plan.worth)} "
                "apart; ask for a larger difference (--worth PERCENT), or use a quieter machine"
            )
        lines.append(text + ".")
    left_out = [pair for pair in trial.pairs if not pair.counted]
    kept = [pair for pair in trial.counted if pair.disturbed is not None]
    if left_out:
        lines.append(f"{_pairs(len(left_out))} disturbed and repeated: {_why(trial)}.")
    if kept:
        lines.append(
            f"{_pairs(len(kept))} disturbed too, and counted: it did not become quiet"
            f"{'' if left_out else f' ({_why(trial)})'}."
        )
    return lines


def _why(trial: Trial) -> str:
    """The most frequent disturbance."""
    return Counter(trial.disturbances).most_common(1)[0][0]


def _pairs(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'}"


def _times(trial: Trial) -> str:
    a, b = (wording.seconds(t) for t in trial.medians_s)
    share = f"{100 * trial.plan.confidence:.0f} %"
    return f" Medians: A {a}, B {b}; intervals hold with {share} confidence."


def _percent(value: float) -> str:
    return f"{_share(value)} %"


def _share(value: float) -> str:
    """A share of 1 in percent, to a tenth, which is what a proven gain is known to."""
    return f"{100 * max(value, 0.0):.1f}"


def _signed(gain: float) -> str:
    return f"{_percent(abs(gain))} {'faster' if gain > 0 else 'slower'}"
