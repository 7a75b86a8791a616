"""From the rows of the probes to a machine profile: X_lo, X_hi, head and tail per size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from imbrex import __version__, mpi_facts
from imbrex.errors import ImbrexError
from imbrex.network import gaps, head_tail, loggp, one_sided
from imbrex.network.apart import early_ns
from imbrex.network.collective_bytes import holds_blocks, moved_bytes
from imbrex.network.columns import ApartRow, CollectiveRow, Measurement, RoundTrip, Stream, Trial
from imbrex.network.exchanges import read_exchanges
from imbrex.network.handshake import handshakes
from imbrex.network.interpolation import BANDWIDTH_BYTES
from imbrex.network.profile import (
    PATHS,
    Collective,
    CollectivePoint,
    MachineProfile,
    NetworkPath,
    Point,
)
from imbrex.network.rates import moving_rates


def _is_rooted(operation: str) -> bool:
    return mpi_facts.dependence(operation) in ("root-to-all", "all-to-root")


def assemble(
    m: Measurement, settings: Mapping[str, str], quick: bool, *, partial: bool = False
) -> MachineProfile:
    """The profile of one measurement. ImbrexError when no path was measured, unless `partial`."""
    paths = {}
    exchanges = read_exchanges(m.other.get("exchange", []))
    for name in PATHS:
        path = _network_path(
            [r for r in m.round_trips if r.path == name],
            [s for s in m.streams if s.path == name],
            [t for t in m.trials if t.path == name],
            whole_messages(m, name),
            {limit.kind: limit.last_bytes for limit in m.limits if limit.path == name},
            moved_by_collectives(m, name),
        )
        if path is not None:
            rows = [x for x in exchanges if x.path == name]
            paths[name] = replace(
                path,
                rates=moving_rates(rows, path.points, path.limits),
                handshakes=handshakes(rows, path.points),
            )
    if not paths and not partial:
        raise ImbrexError("the probes measured nothing; run them with two or more ranks")
    library, version = library_name_and_version(m.library)
    return MachineProfile(
        library_name=library,
        library_version=version,
        hosts=tuple(m.hosts),
        ranks=m.ranks,
        settings=dict(settings),
        paths=paths,
        collectives=_collectives(m.collectives, m.apart, paths),
        one_sided=one_sided.assemble(
            m.one_sided, {name: path.gap_s_per_byte for name, path in paths.items()}
        ),
        created=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        imbrex_version=__version__,
        quick=quick,
        core_wait_share=_share(m.core_wait.get("pingpong")),
    )


def _share(found: float | None) -> float | None:
    return None if found is None else min(max(found, 0.0), 1.0)


def library_name_and_version(text: str) -> tuple[str, str]:
    """Short name and version from the text of MPI_Get_library_version."""
    for pattern, name in (
        (r"Open MPI v?(\S+?),?\s", "Open MPI"),
        (r"Intel\(R\) MPI Library (\S+)", "Intel MPI"),
        (r"MVAPICH\d?\s+Version\s*:\s*(\S+)", "MVAPICH"),
        (r"MPICH Version:\s*(\S+)", "MPICH"),
    ):
        found = re.search(pattern, text + " ")
        if found:
            return name, found.group(1)
    return (text.split(",")[0][:60] or "unknown"), "unknown"


def _network_path(
    round_trips: Sequence[RoundTrip],
    streams: Sequence[Stream],
    trials: Sequence[Trial],
    whole: Sequence[tuple[int, float]],
    limits: dict[str, int],
    by_collectives: Sequence[gaps.Moved],
) -> NetworkPath | None:
    if not round_trips:
        return None
    smallest = smallest_gaps(round_trips, streams, whole)
    sizes = sorted({r.size_bytes for r in round_trips})
    x_hi = largest_times(round_trips)
    x_lo = shortest_times(round_trips, smallest, max(limits.values(), default=0))
    for size in sizes:
        # All round trips may have been disturbed; no bound stands against a faster message.
        x_lo[size] = min([x_lo[size], *(time for s, time in whole if s >= size)])
    fastest = {s: _fastest(round_trips, whole, s) for s in sizes}
    of_size = {s: [t for t in trials if t.size_bytes == s] for s in sizes}
    early = [s for s in sizes if head_tail.arrives_early(of_size[s])]
    first_fragment_ns = x_hi[max(early)] if early else 0.0
    points = []
    seen = gaps.moved_by_messages(round_trips, streams, whole)
    sustained_ns, burst_bytes = gaps.sustained(seen, by_collectives, sizes)
    medians = loggp.medians_s(round_trips)
    buffered_ns = 0.0
    for size in sizes:
        tail = head_tail.tail_ns(of_size[size], x_hi[size])
        if tail is not None:
            # What buffers on the way held of a smaller message they can hold of this one's end.
            buffered_ns = max(buffered_ns, tail)
            tail = min(buffered_ns, x_hi[size])
        head = head_tail.head_ns(of_size[size], x_hi[size], first_fragment_ns)
        points.append(
            Point(
                size_bytes=size,
                x_lo_s=min(x_lo[size], x_hi[size]) * 1e-9,
                x_hi_s=x_hi[size] * 1e-9,
                tail_s=None if tail is None else tail * 1e-9,
                head_s=None if head is None else head * 1e-9,
                send_returns_before_match=head_tail.returns_before_match(of_size[size]),
                median_s=medians.get(size),
                least_s=min(fastest[size], x_hi[size]) * 1e-9,
            )
        )
    return NetworkPath(
        points=tuple(points),
        gap_s_per_byte=min(smallest.values()) * 1e-9 if max(smallest) >= BANDWIDTH_BYTES else 0.0,
        loggp=loggp.fit(round_trips, streams, trials),
        limits={f"send_returns_before_match_{k}_bytes": v for k, v in sorted(limits.items())},
        sustained_gap_s_per_byte=sustained_ns * 1e-9,
        burst_bytes=burst_bytes,
    )


def _fastest(
    round_trips: Sequence[RoundTrip], whole: Sequence[tuple[int, float]], size: int
) -> float:
    """The shortest one-way time of any message of `size` bytes or more, nanoseconds."""
    halves = [r.min_ns for r in round_trips if r.size_bytes >= size]
    return min([*halves, *(time for s, time in whole if s >= size)])


def whole_messages(m: Measurement, path: str) -> list[tuple[int, float]]:
    """Size and time of single messages, nanoseconds: all of each moved within its time.

    From the send's start to the arrival: of blocking sends to a receiver that was ready, and of
    whatever other exchanges the same run made.
    """
    found = [
        (t.size_bytes, t.received_ns + t.clock_error_ns)
        for t in m.trials
        if t.path == path and t.kind == "ready"
    ]
    for w in m.other.get("exchange", []):
        try:
            if w[0] == path:
                clock_error, enter, done = float(w[10]), float(w[11]), float(w[18])
                found.append((int(w[4]), done - enter + clock_error))
        except (ValueError, IndexError):
            raise ImbrexError(f"the probes printed a torn row: exchange {' '.join(w)}") from None
    return found


def moved_by_collectives(m: Measurement, path: str) -> list[gaps.Moved]:
    """What collectives moved between two ranks of this path: they need not go the way of messages.

    Of more ranks each moved no less than a partner's share between some two of them.
    """
    faster = {r.path for r in m.round_trips} - {path, "self"}
    found = []
    for row in m.collectives:
        if row.ranks < 2 or row.path != path or (faster and path != "intra-node"):
            continue
        roles = ("root", "other") if _is_rooted(row.operation) else ("any",)
        share = max(moved_bytes(row.operation, role, row.ranks, row.block_bytes) for role in roles)
        share //= row.ranks - 1
        if share:
            found.append(gaps.moved(share, share, row.min_ns, row.median_ns))
    return found


def largest_times(round_trips: Sequence[RoundTrip]) -> dict[int, float]:
    """X_hi per size, nanoseconds: the 95th percentile of the slowest pair and buffers.

    Of several rounds the quietest counts: a neighbour's burst of work is not the network's time.
    """
    quietest: dict[tuple[int, tuple[int, int], str], float] = {}
    for r in round_trips:
        key = (r.size_bytes, r.pair, r.buffers)
        quietest[key] = min(r.p95_ns, quietest.get(key, float("inf")))
    slowest: dict[int, float] = {}
    for (size, _, _), time in quietest.items():
        slowest[size] = max(time, slowest.get(size, 0.0))
    return slowest


# Latencies of empty messages in half a ping-pong: the message's own; with a rendezvous also those
# of the announcement and of its answer.
_LATENCIES_EAGER, _LATENCIES_RENDEZVOUS = 1, 3


def shortest_times(
    round_trips: Sequence[RoundTrip], gaps: Mapping[int, float], largest_eager_bytes: int
) -> dict[int, float]:
    """X_lo per size, nanoseconds: the larger of two lower bounds of a transfer's time.

    In a stream, messages hide all but the scarcest resource's time: size times gap. And no single
    message was faster than the shortest ping-pong: that, less the latencies in it, which move no
    data. It is the tighter where one message cannot use what many in flight can, as when
    sender and receiver each copy.
    """
    shortest: dict[int, float] = {}
    for r in round_trips:
        shortest[r.size_bytes] = min(r.min_ns, shortest.get(r.size_bytes, float("inf")))
    latency = min(shortest.values())
    found = {}
    for size in shortest:
        eager = size <= largest_eager_bytes
        latencies = _LATENCIES_EAGER if eager else _LATENCIES_RENDEZVOUS
        # A larger message cannot be faster: noise in few samples must not raise the bound.
        fastest = min(time for s, time in shortest.items() if s >= size)
        found[size] = max(gap_near(gaps, size) * size, fastest - latencies * latency)
    return found


def smallest_gaps(
    round_trips: Sequence[RoundTrip],
    streams: Sequence[Stream],
    whole: Sequence[tuple[int, float]] = (),
) -> dict[int, float]:
    """Per size the smallest time per byte that any message showed, streaming or not, nanoseconds.

    A batch of a stream ends with the receiver's answer: the shortest round trip of an empty
    message is no part of the transfer and is taken off, where it is small against the batch.
    """
    answer_ns = 2 * min(r.min_ns for r in round_trips)
    gaps: dict[int, float] = {}
    for r in round_trips:
        gaps[r.size_bytes] = min(r.min_ns / r.size_bytes, gaps.get(r.size_bytes, float("inf")))
    for s in streams:
        if s.min_ns > 4 * answer_ns:
            gap = (s.min_ns - answer_ns) / (s.messages * s.size_bytes)
            gaps[s.size_bytes] = min(gap, gaps.get(s.size_bytes, float("inf")))
    for size, time in whole:
        if size:
            gaps[size] = min(time / size, gaps.get(size, float("inf")))
    return gaps


def gap_near(gaps: Mapping[int, float], size: int) -> float:
    """The gap that bounds a message of `size`: the smallest of all sizes from a quarter of it.

    Messages much smaller than this one may live in a cache that this one cannot; those of about
    its size and larger bound it.
    """
    return min(gap for s, gap in gaps.items() if 4 * s >= size)


def _collectives(
    rows: Sequence[CollectiveRow], apart: Sequence[ApartRow], paths: Mapping[str, NetworkPath]
) -> tuple[Collective, ...]:
    early = early_ns(apart, rows)
    curves: dict[tuple[str, int, str, str], list[CollectivePoint]] = {}
    for row in rows:
        roles = ("root", "other") if _is_rooted(row.operation) else ("any",)
        for role in roles:
            size = row.block_bytes
            if holds_blocks(row.operation, role):
                size = row.largest_bytes
            moved = moved_bytes(row.operation, role, row.ranks, row.block_bytes)
            behind_ns = 1e9 * gaps.behind_burst_s(paths, row.path, row.ranks - 1, moved)
            least_ns = max(moved * _smallest_gap_ns(paths, moved), behind_ns)
            lowest_ns = min(least_ns, row.min_ns, row.p95_ns)
            key = (row.operation, row.ranks, row.path, role)
            before_ns = early.get((row.operation, row.ranks, row.path, row.block_bytes))
            curves.setdefault(key, []).append(
                CollectivePoint(
                    size,
                    lowest_ns * 1e-9,
                    row.p95_ns * 1e-9,
                    None if before_ns is None else before_ns * 1e-9,
                )
            )
    return tuple(
        Collective(operation, ranks, path, role, tuple(sorted(points, key=lambda p: p.size_bytes)))
        for (operation, ranks, path, role), points in curves.items()
    )


def _smallest_gap_ns(paths: Mapping[str, NetworkPath], size: int) -> float:
    """Smallest time per byte for a part of `size` bytes on the fastest path between ranks."""
    found = [p.gap_s_per_byte for name, p in paths.items() if name != "self"]
    return 1e9 * min(found, default=0.0) if size else 0.0
