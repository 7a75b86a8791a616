"""The types of a run directory's tables (docs/run-directory.md)."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

SCHEMA_VERSION = 1
RUN_FORMAT = "imbrex-run"

Table = npt.NDArray[np.void]
"""A NumPy structured array, one row per entry."""


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

KEYS = ("rank", "site", "operation", "section", "size_class", "path", "source")
"""What a row's quantities belong to, in the order of `ix_row`."""

COUNTS = ("count", "transfers", "bytes")
TIMES_NS = (
    "transfer_min_ns",
    "transfer_max_ns",
    "overlap_min_ns",
    "overlap_max_ns",
    "exposed_min_ns",
    "exposed_max_ns",
    "call_ns",
    "wait_min_ns",
    "wait_max_ns",
)
DOUBTS = ("undetermined", "contradicted", "uncalibrated", "unknown_end")
QUANTITIES = COUNTS + TIMES_NS + DOUBTS
"""The sixteen summable fields of a row, in the order of `ix_row`."""

MEASURES_DTYPE = np.dtype(
    [
        ("rank", "<i4"),
        ("site", "<i4"),
        ("operation", "<u2"),
        ("section", "<u2"),
        ("size_class", "i1"),
        ("path", "u1"),
        ("source", "u1"),
        ("reserved", "u1"),
        *((name, "<i8") for name in QUANTITIES),
    ]
)

RANKS_DTYPE = np.dtype(
    [
        ("rank", "<i4"),
        ("ended", "u1"),
        ("threads", "u1"),
        ("reserved", "<u2"),
        ("host", "S64"),
        ("wall_ns", "<i8"),
        ("compute_ns", "<i8"),
        ("call_ns", "<i8"),
        ("calls", "<i8"),
        ("overhead_ns", "<i8"),
        ("memory_bytes", "<i8"),
        ("dropped", "<i8"),
        ("overflow", "<i8"),
        ("section_errors", "<i8"),
    ]
)
