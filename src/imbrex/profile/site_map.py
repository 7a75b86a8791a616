"""Which call sites of a rewritten program stand for which of the original: imbrex-sites.json."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from imbrex.formats.schema import Field, JsonFormat, optional
from imbrex.formats.value_types import MPI_NAME, ListOf, Object, Text, Whole

NAME = "imbrex-sites.json"
IDENTITY = "imbrex-sites"
SCHEMA_VERSION = 1

_PLACE = Object(
    (
        Field("file", Text(), "source file; its name alone counts, not its folder"),
        Field("line", Whole(1, (1 << 31) - 1), "in the source file"),
        optional(
            "last_line",
            Whole(1, (1 << 31) - 1),
            "where its statement ends, if not on that line: debug data name either",
        ),
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
    """The calls of the original program, each by a call that stands for it after the rewrite.

    `last_before`, `last_after`: where calls end that take several lines. GCC names the first of
    them in its debug data, GNU Fortran the last.
    """

    before_of: Mapping[Place, Place] = field(default_factory=dict)
    last_before: Mapping[Place, int] = field(default_factory=dict)
    last_after: Mapping[Place, int] = field(default_factory=dict)

    def original(self, measured: Place) -> Place | None:
        """The call of the original program that a place which was measured there is in."""
        return _containing(self._olds, self.last_before, measured)

    def stands_for(self, measured: Place) -> Place | None:
        """What was there before the rewrite, of a place that was measured after it."""
        new = _containing(self._news, self.last_after, measured)
        return None if new is None else self.before_of[new]

    def begins_at(self, sites: Iterable[tuple[str, int]]) -> bool:
        """Whether more of these places, file name and line, are of the original than of the new."""
        known = list(sites)
        olds = _number(known, {*self.before_of.values()}, self.last_before)
        return olds >= _number(known, self.before_of.keys(), self.last_after)

    @cached_property
    def _olds(self) -> dict[tuple[str, str], list[Place]]:
        return _by_name(self.before_of.values())

    @cached_property
    def _news(self) -> dict[tuple[str, str], list[Place]]:
        return _by_name(self.before_of)

    def to_json(self) -> dict[str, Any]:
        """The content of imbrex-sites.json."""
        after: dict[Place, list[Place]] = {}
        for new, old in self.before_of.items():
            after.setdefault(old, []).append(new)
        return {
            "format": IDENTITY,
            "schema_version": SCHEMA_VERSION,
            "sites": [
                {
                    "before": _entry(old, self.last_before),
                    "after": [_entry(new, self.last_after) for new in found],
                }
                for old, found in after.items()
            ],
        }


def load_site_map(file: Path) -> SiteMap:
    """Read a map; ImbrexError where it is none."""
    found: dict[Place, Place] = {}
    last: tuple[dict[Place, int], dict[Place, int]] = {}, {}
    for entry in SITE_MAP.load(file)["sites"]:
        old, news = entry["before"], entry["after"]
        found |= {_place(new): _place(old) for new in news}
        for ends, places in zip(last, ([old], news), strict=True):
            for each in places:
                if each["last_line"] is not None:
                    ends[_place(each)] = int(each["last_line"])
    return SiteMap(found, *last)


def _place(entry: Mapping[str, Any]) -> Place:
    return Path(entry["file"]).name, int(entry["line"]), str(entry["operation"])


def _by_name(places: Iterable[Place]) -> dict[tuple[str, str], list[Place]]:
    found: dict[tuple[str, str], list[Place]] = {}
    for place in dict.fromkeys(places):
        found.setdefault((place[0], place[2]), []).append(place)
    return found


def _containing(
    known: Mapping[tuple[str, str], list[Place]], ends: Mapping[Place, int], measured: Place
) -> Place | None:
    """The call that begins last of those which have this line."""
    file, line, name = measured
    found = [place for place in known.get((file, name), ()) if _has(place, line, ends)]
    return max(found, key=lambda place: place[1], default=None)


def _number(
    sites: list[tuple[str, int]], places: Collection[Place], ends: Mapping[Place, int]
) -> int:
    """How many of these lines are of such a call."""
    return sum(
        any(place[0] == file and _has(place, line, ends) for place in places)
        for file, line in sites
    )


def _has(place: Place, line: int, ends: Mapping[Place, int]) -> bool:
    return place[1] <= line <= ends.get(place, place[1])


def _entry(place: Place, ends: Mapping[Place, int]) -> dict[str, Any]:
    last = {"last_line": ends[place]} if place in ends else {}
    return {"file": place[0], "line": place[1], **last, "operation": place[2]}
