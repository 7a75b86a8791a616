"""A schedule of a whole program as arrays, as the compiled engine reads it (engine/engine.h).

One stream for each thread of each rank that calls MPI. Who sends to whom is known; computation
stands before the operation that it leads to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.uint32]

OPERATION = np.dtype(
    [
        ("calc_ns", "<u4"),
        ("bytes", "<u4"),
        ("partner", "<u4"),
        ("peer", "<u2"),
        ("kind", "u1"),
        ("flags", "u1"),
    ]
)
MEETING = np.dtype(
    [
        ("first", "<u8"),
        ("count", "<u4"),
        ("root", "<u4"),
        ("bytes", "<f8"),
        ("algorithm", "<u4"),
        ("layout", "<u4"),
        ("blocks", "<u8"),
    ]
)
NONE = 0xFFFFFFFF
MOST_STREAMS = 65535
PAGE = 4096


class Kind(IntEnum):
    """What an operation is (enum ix_kind)."""

    CALC = 0
    SEND = 1
    RECV = 2
    WAIT_SEND = 3
    WAIT_RECV = 4
    WAIT_ARRIVAL = 5
    MEET = 6
    WAIT_MEET = 7


class Flag(IntFlag):
    """Bits of an operation (enum ix_flags)."""

    BLOCKING = 1
    CALL = 2
    PAGES = 4
    ROUND_TRIP = 8
    UNASKED = 16
    AT_ORIGIN = 32


class Algorithm(IntEnum):
    """How a collective is made of messages (enum ix_algorithm)."""

    RECURSIVE_DOUBLING = 0
    TREE_UP_DOWN = 1
    DISSEMINATION = 2
    RING_ALLREDUCE = 3
    RABENSEIFNER = 4
    BINOMIAL_FROM_ROOT = 5
    SCATTER_ALLGATHER = 6
    BINOMIAL_TO_ROOT = 7
    BINOMIAL_SCATTER = 8
    BINOMIAL_GATHER = 9
    RING_ALLGATHER = 10
    DOUBLING_ALLGATHER = 11
    BRUCK = 12
    PAIRWISE = 13
    CHAIN_SCAN = 14
    DIRECT = 15
    NO_MESSAGES = 16
    LINEAR_SCAN = 17


class Layout(IntEnum):
    """How large the blocks of a collective are (enum ix_layout)."""

    EQUAL = 0
    PER_MEMBER = 1
    PER_PAIR = 2


@dataclass(frozen=True)
class ArraySchedule:
    """Operations in OPERATION, stream after stream: those of stream s are `first[s]:first[s + 1]`.

    `rank` and `start_ns` are of each stream; several streams of one rank share its link. `members`
    are the MEET operations of each meeting (MEETING), in the order of their communicator. `site` is
    the call site of each operation, 0 where it has none; `node` the host of each rank. `blocks` are
    the bytes of the blocks of meetings whose layout is not EQUAL: each has its own from its field
    `blocks` on, one for each member, or a row of what it sends to each.
    """

    operations: NDArray[np.void]
    first: NDArray[np.uint64]
    rank: IndexArray
    start_ns: FloatArray
    node: IndexArray
    meetings: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, MEETING))
    members: IndexArray = field(default_factory=lambda: np.zeros(0, np.uint32))
    site: IndexArray | None = None
    blocks: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def streams(self) -> int:
        return len(self.rank)

    @property
    def ranks(self) -> int:
        return len(self.node)

    @property
    def calc_ns(self) -> FloatArray:
        """Computation before each operation."""
        own = self.operations["calc_ns"].astype(np.float64)
        long = self.operations["kind"] == Kind.CALC
        own[long] += self.operations["bytes"][long] * 4294967296.0
        return own

    def computation_ns(self) -> FloatArray:
        """Computation of each stream."""
        sums = np.concatenate(([0.0], np.cumsum(self.calc_ns)))
        ends = self.first.astype(np.int64)
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]])

    def blocks_of(self, meeting: int) -> FloatArray | None:
        """Bytes of its blocks, shape (members,) or (senders, receivers); None: all are equal."""
        row = self.meetings[meeting]
        members, begin = int(row["count"]), int(row["blocks"])
        if row["layout"] == Layout.PER_MEMBER:
            return self.blocks[begin : begin + members]
        if row["layout"] == Layout.PER_PAIR:
            return self.blocks[begin : begin + members * members].reshape(members, members)
        return None

    def stream_of(self, operation: int) -> int:
        return int(np.searchsorted(self.first, operation, side="right")) - 1


def bytes_and_flags(size: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Sizes as operations hold them: what is beyond 4 GiB in pages."""
    large = size > NONE - 1
    shown = np.where(large, -(-size // PAGE), size).astype(np.uint32)
    return shown, np.where(large, np.uint8(Flag.PAGES), np.uint8(0))
