"""Put what a benchmark found into a page of the documentation, between two marks."""

from __future__ import annotations

import sys
from pathlib import Path

KEY_CELLS = 2
"""The first cells of a row say what was measured: the library and the program."""


def insert(file: Path, text: str, name: str = "table") -> None:
    """Replace what stands between the marks `name`; ends the script where they are missing."""
    head, _, tail = _parts(file, name)
    file.write_text(f"{head}\n{text}\n{tail}")


def standing(file: Path, name: str) -> str:
    """What stands between the marks `name`; ends the script where they are missing."""
    return _parts(file, name)[1].strip("\n")


def _parts(file: Path, name: str) -> tuple[str, str, str]:
    """The page up to the end of the first mark, between the marks, and from the second on."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = file.read_text()
    if begin not in page or end not in page:
        sys.exit(f"{file}: the lines {begin} and {end} are missing")
    head, rest = page.split(begin, 1)
    between, tail = rest.split(end, 1)
    return head + begin, between, end + tail


def merged(old: str, new: list[str]) -> list[str]:
    """The lines of the table in the text `old` with the rows that `new` has too as they are
    there, each at its place; rows that only `new` has stand behind those of the same library."""
    before = _rows(old)
    if before and before[:2] != new[:2]:
        sys.exit(f"the page's table has other columns than the new one: {new[0]}")
    lines = before or new[:2]
    for row in new[2:]:
        keys = [_cells(line)[:KEY_CELLS] for line in lines]
        key = _cells(row)[:KEY_CELLS]
        if key in keys:
            lines[keys.index(key)] = row
            continue
        same = [number for number, other in enumerate(keys) if other[0] == key[0]]
        lines.insert(same[-1] + 1 if same else len(lines), row)
    return lines


def _rows(text: str) -> list[str]:
    """The lines of a table: its head, the line below it, and its rows."""
    return [line for line in text.splitlines() if line.startswith("|")]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def cells(table: list[str]) -> list[list[str]]:
    """What stands in the rows of a table, without its head."""
    return [_cells(row) for row in table[2:]]
