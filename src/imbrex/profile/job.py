"""What was run, and the names that the numbers of its tables stand for: run.json and job.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from imbrex.formats.schema import Field, JsonFormat, optional
from imbrex.formats.value_types import LONGEST_S, ListOf, MapOf, Number, Object, Text, Whole
from imbrex.profile.format import MOST_RANKS, PATH_NAMES, REMEDY, RUN_FORMAT, SCHEMA_VERSION
from imbrex.profile.matching import (
    CLOCKS,
    LOG,
    MATCHING,
    TIMELINE,
    Clocks,
    Kept,
    Log,
    Matching,
)
from imbrex.profile.progress import PROGRESS, Progress

TEXT, NAMES = Text(), ListOf(Text())

_LIBRARY = Object(
    (
        optional("name", TEXT, "of the MPI library", default=""),
        optional("version", TEXT, "of the MPI library", default=""),
    )
)
_MACHINE = Object(
    (
        optional("origin", TEXT, "`given`, `cached`, `quick` or `none`", default="none"),
        optional("file", TEXT, "of the profile"),
        optional("created", TEXT, "when, in ISO 8601"),
    )
)
JOB = JsonFormat(
    "the run.json of an Imbrex run",
    REMEDY,
    Object(
        (
            Field("schema_version", Whole(1), "1", default=SCHEMA_VERSION),
            Field("format", TEXT, f'"{RUN_FORMAT}"', default=RUN_FORMAT),
            optional("command", NAMES, "the line that was measured", default=()),
            optional("started", TEXT, "when, in ISO 8601"),
            optional("wall_s", Number(), "of the whole line; in job.json of the ranks", "s"),
            optional("exit_code", Whole(-(1 << 31), 1 << 31), "of the program"),
            optional("ended_unix_s", Number(0, 1e11), "when it ended, since 1970", "s"),
            optional("ended_by", TEXT, "the signal that asked it to end, where one did"),
            optional("crowded", TEXT, "what else kept this machine busy meanwhile; null if little"),
            optional(
                "cores",
                Whole(1, 1 << 24),
                "that the ranks may share; null where they may run on other machines too",
            ),
            optional(
                "core_wait_share",
                Number(0, 1),
                "for which part of their time ranks were ready to run and had no core; null: not "
                "known",
            ),
            optional("imbrex_version", TEXT, "which Imbrex measured"),
            optional("ranks", Whole(0, MOST_RANKS), "processes", default=0),
            optional("hosts", NAMES, "where they ran", default=()),
            optional("library", _LIBRARY, default={"name": "", "version": ""}),
            optional(
                "events",
                MapOf(TEXT),
                "by path, where events came from: call, or a source inside the library",
                default={},
            ),
            optional("events_reason", TEXT, "why no source inside the library was used"),
            optional("clock", TEXT, "what the runtime read the time from"),
            optional(
                "machine",
                _MACHINE,
                "the machine profile that was used",
                default={"origin": "none", "file": None, "created": None},
            ),
            optional("operations", NAMES, "MPI names", default=()),
            optional("sections", NAMES, "nested names joined by `/`, the first empty", default=()),
            optional("paths", NAMES, "names of the paths", default=()),
            optional(
                "event_overhead_ns",
                Number(0, LONGEST_S * 1e9),
                "measured cost of one recorded call",
                "ns",
            ),
            optional("warnings", NAMES, "lines", default=()),
            optional("log", LOG, "the call log, where there was one"),
            optional("clocks", CLOCKS, "the ranks' clocks, likewise"),
            optional("matching", MATCHING, "of the logged calls, likewise"),
            optional("timeline", TIMELINE, "of what part single calls were kept, likewise"),
            optional("progress", PROGRESS, "what the progress thread did, where there was one"),
        )
    ),
    identity=RUN_FORMAT,
    version=SCHEMA_VERSION,
)
"""run.json and job.json: the second is what the runtime knew at MPI_Finalize."""


@dataclass(frozen=True)
class Machine:
    """Which machine profile gave the transfer times: `origin` is given, cached, quick or none."""

    origin: str = "none"
    file: str | None = None
    created: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Job:
    """What was run, and the names that the tables' numbers stand for (run.json)."""

    command: tuple[str, ...] = ()
    started: str | None = None
    wall_s: float | None = None
    exit_code: int | None = None
    ended_unix_s: float | None = None
    """When the launcher line was over, since 1970 by the system's clock."""
    ended_by: str | None = None
    """The name of the signal that `imbrex run` got and handed on."""
    crowded: str | None = None
    """What slowed the program down on the machine that it was started on, in words."""
    cores: int | None = None
    """Those of this machine for the ranks; None where they may be on others too."""
    core_wait_share: float | None = None
    """For which part of their time ranks were ready to run and had no core; None: not known."""
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
    log: Log | None = None
    clocks: Clocks | None = None
    matching: Matching | None = None
    timeline: Kept | None = None
    progress: Progress | None = None

    @classmethod
    def from_json(cls, entry: dict[str, Any], file: str = "run.json") -> Job:
        """Read the object of run.json or job.json; ImbrexError naming `file` where malformed."""
        found = JOB.read(entry, file)
        name, version = found["library"]["name"], found["library"]["version"]
        # The runtime knows the library by the one line of MPI_Get_library_version.
        if not name:
            name, version = split_library(version)
        return cls(
            command=found["command"],
            started=found["started"],
            wall_s=found["wall_s"],
            exit_code=found["exit_code"],
            ended_unix_s=found["ended_unix_s"],
            ended_by=found["ended_by"],
            crowded=found["crowded"],
            cores=found["cores"],
            core_wait_share=found["core_wait_share"],
            imbrex_version=found["imbrex_version"],
            ranks=found["ranks"],
            hosts=found["hosts"],
            library=(name, version),
            events=found["events"],
            events_reason=found["events_reason"],
            machine=Machine(**found["machine"]),
            operations=found["operations"],
            sections=found["sections"] or ("",),
            paths=found["paths"] or PATH_NAMES,
            event_overhead_ns=found["event_overhead_ns"],
            warnings=found["warnings"],
            log=None if found["log"] is None else Log(**found["log"]),
            clocks=None if found["clocks"] is None else Clocks(**found["clocks"]),
            matching=None if found["matching"] is None else Matching(**found["matching"]),
            timeline=None if found["timeline"] is None else Kept(**found["timeline"]),
            progress=None if found["progress"] is None else Progress(**found["progress"]),
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
            "ended_unix_s": self.ended_unix_s,
            "ended_by": self.ended_by,
            "crowded": self.crowded,
            "cores": self.cores,
            "core_wait_share": self.core_wait_share,
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
            "log": self.log.to_json() if self.log else None,
            "clocks": self.clocks.to_json() if self.clocks else None,
            "matching": self.matching.to_json() if self.matching else None,
            "timeline": self.timeline.to_json() if self.timeline else None,
            "progress": self.progress.to_json() if self.progress else None,
        }


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
