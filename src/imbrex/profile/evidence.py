"""What proves how much of the transfers was hidden: the table evidence.npy of a run directory.

A row holds sums over its logged transfers, one set of bounds for each kind of evidence:
`call` (this process's calls alone), `matched` (also the other side's calls) and `expected` (also
what the probe measured of the path). Each set is that of the kind before, cut.
"""

from __future__ import annotations

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.format import KEY_COLUMNS, REMEDY, interval, quantities

EVIDENCE = "evidence.npy"

_KINDS = {
    "call": "by the calls of this process alone",
    "matched": "the same, cut with what the other side's calls prove; of an unmatched transfer "
    "that of `call`",
    "expected": "the same, cut with what the probe measured of the path",
}
KINDS = tuple(_KINDS)
"""The kinds of evidence, from the weakest assumptions to the strongest."""

_COUNTS = quantities(
    ("transfers", "logged transfers"),
    ("matched", "those of them whose other side is known"),
    ("expected", "those of them that the class of the path says something of"),
    ("contradicted", "those whose kinds of evidence exclude each other: they keep the weaker"),
    unit="",
)
_BYTES = quantities(("bytes", "their user data"), unit="bytes")
COUNTS = tuple(column.name for column in (*_COUNTS, *_BYTES))
"""Logged transfers, those of them that have a match, that the path's class says something of, and
whose kinds of evidence exclude each other; their user data."""

_BOUNDS = tuple(
    column
    for kind, meaning in _KINDS.items()
    for part, words in (("overlap", "hidden"), ("exposed", "exposed"))
    for column in interval(f"{kind}_{part}", f"{words} {meaning}")
)
BOUNDS_NS = tuple(column.name for column in _BOUNDS)

EVIDENCE_TABLE = TableFormat(
    "the evidence of an Imbrex run",
    REMEDY,
    (
        *(column for column in KEY_COLUMNS if column.name != "source"),
        Column("reserved", "u2", "0"),
        *_COUNTS,
        *_BYTES,
        *quantities(("transfer_min_ns", "sum of X_lo"), ("transfer_max_ns", "sum of X_hi")),
        *_BOUNDS,
    ),
)
EVIDENCE_DTYPE = EVIDENCE_TABLE.dtype
"""One row of evidence.npy, for the rank and the site that began the transfers."""
