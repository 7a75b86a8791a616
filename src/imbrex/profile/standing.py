"""Where the threads of ranks stood that did not end with MPI_Finalize: the table standing.npy."""

from __future__ import annotations

from enum import IntEnum

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.format import KEY_COLUMNS, REMEDY, quantities

STANDING_FILE = "standing.npy"
LARGEST_UNIX_NS = 1 << 61
"""The year 2043. Nobody adds such times up, so that their sum has no limit."""


class State(IntEnum):
    """What a thread was doing."""

    COMPUTES = 0
    IN_CALL = 1
    NO_CALL = 2


_RANK, _SITE, _OPERATION, _SECTION = KEY_COLUMNS[:4]
STANDING_TABLE = TableFormat(
    "where the ranks of an Imbrex run stood",
    REMEDY,
    (
        _RANK,
        _SITE,
        _OPERATION,
        _SECTION,
        Column("thread", "u2", "number of the thread in its rank"),
        Column(
            "state",
            "u1",
            "0 outside MPI, after that call; 1 in it; 2 outside MPI, and it made none",
            "",
            0,
            max(State),
        ),
        Column("reserved", "u1", "0"),
        *quantities(("since_ns", "after MPI_Init, when the call was entered (state 1) or left")),
        Column(
            "since_unix_ns",
            "i8",
            "the same since 1970 by the system's clock; 0: not known",
            "ns",
            0,
            LARGEST_UNIX_NS,
        ),
    ),
)
STANDING_DTYPE = STANDING_TABLE.dtype
"""One row per thread that made calls, of each rank that did not end with MPI_Finalize."""
