"""Where the headers are that sources include: looked for, since debug information does not tell.

It names only the folders of files of which a compiler took more than macros and prototypes.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

_INCLUDE = re.compile(rb"""^[ \t]*(?:#[ \t]*)?include[ \t]*[<"']([^>"'\n]+)[>"']""", re.M | re.I)
_MOST_FILES = 20_000
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".venv", "node_modules"})
_SEARCH = Path("run") / "run.json"
"""In a folder of `imbrex tune`, which holds copies of the sources."""


def folders_of_headers(
    root: Path, sources: Iterable[Path], known: Sequence[Path] = ()
) -> list[Path]:
    """The folders below `root` from which what `sources` include is found, in the order of need.

    `known` are folders that are searched anyway. A header of which there are several that differ
    is left out: which one the program was built with is not known.
    """
    by_name = _by_name(root)
    found: dict[Path, None] = {}
    todo, seen = list(sources), set(sources)
    while todo:
        file = todo.pop()
        for name in _included(file):
            header = _near(name, [file.parent, *known, *found]) or _far(name, by_name, found)
            if header is not None and header not in seen:
                seen.add(header)
                todo.append(header)
    return list(found)


def _included(file: Path) -> list[str]:
    try:
        return [os.fsdecode(name) for name in _INCLUDE.findall(file.read_bytes())]
    except OSError:
        return []


def _near(name: str, folders: Iterable[Path]) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _far(name: str, by_name: dict[str, list[Path]], found: dict[Path, None]) -> Path | None:
    """The one file that it can be; its folder is noted."""
    parts = Path(name).parts
    fitting = [f for f in by_name.get(parts[-1], ()) if f.parts[-len(parts) :] == parts]
    if not fitting or any(f.read_bytes() != fitting[0].read_bytes() for f in fitting[1:]):
        return None
    found[Path(*fitting[0].parts[: -len(parts)])] = None
    return fitting[0]


def _by_name(root: Path) -> dict[str, list[Path]]:
    """All files below a folder; none where there are more than anybody wants to look through."""
    found: dict[str, list[Path]] = defaultdict(list)
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _LEFT_OUT and not (Path(folder) / name / _SEARCH).exists()
        )
        count += len(files)
        if count > _MOST_FILES:
            return {}
        for name in sorted(files):
            found[name].append(Path(folder) / name)
    return found
