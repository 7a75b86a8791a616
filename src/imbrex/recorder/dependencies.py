"""What a compiler writes down for make: the files that a source depends on, without our own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_BESIDE = ("-MD", "-MMD")


def asks_only_for_them(arguments: Sequence[str]) -> bool:
    return not {"-M", "-MM"}.isdisjoint(arguments)


def forget_dependency(arguments: Sequence[str], file: Path) -> None:
    """Take a file out of what a call of the compiler has written: a cache may be emptied."""
    for written in _written(arguments):
        try:
            text = written.read_text(encoding="utf-8", errors="surrogateescape")
            kept = re.sub(rf"(?: \\\n)? {re.escape(str(file))}(?=\s)", "", text)
            kept = kept.replace(f"\n{file}:\n", "\n")
            if kept != text:
                written.write_text(kept, encoding="utf-8", errors="surrogateescape")
        except OSError:
            continue


def _written(arguments: Sequence[str]) -> list[Path]:
    """The files with dependencies that a call writes: named, or beside the object."""
    found = []
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument.startswith("-MF"):
            found.append(Path(argument[3:] or following))
        elif argument.startswith(("-Wp,-MD,", "-Wp,-MMD,")):
            found.append(Path(argument.split(",")[2]))
    if found or not set(_BESIDE).intersection(arguments):
        return found
    if "-o" in arguments[:-1]:
        return [Path(arguments[list(arguments).index("-o") + 1]).with_suffix(".d")]
    return [Path(Path(a).stem + ".d") for a in arguments if not a.startswith("-")]
