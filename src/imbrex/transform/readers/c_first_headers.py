"""The headers of the system that a file includes before anything that could change them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_BLANK = rb"\s+|//[^\n]*|/\*.*?\*/"
_BEGIN = re.compile(
    _BLANK
    + rb"|#[ \t]*include[ \t]*(?:<(?P<name>[a-z][a-z_0-9]*(?:\.h)?)>|\"(?P<own>[\w./+-]+)\")"
    + rb"|#[ \t]*(?P<once>pragma[ \t]+once)[ \t]*(?=\r?\n)"
    + rb"|#[ \t]*ifndef[ \t]+(?P<guard>[A-Z]\w*)[ \t]*\r?\n"
    + rb"#[ \t]*define[ \t]+(?P=guard)[ \t]*(?=\r?\n)",
    re.DOTALL,
)


@dataclass(slots=True)
class FirstHeaders:
    """What a file, and the first header of its own that it includes, include first.

    The headers of the system cannot tell whether other code stands in front of them: nothing does
    but comments, other such headers, and the guard of a header of the program.
    """

    contents: Mapping[Path, bytes]  # of headers, in the place of what is on disk
    folders: Sequence[Path] = ()  # of headers that do not stand beside the file
    names: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # the program's headers that were looked into
    guards: set[str] = field(default_factory=set)  # the macros that are defined there

    def find(self, path: Path, data: bytes) -> None:
        """Look into a file with this text."""
        at = 0
        while (match := _BEGIN.match(data, at)) is not None:
            at = match.end()
            if match["name"] is not None:
                self.names.append(match["name"].decode())
            elif match["own"] is not None:
                name = match["own"].decode()
                self._enter([folder / name for folder in (path.parent, *self.folders)])
                return  # what the rest of that header defines is not known
            elif match["once"] is not None or match["guard"] is not None:
                if not self.own:  # the file itself: only a header has a guard
                    return
                if match["guard"] is not None:
                    self.guards.add(match["guard"].decode())

    def _enter(self, places: Sequence[Path]) -> None:
        """Look into the header that stands at the first of these places where there is one."""
        path = next((p for p in places if p in self.contents or p.is_file()), None)
        if path is None or str(path) in self.own:
            return
        data = self.contents.get(path)
        self.own.append(str(path))
        self.find(path, path.read_bytes() if data is None else data)
