"""Whom the calls wait for in which ranks stood that did not end: the table awaited.npy."""

from __future__ import annotations

from enum import IntEnum

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.format import KEY_COLUMNS, MOST_RANKS, REMEDY

AWAITED_FILE = "awaited.npy"
ANY = -1
"""Of a peer or tag: any."""


class Awaited(IntEnum):
    """What a call waits for."""

    SEND = 1
    RECEIVE = 2
    COLLECTIVE = 3
    ONE_OF_SENDS = 4
    ONE_OF_RECEIVES = 5
    ONE_OF_COLLECTIVES = 6


AWAITED_TABLE = TableFormat(
    "whom the ranks of an Imbrex run waited for",
    REMEDY,
    (
        KEY_COLUMNS[0],
        Column(
            "peer",
            "i4",
            "the rank that it waited for, in MPI_COMM_WORLD; of a collective one that had not "
            "entered it; -1: any",
            "",
            ANY,
            MOST_RANKS - 1,
        ),
        Column("tag", "i4", "of the message; -1: any", "", ANY),
        Column(
            "kind",
            "u1",
            "what for: 1 its receive, 2 its send, 3 its entry of the collective; 4 to 6 likewise, "
            "but that the call may complete other requests than this",
            "",
            1,
            max(Awaited),
        ),
        Column("reserved", "u1", "0"),
        Column("thread", "u2", "number of the thread in its rank"),
    ),
)
AWAITED_DTYPE = AWAITED_TABLE.dtype
"""A row for each rank that a thread's call waited for; of threads that standing.npy has in one."""
