"""A run that recorded itself first and went on in plain code: one cut through all ranks, and what
stayed recorded (`imbrex run --record --times switched`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.recording_format import ARRIVED, POST, SEND
from imbrex.profile.summary import Row
from imbrex.recorder.rank_record import RankRecord

_PLACES = "imbrex_sites"
"""The section of a program that has plain code beside the recorded one (duplicates.py)."""

_ENOUGH_S = 0.1
_MOST_SHARE = 0.2


def has_plain_code(program: Path) -> bool:
    """Whether a program was built with `imbrex cc --duplicate`."""
    try:
        with program.open("rb") as stream:
            return ELFFile(stream).get_section_by_name(_PLACES) is not None
    except (OSError, ELFError):
        return False


def from_one_cut(
    ranks: Sequence[RankRecord], trace: NDArray[Any]
) -> tuple[list[RankRecord], NDArray[Any]]:
    """Ranks and trace (TRACE_DTYPE) without messages that one side recorded and the other did not.

    Each rank began to record at its own call, so that the first message that one has may be the
    second of the other. ImbrexError where they differ in their collectives too, of which it is not
    known which belong to each other.
    """
    if len({rank.collectives_before for rank in ranks}) > 1:
        raise ImbrexError(
            "the ranks did not begin to record at the same collective call; "
            "record with --times watched"
        )
    sent, taken = Counter[tuple[int, int, int]](), Counter[tuple[int, int, int]]()
    for rank in ranks:
        for m in rank.messages:
            key = (rank.rank, m.peer, m.tag) if m.is_send else (m.peer, rank.rank, m.tag)
            (sent if m.is_send else taken)[key] += m.before
    keep = np.ones(trace.size, dtype=bool)
    kept = []
    for rank in ranks:
        for source, target, tag in {*sent, *taken}:
            more = taken[source, target, tag] - sent[source, target, tag]
            if rank.rank == source and more > 0:
                _leave_out(keep, trace, rank, (SEND,), (True, target, tag), more)
            if rank.rank == target and more < 0:
                for kind in (POST, ARRIVED):
                    _leave_out(keep, trace, rank, (kind,), (False, source, tag), -more)
        kept.append(rank)
    trace = trace[keep]
    return [_without_unused(rank, trace) for rank in kept], trace


def _leave_out(
    keep: NDArray[np.bool_],
    trace: NDArray[Any],
    rank: RankRecord,
    row_kinds: tuple[int, ...],
    channel: tuple[bool, int, int],
    count: int,
) -> None:
    """The first messages of a rank on one channel."""
    of_channel = [i for i, m in enumerate(rank.messages) if (m.is_send, m.peer, m.tag) == channel]
    rows = (
        (trace["rank"] == rank.rank)
        & np.isin(trace["kind"], row_kinds)
        & np.isin(trace["id"], of_channel)
    )
    keep[np.flatnonzero(rows)[:count]] = False


def _without_unused(rank: RankRecord, trace: NDArray[Any]) -> RankRecord:
    """Without messages of which nothing was recorded; the trace is numbered anew in place."""
    named = (trace["rank"] == rank.rank) & np.isin(trace["kind"], (SEND, POST, ARRIVED))
    used = set(trace["id"][named].tolist())
    keep = [i in used or m.calls > 0 for i, m in enumerate(rank.messages)]
    if all(keep):
        return rank
    trace["id"][named] = (np.cumsum(keep) - 1)[trace["id"][named]]
    messages = tuple(m for m, stays in zip(rank.messages, keep, strict=True) if stays)
    return replace(rank, messages=messages)


def shares_of_plain_code(ranks: Sequence[RankRecord]) -> dict[str, float]:
    """How much of the run was not plain where it should have been, the most of any rank.

    `recorded`: the accesses that plain code still recorded in intervals between the same calls,
    over those of the recorded phase; `untimed`: the share of the recorded computation between calls
    that plain code had not passed, so that its time is that of recorded code.
    """
    return {
        "recorded": max((rank.still_recorded for rank in ranks), default=0.0),
        "untimed": max((rank.untimed for rank in ranks), default=0.0),
    }


def recorded_share(raw: Path, measured: Sequence[Row]) -> float:
    """The share of all calls that was recorded, of all ranks together.

    ImbrexError where a rank did not come to its measured part.
    """
    before = recorded = 0
    for file in raw.glob("access.*.json"):
        document = json.loads(file.read_text(encoding="utf-8"))
        if "recorded" not in document:
            continue
        before += document["recorded"]["before"] + document["recorded"]["intervals"]
        recorded += document["recorded"]["intervals"]
    after = sum(row.sums.count for row in measured)
    if not recorded or not after:
        raise ImbrexError(
            "the program was over before it was recorded and measured: give fewer --rounds, or "
            "--times watched"
        )
    return float(recorded / (before + after))


def more_rounds(raw: Path, share: float, rounds: int) -> int | None:
    """With how many rounds a run would record 0.2 s, or a fifth of its calls if that is less.

    `share`: what `rounds` recorded of the calls. None where that was 0.1 s of computation or more,
    or more would not be twice as much.
    """
    documents = (json.loads(file.read_text(encoding="utf-8")) for file in raw.glob("access.*.json"))
    recorded_s = max((d["recorded"]["ns"] for d in documents if "recorded" in d), default=0) * 1e-9
    if not 0 < recorded_s < _ENOUGH_S or share <= 0:
        return None
    times = min(2 * _ENOUGH_S / recorded_s, _MOST_SHARE / share)
    return round(rounds * times) if times >= 2 else None
