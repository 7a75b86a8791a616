"""From exchanges to what the plots draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network import MachineProfile, transfer_time
from imbrex.probe.exchanges import Exchange, Step

DELAYED = {
    "isend-recv": "MPI_Isend, work, MPI_Wait; late MPI_Recv",
    "send-irecv": "MPI_Irecv, work, MPI_Wait; late MPI_Send",
}
GRID = {
    "grid-isend-recv": "MPI_Isend/MPI_Recv",
    "grid-send-irecv": "MPI_Send/MPI_Irecv",
    "grid-isend-irecv": "MPI_Isend/MPI_Irecv",
}


@dataclass(frozen=True)
class DelayCurve:
    """Time of the blocking side per size, and what it is with and without overlap; ms."""

    title: str
    sizes: tuple[int, ...]
    times_ms: tuple[tuple[float, ...], ...]
    overlap_ms: tuple[float, ...]
    none_ms: tuple[float, ...]
    step_bytes: int | None


@dataclass(frozen=True)
class WorkCurve:
    """Of one operation and size, over growing work: wait, hidden share and its bounds in %."""

    title: str
    work_us: tuple[float, ...]
    wait_us: tuple[float, ...]
    hidden: tuple[float, ...]
    bound_low: tuple[float, ...]
    bound_high: tuple[float, ...]


@dataclass(frozen=True)
class Cell:
    """Hidden share of a transfer of this size with this work (in transfers)."""

    size_bytes: int
    work_per_transfer: float
    hidden: float


def delay_curves(
    rows: Sequence[Exchange], steps: Sequence[Step], profile: MachineProfile, path: str
) -> list[DelayCurve]:
    """Of one path, for both schemes; with a transfer's time from the profile."""
    found = []
    points = profile.paths[path].points
    for label, title in DELAYED.items():
        of_size: dict[int, list[Exchange]] = defaultdict(list)
        for x in rows:
            if x.path == path and x.label == label:
                of_size[x.size_bytes].append(x)
        if not of_size:
            continue
        sizes = sorted(of_size)
        transfer = [transfer_time(points, s).x_hi_s * 1e3 for s in sizes]
        times = [[blocking_ns(x) * 1e-6 for x in of_size[s]] for s in sizes]
        windows = [_median([window_ns(x) for x in of_size[s]]) * 1e-6 for s in sizes]
        step = next((s for s in steps if s.path == path and s.label == label), None)
        found.append(
            DelayCurve(
                title,
                tuple(sizes),
                tuple(tuple(t) for t in times),
                tuple(transfer),
                tuple(t + w for t, w in zip(transfer, windows, strict=True)),
                step.last_bytes if step else None,
            )
        )
    return found


def blocking_ns(x: Exchange) -> float:
    """Time in the blocking call of a delayed exchange."""
    side = x.receiver if x.label.startswith("isend") else x.sender
    return side.done_ns - side.enter_ns


def window_ns(x: Exchange) -> float:
    """From the blocking call's start to the other side's wait: its time without overlap."""
    computing, blocking = (
        (x.sender, x.receiver) if x.label.startswith("isend") else (x.receiver, x.sender)
    )
    return computing.wait_ns - blocking.enter_ns


def hidden_ns(x: Exchange, transfer_ns: float) -> float:
    """What of the transfer went on while the computing side computed, from both sides' times."""
    if x.label == "grid-isend-recv":
        side, first = x.sender, x.sender.enter_ns
    else:
        side, first = x.receiver, max(x.receiver.enter_ns, x.sender.enter_ns)
    # The last `transfer_ns` before the arrival, but not before both calls were begun.
    end = (
        x.receiver.done_ns
        if x.label != "grid-isend-recv"
        else min(x.receiver.done_ns, x.sender.done_ns)
    )
    begin = max(first, end - transfer_ns)
    return max(0.0, min(end, side.wait_ns) - max(begin, side.started_ns))


def work_curves(
    rows: Sequence[Exchange], profile: MachineProfile, path: str, sizes: Sequence[int]
) -> list[WorkCurve]:
    """Of one path and these sizes: the sender's and the receiver's side, work in registers."""
    found = []
    for size in sizes:
        for label in ("grid-isend-recv", "grid-send-irecv"):
            mine = [
                x
                for x in rows
                if (x.path, x.label, x.size_bytes, x.flavour) == (path, label, size, "registers")
            ]
            if mine:
                title = f"{GRID[label]}, {size:,} bytes"
                found.append(_work_curve(mine, title, profile, path, size))
    return found


def bounds_ns(x: Exchange, profile: MachineProfile, path: str) -> tuple[float, float]:
    """Bounds of the overlap that the computing side's calls alone give (docs/theory.md)."""
    t = transfer_time(profile.paths[path].points, x.size_bytes)
    sending = x.label == "grid-isend-recv"
    side = x.sender if sending else x.receiver
    known = t.tail_s if sending else t.head_s
    slack = t.x_hi_s if known is None else known
    compute = 1e-9 * (side.wait_ns - side.started_ns)
    calls = 1e-9 * (side.started_ns - side.enter_ns + side.done_ns - side.wait_ns)
    low = max(0.0, t.x_lo_s - calls - slack)
    high = min(t.x_hi_s, compute + slack)
    return 1e9 * min(low, high), 1e9 * high


def _work_curve(
    rows: Sequence[Exchange], title: str, profile: MachineProfile, path: str, size: int
) -> WorkCurve:
    x_hi_ns = transfer_time(profile.paths[path].points, size).x_hi_s * 1e9
    of_work: dict[float, list[Exchange]] = defaultdict(list)
    for x in rows:
        of_work[max(x.sender_work_ns, x.receiver_work_ns)].append(x)
    works = sorted(of_work)
    transfer_ns = _transfer_ns(of_work[works[0]])
    hidden, low, high, wait = [], [], [], []
    for work in works:
        of = of_work[work]
        sides = [x.sender if x.label == "grid-isend-recv" else x.receiver for x in of]
        wait.append(_median([s.done_ns - s.wait_ns for s in sides]) * 1e-3)
        bounds = [bounds_ns(x, profile, path) for x in of]
        low.append(100 * _median([b[0] for b in bounds]) / x_hi_ns)
        high.append(100 * _median([b[1] for b in bounds]) / x_hi_ns)
        hidden.append(100 * _median([hidden_ns(x, transfer_ns) for x in of]) / x_hi_ns)
    return WorkCurve(
        title, tuple(w * 1e-3 for w in works), tuple(wait), tuple(hidden), tuple(low), tuple(high)
    )


def heat_cells(rows: Sequence[Exchange], path: str) -> dict[str, list[Cell]]:
    """Per operation: the share of a transfer's time that is not left for start and wait."""
    found: dict[str, list[Cell]] = {}
    for label, name in GRID.items():
        of_size: dict[int, dict[float, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
        for x in rows:
            if (x.path, x.label, x.flavour) == (path, label, "registers"):
                work = max(x.sender_work_ns, x.receiver_work_ns)
                of_size[x.size_bytes][work].append(x)
        cells = []
        for size, of_work in of_size.items():
            works = sorted(of_work)
            transfer = max(1.0, _median([_span_ns(x) for x in of_work[works[0]]]))
            for work in works:
                left = _median([_left_ns(x) for x in of_work[work]])
                share = min(1.0, max(0.0, 1 - left / transfer))
                nominal = min(_WORKS, key=lambda w: abs(w - work / transfer_of(works)))
                cells.append(Cell(size, nominal, share if work > 0 else 0.0))
        if cells:
            found[name] = cells
    return found


# The grid's works, in transfers; the largest tells what the probes took for a transfer.
_WORKS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)


def transfer_of(works: Sequence[float]) -> float:
    """The transfer's time in the probes' own estimate, from the works asked for; nanoseconds."""
    return max(1.0, works[-1] / _WORKS[-1])


def _span_ns(x: Exchange) -> float:
    return max(x.sender.done_ns, x.receiver.done_ns) - min(x.sender.enter_ns, x.receiver.enter_ns)


def _left_ns(x: Exchange) -> float:
    """Time of the computing sides in start and wait; of two, the longer."""
    times = []
    for side, work in ((x.sender, x.sender_work_ns), (x.receiver, x.receiver_work_ns)):
        if work >= 0:
            times.append(side.started_ns - side.enter_ns + side.done_ns - side.wait_ns)
    return max(times)


def _transfer_ns(rows: Sequence[Exchange]) -> float:
    """A transfer's time without work: from the later start to the arrival, 25th percentile."""
    return float(
        np.percentile(
            [x.receiver.done_ns - max(x.sender.enter_ns, x.receiver.enter_ns) for x in rows], 25
        )
    )


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values)))
