"""CSV: the call sites with their causes, a header and one row each (RFC 4180, UTF-8)."""

from __future__ import annotations

import csv
from pathlib import Path

from imbrex.export.format import Format, written_whole
from imbrex.export.sites_table import sites_table
from imbrex.profile.run import Run
from imbrex.steps import Tell

_BLOCK = 1 << 14


def write_csv(run: Run, path: Path, tell: Tell) -> str | None:
    """Write the table; numbers have all their digits, what is not known is empty."""
    table = sites_table(run)
    columns = [[""] * table.rows if c is None else c for c in table.columns.values()]
    with written_whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(table.columns)
        for begin in range(0, table.rows, _BLOCK):
            block = [
                column[begin : begin + _BLOCK]
                if isinstance(column, list)
                else column[begin : begin + _BLOCK].tolist()
                for column in columns
            ]
            writer.writerows(zip(*block, strict=True))
            tell(min(1.0, (begin + _BLOCK) / table.rows))
    return None


FORMAT = Format("csv", ".csv", "call sites with their causes, for spreadsheets", write_csv)
