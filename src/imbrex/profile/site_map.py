"""Which call sites of a rewritten program stand for which of the original: imbrex-sites.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imbrex.formats.schema import Field, JsonFormat
from imbrex.formats.value_types import MPI_NAME, ListOf, Object, Text, Whole

NAME = "imbrex-sites.json"
IDENTITY = "imbrex-sites"
SCHEMA_VERSION = 1

_PLACE = Object(
    (
        Field("file", Text(), "source file; its name alone counts, not its folder"),
        Field("line", Whole(1, (1 << 31) - 1), "in the source file"),
        Field("operation", MPI_NAME, "the MPI function called there"),
    )
)
SITE_MAP = JsonFormat(
    "a map of call sites",
    "write it again",
    Object(
        (
            Field("format", Text(), f'"{IDENTITY}"'),
            Field("schema_version", Whole(1), "1"),
            Field(
                "sites",
                ListOf(
                    Object(
                        (
                            Field("before", _PLACE, "a call of the original program"),
                            Field("after", ListOf(_PLACE), "the calls that stand for it"),
                        )
                    )
                ),
                "the calls that were rewritten",
            ),
        )
    ),
    identity=IDENTITY,
    version=SCHEMA_VERSION,
    needs_version=True,
)

Place = tuple[str, int, str]
"""File name without folders, line, MPI name."""


@dataclass(frozen=True)
class SiteMap:
    """The calls of the original program, each by a call that stands for it after the rewrite."""

    before_of: Mapping[Place, Place] = field(default_factory=dict)

    def begins_at(self, sites: Iterable[tuple[str, int]]) -> bool:
        """Whether more of these places, file name and line, are of the original than of the new."""
        olds = {place[:2] for place in self.before_of.values()}
        news = {place[:2] for place in self.before_of}
        known = list(sites)
        return sum(site in olds for site in known) >= sum(site in news for site in known)

    def to_json(self) -> dict[str, Any]:
        """The content of imbrex-sites.json."""
        after: dict[Place, list[Place]] = {}
        for new, old in self.before_of.items():
            after.setdefault(old, []).append(new)
        return {
            "format": IDENTITY,
            "schema_version": SCHEMA_VERSION,
            "sites": [
                {"before": _entry(old), "after": [_entry(new) for new in found]}
                for old, found in after.items()
            ],
        }


def load_site_map(file: Path) -> SiteMap:
    """Read a map; ImbrexError where it is none."""
    content = SITE_MAP.load(file)
    return SiteMap(
        {
            _place(new): _place(entry["before"])
            for entry in content["sites"]
            for new in entry["after"]
        }
    )


def _place(entry: Mapping[str, Any]) -> Place:
    return Path(entry["file"]).name, int(entry["line"]), str(entry["operation"])


def _entry(place: Place) -> dict[str, Any]:
    return {"file": place[0], "line": place[1], "operation": place[2]}
