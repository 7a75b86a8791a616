"""Ranks that began to record at different calls, and what stayed recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND, TRACE_DTYPE
from imbrex.recorder.rank_record import RankRecord, Recorded, _plain_shares
from imbrex.recorder.switched import from_one_cut, more_rounds, shares_of_plain_code
from imbrex.replay.text import _plain_code_lines


def message(rank: int, peer: int, is_send: bool, before: int, calls: int = 3) -> Recorded:
    none = np.zeros(0)
    return Recorded(
        rank=rank, is_send=is_send, peer=peer, tag=7, image="", offset=0, element_bytes=8,
        calls=calls, first_ns=0, last_ns=0, accesses=none, counted_ns=none, time_ns=none,
        spread_ns=none, seen=np.zeros(0, np.uint32), samples=0, before=before,
    )  # fmt: skip


def rank_of(number: int, *messages: Recorded, collectives: int = 0) -> RankRecord:
    return RankRecord(number, 0.0, 1, 0, False, messages, collectives_before=collectives)


def trace_of(*rows: tuple[int, int, int, float]) -> Any:
    trace = np.zeros(len(rows), TRACE_DTYPE)
    for name, column in zip(("rank", "kind", "id", "ns"), zip(*rows, strict=True), strict=True):
        trace[name] = column
    return trace


def rows_of(trace: Any, rank: int) -> list[tuple[int, int, float]]:
    return [(int(r["kind"]), int(r["id"]), float(r["ns"])) for r in trace if r["rank"] == rank]


SENDS = [(0, CALL, 0, 5.0), (0, SEND, 1, 0.0), (0, CALL, 0, 6.0), (0, SEND, 1, 0.0)]
TAKES = [
    (1, CALL, 1, 7.0), (1, POST, 0, 0.0), (1, ARRIVED, 0, 0.0),
    (1, CALL, 1, 8.0), (1, POST, 0, 0.0), (1, ARRIVED, 0, 0.0),
]  # fmt: skip


def test_a_receive_whose_send_came_before_is_left_out() -> None:
    """The sender had sent four when it began, the receiver had taken three."""
    ranks = [
        rank_of(0, message(0, 1, is_send=False, before=2, calls=0), message(0, 1, True, 4)),
        rank_of(1, message(1, 0, False, 3)),
    ]
    ranks, trace = from_one_cut(ranks, trace_of(*SENDS, *TAKES))
    # Its time stays; the message that was never recorded is gone, and the other is number 0.
    assert rows_of(trace, 1) == [
        (CALL, 1, 7.0), (CALL, 1, 8.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0),
    ]  # fmt: skip
    assert rows_of(trace, 0) == [(CALL, 0, 5.0), (SEND, 0, 0.0), (CALL, 0, 6.0), (SEND, 0, 0.0)]
    assert [m.is_send for m in ranks[0].messages] == [True]


def test_a_send_whose_receive_came_before_is_left_out() -> None:
    ranks = [rank_of(0, message(0, 1, False, 0), message(0, 1, True, 2)),
             rank_of(1, message(1, 0, False, 3))]  # fmt: skip
    _, trace = from_one_cut(ranks, trace_of(*SENDS, *TAKES))
    assert rows_of(trace, 0) == [(CALL, 0, 5.0), (CALL, 0, 6.0), (SEND, 1, 0.0)]
    assert len(rows_of(trace, 1)) == 6


def test_equal_beginnings_change_nothing() -> None:
    ranks = [rank_of(0, message(0, 1, False, 1), message(0, 1, True, 4)),
             rank_of(1, message(1, 0, True, 1), message(1, 0, False, 4))]  # fmt: skip
    whole = trace_of(*SENDS, *TAKES)
    assert (from_one_cut(ranks, whole)[1] == whole).all()


def test_ranks_at_different_collectives_are_refused() -> None:
    with pytest.raises(ImbrexError, match="same collective call"):
        from_one_cut([rank_of(0, collectives=4), rank_of(1, collectives=5)], trace_of(*SENDS))


@pytest.mark.parametrize(
    ("ns", "share", "rounds"),
    [
        (4e6, 0.001, 500),  # 50 times as many are 0.2 s
        (4e6, 0.02, 100),  # a fifth of the calls is ten times as many
        (4e6, 0.15, None),  # that would be nearly all that there is
        (3e8, 0.001, None),  # enough
    ],
)
def test_more_rounds_are_advised_where_little_was_recorded(
    tmp_path: Path, ns: float, share: float, rounds: int | None
) -> None:
    for rank, most in enumerate((0.5 * ns, ns)):
        document = {"recorded": {"ns": most}}
        (tmp_path / f"access.{rank}.json").write_text(json.dumps(document))
    assert more_rounds(tmp_path, share, 10) == rounds


def test_what_stayed_recorded_is_a_share() -> None:
    """1,000 accesses, of which plain code makes 250 known too; 3 of 12 ns not timed."""
    document = {
        "accesses": 1000,
        "recorded": {"ns": 12.0, "untimed": 1, "untimed_ns": 3.0, "still": 250.0},
    }
    assert _plain_shares(document) == (0.25, 0.25)
    assert _plain_shares({"accesses": 1000}) == (0.0, 0.0)
    assert shares_of_plain_code([rank_of(0)]) == {"recorded": 0.0, "untimed": 0.0}
    told = " ".join(_plain_code_lines({"recorded": 0.25, "untimed": 0.25}))
    assert told.startswith("25 % of the accesses are in functions that were entered while")
    assert " 25 % of the computation lies between calls that plain code had" in told
    assert _plain_code_lines({"recorded": 0.001, "untimed": 0.0}) == []
    assert _plain_code_lines(None) == []
