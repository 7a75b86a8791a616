"""How large the blocks of collectives are, from a call log (runtime/core/call_log.h).

The runtime writes them where they differ: of MPI_Alltoallv and MPI_Alltoallw what a rank sends to
each, of MPI_Allgatherv (on rank 0), MPI_Gatherv and MPI_Scatterv (on the root) the block of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.call_log import Flag

Collective = tuple[int, int, bool]
"""Number of the communicator, sequence, and whether it is persistent: then that of its init."""

_SIZES = 4
_MOST_UNIT_BITS = 31
_MOST_BYTES = 2.0**62


@dataclass(frozen=True)
class BlockSizes:
    """The blocks of one collective as one rank tells them. `bytes` are as many as its records hold,
    up to three more than there are members, or none: they differ, and the log does not tell how.
    `operation` is the number of the operation, of a persistent collective that of its init."""

    operation: int
    bytes: NDArray[np.float64]

    def of_members(self, members: int) -> NDArray[np.float64] | None:
        """One for each; None where they are not told, or a damaged log has others."""
        whole = -(-members // _SIZES) * _SIZES
        fits = len(self.bytes) == whole and self.bytes.sum() < _MOST_BYTES
        return self.bytes[:members] if fits else None


def block_sizes(records: NDArray[np.void]) -> dict[Collective, BlockSizes]:
    """By collective, from the `blocks` of one log."""
    if not len(records):
        return {}
    persistent = (records["flags"] & Flag.PERSISTENT) != 0
    # By time within each collective: ids of one thread ascend.
    order = np.lexsort((records["id"], persistent, records["sequence"], records["comm"]))
    records, persistent = records[order], persistent[order]
    new = np.ones(len(records), bool)
    new[1:] = records["comm"][1:] != records["comm"][:-1]
    new[1:] |= records["sequence"][1:] != records["sequence"][:-1]
    new[1:] |= persistent[1:] != persistent[:-1]
    values = _values(records)
    begins = np.flatnonzero(new).tolist()
    found: dict[Collective, BlockSizes] = {}
    for begin, end in zip(begins, [*begins[1:], len(records)], strict=True):
        key = int(records["comm"][begin]), int(records["sequence"][begin]), bool(persistent[begin])
        units = records["path"][begin:end]
        told = bool((units == units[0]).all()) and int(units[0]) <= _MOST_UNIT_BITS
        sizes = values[begin:end].ravel() if told else np.zeros(0)
        found[key] = BlockSizes(int(records["operation"][begin]), sizes)
    return found


def _values(records: NDArray[np.void]) -> NDArray[np.float64]:
    """Four sizes of each record, in bytes."""
    whole = np.ascontiguousarray(records["bytes"]).view("<u4").reshape(-1, 2)
    peer, tag = (np.ascontiguousarray(records[name]).view("<u4") for name in ("peer", "tag"))
    sizes = np.column_stack((whole, peer, tag)).astype(np.float64)
    unit_bits = np.minimum(records["path"], _MOST_UNIT_BITS).astype(np.int32)
    return np.asarray(np.ldexp(sizes, unit_bits[:, None]))
