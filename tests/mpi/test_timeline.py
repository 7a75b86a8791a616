"""The calls kept for a time line, against the logs of the same run read by Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.run import load_run
from imbrex.profile.timeline.overview import (
    OVERVIEW,
    OVERVIEW_FILE,
    PARTS,
    load_overview,
    overview_of_calls,
)
from imbrex.profile.timeline.timeline import load_timeline, load_whole_timeline
from imbrex.profile.timeline.typical import typical_iteration

pytestmark = pytest.mark.untimed

KEEP = {"IMBREX_KEEP_LOG": "1"}
SAME = ("rank", "thread", "site", "operation", "kind", "peer", "comm", "tag", "sequence", "bytes")
TIMES = ("enter_ns", "exit_ns", "end_exit_ns", "peer_enter_ns", "peer_exit_ns")
LATE = ("late_sender", "late_receiver", "late_collective")


@pytest.mark.parametrize("case", ["all", "wait", "ssend", "allreduce"])
def test_kept_calls_are_those_of_the_logs(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """Two programs in two languages match and share out the same calls."""
    run = load_run(measured(compiled("late"), case, "0.2", environment=KEEP).folder, resolve=False)
    kept, whole = load_timeline(run), load_whole_timeline(run)
    assert kept is not None and whole is not None
    assert kept.x_known and not kept.whole and whole.whole
    assert len(kept.calls) > 20
    mine, theirs = kept.calls, whole.between(kept.begin_ns, kept.end_ns).calls
    assert len(mine) == len(theirs)
    assert (mine["tag"] == theirs["tag"]).all()
    matched = mine["match"] == 1
    for name in SAME:
        where = matched | (name not in ("peer", "sequence"))
        assert (mine[name][where] == theirs[name][where]).all(), name
    assert (theirs["match"][matched] == 1).all()
    for name in TIMES:
        assert np.abs(mine[name][matched] - theirs[name][matched]).max() <= 2, name
    for name in LATE:
        assert np.abs(mine[f"{name}_min_ns"] - theirs[f"{name}_min_ns"]).max() <= 4, name
    assert (kept.messages == whole.between(kept.begin_ns, kept.end_ns).messages).all()


@pytest.mark.parametrize("case", ["wait", "allreduce"])
def test_the_overview_of_the_run_adds_up_to_its_calls(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """The table against single calls that Python reads from the logs, of the run and its tenths."""
    run = load_run(measured(compiled("late"), case, "0.2", environment=KEEP).folder, resolve=False)
    table = OVERVIEW.load(run.directory / OVERVIEW_FILE)
    whole = load_whole_timeline(run)
    assert whole is not None
    for rank in range(len(run.ranks)):
        mine = table[table["rank"] == rank]
        assert (np.diff(mine["begin_ns"]) > 0).all()
        assert mine["length_ns"].sum() >= run.ranks["wall_ns"][rank]
        assert (mine["logged_ns"] == mine["length_ns"]).all()
        calls = whole.calls[whole.first & (whole.calls["rank"] == rank)]
        length = (calls["exit_ns"] - calls["enter_ns"]).sum()
        assert mine["call_ns"].sum() == pytest.approx(length, rel=0.01)
        for name in LATE:
            least = calls[f"{name}_min_ns"].sum()
            assert mine[f"{name}_ns"].sum() == pytest.approx(least, rel=0.02, abs=1e6)
    tenths = load_overview(run, 10)
    assert tenths is not None
    found = overview_of_calls(whole, tenths.begin_ns, tenths.end_ns, 10)
    assert found is not None
    late = [PARTS.index(name) for name in LATE]
    assert tenths.shares[:, :, late] == pytest.approx(found.shares[:, :, late], abs=0.1)


def test_what_is_kept_is_bounded_and_of_one_part_of_the_run(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    done = measured(compiled("late"), "all", "0", "3000", ranks=2)
    run = load_run(done.folder, resolve=False)
    kept = load_timeline(run)
    assert kept is not None and run.job.timeline is not None
    assert len(kept.calls) <= 2 * 2048 + 64
    assert (kept.calls["exit_ns"] >= kept.begin_ns - 2).all()
    assert (kept.calls["enter_ns"] <= kept.end_ns + 2).all()
    assert typical_iteration(kept) is not None


def test_without_a_log_there_is_none(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    off = {"IMBREX_LOG": "off"}
    run = load_run(measured(compiled("late"), "wait", "0", environment=off).folder, resolve=False)
    assert load_timeline(run) is None
