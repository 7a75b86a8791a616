"""Read a rank's call log (runtime/core/call_log.h): one record for each call that communicates.

It lies in the rank's part file while that exists, or in a file of its own where the run was told to
keep it. What a killed process left behind is read as far as it goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.format import Table

MAGIC = b"IMBREXL1"
VERSION = 1
CHUNK_BYTES = 4096
CHUNK_RECORDS = 64

# Behind the header that parts had before they had a log.
_PART_MAGIC = b"IMBREXP1"
_PART_HEADER_BYTES = np.dtype("<u4")
_PART_LOG_AT = 592

RECORD_DTYPE = np.dtype(
    [
        ("enter_ns", "<i8"),
        ("exit_ns", "<i8"),
        ("call_before_ns", "<i8"),
        ("bytes", "<i8"),
        ("site", "<i4"),
        ("operation", "<u2"),
        ("section", "<u2"),
        ("comm", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("sequence", "<u4"),
        ("end_call", "<u4"),
        ("kind", "u1"),
        ("path", "u1"),
        ("thread", "u1"),
        ("flags", "u1"),
    ]
)
"""A record as it lies in the file. Times in ns since the rank's measuring began."""

CALL_DTYPE = np.dtype([*RECORD_DTYPE.descr, ("id", "<u4")])
"""A record and its id, which `end_call` of others names."""

POLLS_DTYPE = np.dtype([("id", "<u4"), ("calls", "<u4"), ("since_ns", "<i8"), ("call_ns", "<i8")])
"""The calls of a site that found nothing before one that did, whose first record has this id: their
number, when the first was entered, and the time in them."""

_TABLE = np.dtype([("offset", "<u8"), ("entry_bytes", "<u8"), ("capacity", "<u8"), ("used", "<u8")])
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("bytes", "<u8"),
        ("chunk_offset", "<u8"),
        ("chunks", "<u4"),
        ("chunks_used", "<u4"),
        ("orders", "<u4"),
        ("window_shift", "<u4"),
        ("level", "<u4"),
        ("flags", "<u4"),
        ("origin_ns", "<i8"),
        ("end_ns", "<i8"),
        ("lost", "<i8"),
        ("comms", _TABLE),
        ("members", _TABLE),
        ("common_start_ns", "<i8"),
        ("common_end_ns", "<i8"),
    ]
)
_COMMON_NUMBERS = 1
_COMMON_START = 2
_CHUNK = np.dtype(
    [
        ("order", "<u4"),
        ("window", "<u4"),
        ("thread", "<u2"),
        ("in_use", "u1"),
        ("used", "u1"),
        ("reserved", "V52"),
    ]
)
_COMM = np.dtype(
    [
        ("number", "<u4"),
        ("flags", "<u4"),
        ("rank", "<i4"),
        ("size", "<i4"),
        ("peers", "<i4"),
        ("own", "<u4"),
        ("remote", "<u4"),
        ("reserved", "<u4"),
    ]
)
_NOWHERE = 0xFFFFFFFF

OPEN = 0
"""`end_call` of what was not seen complete."""
END_UNSEEN = 0xFFFFFFFF
"""`end_call` of what completed in a call that is not logged, or was given up."""
NOBODY, PROC_NULL, ANY, HERE = -1, -2, -3, -4
"""`peer`: no root, MPI_PROC_NULL, MPI_ANY_SOURCE not seen complete, MPI_ROOT."""
EXCLUSIVE, SHARED = 1, 2
"""`tag` of a lock of a window."""


class Kind(IntEnum):
    """What a record is about (enum ix_log_kind)."""

    SEND = 1
    SYNC_SEND = 2
    BUFFERED_SEND = 3
    READY_SEND = 4
    RECV = 5
    PROBE = 6
    COMPLETION = 7
    ALL = 8
    FROM_ROOT = 9
    TO_ROOT = 10
    SCAN = 11
    NEIGHBOURS = 12
    PUT = 13
    GET = 14
    EPOCH = 15
    PARTS_SEND = 16
    PARTS_RECV = 17
    PART_READY = 18
    BLOCKS = 19
    EXPOSURE = 20
    ACCESS = 21
    POLLS = 22
    PART_ARRIVED = 23


_PATH, _PARTITION, _LATER = 3, 2, 63


def paths(records: NDArray[np.void]) -> NDArray[np.uint8]:
    """Of each record; above those of partitions stands which one they are about."""
    of_parts = np.isin(records["kind"], (Kind.PART_READY, Kind.PART_ARRIVED))
    return np.where(of_parts, records["path"] & _PATH, records["path"]).astype(np.uint8)


def partition_of(record: np.void) -> int | None:
    """Which partition a record of one is about; None: the log does not tell."""
    number = int(record["path"]) >> _PARTITION
    return number - 1 if 0 < number < _LATER else None


class Flag(IntEnum):
    """Bits of a record's `flags` (enum ix_log_flags)."""

    FIRST = 1
    WILDCARD = 2
    PERSISTENT = 4
    UNCOUNTED = 8
    CANCELLED = 16
    AFTER_PAUSE = 32
    FAILED = 64
    VARYING = 128


@dataclass(frozen=True)
class Communicator:
    """A communicator or window; `number` is the same on all members.

    `own` and `peers` are world ranks (-1: outside MPI_COMM_WORLD) of the local group and of the one
    that messages go to, or None where the log had no room for them.
    """

    number: int
    rank: int
    inter: bool
    window: bool
    foreign: bool
    met: bool
    own: list[int] | None
    peers: list[int] | None


@dataclass(frozen=True)
class CallLog:
    """The log of one rank.

    `calls` has CALL_DTYPE: thread after thread, each in the order of time; records of one call
    stand one behind the other. Sites and sections are those of the run directory where
    `common_numbers`, else the rank's own. `common_start_ns` and `common_end_ns` are the rank's
    start and `end_ns` on the clock common to all ranks: the end is 0 where the rank did not get
    there, and the start unknown (0) where not `common_start`. `blocks` are the records with the
    sizes of collectives' blocks (Kind.BLOCKS; block_sizes.py reads them), which `calls` has not,
    as it has none of Kind.POLLS: `polls` (POLLS_DTYPE) has what those say.
    """

    file: Path
    calls: Table
    communicators: dict[int, Communicator]
    budget_bytes: int
    window_ns: int
    level: int
    origin_ns: int
    end_ns: int
    lost: int
    common_numbers: bool
    common_start: bool
    common_start_ns: int
    common_end_ns: int
    blocks: Table = field(default_factory=lambda: np.zeros(0, CALL_DTYPE))
    polls: Table = field(default_factory=lambda: np.zeros(0, POLLS_DTYPE))
    missing_bytes: int = 0
    """Of the log, behind the end of the file: it was cut off after it was written."""

    @property
    def complete(self) -> bool:
        """Whether no window of the run was left out."""
        return self.level == 0 and self.lost == 0

    def common_ns(self, times_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Times of records on the clock common to all ranks, as float64 ns.

        A part that a crash left knows the offset of the clocks from the job's begin, not their
        rate. Where they were never compared, times count from where the ranks began to log, which
        they do together.
        """
        ended = self.common_end_ns > 0
        if not (ended or self.common_start):
            return times_ns.astype(np.float64) - self.origin_ns
        span = self.common_end_ns - self.common_start_ns
        rate = span / self.end_ns if ended and span > 0 and self.end_ns > 0 else 1.0
        return self.common_start_ns + times_ns.astype(np.float64) * rate

    @property
    def began_ns(self) -> float:
        """When the rank began to measure, on that clock."""
        return float(self.common_ns(np.zeros(1, np.int64))[0])

    def covered_ns(self, until_ns: int) -> int:
        """How much of [0, until_ns) is covered by the windows that were kept."""
        end = min(until_ns, self.end_ns) if self.end_ns else until_ns
        span = max(0, end - self.origin_ns)
        whole, rest = divmod(span, self.window_ns << self.level)
        return whole * self.window_ns + min(rest, self.window_ns)


def _members(data: bytes, header: Table, begin: int, count: int) -> list[int] | None:
    table = header["members"]
    if begin == _NOWHERE or count < 0 or begin + count > int(table["used"]):
        return None
    at = int(table["offset"]) + 4 * begin
    if at + 4 * count > len(data):
        return None
    return [int(rank) for rank in np.frombuffer(data, "<i4", count, at)]


def _communicators(data: bytes, header: Table) -> dict[int, Communicator]:
    table = header["comms"]
    offset = int(table["offset"])
    if int(table["entry_bytes"]) != _COMM.itemsize or offset > len(data):
        return {}
    used = min(int(table["used"]), (len(data) - offset) // _COMM.itemsize)
    found: dict[int, Communicator] = {}
    for entry in np.frombuffer(data, _COMM, used, offset):
        flags = int(entry["flags"])
        found[int(entry["number"])] = Communicator(
            number=int(entry["number"]),
            rank=int(entry["rank"]),
            inter=bool(flags & 1),
            window=bool(flags & 2),
            foreign=bool(flags & 4),
            met=bool(flags & 8),
            own=_members(data, header, int(entry["own"]), int(entry["size"])),
            peers=_members(data, header, int(entry["remote"]), int(entry["peers"])),
        )
    return found


def _chunks_in(data: bytes, header: Table) -> int:
    """How many of the log's chunks are there: a file that was cut off may have fewer."""
    offset = min(int(header["chunk_offset"]), len(data))
    return min(int(header["chunks_used"]), max(0, len(data) - offset) // CHUNK_BYTES)


def _missing(data: bytes, header: Table) -> int:
    """Bytes of chunks that the file should have and has not."""
    if _chunks_in(data, header) == int(header["chunks_used"]):
        return 0
    return int(header["chunk_offset"]) + int(header["chunks_used"]) * CHUNK_BYTES - len(data)


def _polls(records: Table) -> Table:
    """What records of Kind.POLLS say, each of the call whose records stand before it."""
    first = np.flatnonzero((records["flags"] & Flag.FIRST) != 0)
    told = np.flatnonzero(records["kind"] == Kind.POLLS)
    call = np.searchsorted(first, told, side="right") - 1
    told, call = told[call >= 0], call[call >= 0]
    found = np.zeros(len(told), POLLS_DTYPE)
    found["id"] = records["id"][first[call]]
    found["calls"], found["call_ns"] = records["sequence"][told], records["bytes"][told]
    upper = records["peer"][told].astype(np.int64) & 0xFFFFFFFF
    found["since_ns"] = records["comm"][told].astype(np.int64) | upper << 32
    return found[found["call_ns"] > 0]


def _calls(data: bytes, header: Table) -> Table:
    offset = min(int(header["chunk_offset"]), len(data))
    count = _chunks_in(data, header)
    places = np.frombuffer(data, RECORD_DTYPE, count * CHUNK_RECORDS, offset)
    places = places.reshape(count, CHUNK_RECORDS)
    heads = np.frombuffer(data, _CHUNK, count * CHUNK_RECORDS, offset)[::CHUNK_RECORDS]
    kept = (heads["order"] != 0) & (heads["window"] % (1 << int(header["level"])) == 0)
    heads, places = heads[kept], places[kept]
    by_time = np.lexsort((heads["order"], heads["thread"]))
    heads, records = heads[by_time], places[by_time][:, 1:]
    places_used = np.minimum(heads["used"], CHUNK_RECORDS)
    written = np.arange(1, CHUNK_RECORDS) < places_used[:, None]
    written &= records["kind"] != 0
    ids = heads["order"][:, None] * np.uint32(CHUNK_RECORDS)
    ids = ids + np.arange(1, CHUNK_RECORDS, dtype=np.uint32)
    calls = np.empty(int(written.sum()), CALL_DTYPE)
    for name in RECORD_DTYPE.names or ():
        calls[name] = records[name][written]
    calls["id"] = ids[written]
    return calls


def _log_in_part(file: Path, data: bytes) -> bytes:
    header_bytes = int(np.frombuffer(data, _PART_HEADER_BYTES, 1, 12)[0]) if len(data) >= 16 else 0
    if header_bytes < _PART_LOG_AT + 16 or len(data) < _PART_LOG_AT + 16:
        raise ImbrexError(f"{file}: has no call log")
    offset = int(np.frombuffer(data, "<u8", 1, _PART_LOG_AT)[0])
    if offset == 0:
        raise ImbrexError(f"{file}: has no call log (the run was made with --log off)")
    return data[offset:]


def read_call_log(file: Path) -> CallLog:
    """Read the log in a part file, or one that was kept.

    Raises ImbrexError where there is none, it is cut short within its header, damaged, or of a
    version that this Imbrex does not know.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be read ({error.strerror})") from error
    if data[: len(_PART_MAGIC)] == _PART_MAGIC:
        data = _log_in_part(file, data)
    elif data[: len(MAGIC)] != MAGIC:
        raise ImbrexError(f"{file}: neither a call log nor a part of an Imbrex profile")
    if len(data) < _HEADER.itemsize:
        raise ImbrexError(f"{file}: its call log is cut short ({len(data)} bytes)")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if bytes(header["magic"]) != MAGIC:
        raise ImbrexError(f"{file}: its call log is damaged (no header)")
    if int(header["version"]) != VERSION:
        raise ImbrexError(
            f"{file}: its call log has version {header['version']}, this Imbrex knows {VERSION}"
        )
    offset, shift, level = (int(header[f]) for f in ("chunk_offset", "window_shift", "level"))
    if offset % CHUNK_BYTES or shift > 62 or level > 31:
        raise ImbrexError(f"{file}: its call log is damaged (impossible header)")
    records = _calls(data, header)
    told = np.isin(records["kind"], (Kind.BLOCKS, Kind.POLLS))
    return CallLog(
        file=file,
        calls=records[~told],
        blocks=records[records["kind"] == Kind.BLOCKS],
        polls=_polls(records),
        communicators=_communicators(data, header),
        budget_bytes=int(header["bytes"]),
        window_ns=1 << shift,
        level=level,
        origin_ns=int(header["origin_ns"]),
        end_ns=int(header["end_ns"]),
        lost=int(header["lost"]),
        common_numbers=bool(int(header["flags"]) & _COMMON_NUMBERS),
        common_start=bool(int(header["flags"]) & _COMMON_START),
        common_start_ns=int(header["common_start_ns"]),
        common_end_ns=int(header["common_end_ns"]),
        missing_bytes=_missing(data, header),
    )
