"""The call sites of a recorded run: what each could hide, and what limits it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from imbrex.mpi_facts import blocking_form
from imbrex.network.interconnect import Interconnect
from imbrex.network.message import MODES, IndependentWork, Message
from imbrex.network.points import points
from imbrex.profile.recording import RecordedMessage, RecordedRun
from imbrex.replay.collective_cost import collective_cost, mean_bytes

# Below this share of the delay, work is none worth the name.
_NOTHING = 0.01
_REVERSED = -0.5


@dataclass(frozen=True)
class Exchange:
    """A send of one rank together with the receive that takes it."""

    send: RecordedMessage
    receive: RecordedMessage
    message: Message


@dataclass(frozen=True)
class SitePotential:
    """All messages that one call site sends."""

    site: str
    exchanges: tuple[Exchange, ...]

    @property
    def calls(self) -> int:
        return sum(e.send.calls for e in self.exchanges)

    @property
    def bytes(self) -> int:
        return sum(e.send.calls * e.send.size_bytes for e in self.exchanges)

    @property
    def receive_sites(self) -> list[str]:
        return list(dict.fromkeys(e.receive.site for e in self.exchanges))

    @property
    def watched(self) -> bool:
        """Whether single elements of all its messages were timed (docs/theory/recorder.md)."""
        return all(e.send.watched and e.receive.watched for e in self.exchanges)


def exchanges_of(run: RecordedRun) -> list[Exchange]:
    """Every recorded send of data whose receive was recorded, as a message of the model."""
    found = []
    for messages in run.messages.values():
        for send in messages:
            receive = run.receive_of(send) if send.is_send else None
            if receive is not None and send.elements:
                found.append(Exchange(send, receive, model_message(send, receive)))
    return found


def model_message(send: RecordedMessage, receive: RecordedMessage) -> Message:
    """The message in the terms of Sancho et al., section 3.1."""
    return Message(
        name=f"{send.site} to {send.peer}, tag {send.tag}",
        n_sent=send.elements,
        element_bytes=send.element_bytes,
        count=float(send.calls),
        t_produce_s=send.period_ns * 1e-9,
        t_consume_s=receive.period_ns * 1e-9,
        n_produced=send.elements,
        n_consumed=receive.elements,
        produced_at=send.position,
        consumed_at=receive.position,
        independent=IndependentWork(
            after_produce_s=send.beside_ns * 1e-9, before_consume_s=receive.beside_ns * 1e-9
        ),
    )


def sites_of(run: RecordedRun) -> list[SitePotential]:
    """The sending call sites, those that send most first."""
    groups: dict[str, list[Exchange]] = {}
    for exchange in exchanges_of(run):
        groups.setdefault(exchange.send.site, []).append(exchange)
    sites = [SitePotential(site, tuple(found)) for site, found in groups.items()]
    return sorted(sites, key=lambda site: site.bytes, reverse=True)


def site_json(site: SitePotential, network: Interconnect, blind: bool = False) -> dict[str, Any]:
    """Potential, delay and normalized overlap of one call of a site: means over its calls, in s.

    `least_potential_s` is that of the message that has least.
    """
    at = [points(network.of_size(e.send.size_bytes)) for e in site.exchanges]
    weight = np.array([e.send.calls for e in site.exchanges], dtype=np.float64)
    weight /= weight.sum()
    potential = {
        mode: np.array([e.message.potential_s(mode, network.message_gap_s) for e in site.exchanges])
        for mode in MODES
    }
    exposed = {
        mode: np.array(
            [
                float(e.message.exposed_s(mode, here))
                for e, here in zip(site.exchanges, at, strict=True)
            ]
        )
        for mode in MODES
    }
    delay = np.array(
        [float(e.message.delay_s(here)) for e, here in zip(site.exchanges, at, strict=True)]
    )
    mean_delay = float(delay @ weight)
    return {
        "site": site.site,
        "receive_sites": site.receive_sites,
        "calls": site.calls,
        "bytes": site.bytes,
        "times": "watched" if site.watched else "counted",
        "delay_s": mean_delay,
        "potential_s": {mode: float(values @ weight) for mode, values in potential.items()},
        "least_potential_s": {mode: float(values.min()) for mode, values in potential.items()},
        "exposed_s": {mode: float(values @ weight) for mode, values in exposed.items()},
        "normalized_overlap": {
            mode: float(values @ weight) / mean_delay if mean_delay > 0 else None
            for mode, values in potential.items()
        },
        "limit": limit_of(site, network, blind),
    }


def collective_sites(run: RecordedRun, network: Interconnect) -> list[dict[str, Any]]:
    """The collective call sites, those with most time first (s): what there is beside one call.

    `independent_s` is T_AP of what ranks contribute and T_AC of what they obtain, means over calls:
    what could hide the call if it were made nonblocking. No mode of the replay hides it.
    """
    groups: dict[tuple[str, str], list[RecordedMessage]] = {}
    for buffers in run.collectives.values():
        for buffer in buffers:
            groups.setdefault((buffer.site, buffer.operation), []).append(buffer)
    found = []
    for (site, operation), buffers in groups.items():
        size = mean_bytes(buffers).get(operation, 0.0)
        processes = max(b.processes for b in buffers) or len(run.ranks)
        cost = collective_cost(blocking_form(operation), processes, size)
        delay = float(cost.seconds(points(network))) if cost else 0.0
        independent = 0.0
        for is_send in (True, False):
            own = [b for b in buffers if b.is_send == is_send]
            calls = sum(b.calls for b in own)
            if calls:
                independent += sum(b.calls * b.beside_ns for b in own) * 1e-9 / calls
        # A site has a buffer for each size that it sends or obtains.
        by_side = Counter[tuple[int, bool]]()
        for b in buffers:
            by_side[b.rank, b.is_send] += b.calls
        calls = max(by_side.values())
        row = {"site": site, "operation": operation, "calls": calls, "delay_s": delay}
        found.append(row | {"independent_s": independent, "limit": "collective"})
    return sorted(found, key=lambda row: row["calls"] * row["delay_s"], reverse=True)


def limit_of(site: SitePotential, network: Interconnect, blind: bool = False) -> str:
    """What keeps most of a site's data from being hidden by independent work; "" if nothing.

    `blind`: of a recording that did not see all.
    """
    reasons: dict[str, float] = {}
    for e in site.exchanges:
        reason = _limit(e, network, blind)
        reasons[reason] = reasons.get(reason, 0.0) + e.send.calls * e.send.size_bytes
    return max(reasons, key=lambda reason: reasons[reason])


def _limit(exchange: Exchange, network: Interconnect, blind: bool) -> str:
    message = exchange.message
    at = points(network.of_size(exchange.send.size_bytes))
    delay = float(message.delay_s(at))
    independent = message.potential_s("independent")
    if independent >= delay:
        return ""
    if blind and not (exchange.send.known.size and exchange.receive.known.size):
        return "its buffer is used by code that was not recorded"
    if not exchange.send.known.size:
        return "nobody was seen to write what it sends"
    if not exchange.receive.known.size:
        return "nobody was seen to read what it brings"
    if independent < _NOTHING * delay:
        gained = float(message.exposed_s("fine-grained", at)) < 0.9 * delay
        if not gained and _reversed(message):
            return "no independent work, and the order of elements is reversed"
        return "no independent work"
    if independent < network.latency_s:
        return "less independent work than the latency alone"
    return "less independent work than the transfer takes"


def _reversed(message: Message) -> bool:
    """Whether what is produced last is needed first."""
    produced, consumed = message.produced_at, message.consumed_at
    if produced.size < 2:
        return False
    return float(np.corrcoef(produced, consumed)[0, 1]) < _REVERSED
