"""Read one rank's memory-mapped profile (runtime/core/part.h).

A part is what a killed process left behind, so every number in it is doubted: a table is
clipped to what lies inside the file, and only a header that cannot be read is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.profile.call_paths import MOST_CALLERS
from imbrex.profile.format import (
    MEASURES,
    MEASURES_DTYPE,
    MOST_RANKS,
    QUANTITIES,
    RANKS,
    RANKS_DTYPE,
    Ended,
    Table,
)
from imbrex.profile.part_standing import (
    AWAITED_AT_DTYPE,
    AWAITED_DTYPE,
    STANDING_DTYPE,
    PartStanding,
    Place,
    read_addresses,
    read_standing,
)
from imbrex.profile.part_standing import (
    HEADER_DTYPE as STANDING_HEADER_DTYPE,
)

MAGIC = b"IMBREXP1"
VERSION = 1
# Two years in nanoseconds: no sum of a rank is larger, and a hundred such sums fit 63 bits.
_LARGEST = 1 << 56

TABLE_DTYPE = np.dtype(
    [("offset", "<u8"), ("entry_bytes", "<u8"), ("capacity", "<u8"), ("used", "<u8")]
)
HEADER_DTYPE = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("file_bytes", "<u8"),
        ("ranks", "<i4"),
        ("call_cost_ps", "<u4"),
        ("library", "S256"),
        ("rank", RANKS_DTYPE),
        ("sites", TABLE_DTYPE),
        ("images", TABLE_DTYPE),
        ("sections", TABLE_DTYPE),
        ("operations", TABLE_DTYPE),
        ("threads", TABLE_DTYPE),
    ]
)
_CALL_PATHS_AT = HEADER_DTYPE.itemsize + 16
"""Of that table, behind the two numbers of the call log; not in parts of earlier versions."""
SITE_DTYPE = np.dtype([("offset", "<u8"), ("image", "<u4"), ("reserved", "<u4")])
IMAGE_DTYPE = np.dtype([("path", "S4056"), ("build_id", "S40")])
CALL_PATH_DTYPE = np.dtype(
    [
        ("site", "<i4"),
        ("count", "<u2"),
        ("is_cut", "<u2"),
        ("samples", "<i8"),
        ("callers", "<u8", (MOST_CALLERS,)),
    ]
)
NAME_DTYPE = np.dtype([("name", "S128")])
OPERATION_DTYPE = np.dtype([("name", "S48")])
THREAD_DTYPE = np.dtype(
    [
        ("rows", TABLE_DTYPE),
        ("compute_ns", "<i8"),
        ("call_ns", "<i8"),
        ("calls", "<i8"),
        ("last_exit_ns", "<i8"),
    ]
)

__all__ = ["Place"]


@dataclass(frozen=True)
class PartCallPath:
    """A path to a site, by the rank's own number, and how often it was seen.

    `is_cut`: there are further callers, and more different ones than are kept.
    """

    site: int
    samples: int
    callers: tuple[Place, ...]
    is_cut: bool = False


@dataclass(frozen=True)
class Part:
    """What one rank measured, with its own numbers of sites, sections and operations.

    `measures` has MEASURES_DTYPE, `rank` is one row of RANKS_DTYPE.
    """

    file: Path
    ranks: int
    library: str
    rank: Table
    measures: Table
    sites: list[Place]
    sections: list[str]
    operations: list[str]
    call_paths: list[PartCallPath] = field(default_factory=list)
    standing: list[PartStanding] = field(default_factory=list)
    """Where its threads stood; empty where it ended with MPI_Finalize."""
    damaged_rows: int = 0
    """Rows that were left out because they hold what no measurement can."""


def _text(value: bytes) -> str:
    return value.split(b"\0", 1)[0].decode("utf-8", "replace")


def _entries(data: bytes, table: Table, wanted: np.dtype[np.void]) -> Table:
    """The used entries of a table that lie inside the file, as an array of `wanted`.

    Entries may be longer than `wanted` (a later version's fields); shorter ones are unreadable.
    """
    offset, size = int(table["offset"]), int(table["entry_bytes"])
    if size < wanted.itemsize or size > len(data) or offset >= len(data):
        return np.empty(0, wanted)
    used = min(int(table["used"]), int(table["capacity"]), (len(data) - offset) // size)
    names = wanted.names or ()
    fields = dict(wanted.fields or {})
    padded: np.dtype[np.void] = np.dtype(
        {
            "names": list(names),
            "formats": [fields[name][0] for name in names],
            "offsets": [fields[name][1] for name in names],
            "itemsize": size,
        }
    )
    return np.frombuffer(data, padded, used, offset).astype(wanted)


def _believable(measures: Table) -> tuple[Table, int]:
    """The rows whose values are in their ranges and small enough to be summed, and how many not."""
    good = MEASURES.rows_in_range(measures)
    for name in QUANTITIES:
        good &= measures[name] <= _LARGEST
    return measures[good], int(len(measures) - good.sum())


def _clip_rank(rank: Table) -> None:
    """Bring the numbers of a rank's row into their ranges."""
    for column in RANKS.columns:
        if column.low is not None and column.type == "i8":
            rank[column.name] = min(max(int(rank[column.name]), column.low), _LARGEST)
    if int(rank["ended"]) > max(Ended):
        rank["ended"] = Ended.DIED


def _call_paths(
    data: bytes, header_bytes: int, images: Sequence[tuple[str, str]], sites: int
) -> list[PartCallPath]:
    """The paths that name a site of this part; a caller in no image is the end of what is known."""
    end = _CALL_PATHS_AT + TABLE_DTYPE.itemsize
    if header_bytes < end or len(data) < end:
        return []
    table = np.frombuffer(data, TABLE_DTYPE, 1, _CALL_PATHS_AT)[0]
    found = []
    for entry in _entries(data, table, CALL_PATH_DTYPE):
        site, samples = int(entry["site"]), int(entry["samples"])
        if not 0 < site < sites or not 0 < samples <= _LARGEST:
            continue
        callers: list[Place] = []
        is_cut = bool(entry["is_cut"])
        for caller in entry["callers"][: int(entry["count"])].tolist():
            if caller >> 56 >= len(images):
                is_cut = True
                break
            path, build_id = images[caller >> 56]
            callers.append((path or None, build_id or None, caller & ((1 << 56) - 1)))
        found.append(PartCallPath(site, samples, tuple(callers), is_cut))
    return found


def _standing(
    data: bytes,
    header: Table,
    images: Sequence[tuple[str, str]],
    sites: Sequence[Place],
    operations: Sequence[str],
) -> list[PartStanding]:
    """Where the threads stood; nothing of a part that an earlier version wrote."""
    at = _CALL_PATHS_AT + TABLE_DTYPE.itemsize
    end = at + STANDING_HEADER_DTYPE.itemsize
    ended = int(header["rank"]["ended"])
    if int(header["header_bytes"]) < end or len(data) < end or ended == Ended.FINALIZED:
        return []
    last = np.frombuffer(data, STANDING_HEADER_DTYPE, 1, at)[0]
    stands = _entries(data, last["standing"], STANDING_DTYPE)
    threads = min(int(header["threads"]["used"]), len(stands))
    addresses = read_addresses(
        lambda table, wanted: _entries(data, table, wanted), header, sites, images
    )
    return read_standing(
        last, stands[:threads], _awaited(data, header, last, end), operations, addresses
    )


def _awaited(data: bytes, header: Table, last: Table, end: int) -> Table:
    """Whom the calls of the threads wait for; nothing of a part that an earlier version wrote."""
    behind = end + AWAITED_AT_DTYPE.itemsize
    if int(header["header_bytes"]) < behind or len(data) < behind:
        return np.empty(0, AWAITED_DTYPE)
    at = int(np.frombuffer(data, AWAITED_AT_DTYPE, 1, end)[0])
    table = last["standing"].copy()
    if at > int(table["entry_bytes"]) - AWAITED_DTYPE.itemsize:
        return np.empty(0, AWAITED_DTYPE)
    table["offset"] += at
    return _entries(data, table, AWAITED_DTYPE)


def read_part(file: Path) -> Part:
    """Read a part file; ImbrexError where its header is truncated, foreign or newer."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be read ({error.strerror})") from error
    if data[: len(MAGIC)] != MAGIC:
        raise ImbrexError(f"{file}: not a part of an Imbrex profile")
    if len(data) < HEADER_DTYPE.itemsize:
        raise ImbrexError(f"{file}: truncated ({len(data)} bytes)")
    header = np.frombuffer(data, HEADER_DTYPE, 1)[0]
    if header["version"] > VERSION:
        raise ImbrexError(
            f"{file}: written by a newer Imbrex (part version {header['version']}); update Imbrex"
        )

    images = [
        (_text(bytes(image["path"])), _text(bytes(image["build_id"])))
        for image in _entries(data, header["images"], IMAGE_DTYPE)
    ]
    sites: list[Place] = []
    for site in _entries(data, header["sites"], SITE_DTYPE):
        index = int(site["image"])
        path, build_id = images[index] if index < len(images) else ("", "")
        sites.append((path or None, build_id or None, int(site["offset"])))

    rank = np.array(header["rank"], RANKS_DTYPE)
    ranks = int(header["ranks"])
    if not 0 <= int(rank["rank"]) < max(ranks, 1) <= MOST_RANKS:
        raise ImbrexError(f"{file}: damaged (it says rank {rank['rank']} of {ranks})")
    tables = []
    threads = _entries(data, header["threads"], THREAD_DTYPE)
    for name in ("compute_ns", "call_ns", "calls", "last_exit_ns"):
        np.clip(threads[name], 0, _LARGEST, out=threads[name])
    for thread in threads:
        rows = _entries(data, thread["rows"], MEASURES_DTYPE)
        tables.append(rows[(rows["count"] != 0) | (rows["transfers"] != 0)])
    measures = np.concatenate(tables) if tables else np.empty(0, MEASURES_DTYPE)
    measures["rank"] = rank["rank"]
    measures, damaged_rows = _believable(measures)
    _clip_rank(rank)
    # The rank's own sums are written at its end; a rank that died left them in its threads.
    for name in ("compute_ns", "call_ns", "calls"):
        if rank[name] == 0:
            rank[name] = min(threads[name].sum(dtype=np.float64), _LARGEST)
    if rank["overhead_ns"] == 0:
        cost_ps = int(rank["calls"]) * int(header["call_cost_ps"])
        rank["overhead_ns"] = min(cost_ps // 1000, _LARGEST)
    if rank["wall_ns"] == 0 and len(threads):
        rank["wall_ns"] = threads["last_exit_ns"].max()
    operations = [
        _text(bytes(e["name"])) for e in _entries(data, header["operations"], OPERATION_DTYPE)
    ]
    return Part(
        file=file,
        ranks=ranks,
        library=_text(bytes(header["library"])),
        rank=rank,
        measures=measures,
        sites=sites,
        sections=[_text(bytes(e["name"])) for e in _entries(data, header["sections"], NAME_DTYPE)],
        operations=operations,
        call_paths=_call_paths(data, int(header["header_bytes"]), images, len(sites)),
        standing=_standing(data, header, images, sites, operations),
        damaged_rows=damaged_rows,
    )
