"""Call sites: the places in the user's source that made MPI calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.formats.schema import Field, JsonFormat, optional
from imbrex.formats.value_types import Hexadecimal, ListOf, Object, Text, Whole
from imbrex.profile.format import REMEDY, SCHEMA_VERSION

_MOST_SITES_MISSING = 1 << 16
_INLINER = re.compile(r"(.*) \((.*):(\d+)\)")

SITE = Object(
    (
        Field(
            "id", Whole(0, (1 << 31) - 1), "what `site` in the tables means; 0 is what did not fit"
        ),
        optional("image", Text(), "path of the program, library or Python source"),
        optional("build_id", Text(), "of the image, hexadecimal; `python` of a Python source"),
        optional(
            "offset",
            Hexadecimal(),
            "return address less the image's load address; of a Python source the line",
            "",
            0,
        ),
        optional("file", Text(), "source file"),
        optional("line", Whole(0, (1 << 31) - 1), "in the source file"),
        optional("function", Text(), "function around the call"),
        optional("inlined_into", ListOf(Text()), "`function (file:line)`, innermost first", "", ()),
        optional("source_line", Whole(0, (1 << 31) - 1), "number of the first line of `source`"),
        optional("source", ListOf(Text()), "lines around the call as they were then", "", ()),
    )
)
SITES = JsonFormat(
    "the sites.json of an Imbrex run",
    REMEDY,
    Object(
        (
            Field("schema_version", Whole(1), "1", default=SCHEMA_VERSION),
            Field("sites", ListOf(SITE), "the call sites"),
            optional(
                "frames", ListOf(SITE), "places on call paths, with the fields of `sites`", "", ()
            ),
        )
    ),
)


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
    the innermost caller first. `source` are lines around the call, from `source_line` on.
    """

    id: int
    image: str | None = None
    build_id: str | None = None
    offset: int = 0
    file: str | None = None
    line: int | None = None
    function: str | None = None
    inlined_into: tuple[str, ...] = field(default=())
    source_line: int | None = None
    source: tuple[str, ...] = field(default=())

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

    @property
    def inliner(self) -> Site | None:
        """The place of the call that the compiler replaced by this one's function."""
        match = _INLINER.fullmatch(self.inlined_into[0]) if self.inlined_into else None
        if match is None:
            return None
        return replace(
            self,
            function=match[1],
            file=match[2],
            line=int(match[3]),
            inlined_into=self.inlined_into[1:],
            source_line=None,
            source=(),
        )

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
            **(
                {"source_line": self.source_line, "source": list(self.source)}
                if self.source
                else {}
            ),
        }


def read_sites(file: Path) -> tuple[tuple[Site, ...], tuple[Site, ...]]:
    """The sites of sites.json, each at the place of its number, and the frames.

    ImbrexError where damaged.
    """
    if not file.exists():
        raise ImbrexError(f"{file}: missing; the run was not written completely")
    content = SITES.load(file)
    found = {entry["id"]: Site(**entry) for entry in content["sites"]}
    last = max(found, default=0)
    if last > len(found) + _MOST_SITES_MISSING:
        raise ImbrexError(f"{file}: damaged (site {last} of {len(found)}); {REMEDY}")
    sites = tuple(found.get(number, Site(number)) for number in range(last + 1))
    return sites, tuple(Site(**entry) for entry in content["frames"])
