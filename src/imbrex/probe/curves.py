"""From exchanges to what the plots draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network import MachineProfile, transfer_time
from imbrex.network.exchanges import Exchange, Step
from imbrex.probe.work_overlap import BOTH_WAYS, GRID, WorkOverlap

DELAYED = {
    "isend-recv": "MPI_Isend, work, MPI_Wait; late MPI_Recv",
    "send-irecv": "MPI_Irecv, work, MPI_Wait; late MPI_Send",
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


def work_curves(
    overlaps: Sequence[WorkOverlap], profile: MachineProfile, path: str, sizes: Sequence[int]
) -> list[WorkCurve]:
    """Of one path and these sizes: the sender's and the receiver's side, work in registers."""
    found = []
    for size in sizes:
        x_hi_s = transfer_time(profile.paths[path].points, size).x_hi_s
        for operation, side in (
            ("MPI_Isend/MPI_Recv", "sender"),
            ("MPI_Send/MPI_Irecv", "receiver"),
        ):
            mine = [
                o
                for o in overlaps
                if (o.path, o.operation, o.side) == (path, operation, side)
                and (o.size_bytes, o.flavour) == (size, "registers")
            ]
            if mine:
                mine.sort(key=lambda o: o.work_s)
                found.append(_work_curve(mine, f"{operation}, {size:,} bytes, {side}", x_hi_s))
    return found


def _work_curve(points: Sequence[WorkOverlap], title: str, x_hi_s: float) -> WorkCurve:
    def percent(values: Iterable[float]) -> tuple[float, ...]:
        return tuple(100 * v / x_hi_s for v in values)

    return WorkCurve(
        title,
        work_us=tuple(o.work_s * 1e6 for o in points),
        wait_us=tuple(o.wait_s * 1e6 for o in points),
        hidden=percent((o.true_overlap_min_s + o.true_overlap_max_s) / 2 for o in points),
        bound_low=percent(o.overlap_min_s for o in points),
        bound_high=percent(o.overlap_max_s for o in points),
    )


def heat_cells(rows: Sequence[Exchange], path: str) -> dict[str, list[Cell]]:
    """Per operation: the share of a transfer's time that is not left for start and wait.

    Work is sampled where that share changes; between two samples it is drawn as a straight line.
    """
    found: dict[str, list[Cell]] = {}
    for label, name in HEAT.items():
        of_size: dict[int, dict[float, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
        for x in rows:
            if (x.path, x.label, x.flavour) == (path, label, "registers"):
                work = max(0.0, x.sender_work_ns, x.receiver_work_ns)
                of_size[x.size_bytes][work].append(x)
        cells = []
        for size, of_work in of_size.items():
            works = sorted(of_work)
            transfer = max(1.0, _median([_span_ns(x) for x in of_work[works[0]]]))
            shares = [
                min(1.0, max(0.0, 1 - _median([_left_ns(x) for x in of_work[w]]) / transfer))
                for w in works
            ]
            shares[0] = 0.0
            unit = max(1.0, works[-1] / HEAT_WORKS[-1])
            drawn = np.interp(HEAT_WORKS, [w / unit for w in works], shares)
            cells += [Cell(size, w, float(s)) for w, s in zip(HEAT_WORKS, drawn, strict=True)]
        if cells:
            found[name] = cells
    return found


HEAT = {
    label: name + (", both directions" if label == BOTH_WAYS else "")
    for label, name in GRID.items()
}
HEAT_WORKS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Work in transfers; the grid's largest is three of the probes' own estimate of one."""


def _span_ns(x: Exchange) -> float:
    return max(x.sender.done_ns, x.receiver.done_ns) - min(x.sender.enter_ns, x.receiver.enter_ns)


def _left_ns(x: Exchange) -> float:
    """Time of the computing sides in start and wait; of two, the longer."""
    times = []
    for side, work in ((x.sender, x.sender_work_ns), (x.receiver, x.receiver_work_ns)):
        if work >= 0:
            times.append(side.started_ns - side.enter_ns + side.done_ns - side.wait_ns)
    return max(times)


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values)))
