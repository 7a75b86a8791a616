"""Operations to be of a schedule, from calls of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.replay.arrays import NONE, Flag, Kind
from imbrex.replay.run_log import IntArray


@dataclass
class Operations:
    """Operations to be, each with where it stands: a call, a place in it, an order there."""

    call: list[IntArray]
    place: list[IntArray]
    order: list[IntArray]
    kind: list[IntArray]
    about: list[IntArray]
    """The record that it is about: one that it begins, or waits for."""

    def add(self, call: IntArray, place: int, kind: IntArray, about: IntArray) -> None:
        self.call.append(call)
        self.place.append(np.full(len(call), place, np.int64))
        self.order.append(about)
        self.kind.append(kind)
        self.about.append(about)


def merged(
    ops: NDArray[np.void], sites: NDArray[np.uint32], stream: IntArray
) -> tuple[NDArray[np.void], NDArray[np.uint32], IntArray, IntArray]:
    """Begin and wait as one operation where one follows the other, and by old number the new."""
    count = len(ops)
    pairs = ((Kind.SEND, Kind.WAIT_SEND), (Kind.RECV, Kind.WAIT_RECV), (Kind.MEET, Kind.WAIT_MEET))
    same_call = (ops["flags"][1:] & Flag.CALL) == 0
    both = np.zeros(count, bool)
    for begin, wait in pairs:
        here = (ops["kind"][:-1] == begin) & (ops["kind"][1:] == wait) & same_call
        own = np.arange(count - 1) if begin != Kind.RECV else ops["partner"][:-1]
        both[:-1] |= here & (ops["partner"][1:] == own)
    gone = np.zeros(count, bool)
    gone[1:] = both[:-1]
    moved = np.cumsum(~gone) - 1
    ops["flags"][both] |= np.uint8(Flag.BLOCKING)
    refers = (ops["kind"] != Kind.MEET) & (ops["kind"] != Kind.CALC) & (ops["partner"] != NONE)
    ops["partner"][refers] = moved[ops["partner"][refers].astype(np.int64)]
    return ops[~gone], sites[~gone], stream[~gone], moved.astype(np.int64)
