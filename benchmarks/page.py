"""Put what a benchmark found into a page of the documentation, between two marks."""

from __future__ import annotations

import sys
from pathlib import Path


def insert(file: Path, text: str, name: str = "table") -> None:
    """Replace what stands between the marks `name`; ends the script where they are missing."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = file.read_text()
    if begin not in page or end not in page:
        sys.exit(f"{file}: the lines {begin} and {end} are missing")
    head, rest = page.split(begin, 1)
    file.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}")
