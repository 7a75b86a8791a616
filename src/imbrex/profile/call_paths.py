"""Call paths: through which callers a call site was reached, from samples (call_paths.npy).

A rank looks at a site's first calls and then at four consecutive ones in each doubling of their
number (runtime/core/call_paths.h), so shares of samples are no shares of calls or of time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any

import numpy as np

from imbrex.formats.arrays import Column, Table, TableFormat
from imbrex.profile.format import KEY_COLUMNS, REMEDY, quantities
from imbrex.profile.sites import Site, plain

CALL_PATHS_FILE = "call_paths.npy"
MOST_CALLERS = 24
"""IX_CALLERS of the runtime: what is further out is not seen."""

_RANK, _SITE = KEY_COLUMNS[:2]
CALL_PATHS_TABLE = TableFormat(
    "the call paths of an Imbrex run",
    REMEDY,
    (
        _RANK,
        _SITE,
        Column("call_path", "u2", "number of the path among those of its rank"),
        Column(
            "level",
            "u2",
            "0: the caller of the function in which the site is, 1: its caller, and so on",
            "",
            0,
            MOST_CALLERS - 1,
        ),
        Column(
            "frame",
            "i4",
            "`id` in the `frames` of `sites.json`; 0: not known, or they differ more than is kept",
            "",
            0,
            (1 << 31) - 1,
        ),
        *quantities(
            ("samples", "how often the path was seen; the same in all of its rows"), unit=""
        ),
    ),
)
CALL_PATHS_DTYPE = CALL_PATHS_TABLE.dtype

_SYSTEM = re.compile(r"(libc|libpthread|ld-linux[\w-]*)(-[\d.]+)?\.so")
_FORTRANS_MAIN = re.compile(r"main \(.*\.(f|for|ftn|f77|f90|f95|f03|f08|f18|fpp):\d+\)", re.I)
"""gfortran's own, which calls the main program."""
_OFFSET = re.compile(r"\+0x[0-9a-f]+")
_NO_IMAGE = "code made at run time"
"""It has neither a name nor callers that the unwinder finds."""


@dataclass(frozen=True)
class CallPath:
    """One way to a call site.

    `callers` are `function (file:line)`, the outermost first and the function with the call last;
    empty where it is not known. `is_cut`: there are more further out. `samples` of all ranks,
    `ranks` the number of ranks on which it was seen.
    """

    callers: tuple[str, ...]
    samples: int
    ranks: int
    is_cut: bool = False

    @property
    def text(self) -> str:
        """The path in one line."""
        if not self.callers:
            return "(not known)"
        return " > ".join((*(["..."] if self.is_cut else []), *self.callers))

    def to_json(self) -> dict[str, Any]:
        """An entry of `called_from`."""
        return {
            "callers": list(self.callers),
            "samples": self.samples,
            "ranks": self.ranks,
            "is_cut": self.is_cut,
        }


def is_of_the_system(frame: Site) -> bool:
    """Whether it is what starts programs and threads, and no part of the program."""
    return frame.image is not None and _SYSTEM.match(frame.image.rpartition("/")[2]) is not None


def call_paths(
    table: Table | None, sites: Sequence[Site], frames: Sequence[Site]
) -> dict[int, tuple[CallPath, ...]]:
    """The paths to each call site, by its number: the one with most samples first."""
    if table is None or not len(table):
        return {}
    found: dict[int, dict[tuple[tuple[str, ...], bool], list[int]]] = {}
    by_id = {frame.id: frame for frame in frames}
    for site, ids, samples, ranks, cut in _united(table):
        if not 0 < site < len(sites):
            continue
        way = _named(sites[site], ids, by_id, cut)
        sums = found.setdefault(site, {}).setdefault(way, [0, 0])
        sums[0] += samples
        sums[1] = max(sums[1], ranks)
    return {
        site: tuple(
            sorted(
                (CallPath(way, sums[0], sums[1], cut) for (way, cut), sums in ways.items()),
                key=lambda path: (-path.samples, path.callers),
            )
        )
        for site, ways in found.items()
    }


def _united(table: Table) -> Iterable[tuple[int, tuple[int, ...], int, int, bool]]:
    """Each path once: site, ids of the frames (innermost first), samples, ranks, whether cut."""
    owner = table["rank"].astype(np.int64) << 16 | table["call_path"]
    _, first, path = np.unique(owner, return_index=True, return_inverse=True)
    # the site, then the frames; what has no row is not there
    rows = np.full((len(first), 1 + MOST_CALLERS), -1, np.int64)
    rows[:, 0] = table["site"][first]
    rows[path, 1 + table["level"].astype(np.int64)] = table["frame"]
    ways, way = np.unique(rows, axis=0, return_inverse=True)
    samples = np.bincount(way.ravel(), weights=table["samples"][first], minlength=len(ways))
    ranks = np.bincount(way.ravel(), minlength=len(ways))
    for row, seen, on in zip(ways.tolist(), samples.tolist(), ranks.tolist(), strict=True):
        ids = tuple(takewhile(lambda frame: frame > 0, row[1:]))
        is_cut = len(ids) == MOST_CALLERS or row[1 + len(ids)] == 0
        yield row[0], ids, int(seen), int(on), is_cut


def _named(
    site: Site, ids: Sequence[int], frames: Mapping[int, Site], is_cut: bool
) -> tuple[tuple[str, ...], bool]:
    """The callers as a user reads them, and whether there are more further out."""
    if not ids:
        return (), False
    outward = [frames.get(number, Site(number)) for number in ids]
    is_cut |= outward[-1].image is None
    for at, frame in enumerate(outward):
        if _is_main(frame):
            outward, is_cut = outward[: at + 1], False
            break
    else:
        while outward and _is_start(outward[-1]):
            outward.pop()
            is_cut = False
    told = [*_places(site), *_without_source(outward)]
    if len(told) > 1 and _FORTRANS_MAIN.fullmatch(told[-1]):
        told.pop()
    return tuple(reversed(told)), is_cut


def _is_main(frame: Site) -> bool:
    return "main" in (_function(frame), *(name.split(" (")[0] for name in frame.inlined_into))


def _is_start(frame: Site) -> bool:
    """Whether it only leads to main or to the function of a thread."""
    name = _function(frame)
    return is_of_the_system(frame) or name == "_start" or name.startswith("__libc_start")


def _function(frame: Site) -> str:
    return _OFFSET.sub("", frame.function or "")


def _without_source(frames: Sequence[Site]) -> list[str]:
    """The frames, and for several of one library without source in a row the library once."""
    told: list[str] = []
    for image, group in groupby(frames, key=lambda frame: None if frame.file else frame.image):
        members = list(group)
        if image is None or len(members) == 1:
            told += [place for frame in members for place in _places(frame)]
        else:
            told.append(f"{plain(image.rpartition('/')[2])} ({len(members)} functions)")
    return told


def _places(frame: Site) -> list[str]:
    """The function of a frame and those that it was inlined into, the innermost first."""
    name = plain(_function(frame))
    if frame.image is None and not frame.resolved:
        return [_NO_IMAGE]
    image = plain((frame.image or "?").rpartition("/")[2])
    first = f"{name} ({frame.label})" if frame.file and name else name or frame.label
    if not frame.file and name:
        first = f"{name} ({image})"
    return [first, *(plain(_short(place)) for place in frame.inlined_into)]


def _short(place: str) -> str:
    """`function (file:line)` without the folder of the file."""
    found = re.fullmatch(r"(.*) \((?:.*/)?([^/]*)\)", place)
    return f"{found[1]} ({found[2]})" if found else place
