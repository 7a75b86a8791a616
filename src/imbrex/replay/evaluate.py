"""Run the compiled engine: run time of a schedule on a network, and its critical path."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect
from imbrex.replay.arrays import OPERATION, ArraySchedule, FloatArray, Kind
from imbrex.replay.compiled import (
    LANES,
    LANES_STEP,
    SIZES,
    TOO_WIDE,
    CNetwork,
    CRoute,
    CSchedule,
    CStuck,
    CTimes,
    CWide,
    engine,
)

EAGER_BYTES = 65536
"""Where no profile says up to which size a send does not wait for its receive."""
PARTS = ("computation", "latency", "bandwidth", "overhead", "lateness")
"""What the critical path is made of, in the order of STRETCH's `ns`."""
STRETCH = np.dtype(
    [
        ("op", "<u4"),
        ("stream", "<u4"),
        ("ns", "<f8", len(PARTS)),
        ("latencies", "<f8"),
        ("bytes", "<f8"),
    ]
)
_ONE_BY_ONE, _IN_ORDER, _AT_ONCE = range(3)
"""What becomes of messages that are under way together (enum ix_sharing)."""
LANES_BYTES = 1 << 29
"""The times of all networks that go through a schedule in one pass take no more; fewer go together
where they would, but for the last few."""
_FEW_LANES = 64
_KINDS = [kind.name.lower().replace("_", " ") for kind in Kind]


@dataclass(frozen=True)
class Route:
    """LogGP of one path in ns: a message takes send_ns + latency_ns + receive_ns + byte_ns bytes.

    Above `eager_bytes` it starts when its receive is posted too, and moves only while the sender
    (`held_by_sender`) or the receiver is in the call that completes it.
    """

    latency_ns: float = 0.0
    byte_ns: float = 0.0
    gap_ns: float = 0.0
    send_ns: float = 0.0
    receive_ns: float = 0.0
    eager_bytes: float = EAGER_BYTES
    held_by_sender: bool = False
    held_by_receiver: bool = False
    kept_bytes: float = 0.0
    """A message that both sides hold leaves its sender up to this size as soon as it is asked for,
    for a buffer in which what follows to the same process waits behind it. 0: none does."""
    sizes: tuple[tuple[float, float], ...] = ()
    """Where time is not in proportion to size: sizes, ascending, and the bytes for which a message
    of that size takes the link; the last two go on beyond them. At most SIZES."""

    def c(self, counted: bool) -> CRoute:
        return CRoute(
            self.latency_ns,
            self.send_ns,
            self.receive_ns,
            self.gap_ns,
            self.byte_ns,
            self.eager_bytes,
            self.kept_bytes,
            int(self.held_by_sender) + 2 * int(self.held_by_receiver),
            int(counted),
            len(self.sizes),
            (ctypes.c_double * SIZES)(*(size for size, _ in self.sizes)),
            (ctypes.c_double * SIZES)(*(moved for _, moved in self.sizes)),
        )


ITSELF = Route(eager_bytes=float("inf"))
"""To oneself: no network."""


def as_bytes(route: Route, size: float) -> float:
    """The bytes for which a message of a size takes the link (ix_as_bytes of the engine)."""
    before = moved = 0.0
    slope = 1.0
    for known, as_many in route.sizes:
        slope = (as_many - moved) / (known - before)
        if size <= known:
            return moved + (size - before) * slope
        before, moved = known, as_many
    if slope <= 0:
        return moved * (size / before)
    return moved + (size - before) * slope


@dataclass(frozen=True)
class Network:
    """What messages within a node and between nodes take."""

    within: Route
    between: Route
    itself: Route = field(default=ITSELF)
    in_order: bool = True
    """Messages to one peer follow each other, as they do through one connection; else they share
    links as those to different peers do."""
    found_when_sent: bool = False
    """A receive from any source takes what was sent first, as in a simulator whose probe finds a
    message before it is there; else what is there first. Only farms ask (farm_order.py)."""
    in_turns: bool = False
    """Of two processes that leave a call at the same time the lower one is a little ahead."""

    @property
    def asks(self) -> bool:
        """Whether messages wait for answers that keep the order of their connection."""
        return any(
            r.held_by_sender and r.held_by_receiver and r.kept_bytes > r.eager_bytes
            for r in (self.within, self.between)
        )

    @property
    def takes_links(self) -> bool:
        """Whether messages are on links for any time."""
        return any(r.byte_ns > 0 or r.gap_ns > 0 for r in (self.within, self.between))

    def with_latency(self, latency_ns: float) -> Network:
        """Another L between nodes, and within where both are one network."""
        return self._with(latency_ns=latency_ns)

    def with_byte_ns(self, byte_ns: float) -> Network:
        return self._with(byte_ns=byte_ns)

    def _with(self, **changes: Any) -> Network:
        between = replace(self.between, **changes)
        within = between if self.within == self.between else self.within
        return replace(self, within=within, between=between)

    def faster(self, times: float) -> Network:
        """Everything takes so many times less."""

        def route(of: Route) -> Route:
            names = ("latency_ns", "byte_ns", "gap_ns", "send_ns", "receive_ns")
            return replace(of, **{name: getattr(of, name) / times for name in names})

        return replace(
            self,
            within=route(self.within),
            between=route(self.between),
            itself=route(self.itself),
        )

    def progressing(self, progress: str) -> Network:
        """`ideal`: whatever is posted moves; `none`: large messages move in calls alone."""
        held = progress == "none"
        change: dict[str, Any] = {"held_by_sender": held, "held_by_receiver": held}
        return replace(
            self,
            within=replace(self.within, **change),
            between=replace(self.between, **change),
        )


IDEAL = Network(ITSELF, ITSELF)
"""No latency and no end of bandwidth: what is left is waiting for each other."""


def route_of(network: Interconnect, eager_bytes: float = EAGER_BYTES) -> Route:
    """A described network, whose EEL has the overheads of both processors in it."""
    send = min(network.overhead_s, network.latency_s)
    receive = min(network.receive_overhead_s, network.latency_s - send)
    return Route(
        latency_ns=(network.latency_s - send - receive) * 1e9,
        byte_ns=network.gap_s_per_byte * 1e9,
        gap_ns=network.message_gap_s * 1e9,
        send_ns=send * 1e9,
        receive_ns=receive * 1e9,
        eager_bytes=eager_bytes,
    )


@dataclass(frozen=True)
class Replayed:
    """`end_ns` of each stream; of a traced replay the critical path (STRETCH, latest first)."""

    end_ns: FloatArray
    path: NDArray[np.void] | None = None

    @property
    def run_ns(self) -> float:
        """When the last stream ends."""
        return float(self.end_ns.max(initial=0.0))

    def total(self, part: str) -> float:
        """ns of a part of the path, or its number of `latencies` or `bytes`."""
        assert self.path is not None
        if part in PARTS:
            return float(self.path["ns"][:, PARTS.index(part)].sum())
        return float(self.path[part].sum())


class StuckError(ImbrexError):
    """Ranks that wait for ever, and where."""


class Replayer:
    """A schedule that is replayed again and again. Its memory: 8 bytes an operation, 18 more where
    a path was asked for, and 8 more where messages shared links on it; 24 more while messages wait
    for answers in order."""

    def __init__(self, schedule: ArraySchedule) -> None:
        self.schedule = schedule
        self._ops = np.ascontiguousarray(schedule.operations, OPERATION)
        self._first = np.ascontiguousarray(schedule.first, np.uint64)
        self._process = np.ascontiguousarray(schedule.rank, np.uint32)
        self._start = np.ascontiguousarray(schedule.start_ns, np.float64)
        self._node = np.ascontiguousarray(schedule.node, np.uint32)
        self._meetings = np.ascontiguousarray(schedule.meetings)
        self._members = np.ascontiguousarray(schedule.members, np.uint32)
        self._blocks = np.ascontiguousarray(schedule.blocks, np.float64)
        self._site = (
            None if schedule.site is None else np.ascontiguousarray(schedule.site, np.uint32)
        )
        self._time = np.empty(len(self._ops))
        self._shared: FloatArray | None = None
        self._traces: tuple[NDArray[np.generic], ...] | None = None
        self._c = CSchedule(
            ops=self._ops.ctypes.data,
            first=self._first.ctypes.data,
            process=self._process.ctypes.data,
            start_ns=self._start.ctypes.data,
            site=None if self._site is None else self._site.ctypes.data,
            meetings=self._meetings.ctypes.data,
            members=self._members.ctypes.data,
            blocks=self._blocks.ctypes.data,
            count=len(self._ops),
            streams=schedule.streams,
            processes=schedule.ranks,
            meeting_count=len(self._meetings),
        )

    def run(
        self,
        network: Network,
        *,
        free_site: int = -1,
        driven_site: int = -1,
        trace: bool = False,
        shared: bool = True,
        partial: bool = False,
    ) -> Replayed:
        """One replay; transfers of `free_site` take no time, those of `driven_site` are not held.

        `shared`: messages that are under way together share the links of their processes; without,
        they take that of their sender one after the other, which is what changes of latency and
        bandwidth are exact for. ImbrexError where ranks wait for ever: the schedule's messages are
        not those of a program. Of a `partial` one they end where they wait.
        """
        sharing = _ONE_BY_ONE
        if shared and network.takes_links:
            sharing = _IN_ORDER if network.in_order else _AT_ONCE
        c_network = self._c_network(network, free_site, driven_site, sharing)
        end = np.zeros(self.schedule.streams)
        times = CTimes(end_ns=end.ctypes.data, time_ns=self._time.ctypes.data)
        if trace:
            why, start_why, origin, parts, asked_from = self._trace_arrays()
            times.asked_from = asked_from.ctypes.data
            times.why, times.start_why = why.ctypes.data, start_why.ctypes.data
            times.origin, times.parts = origin.ctypes.data, parts.ctypes.data
        if trace and sharing != _ONE_BY_ONE:
            if self._shared is None:
                self._shared = np.zeros(len(self._ops))
            times.shared_ns = self._shared.ctypes.data
        self._once(c_network, times, partial)
        return Replayed(end, self._path(c_network, times) if trace else None)

    def run_ns_of(self, networks: Sequence[Network]) -> tuple[FloatArray, float]:
        """Run time on each of many networks that differ in latency and in the time per byte alone,
        with messages one after the other, and how often an operation was gone through, in the mean:
        once for up to LANES of them, and once more for each other order of messages that some of
        them have there (engine/orders.h). Equal to the last bit to a replay of each."""
        found = np.full(len(networks), np.nan)
        end = np.zeros(self.schedule.streams)
        times = CTimes(end_ns=end.ctypes.data, time_ns=self._time.ctypes.data)
        passes, most, most_bytes = 0.0, LANES, LANES_BYTES
        left = list(range(len(networks)))
        while left:
            now = left[:most]
            rows = [self._c_network(networks[k], -1, -1, _ONE_BY_ONE) for k in now]
            lanes = np.empty(-(-len(rows) // LANES_STEP) * LANES_STEP)
            of_lanes = (CNetwork * len(lanes))(*rows, *rows[-1:] * (len(lanes) - len(rows)))
            wide, stuck = CWide(of_lanes, len(lanes), most_bytes, lanes.ctypes.data), CStuck()
            result = engine().ix_replay_lanes(self._c, wide, times, stuck)
            once = wide.gone / max(len(self._ops), 1)
            passes += once
            if result == TOO_WIDE:
                most = len(lanes) // 4
                most_bytes = LANES_BYTES if most > _FEW_LANES else 1 << 62
                continue
            self._check(result, stuck, False)
            found[now] = lanes[: len(now)]
            left = left[most:]
            of_more_orders = [k for k in now if np.isnan(found[k])]
            if once < len(now) - len(of_more_orders):
                left = of_more_orders + left
                continue
            # Hardly two of them have the same order.
            for k in of_more_orders:
                found[k] = self.run(networks[k], shared=False).run_ns
                passes += 1.0
        return found, passes

    def _c_network(
        self, network: Network, free_site: int, driven_site: int, sharing: int
    ) -> CNetwork:
        return CNetwork(
            (
                network.itself.c(False),
                network.within.c(network.within == network.between),
                network.between.c(True),
            ),
            self._node.ctypes.data,
            free_site,
            driven_site,
            sharing,
            int(network.in_turns),
        )

    def _once(self, network: CNetwork, times: CTimes, partial: bool) -> None:
        stuck = CStuck()
        result = engine().ix_replay(self._c, network, times, stuck)
        self._check(result, stuck, partial)

    def _check(self, result: int, stuck: CStuck, partial: bool) -> None:
        if result < 0:
            raise ImbrexError("the replay ran out of memory")
        if result > 0 and not partial:
            raise StuckError(self._told(stuck))

    @property
    def time_ns(self) -> FloatArray:
        """Of the latest replay: when each send had arrived, each receive was posted, each
        collective was over for its rank."""
        return self._time

    def _trace_arrays(self) -> tuple[NDArray[np.generic], ...]:
        if self._traces is None:
            count = len(self._ops)
            self._traces = (
                np.zeros(count, np.uint8),
                np.zeros(count, np.uint8),
                np.zeros(count, np.uint32),
                np.zeros(5 * max(len(self._members), 1)),
                np.zeros(count, np.uint32),
            )
        return self._traces

    def _path(self, network: CNetwork, times: CTimes) -> NDArray[np.void]:
        room = 1 << 16
        while True:
            found = np.zeros(room, STRETCH)
            count = engine().ix_critical_path(self._c, network, times, found.ctypes.data, room)
            if count <= room:
                return found[:count]
            room = int(count)

    def _told(self, stuck: CStuck) -> str:
        operation = self._ops[stuck.op]
        number = int(stuck.op) - int(self._first[stuck.stream])
        rank = int(self._process[stuck.stream])
        kind_name = _KINDS[int(operation["kind"])]
        peer = int(operation["peer"])
        whom = f" (rank {int(self._process[peer])})" if operation["kind"] < Kind.MEET else ""
        return (
            f"rank {rank} waits for ever in operation {number + 1}, a {kind_name}{whom}: "
            "messages of the schedule are missing or wait for each other"
        )


def run_ns(schedule: ArraySchedule, network: Network) -> float:
    """Run time of one replay."""
    return Replayer(schedule).run(network).run_ns
