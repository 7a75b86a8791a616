"""Messages on one link, by hand and against a simulation in small steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.replay.link import on_link


def one(starts: list[float], work: list[float], peers: list[int] | None = None) -> list[float]:
    """How long each is under way; to peers of their own, unless `peers` says otherwise."""
    to = np.array(range(len(starts)) if peers is None else peers)
    return on_link(np.array([starts]).T, np.array([work]).T, to).ends[:, 0].tolist()


def test_alone_a_message_takes_its_time() -> None:
    assert one([0, 10, 30], [10, 5, 1]) == [10, 5, 1]


def test_two_at_once_take_twice_as_long() -> None:
    assert one([0, 0], [10, 10]) == [20, 20]
    # The short one is gone after 2 * 4; the other has 6 left and the link to itself.
    assert one([0, 0], [10, 4]) == [14, 8]
    # After 5 alone, 5 are left of each: both at 5 + 10.
    assert one([0, 5], [10, 5]) == [15, 10]


def test_those_to_one_peer_follow_each_other() -> None:
    assert one([0, 0, 5], [10, 4, 1], [7, 7, 7]) == [10, 14, 10]
    # The third goes elsewhere: until 12 it has half the link, until 10 beside the first, then
    # beside the second, which has 4 of its 5 left at 12.
    assert one([0, 0, 0], [5, 5, 6], [7, 7, 3]) == [10, 16, 12]
    # One network with both side by side, one with both apart.
    starts = np.array([[0.0, 0.0], [5.0, 50.0], [5.0, 50.0]])
    work = np.full((3, 2), 10.0)
    found = on_link(starts, work, np.array([1, 1, 1]))
    assert found.ends.tolist() == [[10, 10], [15, 10], [25, 20]]
    assert found.begins.tolist() == [[0, 0], [5, 0], [15, 10]]


def test_the_first_byte_leaves_when_its_turn_comes() -> None:
    starts, work = np.array([[0.0], [2.0], [2.0]]), np.array([[6.0], [3.0], [2.0]])
    found = on_link(starts, work, np.array([4, 4, 9]))
    assert found.begins[:, 0].tolist() == [0, 6, 0]
    # Until 6 the first and the third share; the first has 2 left then.
    assert found.ends[:, 0].tolist() == [8, 9, 4]


def test_beyond_sixteen_peers_what_has_least_to_go_counts_as_gone() -> None:
    ends = one([0.0] * 17, [100.0] * 16 + [1.0])
    assert min(ends) == 0 and max(ends) <= 17 * 100


def test_order_does_not_matter() -> None:
    assert one([5, 0], [5, 10]) == [10, 15]


def test_each_network_is_its_own() -> None:
    starts = np.array([[0.0, 0.0], [5.0, 50.0]])
    work = np.array([[10.0, 10.0], [5.0, 5.0]])
    assert on_link(starts, work, np.array([0, 1])).ends.tolist() == [[15, 10], [10, 5]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(1, 20), st.integers(0, 3)),
        min_size=1,
        max_size=8,
    )
)
def test_the_link_is_never_idle_and_never_more_than_full(
    messages: list[tuple[int, int, int]],
) -> None:
    starts = [float(s) for s, _, _ in messages]
    work = [float(w) for _, w, _ in messages]
    peers = [p for _, _, p in messages]
    ends = np.array(starts) + one(starts, work, peers)
    # Work is conserved: the last is gone when a queue would be empty, whoever comes first.
    free = 0.0
    for start, length in sorted(zip(starts, work, strict=True)):
        free = max(free, start) + length
    assert ends.max() == pytest.approx(free)
    assert (ends - np.array(starts) >= np.array(work) - 1e-9).all()
    for peer in set(peers):
        own = sorted((s, k) for k, s in enumerate(starts) if peers[k] == peer)
        assert np.all(
            np.diff([ends[k] for _, k in own]) >= np.array(work)[[k for _, k in own[1:]]] - 1e-9
        )
