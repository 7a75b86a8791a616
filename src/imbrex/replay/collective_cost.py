"""What a collective call costs: latencies through a tree, and bytes over the busiest link.

Latencies are those of Sancho et al., section 4.2: 2 log2(N) EEL for a call that goes up a binomial
tree and down again. The bytes are our addition. On the way up a process waits for its children one
after the other, log2(N) messages on the longest path; on the way down it sends to all its children
at once, and they share its link as any messages do (link.py): the furthest of d levels is reached
after d + (d - 1) + ... + 1 messages, all but one of each level a gap g behind another. Large
buffers are cut into N parts (Rabenseifner 2004; Thakur et al. 2005): then a broadcast or a
reduction moves its buffer twice, an allreduce too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from imbrex import mpi_facts
from imbrex.network.points import FloatArray, NetworkPoints
from imbrex.profile.recording import RecordedMessage

SMALL_BYTES = 2048
"""Up to here buffers go through trees whole, as MPICH's default for reductions is."""


@dataclass(frozen=True)
class CollectiveCost:
    """`latencies` times EEL, `link_bytes` times G, and `gaps` times g.

    `tree_bytes`: the size of each message, where the call goes up a binomial tree and down again;
    the time is then that of the last process, if nothing else is on the links.
    """

    latencies: float
    link_bytes: float
    gaps: float = 0.0
    tree_bytes: float | None = None

    def seconds(self, network: NetworkPoints) -> FloatArray:
        """The time of the call, shape of the network points."""
        return np.asarray(
            self.latencies * np.asarray(network.latency_s)
            + self.link_bytes * np.asarray(network.gap_s_per_byte)
            + self.gaps * np.asarray(network.message_gap_s)
        )


def collective_cost(function: str, processes: int, size_bytes: float) -> CollectiveCost | None:
    """The cost of a call whose larger buffer has `size_bytes`; None for what is no blocking
    collective."""
    known = mpi_facts.facts(function)
    if known.kind != "collective" or known.form != "blocking":
        return None
    depth = math.log2(max(processes, 1))
    up, down = depth, depth * (depth + 1) / 2
    gaps = down - depth
    small = size_bytes <= SMALL_BYTES
    dependence = mpi_facts.dependence(function)
    if dependence == "neighbours":
        # A message to each neighbour and from each, all at once.
        return CollectiveCost(1, size_bytes)
    if any(buffer.per_process for buffer in mpi_facts.buffers(function)):
        # One process sends or gets all parts, or all processes do: the whole buffer crosses its
        # link.
        both_ways = 2 if dependence == "all-to-all" else 1
        return CollectiveCost(both_ways * depth, size_bytes if processes > 1 else 0.0)
    if dependence == "root-to-all":
        return CollectiveCost(depth, size_bytes * (down if small else min(down, 2)), gaps)
    if dependence == "all-to-all":
        both = up + down if small else min(up + down, 2)
        return CollectiveCost(2 * depth, size_bytes * both, gaps, size_bytes if small else None)
    return CollectiveCost(depth, size_bytes * (up if small else min(up, 2)))


def parent_and_children(process: int, processes: int) -> tuple[int, list[int]]:
    """Of a process in a binomial tree with root 0 (its parent: -1), the smallest subtree first."""
    children = []
    bit = 1
    while process & bit == 0 and process + bit < processes:
        children.append(process + bit)
        bit *= 2
    return (process & (process - 1) if process else -1), children


def mean_bytes(buffers: Iterable[RecordedMessage]) -> dict[str, float]:
    """By function, the mean size of a call's buffer: of the rank and side with the largest."""
    sums: dict[tuple[str, int, bool], tuple[int, int]] = {}
    for b in buffers:
        key = (b.operation, b.rank, b.is_send)
        calls, size = sums.get(key, (0, 0))
        sums[key] = calls + b.calls, size + b.calls * b.size_bytes
    result: dict[str, float] = {}
    for (function, _, _), (calls, size) in sums.items():
        result[function] = max(result.get(function, 0.0), size / max(calls, 1))
    return result
