"""A program beside itself on a machine such as people have: hardly ever is anything recommended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imbrex.tune.statistics import LEAST_PAIRS, Answer, ratio

TRIALS, MOST = 10_000, 12


def runs_of_a_machine(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """The logarithms of n run times, one behind the other: own noise, what one run suffers and the
    next one mostly too, a machine that becomes slower or faster, another job that comes and goes,
    and now and then a run that waits for something."""
    own = rng.normal(0, rng.uniform(0.002, 0.03), n)
    memory = rng.normal(0, 0.01, n)
    for i in range(1, n):
        memory[i] += 0.9 * memory[i - 1]
    slope = rng.normal(0, 0.003) * np.arange(n)
    begins, lasts = rng.integers(0, 2 * n), rng.integers(2, 9)
    other = np.where((np.arange(n) >= begins) & (np.arange(n) < begins + lasts), 0.2, 0.0)
    spikes = (rng.random(n) < 0.05) * rng.exponential(0.2, n)
    return np.asarray(own + memory + slope + other + spikes)


def trial(rng: np.random.Generator) -> list[float]:
    """ln(B/A) of each pair, in turns."""
    times = runs_of_a_machine(rng, 2 * MOST)
    signs = np.where(np.arange(MOST) % 2 == 0, 1.0, -1.0)
    return [float(value) for value in (times[1::2] - times[::2]) * signs]


def test_of_ten_thousand_trials_at_most_two_in_a_hundred_are_wrong() -> None:
    """Looked at after each pair, and stopped at whichever says something."""
    rng = np.random.default_rng(21)
    wrong = {Answer.FASTER: 0, Answer.SLOWER: 0}
    for _ in range(TRIALS):
        pairs = trial(rng)
        answers = {ratio(pairs[:k]).answer() for k in range(LEAST_PAIRS, MOST + 1)}
        for answer in wrong:
            wrong[answer] += answer in answers
    assert max(wrong.values()) <= 0.02 * TRIALS, wrong
