"""Why calls took their time: the tables causes.npy, waits.npy and partners.npy of a run directory.

The causes of a row share out its `call_ns`: the sum of their minima is at most that, the sum of
their maxima at least. `gainable`, `lost_overlap` and `undriven` are no causes; they say what part
of the time overlap or progress could have saved.
"""

from __future__ import annotations

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.format import (
    KEY_COLUMNS,
    MOST_RANKS,
    REMEDY,
    interval,
    quantities,
    rank_column,
)

CAUSES_FILE, WAITS_FILE, PARTNERS_FILE = "causes.npy", "waits.npy", "partners.npy"

_CAUSES = {
    "late_sender": "before the last sender that the call needs had begun its send",
    "late_receiver": "in a send that waits for its receive, before that was posted",
    "late_collective": "before the last rank that the collective needs entered it",
    "transfer": "all partners were there and the data was moving",
    "stalled": "all partners were there, and it took longer than X_hi",
    "library": "in calls that wait for nothing",
    "file_io": "in calls that open, read, write or close files, and for others in them",
    "unattributed": "not logged, or not matched",
}
CAUSES = tuple(_CAUSES)
"""What the time of a call is shared out to, in the order of causes.npy."""

_GAINS = {
    "gainable": "what perfect overlap could save",
    "lost_overlap": "what progress during the computation would have saved",
    "undriven": "of transfer and stalled, while the partner computed",
}
GAINS = tuple(_GAINS)

_RANK, _SITE, _OPERATION, _SECTION = KEY_COLUMNS[:4]

CAUSES_TABLE = TableFormat(
    "the causes of an Imbrex run",
    REMEDY,
    (
        _RANK,
        _SITE,
        _OPERATION,
        _SECTION,
        Column("reserved", "u4", "0"),
        *quantities(
            ("count", "MPI calls"), ("logged", "those of them that are in the call log"), unit=""
        ),
        *quantities(("call_ns", "time inside the calls")),
        *(c for name, meaning in (_CAUSES | _GAINS).items() for c in interval(name, meaning)),
    ),
)
CAUSES_DTYPE = CAUSES_TABLE.dtype
"""One row of causes.npy: rank by site by operation by section in which the time was spent; `logged`
of its `count` calls are in the log, the time of the others is `unattributed`."""

WAITS_TABLE = TableFormat(
    "the waits of an Imbrex run",
    REMEDY,
    (
        _RANK,
        Column("site", "i4", "the completing call: index into `sites.json`", "", 0),
        Column("operation", "u2", "its operation"),
        Column("start_operation", "u2", "the operation that it completed"),
        Column("start_site", "i4", "where that was begun", "", 0),
        *quantities(("count", "how often"), unit=""),
        *interval("late", "a partner was late"),
        *interval("moving", "all partners were there (transfer and stalled)"),
    ),
)
WAITS_DTYPE = WAITS_TABLE.dtype
"""One row of waits.npy: what a completing call (`site`, `operation`) waited for (`start_site`,
`start_operation`). `late`: a partner was late; `moving`: all were there (transfer and stalled)."""

PARTNERS_TABLE = TableFormat(
    "the partners of an Imbrex run",
    REMEDY,
    (
        rank_column("who waited"),
        Column(
            "peer",
            "i4",
            "for whom: a rank in MPI_COMM_WORLD; of a collective the one that came last",
            "",
            -1,
            MOST_RANKS - 1,
        ),
        *quantities(("messages", "how many messages"), unit=""),
        *quantities(("bytes", "their user data"), unit="bytes"),
        *interval("late", "that the peer was late"),
    ),
)
PARTNERS_DTYPE = PARTNERS_TABLE.dtype
"""One row of partners.npy: whom `rank` waited for. `peer` is a rank of MPI_COMM_WORLD; of a
collective the one that came last."""
