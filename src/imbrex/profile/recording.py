"""A recording as `imbrex predict` reads it: messages.json, elements.npy and trace.npy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.blind_lines import blind_lines
from imbrex.profile.recording_format import (
    ARRIVED,
    CALL,
    ELEMENTS,
    GROUP,
    MESSAGES,
    POST,
    REMEDY,
    SEND,
    TRACE,
)

FloatArray = NDArray[np.float64]

MOST_TRACED = 1 << 21
"""Entries of a rank's trace; what follows is left out (runtime/access/trace.c)."""
PIECES = 16
"""Into how many pieces a message is cut where elements are followed one by one."""


@dataclass(frozen=True)
class RecordedMessage:
    """One side of a message of one rank. Times in ns of computation, shape (elements,), NaN where
    an element was never seen: before the send it was last written, or after the arrival first read.
    """

    rank: int
    number: int
    is_send: bool
    site: str
    peer: int
    tag: int
    element_bytes: int
    calls: int
    watched: bool
    position: NDArray[np.int64]
    time_ns: FloatArray
    operation: str = ""
    communicator: int = 0
    """Equal for messages of one communicator, on this rank."""
    processes: int = 0
    """Of the communicator; 0: all of the run."""
    spread_ns: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Standard deviation of the times over all that the program sent or received; empty: none."""

    @property
    def elements(self) -> int:
        return int(self.time_ns.size)

    @property
    def size_bytes(self) -> int:
        return self.elements * self.element_bytes

    @cached_property
    def known(self) -> FloatArray:
        """The times that are known, ascending."""
        return np.sort(self.time_ns[~np.isnan(self.time_ns)])

    @property
    def beside_ns(self) -> float:
        """T_AP or T_AC; 0 where no element was seen."""
        return max(float(self.known[0]), 0.0) if self.known.size else 0.0

    @property
    def beside_spread_ns(self) -> float:
        """The standard deviation of T_AP or T_AC over all that the program sent or received."""
        if not (self.known.size and self.spread_ns.size):
            return 0.0
        return float(self.spread_ns[int(np.nanargmin(self.time_ns))])

    @property
    def period_ns(self) -> float:
        """T_P or T_C: the mean time between two elements."""
        known = self.known
        return float((known[-1] - known[0]) / (known.size - 1)) if known.size > 1 else 0.0

    @property
    def own_period_ns(self) -> float:
        """What the loop spends on one element itself: the median step between neighbours."""
        return float(np.median(np.diff(self.known))) if self.known.size > 1 else 0.0

    def pieces_ns(self, count: int) -> FloatArray:
        """The time that counts for each of `count` pieces of the buffer, shape (count,).

        Of a send when the last of its elements was written, of a receive when the first is read.
        Elements never seen are ready first and needed last; a message never seen, at once.
        """
        if not self.known.size:
            return np.zeros(count)
        outside = float(self.known[-1]) if self.is_send else np.inf
        times = np.where(np.isnan(self.time_ns), outside, self.time_ns)
        return np.array([max(float(part.min()), 0.0) for part in np.array_split(times, count)])


@dataclass(frozen=True)
class RecordedRun:
    """All ranks of a recording: messages by rank, and the trace (TRACE_DTYPE)."""

    folder: Path
    messages: dict[int, list[RecordedMessage]]
    compute_s: dict[int, float]
    trace: NDArray[Any]
    functions: tuple[str, ...]
    collectives: dict[int, list[RecordedMessage]] = field(default_factory=dict)
    """By rank, what collective calls contribute (as sends) and obtain."""
    blind: tuple[str, ...] = ()
    """What was not recorded, in sentences."""
    threads: int = 1
    """How many threads of a rank called MPI, at most."""
    groups: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By rank, the groups of processes other than all that its collectives are of: a number that is
    the same on all their ranks (0: not known), and how many they are."""

    sampled: float | None = None
    """The share of each rank's calls that was recorded: the first; None: all."""
    plain_code: dict[str, float] | None = None
    """Of a run that was recorded and then measured: where it was not plain (messages.json)."""

    @property
    def ranks(self) -> list[int]:
        return sorted(self.messages)

    @cached_property
    def is_partial(self) -> bool:
        """Whether the traces of ranks may end before those of their partners."""
        if self.sampled is not None or not self.trace.size:
            return self.sampled is not None
        return bool(np.unique(self.trace["rank"], return_counts=True)[1].max() >= MOST_TRACED)

    def receive_of(self, send: RecordedMessage) -> RecordedMessage | None:
        """The receive that takes a send: same peers, tag and size, as often where one is."""
        found = [
            m
            for m in self.messages.get(send.peer, [])
            if not m.is_send
            and m.peer == send.rank
            and m.tag == send.tag
            and m.elements == send.elements
        ]
        exact = [m for m in found if m.calls == send.calls]
        return next(iter([*exact, *found]), None)


def load_recording(folder: Path) -> RecordedRun:
    """Read the directory that a recording left; ImbrexError where it is none or is damaged."""
    file = folder / "messages.json"
    if not file.exists():
        raise ImbrexError(f"{folder}: holds no recording")
    document = MESSAGES.load(file)
    table = ELEMENTS.load(folder / "elements.npy")
    trace = TRACE.load(folder / "trace.npy")
    entries: dict[int, dict[str, Any]] = {entry["rank"]: entry for entry in document["ranks"]}
    if len(entries) != len(document["ranks"]):
        raise ImbrexError(f"{file}: damaged: a rank is there twice; {REMEDY}")
    messages, collectives = {}, {}
    for rank, entry in entries.items():
        own = entry["messages"]
        both = _messages(folder, rank, [*own, *entry["collectives"]], table)
        messages[rank], collectives[rank] = both[: len(own)], both[len(own) :]
    _check_trace(folder / "trace.npy", trace, entries, len(document["functions"]))
    return RecordedRun(
        folder,
        messages,
        {rank: entry["compute_s"] for rank, entry in entries.items()},
        np.asarray(trace),
        document["functions"],
        collectives,
        tuple(blind_lines(document)),
        max(entry["threads"] for entry in entries.values()),
        {
            rank: [(group["members"], group["size"]) for group in entry["groups"]]
            for rank, entry in entries.items()
        },
        document["sampled"],
        document["plain_code"],
    )


def _messages(
    folder: Path, rank: int, entries: list[dict[str, Any]], table: Any
) -> list[RecordedMessage]:
    own = table[table["rank"] == rank]
    result = []
    for number, entry in enumerate(entries):
        rows = own[own["message"] == number]
        if rows.size != entry["elements"]:
            raise ImbrexError(
                f"{folder}: the recording is damaged: rank {rank}, message {number} has "
                f"{entry['elements']} elements, and elements.npy {rows.size}; {REMEDY}"
            )
        result.append(
            RecordedMessage(
                rank=rank,
                number=number,
                is_send=entry["kind"] == "send",
                site=entry["site"],
                peer=entry["peer"],
                tag=entry["tag"],
                element_bytes=entry["element_bytes"],
                calls=entry["calls"],
                watched=entry["times"] == "watched",
                position=rows["position"].astype(np.int64),
                time_ns=np.where(rows["seen"] > 0, rows["time_ns"], np.nan).astype(np.float64),
                operation=entry["operation"],
                communicator=entry["communicator"],
                processes=entry["processes"],
                spread_ns=rows["spread_ns"].astype(np.float64),
            )
        )
    return result


def _check_trace(
    file: Path, trace: NDArray[Any], entries: Mapping[int, dict[str, Any]], functions: int
) -> None:
    """Every entry of the trace names a function, a message or a group that there is."""
    known = np.isin(trace["rank"], list(entries))
    good = known & ((trace["kind"] != CALL) | (trace["id"] < functions))
    for rank, entry in entries.items():
        own = trace["rank"] == rank
        named = own & np.isin(trace["kind"], (SEND, POST, ARRIVED))
        good &= ~named | (trace["id"] < len(entry["messages"]))
        good &= ~(own & (trace["kind"] == GROUP)) | (trace["id"] < len(entry["groups"]))
    if not good.all():
        row = int(np.argmin(good))
        raise ImbrexError(
            f"{file}: damaged: row {row} names what messages.json does not have; {REMEDY}"
        )
