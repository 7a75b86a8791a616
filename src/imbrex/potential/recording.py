"""A recording as `imbrex predict` reads it: messages.json, elements.npy and trace.npy."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.potential.record_blind import blind_lines
from imbrex.potential.record_model import ELEMENTS_DTYPE
from imbrex.potential.trace import load_trace

FloatArray = NDArray[np.float64]

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

    @property
    def ranks(self) -> list[int]:
        return sorted(self.messages)

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
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImbrexError(f"{folder}: holds no recording") from None
    except (OSError, ValueError) as error:
        raise ImbrexError(f"{file}: cannot be read ({error})") from error
    if not isinstance(document, dict) or document.get("format") != "imbrex-recording":
        raise ImbrexError(f"{file}: is not that of a recording")
    try:
        table = np.load(folder / "elements.npy", allow_pickle=False)
        if table.dtype != ELEMENTS_DTYPE:
            raise ValueError("not the table of a recording")
        messages, collectives = {}, {}
        for entry in document["ranks"]:
            rank, own = int(entry["rank"]), entry["messages"]
            both = _messages(rank, [*own, *entry.get("collectives", ())], table)
            messages[rank], collectives[rank] = both[: len(own)], both[len(own) :]
        blind = tuple(blind_lines({"not_recorded": [], **document}))
        threads = max((int(e.get("threads", 1)) for e in document["ranks"]), default=1)
        groups = {
            int(e["rank"]): [(int(g["members"]), int(g["size"])) for g in e.get("groups", ())]
            for e in document["ranks"]
        }
        compute = {int(e["rank"]): float(e["compute_s"]) for e in document["ranks"]}
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise ImbrexError(f"{folder}: the recording is damaged ({error})") from error
    functions = tuple(map(str, document.get("functions", ())))
    trace = load_trace(folder)
    return RecordedRun(
        folder, messages, compute, trace, functions, collectives, blind, threads, groups
    )


def _messages(rank: int, entries: list[dict[str, Any]], table: Any) -> list[RecordedMessage]:
    own = table[table["rank"] == rank]
    result = []
    for number, entry in enumerate(entries):
        rows = own[own["message"] == number]
        if rows.size != int(entry["elements"]):
            raise ValueError(f"rank {rank}, message {number}: elements are missing")
        result.append(
            RecordedMessage(
                rank=rank,
                number=number,
                is_send=entry["kind"] == "send",
                site=str(entry["site"]),
                peer=int(entry["peer"]),
                tag=int(entry["tag"]),
                element_bytes=int(entry["element_bytes"]),
                calls=int(entry["calls"]),
                watched=entry.get("times") == "watched",
                position=rows["position"].astype(np.int64),
                time_ns=np.where(rows["seen"] > 0, rows["time_ns"], np.nan).astype(np.float64),
                operation=str(entry.get("operation") or ""),
                communicator=int(entry.get("communicator", 0)),
                processes=int(entry.get("processes", 0)),
            )
        )
    return result
