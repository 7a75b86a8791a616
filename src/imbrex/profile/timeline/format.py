"""The table timeline.npy of a run directory: the calls around a typical iteration, one by one."""

from __future__ import annotations

from enum import IntEnum

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.causes import CAUSES
from imbrex.profile.format import KEY_COLUMNS, MOST_RANKS, REMEDY, interval, quantities

TIMELINE_FILE = "timeline.npy"
UNKNOWN = -1
"""A time, or a rank, that is not known."""

_LAST = 1 << 56


class Match(IntEnum):
    """What became of a record's other side (enum ix_match_state)."""

    NOT_LOGGED = 0
    MATCHED = 1
    OUTSIDE = 2
    NO_RULE = 3
    WITHDRAWN = 4
    END_UNKNOWN = 5
    AMBIGUOUS = 6
    SIZES_DIFFER = 7
    CLOCKS = 8


def _time(name: str, meaning: str) -> Column:
    return Column(name, "i8", meaning, "ns", UNKNOWN, _LAST)


TIMELINE = TableFormat(
    "the time line of an Imbrex run",
    REMEDY,
    (
        *KEY_COLUMNS[:4],
        Column("kind", "u1", "what the record is about, as in the call log"),
        Column("path", "u1", "0 none, 1 self, 2 intra-node, 3 inter-node"),
        Column("thread", "u1", "number of the thread in its rank"),
        Column("flags", "u1", "as in the call log; 1: the first record of its call"),
        Column(
            "peer",
            "i4",
            "the other side: a rank in MPI_COMM_WORLD, -1 where it is not known; of a "
            "collective who came last, or the root",
            "",
            UNKNOWN,
            MOST_RANKS - 1,
        ),
        Column("comm", "u4", "number of the communicator or window, the same on all ranks"),
        Column("tag", "i4", "of the message"),
        Column("sequence", "u4", "both sides of a message have the same; as in the call log"),
        Column("match", "u4", "1 matched, else why not", "", 0, 1 << 16),
        Column("reserved", "u4", "0"),
        *quantities(("bytes", "user data"), unit="bytes"),
        _time("enter_ns", "when the call was entered"),
        _time("exit_ns", "when it was left"),
        _time("end_enter_ns", "when the call was entered that saw it complete; -1: none did"),
        _time("end_exit_ns", "when that was left"),
        _time(
            "peer_enter_ns",
            "when the other side entered the call that began its part; of a collective when the "
            "last rank that this one needs entered; -1: not known",
        ),
        _time("peer_exit_ns", "when the other side left the call that saw its part complete"),
        *quantities(("error_ns", "of the clocks of the two sides")),
        *quantities(
            ("x_lo_ns", "how long the network needs for it, at least; 0: not known"),
            ("x_hi_ns", "the same, at most"),
        ),
        *interval("hidden", "of the transfer, while this rank computed"),
        *interval("exposed", "of the transfer, while this rank was inside MPI"),
        *(c for name in CAUSES for c in interval(name, f"of the call's time: {name}")),
        *interval("lost_overlap", "what progress during the computation would have saved"),
    ),
)
TIMELINE_DTYPE = TIMELINE.dtype
"""One row of timeline.npy: a record of the call log with its other side. Times are on the clock of
all ranks and count from the begin of the run. Rows stand by rank, thread and time; the records of
one call stand one behind the other, and only the first has its causes."""
