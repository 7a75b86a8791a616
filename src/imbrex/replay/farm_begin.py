"""Where a farm begins: when each of its streams comes to it, and what is still under way then."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from imbrex.replay.arrays import NONE, ArraySchedule, Kind
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.farms import Farm
from imbrex.replay.run_log import BoolArray, IntArray


@dataclass(frozen=True)
class Flow:
    """A message of the streams before the farm: from when it could begin, by stream."""

    ready_ns: float
    bytes: float
    source: int
    target: int


@dataclass(frozen=True)
class Begin:
    """`ns`: by stream when it comes to the farm. `flows`: messages that share links with its
    first ones, in the order of the schedule."""

    ns: dict[int, float]
    flows: tuple[Flow, ...]


def begin_of(
    schedule: ArraySchedule, farm: Farm, network: Network, played: ArraySchedule | None = None
) -> Begin:
    """As the schedule of the run has it, or that of a farm that was `played`: what comes before the
    farm shares links with its first messages.

    Marks before the first operations are receives that nobody sends for: their time is when they
    are posted.
    """
    first = {farm.boss: farm.begin}
    first |= {w: worker.first.ops.start for w, worker in farm.workers.items()}
    streams = sorted(first)
    at = np.array([first[s] for s in streams], np.int64)
    if played is not None:
        at += (played.first.astype(np.int64) - schedule.first.astype(np.int64))[streams]
    spread = as_messages(_marked(played or schedule, at))
    replayer = Replayer(spread)
    replayer.run(network)
    marks = _marks(spread)
    begins = replayer.time_ns[marks].copy()
    sends, ready = _before(spread, streams, marks, network)
    through = replayer.time_ns[sends]
    ends = spread.operations["peer"][sends]
    source = _stream_of(spread, sends)
    order = np.argsort(ready, kind="stable")
    # From the latest moment on at which nothing was under way.
    latest = np.maximum.accumulate(np.concatenate(([-np.inf], through[order])))[:-1]
    quiet = order[(ready[order] > latest) & (ready[order] <= begins.min())]
    start = ready[quiet[-1]] if len(quiet) else -np.inf
    kept = np.flatnonzero(ready >= start) if (through > begins.min()).any() else ready[:0]
    size = spread.operations["bytes"][sends]
    flows = tuple(
        Flow(float(ready[k]), float(size[k]), int(source[k]), int(ends[k]))
        for k in kept.astype(np.int64)
    )
    return Begin(dict(zip(streams, begins.tolist(), strict=True)), flows)


def _marks(schedule: ArraySchedule) -> IntArray:
    ops = schedule.operations
    return np.flatnonzero((ops["kind"] == Kind.RECV) & (ops["partner"] == NONE))


def _stream_of(schedule: ArraySchedule, ops: IntArray) -> IntArray:
    found = np.searchsorted(schedule.first.astype(np.int64), ops, side="right") - 1
    return np.asarray(found, np.int64)


def _before(
    spread: ArraySchedule, streams: list[int], marks: IntArray, network: Network
) -> tuple[IntArray, np.ndarray]:
    """The sends of these streams before their marks, and when each could begin."""
    starts = spread.first.astype(np.int64)
    is_before: BoolArray = np.zeros(len(spread.operations), bool)
    for stream, mark in zip(streams, marks.tolist(), strict=True):
        is_before[starts[stream] : mark] = True
    sends = np.flatnonzero(is_before & (spread.operations["kind"] == Kind.SEND))
    # A mark takes the computation before its send.
    cleared = replace(spread, operations=spread.operations.copy())
    again = _marked(cleared, sends, takes_computation=True)
    replayer = Replayer(again)
    replayer.run(network)
    found = _marks(again)
    times = replayer.time_ns[found]
    # Marks of the farm's beginnings are behind those of its stream.
    old = np.isin(np.arange(len(found)), _places(sends, marks))
    send_ns = np.array([_route(spread, network, s, t).send_ns for s, t in zip(
        _stream_of(spread, sends).tolist(), spread.operations["peer"][sends].tolist(), strict=True
    )])  # fmt: skip
    return sends, times[~old] + send_ns


def _places(sends: IntArray, marks: IntArray) -> IntArray:
    """Where the marks come among all."""
    every = np.sort(np.concatenate((sends, marks)))
    return np.asarray(np.searchsorted(every, marks), np.int64)


def _route(schedule: ArraySchedule, network: Network, one: int, other: int) -> Route:
    p, q = int(schedule.rank[one]), int(schedule.rank[other])
    if p == q:
        return network.itself
    return network.within if schedule.node[p] == schedule.node[q] else network.between


def _marked(
    schedule: ArraySchedule, at: IntArray, *, takes_computation: bool = False
) -> ArraySchedule:
    """The schedule with a mark before each of these operations, ascending by stream."""
    ops = schedule.operations
    shift = np.zeros(len(ops) + 1, np.int64)
    np.add.at(shift, at, 1)
    moved = np.arange(len(ops)) + np.cumsum(shift)[:-1]
    made = np.zeros(len(ops) + len(at), ops.dtype)
    made[moved] = ops
    refers = ~np.isin(ops["kind"], (Kind.MEET, Kind.CALC)) & (ops["partner"] != NONE)
    made["partner"][moved[refers]] = moved[ops["partner"][refers].astype(np.int64)]
    marks = moved[at] - 1
    made["kind"][marks], made["partner"][marks] = Kind.RECV, NONE
    made["peer"][marks] = _stream_of(schedule, at)
    if takes_computation:
        made["calc_ns"][marks] = ops["calc_ns"][at]
        made["calc_ns"][moved[at]] = 0
    source = np.zeros(len(made), np.int64)
    source[moved] = np.arange(len(ops))
    source[marks] = at
    starts = schedule.first.astype(np.int64)
    before = np.concatenate(([0], np.cumsum(shift)))
    return replace(
        schedule,
        operations=made,
        first=(starts + before[starts]).astype(np.uint64),
        members=moved[schedule.members.astype(np.int64)].astype(np.uint32),
        site=None if schedule.site is None else schedule.site[source],
    )
