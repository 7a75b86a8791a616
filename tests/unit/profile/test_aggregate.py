"""Sums over groups, against the obvious way."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.profile.aggregate import group, sum_by, total, without_ranks
from imbrex.profile.format import KEYS, MEASURES_DTYPE, QUANTITIES


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    rows = np.zeros(70_000, MEASURES_DTYPE)
    rows["rank"] = rng.integers(0, 300, len(rows))
    rows["site"] = rng.integers(0, 9, len(rows))
    rows["operation"] = rng.integers(0, 4, len(rows))
    rows["size_class"] = rng.integers(-1, 30, len(rows))
    for name in QUANTITIES:
        rows[name] = rng.integers(0, 2**50, len(rows))
    return rows


@pytest.mark.parametrize("keys", [("site",), ("size_class",), ("rank",), ("site", "operation")])
def test_group_equals_the_obvious_sum(table, keys):
    distinct, sums = group(table, keys)
    assert sums.sum(axis=0).tolist() == total(table).tolist()
    columns = [table[key].tolist() for key in keys]
    expected: dict[tuple[int, ...], int] = {}
    for key, value in zip(zip(*columns, strict=True), table["call_ns"].tolist(), strict=True):
        expected[key] = expected.get(key, 0) + value
    found = sums[:, QUANTITIES.index("call_ns")].tolist()
    assert dict(zip(map(tuple, distinct.tolist()), found, strict=True)) == expected
    assert distinct.tolist() == sorted(distinct.tolist())


def test_rows_over_ranks_keep_all_other_keys(table):
    over_ranks = without_ranks(table)
    assert set(over_ranks["rank"].tolist()) == {-1}
    assert total(over_ranks).tolist() == total(table).tolist()
    keys, sums = group(table, KEYS[1:])
    assert keys.tolist() == [[int(row[key]) for key in KEYS[1:]] for row in over_ranks]
    assert sums[:, 0].tolist() == over_ranks["count"].tolist()


def test_keys_too_far_apart_for_one_code():
    """As in a damaged file: no two different keys are taken for one."""
    keys = np.array([[0, 0, 2**31], [2**31, 2**16, 0], [2**31, 2**16, 0]] * 2, np.int64)
    distinct, sums = sum_by(keys, np.ones((6, 2), np.int64))
    assert distinct.tolist() == [[0, 0, 2**31], [2**31, 2**16, 0]]
    assert sums.tolist() == [[2, 2], [4, 4]]


def test_nothing_to_sum():
    empty = np.empty(0, MEASURES_DTYPE)
    assert group(empty, ("site",))[1].shape == (0, len(QUANTITIES))
    assert not total(empty).any()
    assert len(without_ranks(empty)) == 0
