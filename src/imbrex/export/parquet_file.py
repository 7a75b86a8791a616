"""Parquet: the call sites with their causes, for pandas, polars, DuckDB and Spark."""

from __future__ import annotations

from pathlib import Path

from imbrex.export.format import Format, optional_package, written_whole
from imbrex.export.sites_table import SITES_TABLE, sites_table
from imbrex.profile.run import Run
from imbrex.steps import Tell


def write_parquet(run: Run, path: Path, tell: Tell) -> str | None:
    """Write the table; names are dictionary-encoded, what is not known is null."""
    arrow = optional_package("pyarrow", "Parquet")
    parquet = optional_package("pyarrow.parquet", "Parquet")
    table = sites_table(run)
    tell(0.5)
    types = {
        "text": arrow.string(),
        "i4": arrow.int32(),
        "i8": arrow.int64(),
        "f8": arrow.float64(),
    }
    arrays = {
        column.name: arrow.nulls(table.rows, types[column.type])
        if (values := table.columns[column.name]) is None
        else arrow.array(values, types[column.type])
        for column in SITES_TABLE.columns
    }
    with written_whole(path) as partial:
        parquet.write_table(arrow.table(arrays), str(partial))
    tell(1.0)
    return None


FORMAT = Format("parquet", ".parquet", "the same for pandas, polars, DuckDB", write_parquet)
