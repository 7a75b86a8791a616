"""A measured run: the directory that `imbrex run -o` leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.formats.arrays import TableFormat
from imbrex.formats.schema import read_json
from imbrex.profile.aggregate import without_ranks
from imbrex.profile.awaited import AWAITED_FILE, AWAITED_TABLE
from imbrex.profile.call_paths import (
    CALL_PATHS_FILE,
    CALL_PATHS_TABLE,
    CallPath,
    call_paths,
    is_of_the_system,
)
from imbrex.profile.causes import (
    CAUSES_FILE,
    CAUSES_TABLE,
    PARTNERS_FILE,
    PARTNERS_TABLE,
    WAITS_FILE,
    WAITS_TABLE,
)
from imbrex.profile.evidence import EVIDENCE, EVIDENCE_TABLE
from imbrex.profile.format import (
    MEASURES,
    RANKS,
    RUN_FORMAT,
    Ended,
    Table,
)
from imbrex.profile.guard import Guard, load_guard
from imbrex.profile.job import JOB, Job, split_library
from imbrex.profile.merge import Merged, merge_directory
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site, read_sites
from imbrex.profile.standing import STANDING_FILE, STANDING_TABLE
from imbrex.steps import step

PARTS = "parts"
RECORDING = "recording"
JOB_BEFORE = (
    "another MPI job of this run ended before: these are the numbers of the last one alone; "
    "write `imbrex run --` before each launcher"
)


@dataclass(frozen=True)
class Run:
    """A run's tables. `measures` has MEASURES_DTYPE's fields, `ranks` RANKS_DTYPE's.

    `merged` tells that the ranks merged their rows themselves; else they came from parts.
    `evidence`, `causes`, `waits` and `partners` have the fields of EVIDENCE_DTYPE, CAUSES_DTYPE,
    WAITS_DTYPE and PARTNERS_DTYPE; None where the ranks did not match their calls. `callers` has
    those of CALL_PATHS_DTYPE, with the numbers of `frames`; None where nobody looked for callers.
    """

    directory: Path
    job: Job
    measures: Table
    ranks: Table
    sites: tuple[Site, ...]
    merged: bool = True
    guard: Guard | None = None
    evidence: Table | None = None
    causes: Table | None = None
    waits: Table | None = None
    partners: Table | None = None
    callers: Table | None = None
    frames: tuple[Site, ...] = ()
    matched: Mapping[str, Table] = field(default_factory=dict)
    """Tables by file name that are not in the directory yet, where the run comes from parts."""
    standing: Table | None = None
    """Where threads stood (STANDING_DTYPE); None where all ranks came to MPI_Finalize together."""
    awaited: Table | None = None
    """Whom they waited for there (AWAITED_DTYPE)."""

    @cached_property
    def over_ranks(self) -> Table:
        """The rows of `measures` summed over the ranks: few, whatever the size of the job."""
        return without_ranks(self.measures)

    @cached_property
    def call_paths(self) -> dict[int, tuple[CallPath, ...]]:
        """Through which callers a site was reached, by its number; only where that is known."""
        return call_paths(self.callers, self.sites, self.frames)

    def operation(self, number: int) -> str:
        """The MPI name of an operation's number."""
        names = self.job.operations
        return names[number] if 0 <= number < len(names) else f"(operation {number})"

    def section(self, number: int) -> str:
        """The nested name of a section's number; empty outside every section."""
        names = self.job.sections
        return names[number] if 0 <= number < len(names) else f"(section {number})"

    def path(self, number: int) -> str:
        """The name of a path's number."""
        names = self.job.paths
        return names[number] if 0 <= number < len(names) else f"(path {number})"

    def site(self, number: int) -> Site:
        """The call site of a number; an unknown place where the table does not have it."""
        if 0 <= number < len(self.sites) and self.sites[number].id == number:
            return self.sites[number]
        return Site(number)


def load_run(directory: Path, *, resolve: bool = True) -> Run:
    """Open a run directory, from parts where the ranks could not merge.

    With `resolve`, call sites that have no file or function yet are looked up in their images.
    ImbrexError where it is not a run, is truncated, or was written by a newer Imbrex.
    """
    with step(f"reading {directory}"):
        return _load(directory, resolve)


def _load(directory: Path, resolve: bool) -> Run:
    if not directory.is_dir():
        raise ImbrexError(f"{directory}: no such run directory")
    entry = _read_entry(directory / "run.json")
    job_entry = _read_entry(directory / "job.json")
    parts = directory / PARTS
    later = _later_parts(directory)
    if (directory / "measures.npy").exists() and later is None:
        job = _read_job(directory, {**(job_entry or {}), **_known(entry)})
        job = replace(job, warnings=(*job.warnings, *_lost(directory, job)))
        sites, frames = read_sites(directory / "sites.json")
        run = Run(
            directory=directory,
            job=job,
            measures=MEASURES.load(directory / "measures.npy"),
            ranks=RANKS.load(directory / "ranks.npy"),
            sites=sites,
            frames=frames,
            callers=_read_if_there(directory / CALL_PATHS_FILE, CALL_PATHS_TABLE),
            evidence=_read_if_there(directory / EVIDENCE, EVIDENCE_TABLE),
            causes=_read_if_there(directory / CAUSES_FILE, CAUSES_TABLE),
            waits=_read_if_there(directory / WAITS_FILE, WAITS_TABLE),
            partners=_read_if_there(directory / PARTNERS_FILE, PARTNERS_TABLE),
            standing=_read_if_there(directory / STANDING_FILE, STANDING_TABLE),
            awaited=_read_if_there(directory / AWAITED_FILE, AWAITED_TABLE),
        )
    elif parts.is_dir() and any(parts.glob("rank-*.part")):
        merged = later or merge_directory(parts)
        matched = merged.matched.tables if merged.matched else {}
        job = _read_job(directory, {**(job_entry or {}), **_known(entry)})
        if merged.matched:
            job = Job.from_json({**job.to_json(), **merged.matched.facts})
        run = Run(
            directory=directory,
            job=replace(
                job,
                ranks=len(merged.ranks),
                operations=tuple(merged.operations),
                sections=tuple(merged.sections),
                library=job.library if any(job.library) else split_library(merged.library),
                hosts=job.hosts or hosts_of(merged.ranks),
                warnings=(*job.warnings, *merged.warnings, *([JOB_BEFORE] if later else ())),
            ),
            measures=merged.measures,
            ranks=merged.ranks,
            sites=tuple(merged.sites),
            frames=tuple(merged.frames),
            callers=merged.callers,
            standing=merged.standing,
            awaited=merged.awaited,
            evidence=matched.get(EVIDENCE),
            causes=matched.get(CAUSES_FILE),
            waits=matched.get(WAITS_FILE),
            partners=matched.get(PARTNERS_FILE),
            matched=matched,
            merged=False,
        )
    elif RUN_FORMAT not in ((entry or {}).get("format"), (job_entry or {}).get("format")):
        lacking = "no run.json" if entry is None else "run.json is not ours"
        raise ImbrexError(f"{directory}: not an Imbrex run directory ({lacking})")
    else:
        raise ImbrexError(f"{directory}: holds no measurement: MPI was not initialized in that run")
    if resolve:
        run = _resolved(run)
    return replace(run, guard=load_guard(directory))


def _lost(directory: Path, job: Job) -> list[str]:
    """Whether the ranks matched their calls, and the table of causes that they left is gone."""
    matched = job.matching is not None and not job.matching.reason
    if not matched or (directory / CAUSES_FILE).exists():
        return []
    return [
        f"{CAUSES_FILE} is missing in {directory}: why calls took their time is not known; copy "
        "the whole folder, or measure again"
    ]


def _resolved(run: Run) -> Run:
    """With the places of sites and frames, for which each image is read once."""
    first = len(run.sites)
    # nobody is told of functions of the system
    frames = {f.id: f for f in run.frames if not is_of_the_system(f)}
    places = [*run.sites, *(replace(frame, id=first + frame.id) for frame in frames.values())]
    if all(place.resolved or not place.id for place in places):
        return run
    found = resolve_sites(places)
    frames = {place.id - first: replace(place, id=place.id - first) for place in found[first:]}
    return replace(
        run,
        sites=tuple(found[:first]),
        frames=tuple(frames.get(frame.id, frame) for frame in run.frames),
    )


def _later_parts(directory: Path) -> Merged | None:
    """Parts of a job that was started after the one whose tables are here, and did not end well.

    The parts of which the tables were made stay beside them, and look later in a copy.
    """
    try:
        tables = (directory / "measures.npy").stat().st_mtime_ns
    except OSError:
        return None
    parts = (directory / PARTS).glob("rank-*.part")
    later = sorted(part for part in parts if part.stat().st_mtime_ns > tables)
    if not later:
        return None
    merged = merge_directory(directory / PARTS, later)
    known = {row.tobytes() for row in RANKS.load(directory / "ranks.npy")}
    left = merged.ranks[merged.ranks["ended"] != Ended.MISSING]
    return merged if any(row.tobytes() not in known for row in left) else None


def hosts_of(ranks: Table) -> tuple[str, ...]:
    """The host names of the ranks that left any, in order of first appearance."""
    hosts = ranks["host"]
    changes = np.flatnonzero(hosts[1:] != hosts[:-1]) + 1
    firsts = hosts[[0, *changes]] if len(hosts) else hosts
    names = (bytes(host).decode("utf-8", "replace") for host in firsts)
    return tuple(dict.fromkeys(name for name in names if name))


def _known(entry: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of run.json that hold something, so that job.json fills the others."""
    return {
        name: value
        for name, value in (entry or {}).items()
        if value not in (None, [], "", {}, {"name": "", "version": ""})
    }


def _read_entry(file: Path) -> dict[str, Any] | None:
    """The object of run.json or job.json, or None where the file does not exist."""
    if not file.exists():
        return None
    entry = read_json(file, JOB.called, JOB.remedy)
    if not isinstance(entry, dict):
        raise ImbrexError(f"{file}: not part of an Imbrex run; {JOB.remedy}")
    if entry.get("format") == RUN_FORMAT:
        JOB.of_this_format(entry, file)
    return entry


def _read_job(directory: Path, entry: dict[str, Any]) -> Job:
    if entry:
        JOB.of_this_format(entry, directory / "run.json")
    return Job.from_json(entry, str(directory / "run.json"))


def _read_if_there(file: Path, format_: TableFormat) -> Table | None:
    """A table that not every run has."""
    return format_.load(file) if file.exists() else None
