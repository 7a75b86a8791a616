"""The lines of a program around its call sites, kept with the run: the file may change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from imbrex.profile.sites import Site

AROUND = 5
"""Lines before and behind the call."""
_LONGEST_LINE = 240
_LARGEST_FILE_BYTES = 16 << 20


def lines_around(file: str, line: int) -> tuple[int, tuple[str, ...]]:
    """The number of the first line, and the lines; none where they cannot be read."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_FILE_BYTES:
            return 0, ()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return 0, ()
    if not 1 <= line <= len(lines):
        return 0, ()
    first = max(1, line - AROUND)
    return first, tuple(text[:_LONGEST_LINE] for text in lines[first - 1 : line + AROUND])


def with_source(sites: Iterable[Site]) -> list[Site]:
    """The sites with the lines around them, where their files can be read and none were kept."""
    found = []
    for site in sites:
        if site.file is not None and site.line and not site.source:
            first, lines = lines_around(site.file, site.line)
            site = replace(site, source_line=first or None, source=lines)
        found.append(site)
    return found
