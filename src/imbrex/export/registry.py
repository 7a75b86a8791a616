"""The formats of `imbrex export`: one line each."""

from __future__ import annotations

from imbrex.export import csv_file, parquet_file
from imbrex.export.format import Format

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        csv_file.FORMAT,
        parquet_file.FORMAT,
    )
}
