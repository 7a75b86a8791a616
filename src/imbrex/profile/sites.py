"""Call sites: the places in the user's source that made MPI calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def _name(path: str) -> str:
    """Its last part. (By Path it takes a second for 100,000 sites.)"""
    return path.rpartition("/")[2]


def plain(name: str) -> str:
    """A name that a program gave, in one line that does nothing to a terminal."""
    if name.isprintable():
        return name
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name
    )


@dataclass(frozen=True)
class Site:
    """One call site.

    `offset` is the return address minus the load address of `image`; `file`, `line` and
    `function` are None where they are not known. `inlined_into` lists `function (file:line)`,
    the innermost caller first.
    """

    id: int
    image: str | None = None
    build_id: str | None = None
    offset: int = 0
    file: str | None = None
    line: int | None = None
    function: str | None = None
    inlined_into: tuple[str, ...] = field(default=())

    @property
    def resolved(self) -> bool:
        """Whether something is known of the place beyond its address."""
        return self.file is not None or self.function is not None

    @property
    def label(self) -> str:
        """The place as a user reads it: file:line, else function, else image+offset."""
        if self.id == 0:
            return "(other)"
        if self.file is not None:
            place = plain(_name(self.file))
            return f"{place}:{self.line}" if self.line else place
        if self.function is not None:
            return plain(self.function)
        image = plain(_name(self.image)) if self.image else "?"
        return f"{image}+{self.offset:#x}"

    def to_json(self) -> dict[str, Any]:
        """The entry of sites.json."""
        return {
            "id": self.id,
            "image": self.image,
            "build_id": self.build_id,
            "offset": f"{self.offset:#x}",
            "file": self.file,
            "line": self.line,
            "function": self.function,
            "inlined_into": list(self.inlined_into),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Site:
        """Read an entry of sites.json; KeyError, TypeError or ValueError where it is malformed."""
        line = entry.get("line")
        return cls(
            id=int(entry["id"]),
            image=entry.get("image"),
            build_id=entry.get("build_id"),
            offset=int(str(entry.get("offset") or "0"), 16),
            file=entry.get("file"),
            line=None if line is None else int(line),
            function=entry.get("function"),
            inlined_into=tuple(entry.get("inlined_into") or ()),
        )
