"""What of a collective moves before its last rank enters: from rows of the probe `collectives`.

The last rank enters late, when the others wait in MPI and have overwritten what they give. What
arrives of it as it was before had left without the last rank. Whatever disturbs a trial makes the
others overwrite it later, so that more seems to have left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from imbrex.network.columns import ApartRow, CollectiveRow
from imbrex.network.handshake import LITTLE

Key = tuple[str, int, str, int]
"""Operation, ranks, path, bytes of a block."""


def early_ns(
    rows: Sequence[ApartRow], collectives: Sequence[CollectiveRow]
) -> Mapping[Key, float | None]:
    """By size: at most so much moved before; None where more than little did.

    Of blocks of unequal size some may be as small as those that move before: what is known of
    smaller sizes counts for all larger ones.
    """
    wholes = {(c.operation, c.ranks, c.path, c.block_bytes): c for c in collectives}
    found: dict[Key, float | None] = {}
    least_ns: dict[tuple[str, int, str], float] = {}
    for row in sorted(rows, key=lambda r: r.block_bytes):
        curve = (row.operation, row.ranks, row.path)
        whole = wholes.get((*curve, row.block_bytes))
        if whole is None:
            continue
        share = row.early_bytes / (row.block_bytes * (row.ranks - 1))
        early = whole.p95_ns * (share if share <= LITTLE else 1.0)
        least_ns[curve] = max(least_ns.get(curve, 0.0), early)
        waits = share <= LITTLE
        key = (row.operation, row.ranks, row.path, row.block_bytes)
        found[key] = min(least_ns[curve], whole.p95_ns) if waits else None
    return found
