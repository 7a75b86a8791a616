"""`imbrex run`: measure one launcher line."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.launch import process, run_directory
from imbrex.launch.collect import add_warning, complete, take_parts
from imbrex.launch.disturbance import counts, crowding
from imbrex.launch.hosts import may_use_several_hosts
from imbrex.launch.installed import installed_runtime
from imbrex.launch.machine import Transfers, find_transfers
from imbrex.launch.match_parts import match_parts
from imbrex.launch.orphans import end_orphans, launcher_crashed
from imbrex.launch.prefix import write_collector, write_prefix
from imbrex.launch.progress import ProgressOptions
from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import LauncherLine, parse_launcher_line
from imbrex.mpi_environment.mpi_library import MpiLibrary, library_of_line
from imbrex.profile.run import JOB_BEFORE, PARTS, Run

_ROOM_OF_A_PART = 1 << 20
"""Bytes; with room for less, no rank has left a profile."""
_COLLECT_TIMEOUT_S = 60
_SMALL_LOGS_BYTES = 256 << 20
"""Up to which the logs of all ranks together are kept without being asked for."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM)
"""Signals that ask a program to end, if it does not expect them."""
RUNTIME = Path("lib") / "libimbrex.so"


@dataclass(frozen=True)
class Settings:
    """What the user asked for. `machine` and `mpicc` are None where Imbrex is to find them.

    `written` is the command as the user wrote it, where the `env` of its line is left out;
    `log_bytes` the memory for the call log of each rank, 0 where calls are not logged.
    """

    command: tuple[str, ...]
    output: Path | None = None
    force: bool = False
    machine: Path | None = None
    mpicc: Path | None = None
    events: str = "auto"
    guard: bool = False
    written: tuple[str, ...] = ()
    runtime: Path | None = None
    """A runtime that is installed already; None: the one in the cache, built where it is not."""
    log_bytes: int = 64 << 20
    keep_log: bool | None = None
    """None: where it covers the run and is small, so that `imbrex predict` can replay it."""
    silent: bool = False
    """What the program prints goes nowhere, but for its errors."""
    call_paths: bool = True
    """Whether ranks look now and then through which callers a call is reached."""
    progress: ProgressOptions = field(default_factory=ProgressOptions)
    intervals: str | None = None
    """A folder of the run directory for the length of each interval of computation between two MPI
    calls, which a recording of the same program needs; None: they are not kept."""
    switched_rounds: int | None = None
    """Where the program records itself first and is measured then, into the same folder: for how
    many rounds."""


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start: nothing of the user's has been started or written yet."""

    settings: Settings
    line: LauncherLine
    library: MpiLibrary
    runtime: Path
    transfers: Transfers
    folder: Path


@dataclass(frozen=True)
class Outcome:
    """How a measured run ended. `run` is None where nothing was measured."""

    exit_code: int
    run: Run | None
    warnings: tuple[str, ...] = field(default=())


def prepare(settings: Settings) -> Prepared:
    """Find the programs, the library, the runtime and the transfer times.

    ImbrexError where something is wrong; nothing is left behind then.
    """
    settings.progress.check()
    if settings.progress.wanted and settings.events not in ("auto", "call"):
        raise ImbrexError(
            f"--events {settings.events} does not go with --progress: events within the library "
            "would come from the progress thread too; leave one of them out"
        )
    line = parse_launcher_line(settings.command)
    folder = run_directory.choose(settings.output)
    run_directory.check(folder, force=settings.force)
    library = library_of_line(line, settings.mpicc)
    if settings.runtime is not None:
        runtime = installed_runtime(settings.runtime, library)
    else:
        runtime = native.build("runtime", library) / RUNTIME
        if not runtime.exists():
            built = runtime.parents[1]
            raise ImbrexError(f"{runtime}: the built runtime is damaged; remove {built}")
    transfers = find_transfers(line, library, settings.machine)
    return Prepared(settings, line, library, runtime, transfers, folder)


def measure(ready: Prepared) -> Outcome:
    """Run the program under the runtime and complete the run directory.

    ImbrexError only where the run directory cannot be made or the launcher not be started; after
    that the exit code is the program's, whatever becomes of the measurement.
    """
    folder = ready.folder
    run_directory.create(folder, force=ready.settings.force)
    try:
        several = may_use_several_hosts(ready.line.launcher_words)
        parts = folder / PARTS
        if several:
            local = Path(os.environ.get("TMPDIR") or "/tmp")
            parts = local / f"imbrex-{os.getuid()}-{uuid.uuid4().hex[:12]}"
        table = ready.transfers.save(folder)
        environment = {
            "IMBREX_DIR": str(folder),
            "IMBREX_PARTS": str(parts),
            "IMBREX_EVENTS": ready.settings.events,
            "IMBREX_LOG": str(ready.settings.log_bytes),
        }
        environment |= ready.settings.progress.environment()
        if ready.settings.keep_log is not False:
            most = 1 if ready.settings.keep_log else _SMALL_LOGS_BYTES
            environment["IMBREX_KEEP_LOG"] = str(most)
        if not ready.settings.call_paths:
            environment["IMBREX_CALL_PATHS"] = "off"
        if ready.settings.guard:
            environment["IMBREX_GUARD"] = "1"
        if ready.settings.intervals is not None:
            intervals = folder / ready.settings.intervals
            intervals.mkdir(parents=True)
            rounds = ready.settings.switched_rounds
            mode = "clean" if rounds is None else "switched"
            environment |= {"IMBREX_ACCESS": mode, "IMBREX_ACCESS_WATCH": "off"}
            environment["IMBREX_ACCESS_DIR"] = str(intervals)
            if rounds is not None:
                environment["IMBREX_ACCESS_ROUNDS"] = str(rounds)
        if table is not None:
            environment["IMBREX_TABLE"] = str(table)
        prefix = write_prefix(folder, ready.runtime, environment)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise ImbrexError(f"{folder}: cannot be written ({error.strerror})") from error

    started = datetime.now(timezone.utc)
    before = counts(time.monotonic())
    signals: list[signal.Signals] = []
    try:
        code = process.run(
            ready.line.with_prefix([str(prefix)]), silent=ready.settings.silent, signals=signals
        )
    except ImbrexError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    after = counts(time.monotonic())
    ended_unix_s = time.time()

    warnings = [ready.transfers.warning] if ready.transfers.warning else []
    if launcher_crashed(code):
        # What is still written to a part is lost, and nobody else would end them.
        left = end_orphans({"IMBREX_DIR": str(folder)})
        if left:
            warnings.append(f"the launcher crashed and left {left} processes: they were ended")
    facts: dict[str, Any] = {
        "command": list(ready.settings.written or ready.settings.command),
        "started": started.isoformat(timespec="seconds"),
        "wall_s": round(after.wall_s - before.wall_s, 6),
        # Ranks of a daemon look like other load.
        "crowded": None if several else crowding(before, after),
        "cores": None if several else len(os.sched_getaffinity(0)),
        "exit_code": code,
        "ended_unix_s": round(ended_unix_s, 6),
        "ended_by": next((s.name for s in signals if s in _ENDING), None),
        "imbrex_version": __version__,
        "machine": ready.transfers.machine.to_json(),
    }
    return _finish(ready, parts, code, facts, warnings)


def _finish(
    ready: Prepared, parts: Path, code: int, facts: dict[str, Any], warnings: list[str]
) -> Outcome:
    """Complete the run directory; every failure from here on is only a warning."""
    folder = ready.folder
    try:
        if not (folder / "measures.npy").exists():
            take_parts(folder, parts)
            if parts != folder / PARTS:
                warnings += _collect_from_nodes(ready, parts)
            helped = ready.settings.progress.wanted or "IMBREX_PROGRESS" in os.environ
            warnings += match_parts(folder, ready.runtime, is_helped=helped)
        elif parts != folder / PARTS:
            shutil.rmtree(parts, ignore_errors=True)
        run = complete(folder, facts, warnings)
        run = _with_unseen_ranks(ready.line, run)
    except ImbrexError as error:
        reason = (
            str(error)
            if _left_anything(folder)
            else _disk_is_full(folder, "what was measured is lost")
            if _has_no_room(folder)
            else _not_seen(code)
        )
        return Outcome(code, None, (*warnings, reason))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            lost = "the tables of the run are not complete"
            return Outcome(code, None, (*warnings, _disk_is_full(folder, lost)))
        return Outcome(
            code, None, (*warnings, f"{folder}: the run was not saved ({error.strerror})")
        )
    return Outcome(code, run, run.job.warnings)


def _with_unseen_ranks(line: LauncherLine, run: Run) -> Run:
    """Say it where what was taken for one process, such as a script, has started several ranks.

    Not where the run says already that it did so more than once, with what to do.
    """
    if line.family != "none" or len(run.ranks) < 2 or JOB_BEFORE in run.job.warnings:
        return run
    warning = (
        f"{line.words[0]} started {len(run.ranks)} ranks by a launcher line that is not seen here, "
        "so that their transfer times were not measured: write `imbrex run --` before the launcher"
    )
    add_warning(run.directory, warning)
    return replace(run, job=replace(run.job, warnings=(warning, *run.job.warnings)))


def _has_no_room(folder: Path) -> bool:
    """Whether the file system has less room than one rank's profile takes."""
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize < _ROOM_OF_A_PART


def _disk_is_full(folder: Path, lost: str) -> str:
    return f"{folder}: the disk is full: {lost}; free some room, or name a folder elsewhere with -o"


def _not_seen(code: int) -> str:
    """Why there is nothing of any rank: a line that failed may have started none."""
    first, cause = "the program made no MPI_Init that Imbrex saw", "is not an MPI program"
    if code:
        first = f"the line ended with exit code {code} and made no MPI_Init that Imbrex saw"
        cause = "failed before"
    return (
        f"nothing was measured: {first} (it {cause}, is linked statically with MPI, has an "
        "MPI_Init of its own as with a profiling tool in it, takes MPI's functions by dlsym, is "
        "setuid, or was started without LD_PRELOAD, as by `env -i`)"
    )


def _left_anything(folder: Path) -> bool:
    return (folder / "measures.npy").exists() or any((folder / PARTS).glob("rank-*.part"))


def _collect_from_nodes(ready: Prepared, parts: Path) -> list[str]:
    """Start a copying script with the same launcher line, so that every node brings its parts."""
    collector = write_collector(ready.folder, parts, ready.folder / PARTS)
    command: Sequence[str] = ready.line.with_program([str(collector)])
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_COLLECT_TIMEOUT_S,
            check=False,
        )
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    collector.unlink(missing_ok=True)
    return (
        [f"parts may be left on other nodes in {parts}: the launcher could not collect them"]
        if failed
        else []
    )
