"""How far the recorded run is, how long it takes, and when a sample of it is over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from imbrex.recorder import recorded_run
from imbrex.recorder.recorded_run import Estimate, Extent, TimedCalls, follow
from imbrex.recorder.trace import CLEAN_DTYPE


def timed(raw: Path, rank: int, lengths: list[float]) -> None:
    rows = np.zeros(len(lengths), CLEAN_DTYPE)
    rows["ns"] = lengths
    rows.tofile(raw / f"times.{rank}.bin")


def progress(raw: Path, rank: int, calls: int, written: int = 0) -> None:
    np.array([calls, written], "<u8").tofile(raw / f"progress.{rank}.bin")


def test_the_slowest_rank_decides_by_calls_and_by_computation(tmp_path: Path) -> None:
    timed(tmp_path, 0, [10.0] * 10)
    timed(tmp_path, 1, [0.0] * 5 + [20.0] * 5)
    (tmp_path / "times.0.1.bin").write_bytes(b"12345678")  # of another thread
    calls = TimedCalls(tmp_path)
    assert calls.extent().shares == ((0.0, 0.0), (0.0, 0.0))
    progress(tmp_path, 0, 8)
    progress(tmp_path, 1, 6)
    extent = calls.extent()
    assert extent.calls == (8, 6)
    assert extent.shares == ((0.8, 0.8), (0.6, 0.2))
    assert (extent.least, extent.most) == (0.2, 0.6)
    assert not extent.written
    progress(tmp_path, 0, 10, 1)
    progress(tmp_path, 1, 10, 1)
    assert calls.extent().written


def test_shares_are_of_the_part_that_is_recorded(tmp_path: Path) -> None:
    timed(tmp_path, 0, [10.0] * 100)
    progress(tmp_path, 0, 5)
    assert TimedCalls(tmp_path, 0.1).extent().shares == ((0.5, 0.5),)
    progress(tmp_path, 0, 50)  # goes on unrecorded
    assert TimedCalls(tmp_path, 0.1).extent().shares == ((1.0, 1.0),)


def extent(least: float, most: float | None = None) -> Extent:
    return Extent((1,), ((least, least if most is None else most),), written=False)


def test_a_long_run_is_announced_and_each_tenth_told() -> None:
    estimate = Estimate()
    assert estimate.heard(100.0, extent(0.0)) is None
    assert estimate.heard(101.0, extent(0.001)) is None
    # A second is too short to tell; from then on: 0.5 % in 6 s are 20 minutes.
    assert estimate.heard(102.0, extent(0.002)) is None
    line = estimate.heard(107.0, extent(0.006))
    assert line is not None
    assert "will take 20 min" in line
    assert "--sample 10%" in line
    assert estimate.heard(150.0, extent(0.1)) is None
    line = estimate.heard(341.0, extent(0.201))
    assert line == "recorded 20 % in 4 min, of 20 min"
    assert estimate.heard(342.0, extent(0.202)) is None


def test_a_length_is_between_what_calls_and_what_computation_tell() -> None:
    estimate = Estimate()
    estimate.heard(0.0, extent(0.0, 0.001))
    line = estimate.heard(12.0, extent(0.005, 0.011))
    assert line is not None
    assert "20 to 40 min" in line
    estimate = Estimate()
    estimate.heard(0.0, extent(0.0, 0.001))
    line = estimate.heard(12.0, extent(0.0, 0.011))
    assert line is not None
    assert "more than 20 min" in line


def test_a_short_run_needs_no_line() -> None:
    estimate = Estimate()
    said = [estimate.heard(float(s), extent(0.01 + s / 500)) for s in range(490)]
    assert set(said) == {None}


def test_the_job_is_ended_when_its_sample_is_written(tmp_path: Path) -> None:
    timed(tmp_path, 0, [10.0] * 10)
    progress(tmp_path, 0, 1, 1)
    sleeps = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    assert follow(sleeps, TimedCalls(tmp_path, 0.1), lambda line: None, sampled=True) == 0
    assert sleeps.returncode is not None


def test_a_whole_recording_lets_the_program_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(tmp_path, 0, [10.0] * 10)
    progress(tmp_path, 0, 1, 1)
    monkeypatch.setattr(recorded_run, "EACH_S", 0.01)
    ends = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.3); exit(3)"])
    assert follow(ends, TimedCalls(tmp_path), lambda line: None, sampled=False) == 3
