"""What the probe found: verdicts per operation and path, limits, progress, quoted metrics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from imbrex.network.columns import Measurement
from imbrex.network.exchanges import Exchange, read_exchanges, read_steps
from imbrex.network.profile import MachineProfile, NetworkPath
from imbrex.network.transfer_class import classify, transfer_ns
from imbrex.probe.collective_overlap import hidden_collectives, known_to_move
from imbrex.probe.krylov import Krylov, krylov
from imbrex.probe.one_sided import one_sided
from imbrex.probe.persistent import persistent
from imbrex.probe.point_to_point import SENDER_COMPUTES, Operation, point_to_point
from imbrex.probe.processor_time import ProcessorTime, processor_time
from imbrex.probe.progress_calls import ProgressCalls, needed_calls, recommended_interval_s
from imbrex.probe.quoted import Quoted, quoted
from imbrex.probe.ranges import Range
from imbrex.probe.work_overlap import WorkOverlap, work_overlaps

SCHEMA_VERSION = 1
UNEQUAL = 1.2
"""Ranks whose work takes so much longer than others' are told of."""


@dataclass(frozen=True)
class Answer:
    """Everything that `imbrex probe` says."""

    profile: MachineProfile
    operations: tuple[Operation, ...]
    further_operations: tuple[Operation, ...]
    collectives: tuple[Operation, ...]
    krylov: Krylov | None
    progress: dict[str, tuple[ProgressCalls, ...]]
    interval_s: dict[str, float | None]
    test_cost_s: dict[str, dict[str, float]]
    advertised: dict[str, int]
    quoted: tuple[Quoted, ...]
    overlap: tuple[WorkOverlap, ...]
    processor_time: tuple[ProcessorTime, ...]
    memory_bytes: int | None
    missing: tuple[str, ...]
    measured: dict[str, float]
    spent_s: dict[str, float]
    interrupted: bool
    notes: tuple[str, ...]

    @property
    def missing_text(self) -> str:
        """What was not measured, and why: `krylov; the end of delay (from 75 % on)`; or empty."""
        none = ", ".join(e for e in self.missing if not self.measured[e])
        part = ", ".join(
            f"{e} (from {100 * share:.0f} % on)" for e, share in self.measured.items() if share
        )
        return "; ".join(text for text in (none, part and f"the end of {part}") if text)

    @property
    def missing_because(self) -> str:
        """Why it is missing."""
        return "it was interrupted" if self.interrupted else "the time was over"

    def to_json(self) -> dict[str, Any]:
        """The documented JSON object (docs/reference/probe-experiments.md)."""
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
                _operation_json(o)
                for o in (*self.operations, *self.further_operations, *self.collectives)
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
            "overlap": [asdict(o) for o in self.overlap],
            "processor_time": [asdict(p) for p in self.processor_time],
            "memory_bytes_per_rank": self.memory_bytes,
            "missing": list(self.missing),
            "missing_measured": dict(self.measured),
            "spent_s": dict(self.spent_s),
            "interrupted": self.interrupted,
            "notes": list(self.notes),
        }


def answer(
    m: Measurement,
    profile: MachineProfile,
    experiments: Sequence[str],
    asked_bytes: int = 0,
) -> Answer:
    """Judge a measurement; `profile` is what the calibration made of the same run.

    `asked_bytes`: the largest message that was asked for.
    """
    rows = read_exchanges(m.other.get("exchange", []))
    steps = read_steps(m.other.get("step", []))
    operations: list[Operation] = []
    progress: dict[str, tuple[ProgressCalls, ...]] = {}
    paths = dict(profile.paths)
    notes = _about_the_machine(m, asked_bytes)
    used: list[ProcessorTime] = []
    for path in sorted({x.path for x in rows}):
        mine = [x for x in rows if x.path == path]
        by_size = _by_size_and_label(mine)
        measured = [s for s in sorted(by_size) if by_size[s].get(SENDER_COMPUTES)]
        transfer = {s: _transfer(by_size[s], m, path, s) for s in measured}
        classes = {s: classify(by_size[s]) for s in measured}
        found = point_to_point(path, by_size, transfer, classes, steps, whole="delay" in m.done)
        operations += found
        progress[path] = tuple(
            needed_calls(by_size[s]["progress"], s, transfer[s])
            for s in measured
            if by_size[s].get("progress") and transfer[s] > 0  # 0: cut short
        )
        if path in paths and found:
            paths[path] = _with_verdicts(paths[path], found[0].ranges)
        used.append(processor_time(path, mine))
        notes += used[-1].notes
    cost = {
        w[0]: {"MPI_Test": float(w[3]) * 1e-9, "MPI_Iprobe": float(w[4]) * 1e-9}
        for w in m.other.get("testcost", [])
    }
    interval = {
        path: recommended_interval_s(found, cost.get(path, {}).get("MPI_Test", 0.0))
        for path, found in progress.items()
    }
    missing = tuple(e for e in experiments if e not in m.done)
    nonblocking = hidden_collectives(m.other.get("nonblocking", []), "nonblocking" in m.done)
    solver = krylov(m.other.get("krylov", []))
    notes += solver.notes if solver else []
    return Answer(
        profile=replace(
            profile,
            paths=paths,
            progress_interval_s=min((i for i in interval.values() if i is not None), default=None),
            nonblocking=tuple(known_to_move(nonblocking)),
        ),
        operations=tuple(operations),
        further_operations=tuple(
            Operation(name, path, tuple(ranges), (), None)
            for name, path, ranges in (
                *persistent(rows, "persistent" in m.done),
                *one_sided(m.other.get("onesided", []), "onesided" in m.done),
            )
        ),
        krylov=solver,
        collectives=tuple(
            Operation(c.operation, c.path, c.without_calls, c.with_calls, None) for c in nonblocking
        ),
        progress=progress,
        interval_s=interval,
        test_cost_s=cost,
        advertised={w[0]: int(w[1]) for w in m.other.get("advertised", [])},
        quoted=tuple(quoted(rows)),
        overlap=tuple(work_overlaps(rows, profile)),
        processor_time=tuple(used),
        memory_bytes=max((int(float(w[1])) for w in m.other.get("memory", [])), default=None),
        missing=missing,
        measured={e: m.progress.get(e, 0.0) for e in missing},
        spent_s={e: m.spent_s[e] for e in experiments if e in m.spent_s},
        interrupted=m.interrupted,
        notes=tuple(notes),
    )


def _about_the_machine(m: Measurement, asked_bytes: int) -> list[str]:
    """Ranks of unequal speed, and the memory that keeps messages small; a line each."""
    found = []
    if 0 < m.max_bytes < asked_bytes:
        found.append(
            f"messages up to {m.max_bytes:,} bytes instead of {asked_bytes:,}: several of "
            "them must fit the free memory of every rank, and none can exceed 1 GiB"
        )
    speed = {int(w[0]): float(w[2]) for w in m.other.get("speed", [])}
    slow, fast = (pick(speed, key=speed.__getitem__, default=0) for pick in (max, min))
    if speed and speed[slow] > UNEQUAL * speed[fast]:
        found.append(
            f"unequal ranks: the same work takes {speed[slow] / speed[fast]:.1f} times as long on "
            f"{_rank(m, slow)} as on {_rank(m, fast)}; it was calibrated on each"
        )
    ranks_of = Counter(m.node_of.values())
    if len(set(ranks_of.values())) > 1:
        most, least = (pick(ranks_of, key=ranks_of.__getitem__) for pick in (max, min))
        found.append(
            f"unequal hosts: {_node(m, most)} has {ranks_of[most]} ranks, {_node(m, least)} "
            f"{ranks_of[least]}; within a node, only the first that has two was measured"
        )
    return found


def _rank(m: Measurement, rank: int) -> str:
    """Its number, and its host where there are several."""
    return f"rank {rank}" + (f" ({m.host_of.get(rank)})" if len(m.hosts) > 1 else "")


def _node(m: Measurement, node: int) -> str:
    return next(m.host_of[rank] for rank, of in m.node_of.items() if of == node)


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


def _operation_json(o: Operation) -> dict[str, Any]:
    return {
        "operation": o.operation,
        "path": o.path,
        "ranges": [_range_json(r) for r in o.ranges],
        "with_test_calls": [_range_json(r) for r in o.tested],
        "early_sender": [_range_json(r) for r in o.early_sender],
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
