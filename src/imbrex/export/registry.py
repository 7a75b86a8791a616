"""The formats of `imbrex export`: one line each."""

from __future__ import annotations

from imbrex.export import chrome_file, csv_file, goal_file, otf2_file, parquet_file
from imbrex.export.format import Format

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        otf2_file.FORMAT,
        chrome_file.FORMAT,
        csv_file.FORMAT,
        parquet_file.FORMAT,
        goal_file.FORMAT,
    )
}
