"""Receives from any rank or tag, each of which the recorder has as the message that it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.recording_format import ARRIVED, POST, SEND
from imbrex.recorder.rank_record import RankRecord, Recorded


def without_wildcards(
    ranks: Sequence[RankRecord], trace: NDArray[Any]
) -> tuple[list[RankRecord], NDArray[Any]]:
    """Ranks and trace (TRACE_DTYPE) without the receives that stand for what all of them took.

    One that was posted and took nothing stays. Messages are numbered anew.
    """
    trace, kept = trace.copy(), []
    for rank in ranks:
        named = (trace["rank"] == rank.rank) & np.isin(trace["kind"], (SEND, POST, ARRIVED))
        used = set(trace["id"][named].tolist())
        keep = [i in used or not _is_wildcard(m) for i, m in enumerate(rank.messages)]
        if not all(keep):
            trace["id"][named] = (np.cumsum(keep) - 1)[trace["id"][named]]
            messages = tuple(m for m, stays in zip(rank.messages, keep, strict=True) if stays)
            rank = replace(rank, messages=messages)
        kept.append(rank)
    return kept, trace


def _is_wildcard(m: Recorded) -> bool:
    return m.calls == 0 and not m.is_send and (m.peer < 0 or m.tag < 0)
