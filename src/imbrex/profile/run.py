"""A measured run: the directory that `imbrex run -o` leaves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.profile.aggregate import without_ranks
from imbrex.profile.format import (
    MEASURES_DTYPE,
    PATH_NAMES,
    RANKS_DTYPE,
    RUN_FORMAT,
    SCHEMA_VERSION,
    Ended,
    Table,
)
from imbrex.profile.guard import Guard, load_guard
from imbrex.profile.merge import Merged, merge_directory
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site

PARTS = "parts"
RECORDING = "recording"
_JOB_BEFORE = (
    "another MPI job of this run ended before: these are the numbers of the last one alone; "
    "write `imbrex run --` before each launcher"
)
MOST_SITES_MISSING = 1 << 16
# What reading an entry of JSON raises that is not as it should be.
_WRONG_ENTRY = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Machine:
    """Which machine profile gave the transfer times: `origin` is given, cached, quick or none."""

    origin: str = "none"
    file: str | None = None
    created: str | None = None

    @classmethod
    def from_json(cls, entry: Any) -> Machine:
        entry = entry if isinstance(entry, dict) else {}
        return cls(str(entry.get("origin") or "none"), entry.get("file"), entry.get("created"))

    def to_json(self) -> dict[str, Any]:
        return {"origin": self.origin, "file": self.file, "created": self.created}


@dataclass(frozen=True)
class Job:
    """What was run, and the names that the tables' numbers stand for (run.json)."""

    command: tuple[str, ...] = ()
    started: str | None = None
    wall_s: float | None = None
    exit_code: int | None = None
    imbrex_version: str | None = None
    ranks: int = 0
    hosts: tuple[str, ...] = ()
    library: tuple[str, str] = ("", "")
    events: dict[str, str] = field(default_factory=dict)
    events_reason: str | None = None
    """Why a source of events inside the library was not used."""
    machine: Machine = Machine()
    operations: tuple[str, ...] = ()
    sections: tuple[str, ...] = ("",)
    paths: tuple[str, ...] = PATH_NAMES
    event_overhead_ns: float | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Job:
        """Read run.json or job.json; KeyError, TypeError or ValueError where malformed."""
        library = entry.get("library") or {}
        if isinstance(library, str):
            library = {"name": library}
        name, version = str(library.get("name") or ""), str(library.get("version") or "")
        # The runtime knows the library by the one line of MPI_Get_library_version.
        if not name:
            name, version = split_library(version)
        return cls(
            command=_names(entry, "command"),
            started=entry.get("started"),
            wall_s=entry.get("wall_s"),
            exit_code=entry.get("exit_code"),
            imbrex_version=entry.get("imbrex_version"),
            ranks=int(entry.get("ranks") or 0),
            hosts=_names(entry, "hosts"),
            library=(name, version),
            events={str(k): str(v) for k, v in (entry.get("events") or {}).items()},
            events_reason=entry.get("events_reason"),
            machine=Machine.from_json(entry.get("machine")),
            operations=_names(entry, "operations"),
            sections=_names(entry, "sections") or ("",),
            paths=_names(entry, "paths") or PATH_NAMES,
            event_overhead_ns=entry.get("event_overhead_ns"),
            warnings=_names(entry, "warnings"),
        )

    def to_json(self) -> dict[str, Any]:
        """The content of run.json."""
        name, version = self.library
        return {
            "schema_version": SCHEMA_VERSION,
            "format": RUN_FORMAT,
            "command": list(self.command),
            "started": self.started,
            "wall_s": self.wall_s,
            "exit_code": self.exit_code,
            "imbrex_version": self.imbrex_version,
            "ranks": self.ranks,
            "hosts": list(self.hosts),
            "library": {"name": name, "version": version},
            "events": self.events,
            "events_reason": self.events_reason,
            "machine": self.machine.to_json(),
            "operations": list(self.operations),
            "sections": list(self.sections),
            "paths": list(self.paths),
            "event_overhead_ns": self.event_overhead_ns,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True)
class Run:
    """A run's tables. `measures` has MEASURES_DTYPE's fields, `ranks` RANKS_DTYPE's.

    `merged` tells that the ranks merged their rows themselves; else they came from parts.
    """

    directory: Path
    job: Job
    measures: Table
    ranks: Table
    sites: tuple[Site, ...]
    merged: bool = True
    guard: Guard | None = None

    @cached_property
    def over_ranks(self) -> Table:
        """The rows of `measures` summed over the ranks: few, whatever the size of the job."""
        return without_ranks(self.measures)

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
    if not directory.is_dir():
        raise ImbrexError(f"{directory}: no such run directory")
    entry = _read_json(directory / "run.json")
    job_entry = _read_json(directory / "job.json")
    parts = directory / PARTS
    later = _later_parts(directory)
    if (directory / "measures.npy").exists() and later is None:
        job = _read_job(directory, {**(job_entry or {}), **_known(entry)})
        run = Run(
            directory=directory,
            job=job,
            measures=_read_table(directory / "measures.npy", MEASURES_DTYPE),
            ranks=_read_table(directory / "ranks.npy", RANKS_DTYPE),
            sites=_read_sites(directory / "sites.json"),
        )
    elif parts.is_dir() and any(parts.glob("rank-*.part")):
        merged = later or merge_directory(parts)
        job = _read_job(directory, {**(job_entry or {}), **_known(entry)})
        run = Run(
            directory=directory,
            job=replace(
                job,
                ranks=len(merged.ranks),
                operations=tuple(merged.operations),
                sections=tuple(merged.sections),
                library=job.library if any(job.library) else split_library(merged.library),
                hosts=job.hosts or hosts_of(merged.ranks),
                warnings=(*job.warnings, *merged.warnings, *([_JOB_BEFORE] if later else ())),
            ),
            measures=merged.measures,
            ranks=merged.ranks,
            sites=tuple(merged.sites),
            merged=False,
        )
    elif RUN_FORMAT not in ((entry or {}).get("format"), (job_entry or {}).get("format")):
        lacking = "no run.json" if entry is None else "run.json is not ours"
        raise ImbrexError(f"{directory}: not an Imbrex run directory ({lacking})")
    else:
        raise ImbrexError(f"{directory}: holds no measurement: MPI was not initialized in that run")
    if resolve and any(site.id and not site.resolved for site in run.sites):
        run = replace(run, sites=tuple(resolve_sites(run.sites)))
    return replace(run, guard=load_guard(directory))


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
    known = {row.tobytes() for row in _read_table(directory / "ranks.npy", RANKS_DTYPE)}
    left = merged.ranks[merged.ranks["ended"] != Ended.MISSING]
    return merged if any(row.tobytes() not in known for row in left) else None


def _names(entry: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(name) for name in entry.get(key) or ())


def hosts_of(ranks: Table) -> tuple[str, ...]:
    """The host names of the ranks that left any, in order of first appearance."""
    hosts = ranks["host"]
    changes = np.flatnonzero(hosts[1:] != hosts[:-1]) + 1
    firsts = hosts[[0, *changes]] if len(hosts) else hosts
    names = (bytes(host).decode("utf-8", "replace") for host in firsts)
    return tuple(dict.fromkeys(name for name in names if name))


def split_library(text: str) -> tuple[str, str]:
    """Name and version out of the first line of MPI_Get_library_version."""
    line = text.splitlines()[0] if text else ""
    if line.startswith("Open MPI"):
        return "Open MPI", line.split(",")[0].removeprefix("Open MPI").strip().lstrip("v")
    for start, name in (
        ("MPICH", "MPICH"),
        ("Intel(R) MPI Library", "Intel MPI"),
        ("MVAPICH", "MVAPICH"),
    ):
        if line.startswith(start):
            words = line.removeprefix(start).replace("Version:", " ").replace("\t", " ").split()
            return name, words[0].rstrip(",") if words else ""
    return line, ""


def _known(entry: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of run.json that hold something, so that job.json fills the others."""
    return {
        name: value
        for name, value in (entry or {}).items()
        if value not in (None, [], "", {}, {"name": "", "version": ""})
    }


def _read_json(file: Path) -> dict[str, Any] | None:
    """A JSON object, or None where the file does not exist."""
    try:
        # Section names and paths are the user's bytes, in whatever encoding.
        content = json.loads(file.read_bytes().decode("utf-8", "replace"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise ImbrexError(f"{file}: truncated or damaged ({error})") from error
    if not isinstance(content, dict):
        raise ImbrexError(f"{file}: not part of an Imbrex run")
    version = content.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ImbrexError(
            f"{file}: written by a newer Imbrex (schema version {version}); update Imbrex"
        )
    return content


def _read_job(directory: Path, entry: dict[str, Any]) -> Job:
    if entry and entry.get("format") != RUN_FORMAT:
        raise ImbrexError(f"{directory}: run.json is not that of an Imbrex run")
    try:
        return Job.from_json(entry)
    except _WRONG_ENTRY as error:
        raise ImbrexError(f"{directory}/run.json: damaged, or not that of a run") from error


def _read_table(file: Path, wanted: np.dtype[np.void]) -> Table:
    """Map a structured array; its fields must include those wanted, in any order."""
    try:
        table = np.load(file, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise ImbrexError(f"{file}: missing; the run was not written completely") from None
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise ImbrexError(f"{file}: {_what_is_wrong(file)}") from error
    missing = set(wanted.names or ()) - set(table.dtype.names or ())
    if missing or table.ndim != 1:
        raise ImbrexError(f"{file}: not a table of an Imbrex run")
    return table  # type: ignore[no-any-return]


def _what_is_wrong(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            ours = stream.read(6) == b"\x93NUMPY"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "truncated or damaged" if ours else "not a NumPy table"


def _read_sites(file: Path) -> tuple[Site, ...]:
    content = _read_json(file)
    if content is None:
        raise ImbrexError(f"{file}: missing; the run was not written completely")
    if not isinstance(content.get("sites"), list):
        raise ImbrexError(f"{file}: not the call sites of an Imbrex run")
    try:
        found = {site.id: site for site in map(Site.from_json, content["sites"])}
    except _WRONG_ENTRY as error:
        raise ImbrexError(f"{file}: damaged, or not that of a run") from error
    last = max(found, default=0)
    if last > len(found) + MOST_SITES_MISSING:
        raise ImbrexError(f"{file}: damaged (site {last} of {len(found)})")
    return tuple(found.get(number, Site(number)) for number in range(last + 1))
