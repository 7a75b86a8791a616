"""The answer in a few sentences, for whoever reads no tables."""

from __future__ import annotations

from collections.abc import Sequence

from imbrex.diagnosis import wording
from imbrex.probe.answer import Answer
from imbrex.probe.point_to_point import EITHER, Operation
from imbrex.probe.ranges import Range

_WHO = {
    "MPI_Isend/MPI_Recv": ("an MPI_Isend reaches its receiver", "the sender"),
    "MPI_Send/MPI_Irecv": ("an MPI_Send into a posted MPI_Irecv is over", "the receiver"),
}
_RETURNS = "send_returns_before_match_late_bytes"
_MOVES = 0.6
"""As in the verdicts: a larger share of the data moves."""


def in_short(found: Answer) -> list[str]:
    """A sentence per finding, path by path; what could not be told is said, too."""
    sentences = []
    for path in found.profile.paths:
        mine = {o.operation: o for o in found.operations if o.path == path}
        several = sum(any(o.path == p for o in found.operations) for p in found.profile.paths) > 1
        where = f"{path}: " if several else ""
        for operation, (verb, who) in _WHO.items():
            if operation in mine and mine[operation].ranges:
                text = f"{verb} while {who} computes {_sizes(mine[operation].ranges, who)}"
                sentences.append(where + text + _with_calls(mine[operation], who))
        if EITHER in mine and mine[EITHER].ranges:
            sentences.append(where + _data(mine[EITHER].ranges[-1]))
        limit = found.profile.paths[path].limits.get(_RETURNS)
        if limit:
            text = f"a blocking MPI_Send returns before its receive is posted up to {limit:,} bytes"
            sentences.append(where + text)
        advice = _calls(found, path)
        if advice:
            sentences.append(where + advice)
    price = found.profile.thread_multiple
    if price is not None:
        added = wording.interval(price.lowest_s, price.highest_s)
        text = f"MPI_THREAD_MULTIPLE, which a progress thread needs, adds {added} to a call"
        if price.sendrecv_s is not None:
            text += f", {wording.interval(price.sendrecv_s, price.sendrecv_s)} to a blocking one"
        sentences.append(text)
    return [_sentence(s) for s in sentences]


def headline(found: Answer) -> str:
    """What becomes of large messages on the path that matters most: between nodes where there are
    any; empty where that was not measured."""
    order = {"inter-node": 0, "intra-node": 1}
    paths = sorted(found.profile.paths, key=lambda path: order.get(path, 2))
    for path in paths:
        mine = next((o for o in found.operations if (o.path, o.operation) == (path, EITHER)), None)
        if mine is None or not mine.ranges:
            continue
        where = {"inter-node": "Between nodes", "intra-node": "Within a node"}.get(path, path)
        text = f"{where}, {_data(mine.ranges[-1])}"
        calls = _calls(found, path)
        return f"{text}; {calls}." if calls.startswith("call ") else f"{text}."
    return ""


def _sentence(text: str) -> str:
    return text if text.startswith(("inter", "intra", "self")) else text[0].upper() + text[1:]


def _sizes(ranges: Sequence[Range], who: str) -> str:
    """`at all sizes`, `up to 65,480 bytes; beyond, ...`, or that it cannot be told."""
    first = next((r for r in ranges if r.synchronization is not True), None)
    after = ranges[ranges.index(first) + 1 :] if first else ()
    if first and first.synchronization is None and any(r.synchronization for r in after):
        # A gap, which a busy machine leaves among sizes that overlap, is told apart.
        end = f"from {first.from_bytes:,} to {after[0].from_bytes - 1:,} bytes it cannot be told"
        rest = [r for r in ranges if r is not first]
        return f"{_sizes(rest, who)} ({end})"
    if first is None:
        last = ranges[-1]
        if last.to_bytes is None:
            return "at all sizes"
        return f"up to {_bytes(last.to_bytes)}, the largest that was measured"
    if first.synchronization is None:
        begin = f"up to {first.from_bytes - 1:,} bytes, and beyond " if first.from_bytes > 1 else ""
        return f"{begin}it cannot be told: the machine was too busy"
    if first.from_bytes <= 1:
        return "at no size"
    return f"up to {first.from_bytes - 1:,} bytes; beyond, not before {who} calls MPI again"


def _with_calls(o: Operation, who: str) -> str:
    """What MPI_Test calls in the work change."""
    if not o.tested or all(r.synchronization for r in o.ranges):
        return ""
    if all(r.synchronization for r in o.tested) and o.tested[-1].to_bytes is None:
        return f" (with MPI_Test calls in the work of {who}: at all sizes)"
    return ""


def _bytes(size: int) -> str:
    return f"{size:,} byte{'s' * (size != 1)}"


def _reach(largest: Range) -> str:
    """The sizes of the largest messages; of a probe that was cut short as far as it came."""
    last = largest.to_bytes
    if last is None:
        return f"from {largest.from_bytes:,} bytes on" if largest.from_bytes > 1 else "at all sizes"
    begin = f"from {largest.from_bytes:,} " if largest.from_bytes > 1 else "up "
    return f"{begin}to {_bytes(last)}, the largest that was measured,"


def _data(largest: Range) -> str:
    """What happens to the data of the largest messages."""
    of = f"{_reach(largest)} the data move"
    moved = largest.moved
    if largest.transfer_class == "third-party":
        return f"{of} by themselves while both sides compute"
    if largest.transfer_class == "two-sided":
        return (
            f"{of} only while both sides are inside MPI: work between start and wait hides "
            "next to nothing of them"
        )
    if largest.transfer_class == "one-sided":
        shares = (("sender", moved.sender_computing), ("receiver", moved.receiver_computing))
        may = [name for name, share in shares if share is not None and share > _MOVES]
        other = {"sender": "receiver", "receiver": "sender"}
        if len(may) == 1:
            return f"{of} while the {may[0]} computes, if the {other[may[0]]} is inside MPI"
        return f"{of} while one side computes, if the other is inside MPI"
    return f"{of} in a way that could not be told for certain"


def _calls(found: Answer, path: str) -> str:
    """How often to call MPI_Test during work."""
    progress = found.progress.get(path, ())
    interval = found.interval_s.get(path)
    if interval is not None:
        cost = found.test_cost_s.get(path, {}).get("MPI_Test", 0.0)
        return (
            f"call MPI_Test about every {interval * 1e6:,.0f} us during work "
            f"(a call costs {cost * 1e6:.2f} us)"
        )
    if progress and all(p.needed == 0 for p in progress):
        return "no MPI_Test is needed during work, data move by themselves"
    if progress:
        return "no number of MPI_Test calls during work hides large messages completely"
    return ""
