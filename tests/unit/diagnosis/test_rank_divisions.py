"""Ranks in arrays say what the division of each rank says by itself."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.diagnosis.division import added, divide, tightened
from imbrex.diagnosis.interval import total
from imbrex.diagnosis.rank_divisions import divide_all, divide_ranks
from imbrex.profile.causes import CAUSES, GAINS

SPANS = ("gainable", "lost_overlap", "undriven")


def random_run(make_caused, seed):
    """Five ranks: rank 1 has no causes, of rank 2 they lack time, rank 3 made no calls at all.

    Intervals are as wide and as contradictory as they come, ends in the wrong order included.
    """
    random = np.random.default_rng(seed)
    causes, calls = [], []
    for rank in (0, 1, 2, 4):
        for site in (1, 2, 3):
            row = {"rank": rank, "site": site, "operation": 3, "count": 4, "logged": 3}
            row["call_ns"] = int(random.integers(0, 2 * 10**8)) * int(random.integers(0, 3) > 0)
            wait = {"wait_min_ns": int(random.integers(0, row["call_ns"] + 10))}
            calls.append(row | wait)
            if rank == 1:
                continue
            told = row["call_ns"] // (2 if rank == 2 and site == 2 else 1)
            ends = {
                f"{name}_{end}_ns": int(random.integers(0, told // 3 + 1))
                for name in (*CAUSES, *GAINS)
                for end in ("min", "max")
            }
            causes.append({**row, "call_ns": told, **ends})
    compute_ms = tuple(random.uniform(0, 40, 5).tolist())
    return make_caused(causes, calls=calls, compute_ms=compute_ms)


def check(found, expected):
    assert found.call_s == pytest.approx(expected.call_s)
    assert (found.calls, found.logged) == (expected.calls, expected.logged)
    for name in CAUSES:
        assert found.cause(name).to_json() == pytest.approx(expected.cause(name).to_json())
    for name in SPANS:
        assert getattr(found, name).to_json() == pytest.approx(getattr(expected, name).to_json())


@pytest.mark.parametrize("seed", range(20))
def test_a_run_is_the_sum_of_its_ranks(make_caused, seed):
    run = random_run(make_caused, seed)
    by_rank = divide(run, ("rank",))
    compute_s = run.ranks["compute_ns"] / 1e9
    gainable = total(one.gainable.at_most(compute_s[rank]) for (rank,), one in by_rank.items())
    whole = added(by_rank.values())
    assert whole.gainable.high > gainable.high  # some rank has computed less
    check(
        divide_all(run),
        tightened(
            type(whole)(
                whole.call_s,
                whole.causes,
                gainable,
                whole.lost_overlap.at_most(gainable.high),
                whole.undriven,
                whole.calls,
                whole.logged,
            )
        ),
    )


@pytest.mark.parametrize("seed", range(5))
def test_each_rank_is_what_it_is_alone(make_caused, seed):
    run = random_run(make_caused, seed)
    found = divide_ranks(run)
    by_rank = divide(run, ("rank",))
    assert [(rank,) for rank in found.ranks.tolist()] == sorted(by_rank)
    for at, one in enumerate(by_rank[rank,] for rank in found.ranks.tolist()):
        assert found.call_s[at] == pytest.approx(one.call_s)
        assert (found.calls[at], found.logged[at]) == (one.calls, one.logged)
        for name in (*CAUSES, *GAINS):
            expected = one.cause(name) if name in CAUSES else getattr(one, name)
            spans = found.spans[name]
            assert [spans.low[at], spans.high[at]] == pytest.approx(expected.to_json())
        moving = found.moving
        assert [moving.low[at], moving.high[at]] == pytest.approx(one.moving.to_json())


def test_a_run_without_causes(make_caused):
    """One rank was 0.3 of 0.4 s without anything in flight: 0.1 s can have moved."""
    row = {"rank": 0, "site": 1, "operation": 3, "count": 2, "call_ns": 400_000_000}
    run = make_caused(None, calls=[row | {"wait_min_ns": 300_000_000}])
    found = divide_all(run)
    assert found.cause("unattributed").to_json() == pytest.approx([0.4, 0.4])
    assert found.gainable.to_json() == pytest.approx([0, 0.1])
    assert (found.calls, found.logged) == (2, 0)
    check(found, tightened(divide(run, ("rank",))[0,]))


def test_nothing_measured(make_caused):
    found = divide_all(make_caused([]))
    assert (found.call_s, found.calls) == (0, 0)
    assert found.gainable.to_json() == [0, 0]
