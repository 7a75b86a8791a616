"""The sizes of the blocks of a run's collectives, as their algorithms need them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.profile.block_sizes import Collective
from imbrex.profile.call_log import Flag
from imbrex.replay.arrays import Algorithm, Layout
from imbrex.replay.run_log import IntArray, RunLog

_LAYOUTS = {
    "MPI_Alltoallv": Layout.PER_PAIR,
    "MPI_Alltoallw": Layout.PER_PAIR,
    "MPI_Allgatherv": Layout.PER_MEMBER,
    "MPI_Gatherv": Layout.PER_MEMBER,
    "MPI_Scatterv": Layout.PER_MEMBER,
}
_ALGORITHMS = {
    Layout.PER_PAIR: (Algorithm.PAIRWISE,),
    Layout.PER_MEMBER: (
        Algorithm.RING_ALLGATHER,
        Algorithm.DOUBLING_ALLGATHER,
        Algorithm.BINOMIAL_GATHER,
        Algorithm.BINOMIAL_SCATTER,
    ),
}
"""Which algorithms are replayed with the sizes of their own; others divide the bytes equally."""


def key_of(record: np.void) -> Collective:
    """How the log's blocks name the collective of a record."""
    persistent = bool(record["flags"] & Flag.PERSISTENT)
    return int(record["comm"]), int(record["sequence"]), persistent


class Blocks:
    """What meetings need of them, gathered one after the other.

    `untold`: collectives whose blocks differ in sizes that the log does not tell, by site.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._parts: list[NDArray[np.float64]] = []
        self._begins: dict[bytes, int] = {}
        self._length = 0
        self.untold: Counter[int] = Counter()

    @property
    def joined(self) -> NDArray[np.float64]:
        return np.concatenate(self._parts) if self._parts else np.zeros(0)

    def operation(self, record: np.void) -> str:
        """Its name; of one that MPI_Start begins that of its init, where its blocks tell it."""
        log, key = self._log, key_of(record)
        for told in log.blocks.values() if record["flags"] & Flag.PERSISTENT else ():
            found = told.get(key)
            if found is not None and found.operation < len(log.operations):
                return log.operations[found.operation]
        return log.operations[int(record["operation"])]

    def of(self, own: IntArray, operation: str, algorithm: int) -> tuple[Layout, int]:
        """The layout of a meeting's blocks, and where they begin in `joined`. `own`: its records,
        in the order of their ranks in the communicator."""
        log = self._log
        base = mpi_facts.without_large(mpi_facts.blocking_form(operation))
        layout = _LAYOUTS.get(base, Layout.EQUAL)
        key = key_of(log.records[own[0]])
        told = [log.blocks.get(int(rank), {}).get(key) for rank in log.rank[own]]
        if layout == Layout.EQUAL or not any(told):
            return Layout.EQUAL, 0
        sizes = [None if one is None else one.of_members(len(own)) for one in told]
        if any(one is not None and size is None for one, size in zip(told, sizes, strict=True)):
            self.untold[int(log.records["site"][own[0]])] += 1
        if algorithm not in _ALGORITHMS[layout] or all(size is None for size in sizes):
            return Layout.EQUAL, 0
        if layout == Layout.PER_MEMBER:
            return layout, self._begin(next(size for size in sizes if size is not None))
        each = log.records["bytes"][own] / len(own)
        rows = [
            np.full(len(own), one) if size is None else size
            for one, size in zip(each.tolist(), sizes, strict=True)
        ]
        return layout, self._begin(np.concatenate(rows))

    def _begin(self, sizes: NDArray[np.float64]) -> int:
        """Programs often move the same again and again."""
        found = self._begins.setdefault(sizes.tobytes(), self._length)
        if found == self._length:
            self._parts.append(sizes)
            self._length += len(sizes)
        return found
