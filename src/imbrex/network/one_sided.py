"""Transfer times of one-sided operations, which need not go the way of messages.

Over shared memory a put is a plain copy, twice as fast as a message of that size: the times of
messages would claim transfers that are long over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from imbrex import mpi_facts
from imbrex.network.columns import OneSidedRow
from imbrex.network.interpolation import BANDWIDTH_BYTES
from imbrex.network.profile import OneSided, Point

# By direction of the data, the operation that does nothing else with it.
_PLAIN = {"put": "MPI_Put", "get": "MPI_Get"}


def assemble(
    rows: Sequence[OneSidedRow], message_gaps_s: Mapping[str, float]
) -> tuple[OneSided, ...]:
    """Per operation and path: X_lo, X_hi and the tail of each size.

    X_lo = size x the smallest time per byte that any window and size showed, of this operation,
    of the plain one that moves the same data (an accumulate may be done as a put), and of the
    messages of this path, which `message_gaps_s` has by path: what they can do it may do.
    Beyond the largest size X_lo does not grow where nothing of size was measured.
    X_hi = the 95th percentile of one operation and its flush, on the slower window. The tail is
    that of a flush behind a local flush: when it returns, the data has arrived.
    """
    by_key: dict[tuple[str, str], list[OneSidedRow]] = defaultdict(list)
    for row in rows:
        by_key[row.operation, row.path].append(row)
    found = []
    for (operation, path), mine in by_key.items():
        direction = mpi_facts.facts(operation).fields.get("direction", "")
        plain = by_key.get((_PLAIN.get(direction, operation), path), [])
        gap_ns = min(min(r.gap_ns, r.min_ns) / r.size_bytes for r in (*mine, *plain))
        known = max(r.size_bytes for r in mine) >= BANDWIDTH_BYTES
        if message_gaps_s.get(path, 0.0) > 0:
            gap_ns = min(gap_ns, message_gaps_s[path] * 1e9)
            known = True
        points = []
        for size in sorted({r.size_bytes for r in mine}):
            here = [r for r in mine if r.size_bytes == size]
            shortest_ns = min(min(r.min_ns, r.gap_ns) for r in here)
            high_ns = max(r.p95_ns for r in here)
            points.append(
                Point(
                    size,
                    min(size * gap_ns, shortest_ns) * 1e-9,
                    high_ns * 1e-9,
                    min(high_ns, max(r.left_p95_ns for r in here)) * 1e-9,
                )
            )
        found.append(OneSided(operation, path, gap_ns * 1e-9 if known else 0.0, tuple(points)))
    return tuple(found)
