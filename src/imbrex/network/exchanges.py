"""Rows of the overlap experiments: one message with work on either side.

Their columns: docs/reference/probe-experiments.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imbrex.errors import ImbrexError


@dataclass(frozen=True)
class Side:
    """Moments of one side, nanoseconds after the agreed start."""

    enter_ns: float
    started_ns: float
    wait_ns: float
    done_ns: float


@dataclass(frozen=True)
class Exchange:
    """One message. Work is what was asked for, in undisturbed nanoseconds; -1: a blocking call."""

    path: str
    label: str
    size_bytes: int
    flavour: str
    sender_tests: int
    receiver_tests: int
    sender_work_ns: float
    receiver_work_ns: float
    clock_error_ns: float
    sender: Side
    receiver: Side
    sender_others_ns: float = 0.0  # processor time of the process's other threads meanwhile
    receiver_others_ns: float = 0.0


@dataclass(frozen=True)
class Step:
    """Synchronization overlap ends between these two sizes."""

    path: str
    label: str
    last_bytes: int
    first_bytes: int


def read_exchanges(rows: Iterable[Sequence[str]]) -> list[Exchange]:
    """Exchanges from the words of their rows; a torn row is an error."""
    return [_exchange(w) for w in rows]


def _exchange(w: Sequence[str]) -> Exchange:
    try:
        t = [float(x) for x in w[11:19]]
        return Exchange(
            path=w[0],
            label=w[3],
            size_bytes=int(w[4]),
            flavour=w[5],
            sender_tests=int(w[6]),
            receiver_tests=int(w[7]),
            sender_work_ns=float(w[8]),
            receiver_work_ns=float(w[9]),
            clock_error_ns=float(w[10]),
            sender=Side(*t[:4]),
            receiver=Side(*t[4:]),
            sender_others_ns=float(w[19]),
            receiver_others_ns=float(w[20]),
        )
    except (ValueError, IndexError, TypeError):
        raise ImbrexError(f"the probes printed a torn row: exchange {' '.join(w)[:70]}") from None


def read_steps(rows: Iterable[Sequence[str]]) -> list[Step]:
    """Steps from the words of their rows."""
    return [Step(w[0], w[3], int(w[4]), int(w[5])) for w in rows]
