"""Each network of a sweep stops where it has settled, whatever the others do."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.replay.convergence import Convergence

SETTLES = [1.0, 1.1, 1.1001, 1.2, 1.3]  # and stays, although others go on
SWINGS = [1.0, 2.0, 1.0, 2.0, 1.0]  # one behind the other
HOVERS = [1.0, 1.4, 1.401, 1.402, 1.404]  # about 1.4
COMES_CLOSER = [1.0, 1.5, 1.45, 1.43, 1.415]  # by a per cent each time


@pytest.mark.parametrize(
    ("times", "expected"),
    [(SETTLES, 1.1001), (SWINGS, 1.0), (HOVERS, 1.404), (COMES_CLOSER, 1.415)],
    ids=["settles", "swings", "hovers", "comes closer"],
)
def test_alone(times: list[float], expected: float) -> None:
    convergence = Convergence(np.array(times[:1]))
    for time in times[1:]:
        if convergence.take(np.array([time])):
            break
    assert convergence.found.tolist() == [expected]


def test_together_as_alone() -> None:
    passes = np.array([SETTLES, SWINGS, HOVERS]).T
    convergence = Convergence(passes[0])
    assert not any(convergence.take(times) for times in passes[1:])
    assert convergence.found.tolist() == [1.1001, 1.0, 1.404]


def test_no_time_at_all_is_settled() -> None:
    convergence = Convergence(np.zeros(2))
    assert convergence.take(np.zeros(2))
    assert convergence.found.tolist() == [0.0, 0.0]
