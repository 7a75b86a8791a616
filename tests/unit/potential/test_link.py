"""Messages on one link, by hand and against a simulation in small steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.potential.link import durations


def one(starts: list[float], work: list[float]) -> list[float]:
    return durations(np.array([starts]).T, np.array([work]).T)[:, 0].tolist()


def test_alone_a_message_takes_its_time() -> None:
    assert one([0, 10, 30], [10, 5, 1]) == [10, 5, 1]


def test_two_at_once_take_twice_as_long() -> None:
    assert one([0, 0], [10, 10]) == [20, 20]
    # The short one is gone after 2 * 4; the other has 6 left and the link to itself.
    assert one([0, 0], [10, 4]) == [14, 8]
    # After 5 alone, 5 are left of each: both at 5 + 10.
    assert one([0, 5], [10, 5]) == [15, 10]


def test_order_does_not_matter() -> None:
    assert one([5, 0], [5, 10]) == [10, 15]


def test_each_network_is_its_own() -> None:
    starts = np.array([[0.0, 0.0], [5.0, 50.0]])
    work = np.array([[10.0, 10.0], [5.0, 5.0]])
    assert durations(starts, work).tolist() == [[15, 10], [10, 5]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), min_size=1, max_size=8))
def test_the_link_is_never_idle_and_never_more_than_full(messages: list[tuple[int, int]]) -> None:
    starts = [float(s) for s, _ in messages]
    work = [float(w) for _, w in messages]
    ends = np.array(starts) + one(starts, work)
    # Work is conserved: the last is gone when a queue would be empty, whoever comes first.
    free = 0.0
    for start, length in sorted(zip(starts, work, strict=True)):
        free = max(free, start) + length
    assert ends.max() == pytest.approx(free)
    assert (ends - np.array(starts) >= np.array(work) - 1e-9).all()
