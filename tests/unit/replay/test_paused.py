"""How much of a run lies around pauses of the program."""

from __future__ import annotations

import numpy as np

from imbrex.profile.call_log import CALL_DTYPE, Flag
from imbrex.replay.run_log import RunLog


def log(*rows: tuple[int, int, int, int]) -> RunLog:
    """Records by stream, entry, exit (ns) and flags; each rank starts at 100."""
    records = np.zeros(len(rows), CALL_DTYPE)
    stream = np.array([row[0] for row in rows], np.int64)
    for name, column in (("enter_ns", 1), ("exit_ns", 2), ("flags", 3)):
        records[name] = [row[column] for row in rows]
    numbers = np.arange(len(rows), dtype=np.int64)
    ranks = int(stream.max()) + 1
    return RunLog(
        records, stream, stream, numbers, numbers, numbers, np.arange(ranks, dtype=np.int64),
        np.zeros(ranks, np.int64), np.full(ranks, 100, np.int64), np.full(ranks, 9000, np.int64),
        {}, (), np.zeros(ranks, np.int64), 9000,
    )  # fmt: skip


def test_from_the_last_call_before_a_pause_to_the_next_of_the_thread_with_most() -> None:
    after = int(Flag.AFTER_PAUSE)
    rows = (
        (0, 200, 300, after),  # paused from the start on: 100
        (0, 400, 500, 0),
        (0, 1500, 1600, after | int(Flag.FIRST)),  # 1000
        (1, 700, 800, after),  # 600
    )
    assert log(*rows).paused_ns() == 1100
    assert log(*rows[:2], rows[3]).paused_ns() == 600


def test_without_pauses_there_is_nothing_around_them() -> None:
    assert log((0, 200, 300, 0)).paused_ns() == 0
