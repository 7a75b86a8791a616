"""Other load, swapping and stolen time, by hand-made counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.launch.disturbance import Counts, busy_before, counts, crowding, disturbance


def counted(wall: float, busy: float, own: float, stolen: float = 0.0, pages: int = 0) -> Counts:
    return Counts(wall, busy, stolen, own, pages)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (counted(10, 11.0, 10.0), None),
        (counted(10, 14.0, 10.0), "other processes kept 0."),
        (counted(10, 11.0, 10.0, stolen=50.0), "the hypervisor took"),
        (counted(10, 11.0, 10.0, pages=300), "the machine swapped 300 pages"),
        (counted(0, 14.0, 10.0), None),
    ],
)
def test_disturbances(monkeypatch: pytest.MonkeyPatch, after: Counts, why: str | None) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    found = disturbance(counted(0, 1.0, 1.0), after)
    assert found is None if why is None else found is not None and found.startswith(why)


def test_ranks_of_a_daemon_are_not_others() -> None:
    """20 s of processor time, none of it of our children: only what ran before tells."""
    begin, end = counted(0, 1, 1), counted(10, 21, 1)
    assert disturbance(begin, end, busy_cores=0.0) is None
    found = disturbance(begin, end, busy_cores=1.5)
    assert found is not None and found.startswith("other processes kept 1.5 of")


def test_load_before_a_run() -> None:
    assert busy_before(counted(0, 5, 0), counted(0.5, 5.0, 0)) == 0
    assert busy_before(counted(0, 5, 0), counted(0.5, 5.52, 0)) == pytest.approx(1.0)


def test_counts_are_read_from_proc(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  100 20 30 999 50 5 5 40 7 0\ncpu0 1 2 3\n")
    (tmp_path / "vmstat").write_text("nr_free 7\npswpin 3\npswpout 4\n")
    found = counts(7.0, tmp_path)
    assert (found.wall_s, found.busy_s, found.stolen_s) == (7.0, 1.6, 0.4)
    assert found.swapped_pages == 7
    assert not counts(7.0, tmp_path / "nowhere").known


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (counted(10, 38.0, 33.0), "other processes kept 0.5 of 4 cores busy and next to none"),
        (counted(10, 20.0, 10.0), None),
        (counted(10, 41.0, 10.0), "other processes kept 3.1 of 4"),
        (counted(10, 41.0, 1.5), None),
        (counted(10, 41.0, 41.0), None),
        (counted(10, 11.0, 10.0, stolen=50.0), "the hypervisor took"),
        (counted(10, 11.0, 10.0, pages=300), "the machine swapped 300 pages"),
        (counted(0, 40.0, 10.0), None),
    ],
    ids=[
        "full",
        "idle cores",
        "mostly others",
        "a daemon's",
        "own",
        "stolen",
        "swapped",
        "no time",
    ],
)
def test_what_crowds_a_run(monkeypatch: pytest.MonkeyPatch, after: Counts, why: str | None) -> None:
    """Other load slows a run down only where no core is left for it."""
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    found = crowding(counted(0, 1.0, 1.0), after)
    assert found is None if why is None else found is not None and found.startswith(why)
