"""The overview of a run: shares of time that are 1 together, of any number of stretches."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.report.synthetic import overview_rows, timeline_rows, write_run

from imbrex.errors import ImbrexError
from imbrex.profile.run import load_run
from imbrex.profile.timeline.overview import (
    OVERVIEW_FILE,
    PARTS,
    load_overview,
    overview_of_calls,
)
from imbrex.profile.timeline.timeline import Timeline


def timeline(ranks: int, iterations: int) -> Timeline:
    calls = timeline_rows(ranks, iterations)
    return Timeline(calls, 0, int(calls["exit_ns"].max()), True, True)


def part(shares, name):
    return shares[:, :, PARTS.index(name)]


def test_calls_give_the_stretches_that_they_fill():
    """Iteration 1 of the synthetic run waits 550 us: 400 late, 120 moving, 30 open."""
    found = overview_of_calls(timeline(2, 4), 1_100_000, 1_700_000, 6)
    assert found is not None
    assert part(found.shares, "late_sender")[0] == pytest.approx([1, 1, 1, 1, 0, 0])
    assert part(found.shares, "open")[0] == pytest.approx([0, 0, 0, 0, 0.3, 0], abs=0.02)
    assert part(found.shares, "transfer")[0] == pytest.approx([0, 0, 0, 0, 0.7, 0.5], abs=0.02)
    assert part(found.shares, "compute")[0] == pytest.approx([0, 0, 0, 0, 0, 0.5], abs=0.02)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(1, 40), st.integers(1, 300))
def test_the_time_of_each_cause_is_kept(ranks, iterations, stretches):
    whole = timeline(ranks, iterations)
    found = overview_of_calls(whole, whole.begin_ns, whole.end_ns, stretches)
    assert found is not None
    assert found.shares.sum(axis=2) == pytest.approx(1.0)
    length = (whole.end_ns - whole.begin_ns) / stretches
    for name in ("late_sender", "transfer", "stalled"):
        wanted = whole.calls[f"{name}_min_ns"].sum()
        assert part(found.shares, name).sum() * length == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("stretches", [1, 10, 64, 1000])
def test_the_table_says_what_the_calls_say(tmp_path, stretches):
    """A table of 1,000 stretches, in other numbers of them."""
    run = load_run(write_run(tmp_path / "run", ranks=3, iterations=40))
    np.save(run.directory / OVERVIEW_FILE, overview_rows(3, 40, 1000))
    calls = timeline(3, 40)
    found = load_overview(run, stretches)
    assert found is not None and (found.begin_ns, found.end_ns) == (0, 40_000_000)
    wanted = overview_of_calls(calls, 0, 40_000_000, stretches)
    assert wanted is not None
    for name in ("late_sender", "stalled", "transfer", "open"):
        assert part(found.shares, name) == pytest.approx(part(wanted.shares, name), abs=0.05)


def test_a_rank_that_ends_within_a_stretch_fills_its_part_of_it(tmp_path):
    run = load_run(write_run(tmp_path / "run", ranks=2, iterations=40))
    table = overview_rows(2, 40, 10)
    last = table[(table["rank"] == 1)][-1]
    table["begin_ns"][table["rank"] == 0] += int(last["length_ns"]) // 2
    np.save(run.directory / OVERVIEW_FILE, table)
    found = load_overview(run, 1)
    assert found is not None and found.shares.sum(axis=2) == pytest.approx(1.0)
    # Ten of ten and a half stretches: the rest is before rank 0 began, and after rank 1 ended.
    assert part(found.shares, "unlogged")[:, 0] == pytest.approx([0.5 / 10.5] * 2, abs=1e-3)


def test_what_was_not_logged_is_said(tmp_path):
    run = load_run(write_run(tmp_path / "run", ranks=2, iterations=8))
    rows = overview_rows(2, 8, 8)
    for name in rows.dtype.names[4:]:
        rows[name][4:8] = 0
    np.save(run.directory / OVERVIEW_FILE, rows)
    found = load_overview(run, 8)
    assert found is not None
    assert part(found.shares, "unlogged")[0, 4:] == pytest.approx(1.0)
    assert part(found.shares, "unlogged")[1] == pytest.approx(0.0)


def test_a_run_without_or_with_a_damaged_one(tmp_path):
    run = load_run(write_run(tmp_path / "run"))
    assert load_overview(run, 8) is None
    assert overview_of_calls(SimpleNamespace(calls=run.ranks[:0], first=[]), 0, 1, 8) is None
    (run.directory / OVERVIEW_FILE).write_bytes(b"\x93NUMPY no")
    with pytest.raises(ImbrexError):
        load_overview(run, 8)
