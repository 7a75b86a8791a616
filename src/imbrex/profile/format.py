"""The tables of a run directory: their columns, as the reader checks and the page lists them."""

from __future__ import annotations

from enum import IntEnum

from imbrex.formats.arrays import LARGEST_SUM, Column, Table, TableFormat

__all__ = ["Table"]

SCHEMA_VERSION = 1
RUN_FORMAT = "imbrex-run"
MOST_RANKS = 1 << 22
"""More than any machine has run; every rank takes a row."""
REMEDY = "measure again with imbrex run, or restore the file"


class Ended(IntEnum):
    """How a rank ended."""

    FINALIZED = 0
    ABORTED = 1
    EXITED = 2
    DIED = 3
    MISSING = 4


class Path(IntEnum):
    """Where a transfer went."""

    NONE = 0
    SELF = 1
    INTRA = 2
    INTER = 3


PATH_NAMES = ("none", "self", "intra-node", "inter-node")
SOURCE_NAMES = ("call", "poll", "callback")


def _quantity(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, "i8", meaning, unit, 0, LARGEST_SUM)


def rank_column(meaning: str = "rank in MPI_COMM_WORLD") -> Column:
    """The column of a rank."""
    return Column("rank", "i4", meaning, "", 0, MOST_RANKS - 1)


KEY_COLUMNS = (
    rank_column(),
    Column("site", "i4", "index into `sites.json`", "", 0, (1 << 31) - 1),
    Column("operation", "u2", "index into `operations` of run.json"),
    Column("section", "u2", "index into `sections` of run.json; 0 is outside every section"),
    Column(
        "size_class",
        "i1",
        "floor(log2(bytes)) of the transfer; -1 where the row holds no transfer (a Wait, a "
        "Barrier, zero bytes, MPI_PROC_NULL). A transfer whose end is unknown keeps the class of "
        "the size that was posted, while its `bytes` are 0",
        "",
        -1,
        62,
    ),
    Column("path", "u1", "0 none, 1 self, 2 intra-node, 3 inter-node"),
    Column("source", "u1", "where the events came from: 0 call, 1 poll, 2 callback"),
)
KEYS = tuple(column.name for column in KEY_COLUMNS)
"""What a row's quantities belong to, in the order of `ix_row`."""

_COUNTS = (
    _quantity("count", "MPI calls"),
    _quantity("transfers", "transfers begun by these calls (a Sendrecv begins two, a Wait none)"),
    _quantity("bytes", "user data of those transfers", "bytes"),
)
_TIMES = (
    _quantity("transfer_min_ns", "sum of X_lo", "ns"),
    _quantity("transfer_max_ns", "sum of X_hi", "ns"),
    _quantity("overlap_min_ns", "hidden, at least", "ns"),
    _quantity("overlap_max_ns", "hidden, at most", "ns"),
    _quantity("exposed_min_ns", "exposed, at least", "ns"),
    _quantity("exposed_max_ns", "exposed, at most", "ns"),
    _quantity("call_ns", "time inside these calls", "ns"),
    _quantity(
        "wait_min_ns",
        "part of it in which nothing of this process can have been moving, at least",
        "ns",
    ),
    _quantity("wait_max_ns", "the same, at most", "ns"),
)
_DOUBTS = (
    _quantity(
        "undetermined",
        "transfers with slack = X_hi (a begin or an end was not known, or lay outside the calls)",
    ),
    _quantity("contradicted", "transfers with X_lo > C + N + slack"),
    _quantity("uncalibrated", "transfers whose time is in no table: they carry X_lo = X_hi = 0"),
    _quantity(
        "unknown_end",
        "transfers freed, cancelled, still open at the end, or begun when the table of open "
        "requests was full",
    ),
)
COUNTS = tuple(column.name for column in _COUNTS)
TIMES_NS = tuple(column.name for column in _TIMES)
DOUBTS = tuple(column.name for column in _DOUBTS)
QUANTITIES = COUNTS + TIMES_NS + DOUBTS
"""The sixteen summable fields of a row, in the order of `ix_row`."""

MEASURES = TableFormat(
    "a table of an Imbrex run",
    REMEDY,
    (*KEY_COLUMNS, Column("reserved", "u1", "0"), *_COUNTS, *_TIMES, *_DOUBTS),
)
"""measures.npy: one row per rank, site, operation, size class, section and path."""
MEASURES_DTYPE = MEASURES.dtype

RANKS = TableFormat(
    "a table of an Imbrex run",
    REMEDY,
    (
        rank_column(),
        Column(
            "ended",
            "u1",
            "0 finalized, 1 aborted (MPI_Abort), 2 exited (exit without MPI_Finalize), "
            "3 died (signal, _exit, or killed), 4 missing (no data)",
            "",
            0,
            max(Ended),
        ),
        Column("threads", "u1", "threads that made MPI calls (255: that many or more)"),
        Column("reserved", "u2"),
        Column("host", "S64", "host name"),
        _quantity(
            "wall_ns",
            "from MPI_Init (its exit) to MPI_Finalize (its entry), or to the last MPI call known",
            "ns",
        ),
        _quantity("compute_ns", "time between calls, summed over threads", "ns"),
        _quantity("call_ns", "time inside calls, summed over threads", "ns"),
        _quantity("calls", "recorded MPI calls"),
        _quantity("overhead_ns", "measured cost of one recorded call, times calls", "ns"),
        _quantity(
            "memory_bytes", "what the runtime holds, the call log as far as it has grown", "bytes"
        ),
        _quantity("dropped", "transfers dropped because measuring was paused when they began"),
        _quantity(
            "overflow",
            'rows, sites or sections that did not fit and were counted in the row "other" (site 0)',
        ),
        _quantity("section_errors", "sections ended twice, out of order, or never"),
    ),
)
"""ranks.npy: one row per rank."""
RANKS_DTYPE = RANKS.dtype


def quantities(*names: tuple[str, str], unit: str = "ns") -> tuple[Column, ...]:
    """Columns that are summed: (name, meaning) of each."""
    return tuple(_quantity(name, meaning, unit) for name, meaning in names)


def interval(name: str, meaning: str) -> tuple[Column, Column]:
    """The two columns of a time that is known between two bounds."""
    return (
        _quantity(f"{name}_min_ns", f"{meaning}, at least", "ns"),
        _quantity(f"{name}_max_ns", f"{meaning}, at most", "ns"),
    )
