"""Head and tail from trials whose truth is constructed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.network.columns import Trial
from imbrex.network.head_tail import head_ns, returns_before_match, tail_ns


def trial(kind: str, sent: float, posted: float, received: float, *pause: float) -> Trial:
    begin, end = pause or (0.0, 0.0)
    return Trial("intra-node", (0, 1), 1024, kind, 0.0, sent, posted, received, begin, end)


def test_synchronous_send_leaves_nothing_behind() -> None:
    trials = [
        trial("ready", 1010, -5, 1000),
        trial("interrupted", 4010, -5, 4000, 100, 3100),
        trial("late", 4010, 3000, 4000),
        trial("polling", 4010, 3000, 4000),
    ]
    assert tail_ns(trials, 1100) == 0
    assert head_ns(trials, 1100, 0) == pytest.approx(0)
    assert returns_before_match(trials) is False


def test_send_that_returns_at_once() -> None:
    """Returns at 100, the network needs until 1000: 900 follow, and a late drain of 50 on top."""
    trials = [
        trial("ready", 100, -5, 1000),
        trial("late", 100, 3000, 3050),
        trial("polling", 100, 3000, 3050),
    ]
    assert tail_ns(trials, 1100) == 900 + 50
    assert head_ns(trials, 1100, 0) == 1100
    assert returns_before_match(trials) is True


def test_tail_of_what_buffers_hold_while_the_receiver_is_away() -> None:
    """Ready: 10 after the return. Interrupted: returned in the pause, 400 drained after it."""
    trials = [
        trial("ready", 990, -5, 1000),
        trial("interrupted", 1500, -5, 3500, 100, 3100),
    ]
    assert tail_ns(trials, 1100) == 10 + 400


def test_head_of_a_first_fragment() -> None:
    """A quarter came early: a late receive takes three quarters of a ready one."""
    trials = [
        trial("ready", 1000, -5, 1000),
        trial("late", 3750, 3000, 3750),
        trial("polling", 3800, 3000, 3800),
    ]
    assert head_ns(trials, 2000, 0) == pytest.approx(500)
    assert head_ns(trials, 2000, 700) == 700
    assert head_ns(trials, 600, 700) == 600


def test_quietest_round_counts() -> None:
    """A busy machine stretched what was ready in one round, and what was late in the other."""
    quiet = [
        trial("ready", 1000, -5, 1000),
        trial("interrupted", 4000, -5, 4000, 100, 3100),
        trial("late", 4000, 3000, 4000),
    ]
    disturbed = [
        trial("ready", 5000, -5, 9000),
        trial("interrupted", 4000, -5, 9000, 100, 3100),
        trial("late", 9000, 3000, 9000),
    ]
    first = [quiet[0], disturbed[1], disturbed[2]]
    second = [replace(t, round=1) for t in (disturbed[0], quiet[1], quiet[2])]
    assert tail_ns([*first, *second], 1100) == 0
    assert head_ns([*first, *second], 1100, 0) == 0
    # Of one round nothing is chosen.
    assert tail_ns([*first, *disturbed], 1100) == 1100


def test_nothing_tried_is_unknown() -> None:
    assert tail_ns([], 100) is None
    assert head_ns([], 100, 0) is None
    assert returns_before_match([]) is None


moments = st.floats(0, 1e6)


@given(
    st.lists(
        st.builds(
            trial,
            st.sampled_from(["ready", "late", "polling", "interrupted"]),
            moments,
            moments,
            moments,
            moments,
            moments,
        ),
        max_size=20,
    ),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
)
def test_never_more_than_the_transfer(trials: list[Trial], x_hi: float, fragment: float) -> None:
    for slack in (tail_ns(trials, x_hi), head_ns(trials, x_hi, fragment)):
        assert slack is None or 0 <= slack <= x_hi
