"""The networks that a run is replayed on: as it was measured, and others with its ranks placed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect, load_interconnects
from imbrex.network.profile import LogGP, MachineProfile, NetworkPath
from imbrex.network.quality import was_busy
from imbrex.network.reading import load
from imbrex.profile.run import Run
from imbrex.replay.ahead import Sent, ahead_bytes, pass_ahead
from imbrex.replay.arrays import PAGE, ArraySchedule, Flag, FloatArray, Kind
from imbrex.replay.compiled import SIZES
from imbrex.replay.evaluate import EAGER_BYTES, ITSELF, Network, Route, as_bytes, route_of

PROGRESS = ("probed", "ideal", "none")
AS_MEASURED = "as measured"
_MOVES = 0.5
_WHOLE = 0.9
"""A tail of so much of a transfer is all of it."""


@dataclass(frozen=True)
class Situation:
    """A network by name, with its figures between nodes, and where the ranks are on it."""

    name: str
    interconnect: Interconnect
    network: Network
    node: tuple[int, ...]
    copies: Route = ITSELF
    """What a message of a process to itself takes of the processor."""

    @property
    def on_one_node(self) -> bool:
        return len(set(self.node)) == 1

    def on_one_path(self) -> Situation:
        """With the path that the ranks talk through as `between`, also where they share a node."""
        if not self.on_one_node:
            return self
        within = self.network.within
        return replace(self, network=Network(within, within, self.network.itself))

    def place(self, schedule: ArraySchedule) -> ArraySchedule:
        """The schedule with its ranks on the nodes, and with the time of copies before the sends of
        messages to oneself: no network makes them shorter, and nothing is computed beside them."""
        placed = replace(schedule, node=np.array(self.node, np.uint32))
        copied_ns = self._copied_ns(schedule)
        if not copied_ns.any():
            return placed
        operations = schedule.operations.copy()
        whole = operations["calc_ns"] + np.round(copied_ns)
        operations["calc_ns"] = np.minimum(whole, np.iinfo(np.uint32).max)
        return replace(placed, operations=operations)

    def _copied_ns(self, schedule: ArraySchedule) -> FloatArray:
        """By operation."""
        operations, route = schedule.operations, self.copies
        starts = schedule.first.astype(np.int64)
        rank = np.repeat(schedule.rank, np.diff(starts))
        sends = np.flatnonzero(operations["kind"] == Kind.SEND)
        own = sends[rank[sends] == schedule.rank[operations["peer"][sends]]]
        size = operations["bytes"][own].astype(np.float64)
        size[(operations["flags"][own] & Flag.PAGES) != 0] *= PAGE
        sizes, which = np.unique(size, return_inverse=True)
        moved = np.array([as_bytes(route, of) for of in sizes.tolist()])
        found = np.zeros(len(operations))
        end_to_end = route.send_ns + route.latency_ns + route.receive_ns
        found[own] = end_to_end + route.byte_ns * moved[which]
        return found


def situations(
    run: Run,
    names: tuple[str, ...],
    interconnects: list[Interconnect],
    progress: str,
    ranks_per_node: int | None,
    messages: Sent | None = None,
) -> list[Situation]:
    """As measured, where the run has a profile; then the networks asked for, or `interconnects`.

    Elsewhere the processors of one node talk as they did here, and each rank has a node of its own
    unless `ranks_per_node` says otherwise. The library moves messages as it did here, but on a
    machine that a profile describes. `messages` are those of the run, which may pass ahead of a
    link's rate.
    """
    profile = _profile(run.directory / "machine.json")
    ranks = len(run.ranks)
    _, hosts = np.unique(run.ranks["host"], return_inverse=True)
    within = measured_route(profile, "intra-node", progress) if profile else None
    here = tuple(hosts.tolist()) if ranks_per_node is None else _placed(ranks, ranks_per_node)
    between = measured_route(profile, "inter-node", progress, messages, here) if profile else None
    class_of = between or within or Route()
    found = []
    if within or between:
        path = "inter-node" if len(set(hosts.tolist())) > 1 and between else "intra-node"
        found.append(
            Situation(
                f"{AS_MEASURED} ({path})",
                _measured(run.directory / "machine.json", path),
                in_order(within or class_of, between or class_of),
                here,
                to_itself(profile),
            )
        )
    away = elsewhere(
        ranks, names, interconnects, progress, ranks_per_node, class_of, within, messages
    )
    # A copy takes what it takes here, but on a machine whose profile says otherwise.
    copies = to_itself(profile)
    found += [each if each.copies != ITSELF else replace(each, copies=copies) for each in away]
    if not found:
        raise ImbrexError(f"{run.directory}: no network to replay it on: name one with --network")
    return found


def elsewhere(
    ranks: int,
    names: tuple[str, ...],
    interconnects: list[Interconnect],
    progress: str,
    ranks_per_node: int | None,
    library: Route,
    within: Route | None = None,
    messages: Sent | None = None,
) -> list[Situation]:
    """The networks of `names`, or `interconnects` where there are none; on them messages move as on
    `library`, and within a node as on `within`, or as between nodes."""
    found: list[Situation] = []
    there: list[Interconnect] = []
    for name in names:
        if Path(name).suffix == ".json":
            found += _of_profile(Path(name), ranks, progress, ranks_per_node, messages)
        else:
            there += load_interconnects(name)
    alone = _placed(ranks, ranks_per_node or 1)
    for network in there if names else interconnects:
        limit = network.eager_limit_bytes
        route = replace(
            route_of(network, library.eager_bytes if limit is None else limit),
            held_by_sender=library.held_by_sender,
            held_by_receiver=library.held_by_receiver,
            kept_bytes=library.kept_bytes,
        )
        found.append(Situation(network.name, network, in_order(within or route, route), alone))
    return found


def _placed(ranks: int, ranks_per_node: int) -> tuple[int, ...]:
    return tuple(rank // ranks_per_node for rank in range(ranks))


def _of_profile(
    file: Path,
    ranks: int,
    progress: str,
    ranks_per_node: int | None,
    messages: Sent | None,
) -> list[Situation]:
    """Another machine by its profile, whose library moves messages as the probe saw there: with a
    rank on each node, and with all of them on one."""
    profile = load(file)
    within = measured_route(profile, "intra-node", progress)
    found = []
    for network in load_interconnects(str(file)):
        path = "intra-node" if network.name.endswith("intra-node") else "inter-node"
        node = _placed(ranks, ranks_per_node or (ranks if path == "intra-node" else 1))
        route = measured_route(profile, path, progress, messages, node)
        if route is None:
            continue
        there = in_order(within or route, route)
        found.append(Situation(network.name, network, there, node, to_itself(profile)))
    if not found:
        raise ImbrexError(f"{file}: holds no LogGP figures; run imbrex calibrate again")
    return found


def made_while_busy(run: Run) -> bool:
    """Whether the machine was busy when the profile of a run was made."""
    profile = _profile(run.directory / "machine.json")
    return profile is not None and was_busy(profile)


def _profile(file: Path) -> MachineProfile | None:
    return load(file) if file.exists() else None


def _measured(file: Path, path: str) -> Interconnect:
    networks = load_interconnects(str(file))
    return next((n for n in networks if n.name.endswith(path)), networks[0])


def measured_route(
    profile: MachineProfile,
    name: str,
    progress: str,
    messages: Sent | None = None,
    node: tuple[int, ...] = (),
) -> Route | None:
    """LogGP of a path of a machine profile, and who has to be inside MPI; None: not known. With the
    messages of ranks on nodes, small ones may pass ahead of the rate (ahead.py)."""
    path = profile.paths.get(name)
    if path is None or path.loggp is None:
        return None
    loggp = path.loggp
    passes = messages is not None and pass_ahead(path, messages, node)
    byte_s, sizes = time_of_sizes(path, loggp, ahead_bytes(path) if passes else 0)
    by_sender, by_receiver = _held(path, progress)
    return Route(
        latency_ns=max(loggp.EEL_s - loggp.o_s_s - loggp.o_r_s, 0.0) * 1e9,
        byte_ns=byte_s * 1e9,
        gap_ns=loggp.g_s * 1e9,
        send_ns=loggp.o_s_s * 1e9,
        receive_ns=loggp.o_r_s * 1e9,
        eager_bytes=_eager(path),
        held_by_sender=by_sender,
        held_by_receiver=by_receiver,
        kept_bytes=kept_bytes(path),
        sizes=sizes,
    )


def to_itself(profile: MachineProfile | None) -> Route:
    """What the calibration says that messages of a process to itself take."""
    return (profile and measured_route(profile, "self", "ideal")) or ITSELF


def time_of_sizes(
    path: NetworkPath, loggp: LogGP, ahead: int = 0
) -> tuple[float, tuple[tuple[float, float], ...]]:
    """G of the largest message that was measured, and for how many of its bytes others take.

    One line through all sizes follows the small ones, of which there are more: on a network with a
    burst of 128 KiB ahead of its rate, or whose large messages ask first, it is far too fast for
    the large ones. Sizes whose time no message of a larger one undercuts are kept. Those of up to
    `ahead` bytes take the shortest time.
    """
    known = [
        (p.size_bytes, ((p.size_bytes <= ahead and p.least_s) or p.median_s) - loggp.EEL_s)
        for p in path.points
        if p.median_s
    ]
    if len(known) < 2 or known[-1][1] <= 0:
        return loggp.G_s_per_byte, ()
    size, most_s = known[-1]
    byte_s = most_s / size
    least_s, sizes = most_s, list[tuple[float, float]]()
    for size, time_s in reversed(known):
        least_s = min(least_s, max(time_s, 0.0))
        sizes.append((float(size), least_s / byte_s))
    step = -(-len(sizes) // SIZES)
    return byte_s, tuple(reversed(sizes[::step]))


def _eager(path: NetworkPath) -> float:
    """The largest size of which a send was seen to return before its receive was posted. Where that
    could not be told of any size below those that wait, as on a busy machine, all of these do:
    libraries differ in where it ends, not in whether the smallest messages leave at once."""
    told = [p for p in path.points if p.send_returns_before_match is not None]
    if not told:
        return EAGER_BYTES
    waits = [p.size_bytes for p in told if not p.send_returns_before_match]
    if not waits:
        return float("inf")
    below = [p for p in path.points if p.size_bytes < min(waits)]
    returns = [p.size_bytes for p in below if p.send_returns_before_match]
    return float(max(returns or (p.size_bytes for p in below), default=0))


def in_order(within: Route, between: Route) -> Network:
    """Where answers keep the order of a connection, two sides that exchange in step do not stay so:
    the least disturbance makes one direction wait for the other, from then on."""
    network = Network(within, between)
    return replace(network, in_turns=network.asks)


def kept_bytes(path: NetworkPath) -> float:
    """Up to which size a message may be under way whole when its send is over: its tail is as long
    as the message. Where it is so of the largest that was measured, of larger ones too."""
    whole = [p.size_bytes for p in path.points if (p.tail_s or 0.0) >= _WHOLE * p.x_hi_s]
    if not whole or max(whole) < path.points[-1].size_bytes:
        return float(max(whole, default=0))
    return float("inf")


def _held(path: NetworkPath, progress: str) -> tuple[bool, bool]:
    """Who must be in MPI for large data to move: the sender, the receiver."""
    if progress != "probed":
        return progress == "none", progress == "none"
    if path.handshakes:
        asked = max(path.handshakes, key=lambda handshake: handshake.size_bytes)
        return asked.sender, asked.receiver
    if not path.rates:
        return False, False
    large = max(path.rates, key=lambda rates: rates.size_bytes)

    def moves(rate: object) -> bool:
        low, high = getattr(rate, "lowest", 0.0), getattr(rate, "highest", 0.0)
        return (low + high) / 2 >= _MOVES

    if moves(large.neither):
        return False, False
    # Whoever is in MPI alone and does not move it needs the other.
    return not moves(large.receiver), moves(large.receiver) or not moves(large.sender)
