"""Messages of which both sides are known: a message takes as long for either."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.diagnosis.both_sides import share_of_both
from imbrex.diagnosis.hidden import hidden_of
from imbrex.profile.run import Run
from imbrex.profile.summary import Sums

US = 1000
SEND, RECV, ALLREDUCE, FENCE = 0, 1, 5, 10


def sums_of(moved: list[tuple[float, float]], random: Random) -> Sums:
    """Bounds that contain (hidden, exposed) of each transfer."""
    found = Sums()
    for hidden, exposed in moved:
        most = (hidden + exposed) * random.uniform(1, 2)
        found += Sums(
            transfers=1,
            transfer_max_s=most,
            overlap_min_s=hidden * random.choice((0, random.random(), 1)),
            overlap_max_s=min(most, hidden * random.uniform(1, 3) + random.choice((0, most))),
            exposed_min_s=exposed * random.choice((0, random.random(), 1)),
            exposed_max_s=min(most, exposed * random.uniform(1, 3) + random.choice((0, most))),
        )
    return found


def true_and_told(random: Random, *, same_time: bool) -> tuple[float, tuple[float, float] | None]:
    """The hidden share of some messages and collectives, and what is told of it."""
    times = [random.uniform(0.1, 5) for _ in range(random.randint(1, 5))]
    other = times if same_time else [t * random.uniform(0.1, 10) for t in times]
    sides = []
    for of_side in (times, other):
        shares = [random.choice((0.0, random.random(), 1.0)) for _ in of_side]
        sides.append([(s * t, (1 - s) * t) for s, t in zip(shares, of_side, strict=True)])
    rest = [(random.uniform(0, 2), random.uniform(0, 2)) for _ in range(random.randint(0, 3))]
    everything = [*sides[0], *sides[1], *rest]
    hidden = sum(h for h, _ in everything)
    told = share_of_both(*(sums_of(moved, random) for moved in (*sides, rest)))
    return hidden / sum(h + e for h, e in everything), told


@given(st.integers(0, 10**9))
def test_the_true_share_is_within(seed: int) -> None:
    true, told = true_and_told(Random(seed), same_time=True)
    assert told is not None
    assert told[0] - 1e-9 <= true <= told[1] + 1e-9


def test_it_is_not_where_the_sides_take_different_times() -> None:
    """The test above is able to fail."""
    outside = 0
    for seed in range(2000):
        true, told = true_and_told(Random(seed), same_time=False)
        outside += told is not None and not told[0] - 1e-9 <= true <= told[1] + 1e-9
    assert outside


def row(operation: int, hidden: tuple[int, int], **more: int) -> dict[str, int]:
    """Ten matched messages of 100 to 200 us in all, hidden from so many to so many us."""
    least, most = hidden
    found = {"rank": 0, "site": operation, "operation": operation, "size_class": 20, "path": 2}
    found |= {"transfers": 10, "matched": 10}
    found |= {"transfer_min_ns": 100 * US, "transfer_max_ns": 200 * US}
    for kind in ("call", "matched"):
        found |= {f"{kind}_overlap_max_ns": 200 * US, f"{kind}_exposed_max_ns": 200 * US}
    found |= {"expected_overlap_min_ns": least * US, "expected_overlap_max_ns": most * US}
    found["expected_exposed_max_ns"] = (200 - least) * US
    found["expected_exposed_min_ns"] = max(0, 100 - most) * US
    return found | more


ALL, NONE = (100, 200), (0, 0)


@pytest.mark.parametrize(
    ("more", "share"),
    [
        ([], (0.25, 0.5)),
        ([row(ALLREDUCE, ALL)], (1 / 3, 0.75)),
        ([row(FENCE, NONE)], (1 / 6, 0.5)),
        ([row(4, NONE, matched=9)], (1 / 6, 0.5)),
    ],
    ids=["both sides", "beside a collective", "beside something else", "more sends"],
)
def test_where_both_sides_are_there_the_mean_of_their_shares_is_told(
    make_caused: Callable[..., Run], more: list[dict[str, int]], share: tuple[float, float]
) -> None:
    """Half of the time of the sends is hidden or all of it, of the receives nothing."""
    run = make_caused([], evidence=[row(SEND, ALL), row(RECV, NONE), *more])
    assert hidden_of(run, ())[()].by["expected"] == pytest.approx(share)
    assert hidden_of(run, ())[()].by["call"] == (0.0, 1.0)
