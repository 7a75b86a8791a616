"""What the recorder left of each rank: messages, elements and the times that were watched."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site
from imbrex.recorder.trace import clean_call, function_name, name_hash

FloatArray = NDArray[np.float64]

# ixa_element_t of runtime/access/messages.h
_ELEMENT = np.dtype(
    [
        ("accesses", "<f8"),
        ("ns", "<f8"),
        ("ns_squared", "<f8"),
        ("count", "<u4"),
        ("other", "<u4"),
    ]
)


@dataclass(frozen=True)
class Touch:
    """Code of another image than the message's call site that touched it in the timed run: where,
    the return address of the call that led there (None: not found), in how many samples."""

    code: tuple[str, int]
    call: tuple[str, int] | None
    samples: int


@dataclass(frozen=True)
class Recorded:
    """One message of one rank, seen from one side. Arrays have shape (elements,).

    Times run back from the send (produced) or on from the arrival (consumed), in computation of
    the clean run; NaN for elements that were never seen written (read). `counted_ns` takes all
    accesses of an interval for equally long; `time_ns` is that, corrected by the `samples` times
    of single elements that the clean run measured (0: not corrected). `copied`: of the memory that
    elements were packed from, or unpacked to. `unseen`: elements, over all sends, that had changed
    although nobody was seen to write them. `communicator`: equal for messages of one, on this rank;
    `processes`: how many it has (0: not known). `before`: how many came before recording began.
    """

    rank: int
    is_send: bool
    peer: int
    tag: int
    image: str
    offset: int
    element_bytes: int
    calls: int
    first_ns: float
    last_ns: float
    accesses: FloatArray
    counted_ns: FloatArray
    time_ns: FloatArray
    spread_ns: FloatArray
    seen: NDArray[np.uint32]
    samples: int
    operation: str = ""
    collective: bool = False
    copied: bool = False
    unseen: int = 0
    touched: tuple[Touch, ...] = ()
    thread: int = 0
    communicator: int = 0
    processes: int = 0
    before: int = 0

    @property
    def elements(self) -> int:
        return int(self.seen.size)

    @property
    def order(self) -> NDArray[np.int64]:
        """P(i) or C(i): the position of every element in the order of production or consumption.

        Elements never seen come first in production and last in consumption: nothing waits for
        them. Elements of equal time keep the buffer's order. Shape (elements,).
        """
        key = -self.accesses if self.is_send else self.accesses
        unknown = -np.inf if self.is_send else np.inf
        key = np.where(np.isnan(key), unknown, key)
        positions = np.empty(self.elements, dtype=np.int64)
        ranking = np.lexsort((np.arange(self.elements), key))
        positions[ranking] = np.arange(self.elements)
        return positions

    @property
    def beside_ns(self) -> float:
        """T_AP or T_AC: from the last write to the send, from the arrival to the first read."""
        return 0.0 if not self.seen.any() else max(float(np.nanmin(self.time_ns)), 0.0)

    @property
    def period_ns(self) -> float:
        """T_P or T_C: mean time between two elements of the message (section 3.1)."""
        known = self.time_ns[~np.isnan(self.time_ns)]
        return float((known.max() - known.min()) / (known.size - 1)) if known.size > 1 else 0.0


@dataclass(frozen=True)
class RankRecord:
    """One rank: its computation (ns, clean), and in order of appearance its point-to-point messages
    and the buffers of its collectives; the libraries that were loaded; and the groups of processes,
    other than all, that made collective calls: `members` (a hash, 0: not known) and `size`."""

    rank: int
    compute_ns: float
    accesses: int
    dropped: int
    watchpoints: bool
    messages: tuple[Recorded, ...]
    collectives: tuple[Recorded, ...] = ()
    images: tuple[str, ...] = ()
    threads: int = 1
    groups: tuple[dict[str, int], ...] = ()
    collectives_before: int = 0
    """How many collectives came before recording began."""
    still_recorded: float = 0.0
    untimed: float = 0.0
    """As switched.shares_of_plain_code says; 0 where plain code had a run of its own."""

    @property
    def buffers(self) -> tuple[Recorded, ...]:
        """Messages, then the buffers of collectives: as elements.npy numbers them."""
        return (*self.messages, *self.collectives)


def correct_times(counted: FloatArray, places: FloatArray, times: FloatArray) -> FloatArray:
    """Times of elements from their counted times and some that were measured.

    `places` and `times`, shape (anchors,), are counted and measured times of the same elements.
    Between two anchors, and beyond the outer ones, the map is linear; later stays later.
    One anchor shifts; none changes nothing. Shape and NaNs of `counted`, in ns, at least 0.
    """
    if places.size == 0:
        return counted
    order = np.lexsort((times, places))
    x, inverse = np.unique(places[order], return_inverse=True)
    y = np.bincount(inverse, weights=times[order]) / np.bincount(inverse)
    y = _increasing(y)
    if x.size == 1:
        shifted: FloatArray = np.maximum(counted + (y[0] - x[0]), 0.0)
        return shifted
    result = np.interp(counted, x, y)
    overall = (y[-1] - y[0]) / (x[-1] - x[0])
    result = np.where(counted < x[0], y[0] - overall * (x[0] - counted), result)
    result = np.where(counted > x[-1], y[-1] + overall * (counted - x[-1]), result)
    return np.where(np.isnan(counted), np.nan, np.maximum(result, 0.0))


def without_copying(times: FloatArray, copies: FloatArray) -> FloatArray:
    """Times of elements that were followed through copies, less the copying that no order saves.

    A message cannot leave before it is packed, nor be read before it is unpacked. At best each
    element is copied where it is written, or read: then only the copies of those with a shorter
    time lie between it and the message, of all that do now. The others are no work that could hide
    the message. `copies`: when each was copied, on the same clock; shape and NaNs as in `times`.
    """
    own, made = np.sort(times[~np.isnan(times)]), np.sort(copies[~np.isnan(copies)])
    if made.size < 2:
        return times
    # In a loop that copies other things too, its own part.
    one = float(np.median(np.diff(made)))
    now, best = np.searchsorted(made, times), np.searchsorted(own, times)
    kept: FloatArray = np.maximum(times - one * np.maximum(now - best, 0), 0.0)
    return np.where(np.isnan(times), np.nan, kept)


def _increasing(values: FloatArray) -> FloatArray:
    """The nearest sequence (least squares) that never decreases: neighbours that do are pooled."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    means = np.array([mean for mean, _ in blocks], dtype=np.float64)
    return np.repeat(means, [size for _, size in blocks])


def _load(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ImbrexError(f"{path}: the recording is damaged ({error})") from error
    return dict(document)


def _key(message: dict[str, Any], sampled: bool) -> tuple[Any, ...]:
    """By what messages of the two runs are the same; of a sample the timed run has more calls."""
    names = ("thread", "kind", "peer", "tag", "elements", "element_bytes")
    return tuple(message.get(name) for name in (names if sampled else (*names, "calls")))


def _timed(path: Path, sampled: bool) -> tuple[bool, dict[tuple[Any, ...], dict[str, Any]]]:
    """What the timed run found, by message: addresses differ between two builds, so the n-th of a
    kind.
    """
    if not path.exists():  # a run that was switched
        return False, {}
    clean = _load(path)
    seen: Counter[tuple[Any, ...]] = Counter()
    found = {}
    for message in clean["messages"]:
        key = _key(message, sampled)
        found[key + (seen[key],)] = message  # noqa: RUF005
        seen[key] += 1
    return bool(clean["watchpoints"]), found


def read_ranks(folder: Path, *, sampled: bool = False) -> list[RankRecord]:
    """All ranks of a recording, of which only the first part was `sampled`, or all.

    Errors: ImbrexError where nothing was recorded, the program was not built with the wrappers,
    or its two runs differ in their MPI calls.
    """
    files = sorted(folder.glob("access.*.json"), key=lambda path: int(path.name.split(".")[1]))
    if not files:
        raise ImbrexError(
            "nothing was recorded: the program made no MPI_Init that the recorder saw"
        )
    return [_read_rank(folder, path, sampled) for path in files]


def _read_rank(folder: Path, path: Path, sampled: bool) -> RankRecord:
    document = _load(path)
    rank = int(document["rank"])
    if document["diverged_at"] >= 0:
        raise ImbrexError(_divergence(folder, rank, document))
    if document["accesses"] == 0:
        raise ImbrexError(
            "nothing was recorded: the program was not built with imbrex cc, cxx or fc"
        )
    watchpoints, timed = _timed(folder / f"anchors.{rank}.json", sampled)
    elements = np.fromfile(folder / f"elements.{rank}.bin", _ELEMENT)
    if elements.size != sum(map(_rows, document["messages"])):
        raise ImbrexError(f"{folder}: the recording of rank {rank} is not complete")
    messages: list[Recorded] = []
    nth: Counter[tuple[Any, ...]] = Counter()
    at = 0
    for message in document["messages"]:
        part = elements[at : at + _rows(message)]
        at += _rows(message)
        key = _key(message, sampled)
        messages.append(_recorded(rank, message, part, timed.get((*key, nth[key]), {})))
        nth[key] += 1
    return RankRecord(
        rank,
        float(document["compute_ns"]),
        int(document["accesses"]),
        int(document["dropped"]),
        watchpoints,
        tuple(message for message in messages if not message.collective),
        tuple(message for message in messages if message.collective),
        tuple(filter(None, document.get("images", ()))),
        int(document.get("threads", 1)),
        tuple(document.get("groups", ())),
        int(document.get("collectives_before", 0)),
        *_plain_shares(document),
    )


def _plain_shares(document: dict[str, Any]) -> tuple[float, float]:
    """`still_recorded` and `untimed` of a rank."""
    recorded = document.get("recorded")
    if not recorded:
        return 0.0, 0.0
    accesses = document["accesses"]
    still = min(recorded["still"] / accesses, 1.0) if accesses > 0 else 0.0
    untimed = recorded["untimed_ns"] / recorded["ns"] if recorded["ns"] > 0 else 0.0
    return still, untimed


def _rows(message: dict[str, Any]) -> int:
    """How many rows of elements.R.bin a message has: two for each element with a copy."""
    return int(message["elements"]) * (2 if message.get("copied") else 1)


def _divergence(folder: Path, rank: int, document: dict[str, Any]) -> str:
    """Where the timed and the recorded run of a program part, in one line."""
    number, thread = int(document["diverged_at"]), int(document.get("diverged_thread", 0))
    where = f"rank {rank}, thread {thread}" if thread else f"rank {rank}"
    other = document.get("diverged_in")
    if other is None:
        recorded = "its end"
    else:
        place = Site(1, image=str(other["image"]), offset=int(other["offset"]))
        function = function_name(name_hash(other["function"]))
        recorded = f"{function} at {resolve_sites([place])[0].label}"
    return (
        f"{where}: the two runs differ from MPI call {number + 1} on: the plain program came "
        f"to {clean_call(folder, rank, number, thread)}, the recorded one to {recorded}; "
        "a recording needs a program that repeats itself"
    )


def _recorded(
    rank: int, message: dict[str, Any], part: NDArray[Any], timed: dict[str, Any]
) -> Recorded:
    is_send = message["kind"] == "send"
    part, buffer = part[: message["elements"]], part[-message["elements"] :]
    # Elements that are mostly overwritten unread, or mostly sent unchanged, do not belong to the
    # curve: what they do at times says nothing of the message.
    count = np.where(part["count"] >= part["other"], part["count"], 0).astype(np.uint32)
    with np.errstate(invalid="ignore", divide="ignore"):
        accesses = np.where(count > 0, part["accesses"] / count, np.nan)
        counted = np.where(count > 0, part["ns"] / count, np.nan)
        variance = np.where(count > 0, part["ns_squared"] / count - counted**2, np.nan)
        copies = np.where(buffer["count"] > 0, buffer["ns"] / buffer["count"], np.nan)
    copied = bool(message.get("copied", False))
    # What was timed of a packed message is its buffer, not where its elements come from or go to.
    measured = [
        anchor
        for anchor in timed.get("anchors", ())
        if anchor["times_ns"] and count[anchor["element"]] > 0 and not copied
    ]
    places = np.array([counted[a["element"]] for a in measured])
    times = np.array([float(np.median(a["times_ns"])) for a in measured])
    return Recorded(
        rank=rank,
        is_send=is_send,
        peer=int(message["peer"]),
        tag=int(message["tag"]),
        image=str(message["image"]),
        offset=int(message["offset"]),
        element_bytes=int(message["element_bytes"]),
        calls=int(message["calls"]),
        first_ns=float(message["first_ns"]),
        last_ns=float(message["last_ns"]),
        accesses=accesses,
        counted_ns=counted,
        time_ns=without_copying(counted, copies)
        if copied
        else correct_times(counted, places, times),
        spread_ns=np.sqrt(np.maximum(variance, 0.0)),
        seen=count,
        samples=sum(len(a["times_ns"]) for a in measured),
        operation=str(message.get("operation", "")),
        collective=bool(message.get("collective", False)),
        copied=copied,
        thread=int(message.get("thread", 0)),
        communicator=int(message.get("communicator", 0)),
        processes=int(message.get("processes", 0)),
        unseen=int(message.get("unseen", 0)),
        before=int(message.get("before", 0)),
        touched=tuple(
            Touch(
                _place(touch),
                _place(call) if (call := touch.get("call")) else None,
                int(touch["samples"]),
            )
            for touch in timed.get("touched", ())
        ),
    )


def _place(entry: dict[str, Any]) -> tuple[str, int]:
    return str(entry["image"]), int(entry["offset"])
