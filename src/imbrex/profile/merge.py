"""Merge the parts of ranks that could not merge themselves (crash, abort, kill)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.profile.awaited import AWAITED_DTYPE
from imbrex.profile.call_paths import CALL_PATHS_DTYPE
from imbrex.profile.format import MEASURES, MEASURES_DTYPE, RANKS_DTYPE, REMEDY, Ended, Table
from imbrex.profile.matched_parts import MATCHED, MatchedParts, Numbers, read_matched
from imbrex.profile.part import Part, Place, read_part
from imbrex.profile.part_awaited import awaited_of
from imbrex.profile.sites import Site
from imbrex.profile.standing import STANDING_DTYPE

OTHER = Site(0)


@dataclass
class Merged:
    """The tables of a run with numbers that hold for all ranks."""

    measures: Table
    ranks: Table
    sites: list[Site]
    sections: list[str]
    operations: list[str]
    library: str
    callers: Table = field(default_factory=lambda: np.empty(0, CALL_PATHS_DTYPE))
    frames: list[Site] = field(default_factory=list)
    standing: Table = field(default_factory=lambda: np.empty(0, STANDING_DTYPE))
    awaited: Table = field(default_factory=lambda: np.empty(0, AWAITED_DTYPE))
    warnings: list[str] = field(default_factory=list)
    numbers: dict[int, Numbers] = field(default_factory=dict)
    matched: MatchedParts | None = None


class _Numbering:
    """Numbers for names in order of first appearance."""

    def __init__(self, first: Iterable[str] = ()) -> None:
        self.numbers: dict[str, int] = {}
        for name in first:
            self[name]

    def __getitem__(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    @property
    def names(self) -> list[str]:
        return list(self.numbers)


def _renumber(measures: Table, name: str, numbers: Sequence[int], other: int) -> None:
    """Replace local numbers of a column by global ones; a number out of range becomes `other`."""
    if len(measures) == 0:
        return
    table = np.append(np.asarray(numbers, np.int64), other)
    local = measures[name].astype(np.int64)
    local[(local < 0) | (local >= len(numbers))] = len(numbers)
    measures[name] = table[local]


def merge(parts: Sequence[Part]) -> Merged:
    """Merge parts: one row per rank is always there, ranks without a part are `missing`."""
    world = max(max(part.ranks, int(part.rank["rank"]) + 1) for part in parts)
    site_numbers: dict[Place, int] = {}
    frame_numbers: dict[Place, int] = {}
    callers: list[tuple[int, ...]] = []
    standing: list[tuple[int, ...]] = []
    sections = _Numbering([""])
    operations = _Numbering()
    tables = []
    numbers: dict[int, Numbers] = {}
    ranks = np.zeros(world, RANKS_DTYPE)
    ranks["rank"] = np.arange(world)
    ranks["ended"] = Ended.MISSING
    for part in parts:
        rows = part.measures.copy()
        # Local site 0 is "other" in every rank, whatever its table says.
        sites = [
            0 if number == 0 else site_numbers.setdefault(key, len(site_numbers) + 1)
            for number, key in enumerate(part.sites)
        ]
        _renumber(rows, "site", sites, 0)
        own_sections = [sections[name] for name in part.sections]
        _renumber(rows, "section", own_sections, 0)
        local = [operations[name] for name in part.operations]
        unknown = len(rows) > 0 and bool((rows["operation"] >= len(local)).any())
        _renumber(rows, "operation", local, operations["(unknown)"] if unknown else 0)
        tables.append(rows)
        number = int(part.rank["rank"])
        numbers[number] = Numbers(sites, own_sections, local)
        callers += _callers(part, number, sites, frame_numbers)
        for stand in part.standing:
            place = stand.place
            standing.append(
                (
                    number,
                    0 if place is None else site_numbers.setdefault(place, len(site_numbers) + 1),
                    operations[stand.operation] if stand.operation else 0,
                    sections[part.sections[stand.section]]
                    if stand.section < len(part.sections)
                    else 0,
                    stand.thread,
                    stand.state,
                    0,
                    stand.since_ns,
                    stand.since_unix_ns,
                )
            )
        if 0 <= number < world:
            ranks[number] = part.rank
    return Merged(
        measures=np.concatenate(tables) if tables else np.empty(0, MEASURES_DTYPE),
        ranks=ranks,
        sites=[
            OTHER,
            *(
                Site(number, image, build_id, offset)
                for (image, build_id, offset), number in site_numbers.items()
            ),
        ],
        sections=sections.names,
        operations=operations.names,
        library=next((part.library for part in parts if part.library), ""),
        callers=np.array(callers, CALL_PATHS_DTYPE),
        standing=np.array(standing, STANDING_DTYPE),
        numbers=numbers,
        frames=[
            Site(number, image, build_id, offset)
            for (image, build_id, offset), number in frame_numbers.items()
        ],
    )


def _callers(
    part: Part, rank: int, sites: Sequence[int], frame_numbers: dict[Place, int]
) -> list[tuple[int, ...]]:
    """The rows of call_paths.npy of one rank; new frames get the next numbers."""
    rows: list[tuple[int, ...]] = []
    for number, path in enumerate(part.call_paths):
        frames = [frame_numbers.setdefault(c, len(frame_numbers) + 1) for c in path.callers]
        if path.is_cut or not frames:
            frames.append(0)
        rows += [
            (rank, sites[path.site], number, level, frame, path.samples)
            for level, frame in enumerate(frames)
        ]
    return rows


def merge_directory(parts: Path, files: Sequence[Path] = ()) -> Merged:
    """Merge every `rank-*.part` below a directory, or the `files` among them alone.

    ImbrexError where not one can be read.
    """
    files = files or sorted(parts.glob("rank-*.part"))
    read, warnings = [], []
    for file in files:
        try:
            read.append(read_part(file))
        except ImbrexError as error:
            warnings.append(str(error))
    if not read:
        raise ImbrexError(warnings[0] if warnings else f"{parts}: no rank left a profile")
    # All parts of a job say its size; a damaged one must not bring millions of missing ranks.
    sizes = Counter(part.ranks for part in read)
    size = max(sizes, key=lambda ranks: (sizes[ranks], -ranks))
    warnings += [
        f"{part.file}: left out: it is of a job of {part.ranks} ranks, others are of one of {size}"
        for part in read
        if part.ranks != size
    ]
    warnings += [
        f"{part.file}: damaged: {part.damaged_rows} of its rows were left out"
        for part in read
        if part.ranks == size and part.damaged_rows
    ]
    read = [part for part in read if part.ranks == size]
    merged = merge(read)
    if (problem := MEASURES.out_of_range(merged.measures)) is not None:
        raise ImbrexError(f"{parts}: the parts of this run are damaged: {problem}; {REMEDY}")
    merged.warnings = warnings
    merged.awaited = awaited_of(read)
    merged.matched = read_matched(parts.parent / MATCHED, merged.numbers)
    return merged
