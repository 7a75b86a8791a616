"""Read a machine profile and refuse a broken one with one line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.network.profile import (
    CLASSES,
    FORMAT,
    PATHS,
    ROLES,
    SCHEMA_VERSION,
    Collective,
    CollectivePoint,
    LogGP,
    MachineProfile,
    NetworkPath,
    OneSided,
    Point,
)

# More does not fit what the runtime reads.
_MOST = (1 << 63) - 1


def load(file: Path) -> MachineProfile:
    """The profile in `file`; an ImbrexError names the file and what is wrong with it."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"cannot read the machine profile {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ImbrexError(f"{file} is not a machine profile: not a text file") from None
    if not text.strip():
        raise ImbrexError(f"the machine profile {file} is empty; make one with `imbrex calibrate`")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ImbrexError(
            f"the machine profile {file} is truncated or not JSON (line {error.lineno})"
        ) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, or endless brackets
        raise ImbrexError(
            f"the machine profile {file} is damaged; make one with `imbrex calibrate`"
        ) from None
    try:
        return parse(data)
    except ImbrexError as error:
        raise ImbrexError(f"the machine profile {file}: {error}") from None


def parse(data: object) -> MachineProfile:
    """A profile from its JSON object; an ImbrexError says what is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ImbrexError(f'is not a machine profile (no "format": "{FORMAT}")')
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise ImbrexError("schema_version is missing")
    if version > SCHEMA_VERSION:
        raise ImbrexError(
            f"has schema version {version}, this Imbrex reads up to {SCHEMA_VERSION}; update Imbrex"
        )
    top = _Object(data, "")
    library = _Object(top.get("library", dict), "library")
    paths = {
        name: _path(_Object(value, f"paths.{name}"))
        for name, value in top.get("paths", dict).items()
    }
    for name in paths:
        if name not in PATHS:
            raise ImbrexError(f"paths.{name} is none of {', '.join(PATHS)}")
    if not paths:
        raise ImbrexError("holds no path; make one with `imbrex calibrate`")
    interval = data.get("progress_interval_s")
    return MachineProfile(
        library_name=library.get("name", str),
        library_version=library.get("version", str),
        hosts=tuple(str(host) for host in top.get("hosts", list)),
        ranks=top.count("ranks"),
        settings={str(k): str(v) for k, v in top.get("settings", dict).items()},
        paths=paths,
        collectives=tuple(
            _collective(_Object(value, f"collectives[{i}]"))
            for i, value in enumerate(top.get("collectives", list))
        ),
        one_sided=tuple(
            _one_sided(_Object(value, f"one_sided[{i}]"))
            for i, value in enumerate(top.get("one_sided", list) if "one_sided" in data else ())
        ),
        created=top.get("created", str),
        imbrex_version=top.get("imbrex_version", str),
        quick=top.get("quick", bool),
        progress_interval_s=None if interval is None else top.time("progress_interval_s"),
    )


class _Object:
    """A JSON object that knows where it stands, for messages."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise ImbrexError(f"{where} is not an object")
        self.data: dict[str, Any] = data
        self.where = where

    def name(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def get(self, key: str, kind: type) -> Any:
        if key not in self.data:
            raise ImbrexError(f"{self.name(key)} is missing")
        value = self.data[key]
        if not isinstance(value, kind):
            raise ImbrexError(f"{self.name(key)} is not of type {kind.__name__}")
        return value

    def time(self, key: str) -> float:
        if key not in self.data:
            raise ImbrexError(f"{self.name(key)} is missing")
        value = self.data[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ImbrexError(f"{self.name(key)} is not a number")
        try:
            seconds = float(value)
        except OverflowError:
            seconds = math.inf
        if not math.isfinite(seconds) or seconds < 0:
            raise ImbrexError(f"{self.name(key)} is negative or not finite")
        return seconds

    def optional_time(self, key: str) -> float | None:
        return None if self.data.get(key) is None else self.time(key)

    def optional_bool(self, key: str) -> bool | None:
        return None if self.data.get(key) is None else bool(self.get(key, bool))

    def count(self, key: str) -> int:
        value = self.get(key, int)
        if isinstance(value, bool) or not 0 <= value <= _MOST:
            raise ImbrexError(f"{self.name(key)} is not a count")
        return int(value)

    def word(self, key: str) -> str:
        """A name that is one word of a line of the runtime's table."""
        value = str(self.get(key, str))
        if not (value.isascii() and value.isidentifier()):
            raise ImbrexError(f"{self.name(key)} is not the name of an MPI operation")
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = str(self.get(key, str))
        if value not in choices:
            raise ImbrexError(f"{self.name(key)} is none of {', '.join(choices)}")
        return value


def _path(entry: _Object) -> NetworkPath:
    points = []
    for i, value in enumerate(entry.get("points", list)):
        row = _Object(value, f"{entry.where}.points[{i}]")
        points.append(
            Point(
                size_bytes=row.count("size_bytes"),
                x_lo_s=row.time("x_lo_s"),
                x_hi_s=row.time("x_hi_s"),
                tail_s=row.optional_time("tail_s"),
                head_s=row.optional_time("head_s"),
                send_returns_before_match=row.optional_bool("send_returns_before_match"),
                synchronization=row.optional_bool("synchronization"),
                transfer_class=row.choice("class", CLASSES) if "class" in row.data else "unknown",
            )
        )
    _check_points(entry.where, points)
    loggp = None
    if entry.data.get("loggp") is not None:
        fit = _Object(entry.data["loggp"], f"{entry.where}.loggp")
        loggp = LogGP(**{key: fit.time(key) for key in LogGP.__dataclass_fields__})
    limits = _Object(entry.data.get("limits", {}), f"{entry.where}.limits")
    return NetworkPath(
        points=tuple(points),
        gap_s_per_byte=entry.time("gap_s_per_byte"),
        loggp=loggp,
        limits={key: limits.count(key) for key in limits.data},
    )


def _collective(entry: _Object) -> Collective:
    points = []
    for i, value in enumerate(entry.get("points", list)):
        row = _Object(value, f"{entry.where}.points[{i}]")
        points.append(
            CollectivePoint(row.count("size_bytes"), row.time("x_lo_s"), row.time("x_hi_s"))
        )
    _check_points(entry.where, points)
    return Collective(
        operation=entry.word("operation"),
        ranks=entry.count("ranks"),
        path=entry.choice("path", PATHS),
        role=entry.choice("role", ROLES),
        points=tuple(points),
    )


def _one_sided(entry: _Object) -> OneSided:
    points = []
    for i, value in enumerate(entry.get("points", list)):
        row = _Object(value, f"{entry.where}.points[{i}]")
        points.append(
            Point(
                row.count("size_bytes"),
                row.time("x_lo_s"),
                row.time("x_hi_s"),
                row.optional_time("tail_s"),
            )
        )
    _check_points(entry.where, points)
    return OneSided(
        operation=entry.word("operation"),
        path=entry.choice("path", PATHS),
        gap_s_per_byte=entry.time("gap_s_per_byte"),
        points=tuple(points),
    )


def _check_points(where: str, points: Sequence[Point | CollectivePoint]) -> None:
    if not points:
        raise ImbrexError(f"{where}.points is empty")
    before = -1
    for i, point in enumerate(points):
        if point.size_bytes <= before:
            raise ImbrexError(f"{where}.points[{i}] is not sorted by size_bytes")
        if point.x_lo_s > point.x_hi_s:
            raise ImbrexError(f"{where}.points[{i}] has x_lo_s above x_hi_s")
        before = point.size_bytes
