"""From recorded ranks to files: messages.json, elements.npy, and a model that predict reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imbrex.profile.recording_format import ELEMENTS_DTYPE
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site
from imbrex.recorder.blind_spots import blind_spots, is_blind
from imbrex.recorder.rank_record import RankRecord, Recorded

_ANY = (-1, -2)  # MPI_ANY_SOURCE and MPI_ANY_TAG of the MPI libraries known


@dataclass(frozen=True)
class Pair:
    """A send and the receive that takes it."""

    send: Recorded
    receive: Recorded


def matching_receive(send: Recorded, ranks: Mapping[int, RankRecord]) -> Recorded | None:
    """The receive of the same tag and size at the peer; peers are ranks of MPI_COMM_WORLD."""
    if send.peer not in ranks:
        return None
    candidates = [
        message
        for message in ranks[send.peer].messages
        if not message.is_send
        and message.calls
        and message.peer in (send.rank, *_ANY)
        and message.tag in (send.tag, *_ANY)
        and message.elements * message.element_bytes == send.elements * send.element_bytes
        and message.elements == send.elements
    ]
    exact = [message for message in candidates if message.calls == send.calls]
    return next(iter([*exact, *candidates]), None)


def worst_rank(ranks: Sequence[RankRecord]) -> RankRecord:
    """The rank that sends most data (the paper's worst process, section 3.1)."""

    def sent(rank: RankRecord) -> int:
        return sum(m.calls * m.elements * m.element_bytes for m in rank.messages if m.is_send)

    return max(ranks, key=sent)


def name_sites(ranks: Sequence[RankRecord]) -> dict[tuple[str, int], str]:
    """file:line (or function) of every call site, and of code that touched messages, by image and
    offset."""
    places = sorted(
        {
            place
            for rank in ranks
            for m in rank.buffers
            for place in (
                (m.image, m.offset),
                *(touch.code for touch in m.touched),
                *(touch.call for touch in m.touched if touch.call),
            )
        }
    )
    sites = [Site(id=i + 1, image=image, offset=o) for i, (image, o) in enumerate(places)]
    return {place: site.label for place, site in zip(places, resolve_sites(sites), strict=True)}


def messages_json(
    ranks: Sequence[RankRecord], names: Mapping[tuple[str, int], str]
) -> dict[str, Any]:
    """The document of messages.json; times in seconds."""
    return {
        "format": "imbrex-recording",
        "schema_version": 1,
        "not_recorded": blind_spots(ranks),
        "watchpoints": all(rank.watchpoints for rank in ranks),
        "sites": sites_json(ranks, names),
        "ranks": [
            {
                "rank": rank.rank,
                "compute_s": rank.compute_ns * 1e-9,
                "accesses": rank.accesses,
                "dropped": rank.dropped,
                "threads": rank.threads,
                "groups": list(rank.groups),
                "messages": [_message_json(message, names) for message in rank.messages],
                "collectives": [_message_json(message, names) for message in rank.collectives],
            }
            for rank in ranks
        ],
    }


def sites_json(
    ranks: Sequence[RankRecord], names: Mapping[tuple[str, int], str]
) -> list[dict[str, Any]]:
    """How far messages of one call site differ over ranks: the least, the mean and the most of each
    time (s), of those messages of which any element was seen. In order of appearance."""
    groups: dict[tuple[str, bool], list[Recorded]] = {}
    for rank in ranks:
        for message in rank.buffers:
            if message.seen.any():
                key = names[(message.image, message.offset)], message.is_send
                groups.setdefault(key, []).append(message)
    return [
        {
            "site": site,
            "kind": "send" if is_send else "receive",
            "ranks": len({m.rank for m in messages}),
            "messages": len(messages),
            "t_produce_s" if is_send else "t_consume_s": _range([m.period_ns for m in messages]),
            "after_produce_s" if is_send else "before_consume_s": _range(
                [m.beside_ns for m in messages]
            ),
        }
        for (site, is_send), messages in groups.items()
    ]


def _range(values_ns: Sequence[float]) -> dict[str, float]:
    values = np.array(values_ns) * 1e-9
    return {"least": float(values.min()), "mean": float(values.mean()), "most": float(values.max())}


def _message_json(message: Recorded, names: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    known = np.sort(message.time_ns[~np.isnan(message.time_ns)])
    side = "produce" if message.is_send else "consume"
    beside = "after_produce_s" if message.is_send else "before_consume_s"
    spread = message.spread_ns[message.seen > 0]
    return {
        "kind": "send" if message.is_send else "receive",
        "operation": message.operation,
        "site": names[(message.image, message.offset)],
        "peer": message.peer,
        "tag": message.tag,
        "thread": message.thread,
        "communicator": message.communicator,
        "processes": message.processes,
        "elements": message.elements,
        "element_bytes": message.element_bytes,
        "calls": message.calls,
        "seen": int((message.seen > 0).sum()),
        f"t_{side}_s": message.period_ns * 1e-9,
        beside: message.beside_ns * 1e-9,
        "spread_s": float(spread.mean()) * 1e-9 if spread.size else None,
        "times": "watched" if message.samples else "counted",
        "samples": message.samples,
        "through_copy": message.copied,
        "written_unseen": message.unseen,
        "touched_by": [
            {
                "library": touch.code[0],
                "function": names[touch.code],
                "call": names[touch.call] if touch.call else None,
                "samples": touch.samples,
            }
            for touch in message.touched
            if is_blind(touch.code[0])
        ],
        # Figure 1: by when which share of the elements was produced (from the first write on,
        # negative: before the send) or consumed (after the arrival).
        "curve": [
            {"share": share / 10, "time_s": float(time) * 1e-9}
            for share, time in enumerate(_deciles(-known[::-1] if message.is_send else known))
        ],
    }


def _deciles(times: Any) -> Any:
    return np.quantile(times, np.linspace(0, 1, 11)) if times.size else np.zeros(0)


def elements_table(ranks: Sequence[RankRecord]) -> Any:
    """elements.npy: one row per rank, message and element. Messages are numbered as in
    messages.json, those of collectives behind the others."""
    parts = []
    for rank in ranks:
        for index, message in enumerate(rank.buffers):
            part = np.zeros(message.elements, ELEMENTS_DTYPE)
            part["rank"], part["message"] = rank.rank, index
            part["element"] = np.arange(message.elements)
            part["position"], part["seen"] = message.order, message.seen
            part["accesses"], part["counted_ns"] = message.accesses, message.counted_ns
            part["time_ns"], part["spread_ns"] = message.time_ns, message.spread_ns
            parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0, ELEMENTS_DTYPE)


def _order_text(message: Recorded) -> str:
    order = message.order
    forward = np.arange(order.size)
    if (order == forward).all():
        return '"forward"'
    if (order == forward[::-1]).all():
        return '"reverse"'
    return f"[{', '.join(map(str, order.tolist()))}]"


def microseconds(ns: float) -> str:
    """A time in ns as the microseconds of a parameter file."""
    return repr(round(ns * 1e-3, 6))


def model_toml(
    title: str, ranks: Sequence[RankRecord], names: Mapping[tuple[str, int], str]
) -> str | None:
    """A parameter file of the rank that sends most, one iteration of it.

    An iteration is what lies between two calls of its most frequent send. None where no send was
    recorded together with its receive.
    """
    by_rank = {rank.rank: rank for rank in ranks}
    worst = worst_rank(ranks)
    pairs = [
        Pair(send, receive)
        for send in worst.messages
        if send.is_send
        and send.elements
        and (receive := matching_receive(send, by_rank)) is not None
    ]
    if not pairs:
        return None
    iterations = max(pair.send.calls for pair in pairs)
    leading = next(pair.send for pair in pairs if pair.send.calls == iterations)
    computation_ns = (
        (leading.last_ns - leading.first_ns) / (iterations - 1)
        if iterations > 1
        else worst.compute_ns
    )
    lines = [
        'format = "imbrex-model"',
        "schema_version = 1",
        f"title = {json.dumps(title)}",
        "",
        "[[application]]",
        f"name = {json.dumps(f'rank {worst.rank}')}",
        f"computation_us = {microseconds(max(computation_ns, 1e-3))}",
    ]
    for number, pair in enumerate(pairs):
        send, receive = pair.send, pair.receive
        site = names[(send.image, send.offset)]
        # Beside times that leave the iteration are of the one before: no more than it all.
        after = min(send.beside_ns, computation_ns)
        before = min(receive.beside_ns, computation_ns - after)
        lines += [
            "",
            "[[application.message]]",
            f"name = {json.dumps(f'{number}: {site} to {send.peer}, tag {send.tag}')}",
            f"count = {send.calls / iterations!r}",
            f"n_sent = {send.elements}",
            f"element_bytes = {send.element_bytes}",
            f"t_produce_us = {microseconds(send.period_ns)}",
            f"t_consume_us = {microseconds(receive.period_ns)}",
            f"after_produce_us = {microseconds(after)}",
            f"before_consume_us = {microseconds(max(before, 0.0))}",
            f"produce_order = {_order_text(send)}",
            f"consume_order = {_order_text(receive)}",
        ]
    return "\n".join(lines) + "\n"
