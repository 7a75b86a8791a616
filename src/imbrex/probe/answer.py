"""What the probe found: verdicts per operation and path, limits, progress, quoted metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from imbrex.network.columns import Measurement
from imbrex.network.profile import MachineProfile, NetworkPath
from imbrex.probe import metrics
from imbrex.probe.collective_overlap import hidden_collectives
from imbrex.probe.exchanges import Exchange, Step, read_exchanges, read_steps
from imbrex.probe.krylov import Krylov, krylov
from imbrex.probe.one_sided import one_sided
from imbrex.probe.persistent import persistent
from imbrex.probe.progress_calls import ProgressCalls, needed_calls, recommended_interval_s
from imbrex.probe.ranges import Range, merge
from imbrex.probe.synchronization import Synchronization, judge
from imbrex.probe.transfer_class import TransferClass, classify, transfer_ns

SCHEMA_VERSION = 1
SENDER_COMPUTES, RECEIVER_COMPUTES = "isend-recv", "send-irecv"
OPERATIONS = {
    "MPI_Isend/MPI_Recv": SENDER_COMPUTES,
    "MPI_Send/MPI_Irecv": RECEIVER_COMPUTES,
}
EITHER = "MPI_Isend/MPI_Irecv"


@dataclass(frozen=True)
class Operation:
    """One pair of calls on one path."""

    operation: str
    path: str
    ranges: tuple[Range, ...]
    tested: tuple[Range, ...]
    step: Step | None


@dataclass(frozen=True)
class Quoted:
    """Overlap as other benchmarks quote it, with work of about one transfer."""

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


@dataclass(frozen=True)
class Answer:
    """Everything that `imbrex probe` says."""

    profile: MachineProfile
    operations: tuple[Operation, ...]
    others: tuple[Operation, ...]
    collectives: tuple[Operation, ...]
    krylov: Krylov | None
    progress: dict[str, tuple[ProgressCalls, ...]]
    interval_s: dict[str, float | None]
    test_cost_s: dict[str, dict[str, float]]
    advertised: dict[str, int]
    quoted: tuple[Quoted, ...]
    missing: tuple[str, ...]
    interrupted: bool
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The documented JSON object (docs/probe.md)."""
        return {
            "schema_version": SCHEMA_VERSION,
            "library": {
                "name": self.profile.library_name,
                "version": self.profile.library_version,
            },
            "hosts": list(self.profile.hosts),
            "ranks": self.profile.ranks,
            "settings": dict(self.profile.settings),
            "operations": [
                _operation_json(o) for o in (*self.operations, *self.others, *self.collectives)
            ],
            "krylov": None if self.krylov is None else asdict(self.krylov),
            "limits": {
                "advertised_bytes": dict(self.advertised),
                "measured_bytes": {n: dict(p.limits) for n, p in self.profile.paths.items()},
            },
            "progress": {
                path: {
                    "interval_s": self.interval_s[path],
                    "cost_s": self.test_cost_s.get(path, {}),
                    "sizes": [asdict(f) for f in found],
                }
                for path, found in self.progress.items()
            },
            "quoted": [asdict(q) for q in self.quoted],
            "missing": list(self.missing),
            "interrupted": self.interrupted,
            "notes": list(self.notes),
        }


def answer(m: Measurement, profile: MachineProfile, experiments: Sequence[str]) -> Answer:
    """Judge a measurement; `profile` is what the calibration made of the same run."""
    rows = read_exchanges(m.other.get("exchange", []))
    steps = read_steps(m.other.get("step", []))
    operations: list[Operation] = []
    progress: dict[str, tuple[ProgressCalls, ...]] = {}
    paths = dict(profile.paths)
    notes: list[str] = []
    for path in sorted({x.path for x in rows}):
        mine = [x for x in rows if x.path == path]
        by_size = _by_size_and_label(mine)
        measured = [s for s in sorted(by_size) if by_size[s].get(SENDER_COMPUTES)]
        transfer = {s: _transfer(by_size[s], m, path, s) for s in measured}
        classes = {s: classify(by_size[s]) for s in measured}
        found = _operations(path, by_size, transfer, classes, steps, whole="delay" in m.done)
        operations += found
        progress[path] = tuple(
            needed_calls(by_size[s]["progress"], s, transfer[s])
            for s in measured
            if by_size[s].get("progress")
        )
        if path in paths and found:
            paths[path] = _with_verdicts(paths[path], found[0].ranges)
        notes += _noise(path, mine)
    cost = {
        w[0]: {"MPI_Test": float(w[3]) * 1e-9, "MPI_Iprobe": float(w[4]) * 1e-9}
        for w in m.other.get("testcost", [])
    }
    interval = {
        path: recommended_interval_s(found, cost.get(path, {}).get("MPI_Test", 0.0))
        for path, found in progress.items()
    }
    solver = krylov(m.other.get("krylov", []))
    notes += solver.notes if solver else []
    return Answer(
        profile=replace(
            profile,
            paths=paths,
            progress_interval_s=min((i for i in interval.values() if i is not None), default=None),
        ),
        operations=tuple(operations),
        others=tuple(
            Operation(name, path, tuple(ranges), (), None)
            for name, path, ranges in (
                *persistent(rows, "persistent" in m.done),
                *one_sided(m.other.get("onesided", []), "onesided" in m.done),
            )
        ),
        krylov=solver,
        collectives=tuple(
            Operation(c.operation, c.path, c.without_calls, c.with_calls, None)
            for c in hidden_collectives(m.other.get("nonblocking", []), "nonblocking" in m.done)
        ),
        progress=progress,
        interval_s=interval,
        test_cost_s=cost,
        advertised={w[0]: int(w[1]) for w in m.other.get("advertised", [])},
        quoted=tuple(_quoted(rows)),
        missing=tuple(e for e in experiments if e not in m.done),
        interrupted=m.interrupted,
        notes=tuple(notes),
    )


def _transfer(
    trials: Mapping[str, Sequence[Exchange]], m: Measurement, path: str, size: int
) -> float:
    """Nanoseconds of a transfer while neither side computes; else from the ping-pong; else 0."""
    if trials.get("none-compute"):
        return transfer_ns(trials["none-compute"])
    halves = [r.median_ns for r in m.round_trips if r.path == path and r.size_bytes == size]
    return min(halves, default=0.0)


def _by_size_and_label(rows: Sequence[Exchange]) -> dict[int, dict[str, list[Exchange]]]:
    found: dict[int, dict[str, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
    for x in rows:
        found[x.size_bytes][x.label].append(x)
    return found


def _operations(
    path: str,
    by_size: Mapping[int, Mapping[str, Sequence[Exchange]]],
    transfer: Mapping[int, float],
    classes: Mapping[int, TransferClass],
    steps: Sequence[Step],
    whole: bool,
) -> list[Operation]:
    sizes = sorted(transfer)
    verdicts: dict[str, dict[int, Synchronization]] = {}
    for scheme in OPERATIONS.values():
        for label in (scheme, f"{scheme}-tested"):
            verdicts[label] = {s: judge(by_size[s].get(label, ()), transfer[s]) for s in sizes}
    found = []
    for name, scheme in OPERATIONS.items():
        found.append(
            _operation(
                name,
                path,
                sizes,
                verdicts[scheme],
                verdicts[f"{scheme}-tested"],
                classes,
                _step(steps, path, scheme),
                whole,
            )
        )
    # Both sides may compute: a transfer completes although one does, if either scheme says so.
    either, either_tested = (
        {
            s: _either(verdicts[SENDER_COMPUTES + t][s], verdicts[RECEIVER_COMPUTES + t][s])
            for s in sizes
        }
        for t in ("", "-tested")
    )
    sender, receiver = (_step(steps, path, scheme) for scheme in OPERATIONS.values())
    last = max(sender, receiver, key=lambda s: s.last_bytes) if sender and receiver else None
    found.append(_operation(EITHER, path, sizes, either, either_tested, classes, last, whole))
    return found


def _operation(
    name: str,
    path: str,
    sizes: Sequence[int],
    verdicts: Mapping[int, Synchronization],
    tested: Mapping[int, Synchronization],
    classes: Mapping[int, TransferClass],
    step: Step | None,
    whole: bool,
) -> Operation:
    return Operation(
        name,
        path,
        tuple(merge(sizes, verdicts, classes, step, whole=whole)),
        tuple(merge(sizes, tested, classes, whole=whole)),
        step,
    )


def _step(steps: Sequence[Step], path: str, label: str) -> Step | None:
    return next((s for s in steps if s.path == path and s.label == label), None)


def _either(a: Synchronization, b: Synchronization) -> Synchronization:
    for best in sorted((a, b), key=lambda v: -v.confidence):
        if best.overlaps:
            return best
    if a.overlaps is None or b.overlaps is None:
        return a if a.overlaps is None else b
    return min((a, b), key=lambda v: v.confidence)


def _with_verdicts(path: NetworkPath, ranges: Sequence[Range]) -> NetworkPath:
    """The path's points with synchronization and class of the range that holds each."""
    points = []
    for point in path.points:
        for r in ranges:
            if r.from_bytes <= point.size_bytes and (
                r.to_bytes is None or point.size_bytes <= r.to_bytes
            ):
                point = replace(
                    point, synchronization=r.synchronization, transfer_class=r.transfer_class
                )
        points.append(point)
    return replace(path, points=tuple(points))


def _noise(path: str, rows: Sequence[Exchange]) -> list[str]:
    """A line where work took much longer than undisturbed: by noise, or a progress thread."""
    stretched = [
        (x.sender.wait_ns - x.sender.started_ns) / x.sender_work_ns
        for x in rows
        if x.sender_work_ns > 100_000 and x.sender_tests == 0
    ]
    if not stretched:
        return []
    median = float(np.median(np.asarray(stretched)))
    if median < 1.1:
        return []
    return [
        f"{path}: work took {100 * (median - 1):.0f} % longer than alone on its core: "
        "a progress thread, or a busy machine, takes processor time"
    ]


def _quoted(rows: Sequence[Exchange]) -> list[Quoted]:
    names = {
        "grid-isend-recv": "MPI_Isend/MPI_Recv",
        "grid-send-irecv": "MPI_Send/MPI_Irecv",
        "grid-isend-irecv": EITHER,
    }
    groups: dict[tuple[str, str, int, str], list[Exchange]] = defaultdict(list)
    for x in rows:
        if x.label in names:
            groups[x.path, x.label, x.size_bytes, x.flavour].append(x)
    found = []
    for (path, label, size, flavour), trials in sorted(groups.items()):
        works = sorted({max(x.sender_work_ns, x.receiver_work_ns) for x in trials})
        pure = _median([_overall(x) for x in trials if _work(x) == works[0]])
        # Work of one transfer is where full and no overlap differ most.
        work = min(works[1:], key=lambda w: abs(w - pure), default=None)
        if works[0] > 0 or work is None or pure <= 0:
            continue
        chosen = [x for x in trials if _work(x) == work]
        overall = _median([_overall(x) for x in chosen])
        stretched = _median([_worked(x) for x in chosen]) / work
        found.append(
            Quoted(
                operation=names[label],
                path=path,
                size_bytes=size,
                flavour=flavour,
                osu_percent=metrics.osu_percent(pure, work, overall),
                imb_percent=metrics.imb_percent(pure, work, overall),
                imb_io_percent=metrics.imb_percent(pure, work, overall, smaller=True),
                smb_availability=metrics.smb_availability(pure, work, overall),
                madmpi_ratio=metrics.madmpi_ratio(pure, work, overall),
                work_stretched=stretched,
            )
        )
    return found


def _work(x: Exchange) -> float:
    return max(x.sender_work_ns, x.receiver_work_ns)


def _overall(x: Exchange) -> float:
    """From the start until both sides are done."""
    return max(x.sender.done_ns, x.receiver.done_ns) - min(x.sender.enter_ns, x.receiver.enter_ns)


def _worked(x: Exchange) -> float:
    side = x.sender if x.sender_work_ns > 0 else x.receiver
    return side.wait_ns - side.started_ns


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values))) if values else 0.0


def _operation_json(o: Operation) -> dict[str, Any]:
    return {
        "operation": o.operation,
        "path": o.path,
        "ranges": [_range_json(r) for r in o.ranges],
        "with_test_calls": [_range_json(r) for r in o.tested],
        "step": None
        if o.step is None
        else {"last_bytes": o.step.last_bytes, "first_bytes": o.step.first_bytes},
    }


def _range_json(r: Range) -> dict[str, Any]:
    return {
        "from_bytes": r.from_bytes,
        "to_bytes": r.to_bytes,
        "last_measured_bytes": r.last_measured_bytes,
        "synchronization": r.synchronization,
        "class": r.transfer_class,
        "moved": asdict(r.moved),
        "confidence": round(r.confidence, 3),
    }
