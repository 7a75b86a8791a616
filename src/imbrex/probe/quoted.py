"""Overlap as other benchmarks quote it, from exchanges with work of about one transfer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network.exchanges import Exchange
from imbrex.probe import metrics
from imbrex.probe.work_overlap import BOTH_WAYS, GRID


@dataclass(frozen=True)
class Quoted:
    """One operation, path, size and kind of work; formulae in `metrics`."""

    operation: str
    path: str
    size_bytes: int
    flavour: str
    osu_percent: float
    imb_percent: float
    imb_io_percent: float
    smb_availability: float
    madmpi_ratio: float
    work_stretched: float


def quoted(rows: Sequence[Exchange]) -> list[Quoted]:
    """All figures that the exchanges allow."""
    groups: dict[tuple[str, str, int, str], list[Exchange]] = defaultdict(list)
    for x in rows:
        if x.label in GRID and x.label != BOTH_WAYS:
            groups[x.path, x.label, x.size_bytes, x.flavour].append(x)
    found = []
    for (path, label, size, flavour), trials in sorted(groups.items()):
        works = sorted({_work(x) for x in trials})
        pure = _median([_overall(x) for x in trials if _work(x) == works[0]])
        # Work of one transfer is where full and no overlap differ most.
        work = min(works[1:], key=lambda w: abs(w - pure), default=None)
        if works[0] > 0 or work is None or pure <= 0:
            continue
        chosen = [x for x in trials if _work(x) == work]
        overall = _median([_overall(x) for x in chosen])
        found.append(
            Quoted(
                operation=GRID[label],
                path=path,
                size_bytes=size,
                flavour=flavour,
                osu_percent=metrics.osu_percent(pure, work, overall),
                imb_percent=metrics.imb_percent(pure, work, overall),
                imb_io_percent=metrics.imb_percent(pure, work, overall, smaller=True),
                smb_availability=metrics.smb_availability(pure, work, overall),
                madmpi_ratio=metrics.madmpi_ratio(pure, work, overall),
                work_stretched=_median([_worked(x) for x in chosen]) / work,
            )
        )
    return found


def _work(x: Exchange) -> float:
    return max(0.0, x.sender_work_ns, x.receiver_work_ns)


def _overall(x: Exchange) -> float:
    """From the start until both sides are done."""
    return max(x.sender.done_ns, x.receiver.done_ns) - min(x.sender.enter_ns, x.receiver.enter_ns)


def _worked(x: Exchange) -> float:
    side = x.sender if x.sender_work_ns > 0 else x.receiver
    return side.wait_ns - side.started_ns


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values))) if values else 0.0
