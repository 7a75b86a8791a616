"""The compiled engine: built on first use with the C compiler of the machine, called by ctypes."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import cache_folder

_SOURCES = Path(__file__).parent / "engine"
_FLAGS = ("-std=c11", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")
_COMPILERS = ("cc", "gcc", "clang", "mpicc")
ROUTES = 3
LANES = 1024
"""So many networks go through a schedule in one pass (IX_MOST_LANES)."""
LANES_STEP = 8
TOO_WIDE = 2
"""The lanes of a pass need more memory than they may take."""
SIZES = 24
"""At most so many sizes of a route have times of their own (IX_SIZES)."""


class CRoute(ctypes.Structure):
    """LogGP of one path, in ns (struct ix_route)."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("latency_ns", "send_ns", "receive_ns", "gap_ns")),
        ("byte_ns", ctypes.c_double),
        ("eager_bytes", ctypes.c_double),
        ("kept_bytes", ctypes.c_double),
        ("held", ctypes.c_int32),
        ("counted", ctypes.c_int32),
        ("sizes", ctypes.c_uint64),
        ("size", ctypes.c_double * SIZES),
        ("as_bytes", ctypes.c_double * SIZES),
    )


class CNetwork(ctypes.Structure):
    """struct ix_network."""

    _fields_ = (
        ("route", CRoute * ROUTES),
        ("node", ctypes.c_void_p),
        ("free_site", ctypes.c_int64),
        ("driven_site", ctypes.c_int64),
        ("sharing", ctypes.c_uint32),
        ("in_turns", ctypes.c_uint32),
    )


class CWide(ctypes.Structure):
    """struct ix_wide."""

    _fields_ = (
        ("networks", ctypes.POINTER(CNetwork)),
        ("lanes", ctypes.c_uint64),
        ("most_bytes", ctypes.c_uint64),
        ("run_ns", ctypes.c_void_p),
        ("gone", ctypes.c_uint64),
    )


class CSchedule(ctypes.Structure):
    """struct ix_schedule."""

    _fields_ = (
        *(
            (name, ctypes.c_void_p)
            for name in (
                *("ops", "first", "process", "start_ns", "site", "meetings", "members"),
                "blocks",
            )
        ),
        ("count", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("streams", "processes", "meeting_count")),
        ("reserved", ctypes.c_uint32),
    )


class CTimes(ctypes.Structure):
    """struct ix_times."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in (
            *("end_ns", "time_ns", "why", "start_why", "origin", "shared_ns", "parts"),
            "asked_from",
        )
    )


class CStuck(ctypes.Structure):
    """struct ix_stuck."""

    _fields_ = (
        ("stream", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("op", ctypes.c_uint64),
    )


@cache
def engine() -> ctypes.CDLL:
    """The engine as a library; ImbrexError where it cannot be built or loaded."""
    file = _built()
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        raise ImbrexError(f"{file}: the replay engine cannot be loaded ({error})") from error
    pointer = ctypes.POINTER
    library.ix_replay.argtypes = [
        pointer(CSchedule),
        pointer(CNetwork),
        pointer(CTimes),
        pointer(CStuck),
    ]
    library.ix_replay.restype = ctypes.c_int
    library.ix_replay_lanes.argtypes = [
        *(pointer(CSchedule), pointer(CWide), pointer(CTimes), pointer(CStuck)),
    ]
    library.ix_replay_lanes.restype = ctypes.c_int
    library.ix_critical_path.argtypes = [
        *(pointer(CSchedule), pointer(CNetwork), pointer(CTimes)),
        *(ctypes.c_void_p, ctypes.c_uint64),
    ]
    library.ix_critical_path.restype = ctypes.c_uint64
    return library


def _compiler() -> str:
    named = os.environ.get("CC")
    for name in (named, *_COMPILERS) if named else _COMPILERS:
        found = shutil.which(name) if name else None
        if found:
            return found
    raise ImbrexError("the replay engine needs a C compiler: install one, or name it in CC")


def _built() -> Path:
    sources = sorted(_SOURCES.glob("*.[ch]"))
    compiler = _compiler()
    key = hashlib.sha256(f"{platform.machine()} {compiler} {' '.join(_FLAGS)}".encode())
    for file in sources:
        key.update(file.name.encode() + b"\0" + file.read_bytes())
    target = cache_folder() / f"replay-{key.hexdigest()[:16]}.so"
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                _build(compiler, [f for f in sources if f.suffix == ".c"], target)
    except OSError as error:
        raise ImbrexError(
            f"{target.parent}: the cache cannot be written ({error.strerror}); set XDG_CACHE_HOME"
        ) from error
    return target


def _build(compiler: str, sources: list[Path], target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".replay-", dir=target.parent) as scratch:
        made = Path(scratch) / target.name
        command = [compiler, *_FLAGS, *map(str, sources), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            log = target.with_suffix(".log")
            log.write_text(done.stderr)
            raise ImbrexError(f"the replay engine could not be built with {compiler}: see {log}")
        made.replace(target)
