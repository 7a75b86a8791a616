from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.modules import load

from imbrex.profile.recording import RecordedMessage, RecordedRun
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND, TRACE_DTYPE
from imbrex.replay.schedule import make_schedule

# The tests import these by their names alone.
load(Path(__file__).with_name("building.py"))
load(Path(__file__).with_name("reference.py"))

FUNCTIONS = ("MPI_Isend", "MPI_Recv", "MPI_Allreduce", "MPI_Finalize", "MPI_Send")


def make_message(
    rank: int, number: int, peer: int, times: list[float], **changes: object
) -> object:
    is_send = bool(changes.pop("is_send", False))
    order = np.argsort(np.argsort(-np.array(times) if is_send else np.array(times)))
    values: dict[str, object] = {
        "rank": rank, "number": number, "is_send": is_send, "site": f"app.c:{10 + rank}",
        "peer": peer, "tag": 1, "element_bytes": 8, "calls": 1, "watched": True,
        "position": order.astype(np.int64), "time_ns": np.array(times, dtype=np.float64),
    }  # fmt: skip
    return RecordedMessage(**{**values, **changes})  # type: ignore[arg-type]


def make_recording(messages: dict[int, list], rows: dict[int, list[tuple[int, int, float]]]):  # type: ignore[no-untyped-def]
    trace = [(rank, *row) for rank, own in rows.items() for row in own]
    return RecordedRun(
        Path("rec"),
        messages,
        dict.fromkeys(messages, 0.0),
        np.array(trace, dtype=TRACE_DTYPE),
        FUNCTIONS,
    )


def make_one_way(after: float = 0.0, before: float = 0.0, size: int = 50, call: int = 0):  # type: ignore[no-untyped-def]
    """Rank 0 computes 1000 ns and sends `size` elements, which were written one per 2 ns until
    `after` ns before; rank 1 receives after 200 ns, reads one per 3 ns from `before` on, and
    computes for 800 ns more."""
    written = [after + 2.0 * (size - 1 - i) for i in range(size)]
    read = [before + 3.0 * i for i in range(size)]
    messages = {
        0: [make_message(0, 0, 1, written, is_send=True)],
        1: [make_message(1, 0, 0, read)],
    }
    rows = {
        0: [(CALL, call, 1000.0), (SEND, 0, 0.0), (CALL, 3, 10.0)],
        1: [(CALL, 1, 200.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, 800.0)],
    }
    return make_schedule(make_recording(messages, rows))


@pytest.fixture
def message() -> Callable[..., RecordedMessage]:
    """Make one side of a message: rank, number, peer, times of its elements in ns."""
    return make_message  # type: ignore[return-value]


@pytest.fixture
def recorded() -> Callable[..., RecordedRun]:
    """Make a recording: messages by rank, and rows of the trace by rank."""
    return make_recording


@pytest.fixture
def one_way() -> Callable[..., Any]:
    return make_one_way
