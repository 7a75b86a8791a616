"""What the matching left of a job whose ranks did not come to MPI_Finalize together: rows with each
rank's own numbers (runtime/job/left_parts.c), beside the parts that they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.formats.arrays import TableFormat
from imbrex.profile.causes import (
    CAUSES_FILE,
    CAUSES_TABLE,
    PARTNERS_FILE,
    PARTNERS_TABLE,
    WAITS_FILE,
    WAITS_TABLE,
)
from imbrex.profile.evidence import EVIDENCE, EVIDENCE_TABLE
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import TIMELINE, TIMELINE_FILE
from imbrex.profile.timeline.overview import OVERVIEW, OVERVIEW_FILE

MATCHED = "matched"
"""The folder of these rows, in a run directory that is not complete."""
MATCHING_FILE = "matching.json"
_FACTS = ("log", "clocks", "timeline", "matching")

TABLES: Mapping[str, TableFormat] = {
    EVIDENCE: EVIDENCE_TABLE,
    CAUSES_FILE: CAUSES_TABLE,
    WAITS_FILE: WAITS_TABLE,
    PARTNERS_FILE: PARTNERS_TABLE,
    TIMELINE_FILE: TIMELINE,
    OVERVIEW_FILE: OVERVIEW,
}
"""In the order of the rows of a rank's file (runtime/analysis/rows.h)."""


@dataclass(frozen=True)
class Numbers:
    """What the numbers in a rank's own rows are in those of all ranks, by the own number."""

    sites: Sequence[int]
    sections: Sequence[int]
    operations: Sequence[int]


@dataclass(frozen=True)
class MatchedParts:
    """The tables by file name, and what run.json says of the log, the clocks and the matching."""

    tables: Mapping[str, Table]
    facts: Mapping[str, Any]


def read_rows(file: Path) -> dict[str, Table] | None:
    """The tables of one rank; None where the file is not there, is cut short or damaged."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    at = 8 * len(TABLES)
    if len(data) < at:
        return None
    found = {}
    counts = np.frombuffer(data, "<u8", len(TABLES)).tolist()
    for (name, table), count in zip(TABLES.items(), counts, strict=True):
        if count > (len(data) - at) // table.dtype.itemsize:
            return None
        found[name] = np.frombuffer(data, table.dtype, count, at).copy()
        at += count * table.dtype.itemsize
    return found


def read_matched(folder: Path, numbers: Mapping[int, Numbers]) -> MatchedParts | None:
    """What was matched of the ranks whose numbers are given; None where nothing was."""
    try:
        facts = json.loads((folder / MATCHING_FILE).read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(facts, dict):
        return None
    known = {name: facts[name] for name in _FACTS if name in facts}
    tables: dict[str, list[Table]] = {name: [] for name in TABLES}
    for rank, own in numbers.items():
        rows = read_rows(folder / f"rank-{rank}.rows")
        for name, table in (rows or {}).items():
            tables[name].append(_renumbered(table, own))
    if not any(tables.values()):
        return MatchedParts({}, known)
    whole = {name: np.concatenate(tables[name]) for name in TABLES}
    if any(TABLES[name].out_of_range(table) for name, table in whole.items()):
        return None
    return MatchedParts(whole, known)


def _renumbered(table: Table, own: Numbers) -> Table:
    columns = {"site": own.sites, "start_site": own.sites, "section": own.sections}
    columns |= {"operation": own.operations, "start_operation": own.operations}
    for column, numbers in columns.items():
        if column in (table.dtype.names or ()) and len(table):
            known = np.append(np.asarray(numbers, np.int64), 0)
            local = table[column].astype(np.int64)
            local[(local < 0) | (local >= len(numbers))] = len(numbers)
            table[column] = known[local]
    return table
