"""Read a machine profile and refuse a broken one with one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.network.profile import (
    CallPrice,
    Collective,
    CollectivePoint,
    Handshake,
    LogGP,
    MachineProfile,
    MovingRates,
    NetworkPath,
    Nonblocking,
    OneSided,
    Point,
    Rate,
)
from imbrex.network.profile_format import PROFILE, REMEDY


def load(file: Path) -> MachineProfile:
    """The profile in `file`; an ImbrexError names the file and what is wrong with it."""
    return _profile(PROFILE.load(file), file)


def parse(data: object, file: Path | str = "the machine profile") -> MachineProfile:
    """A profile from its JSON object; an ImbrexError says what is wrong."""
    return _profile(PROFILE.read(PROFILE.of_this_format(data, file), file), file)


def _profile(entry: dict[str, Any], file: Path | str) -> MachineProfile:
    if not entry["paths"]:
        raise ImbrexError(f"{file}: holds no path; {REMEDY}")
    return MachineProfile(
        library_name=entry["library"]["name"],
        library_version=entry["library"]["version"],
        hosts=entry["hosts"],
        ranks=entry["ranks"],
        settings=entry["settings"],
        paths={name: _path(path) for name, path in entry["paths"].items()},
        collectives=tuple(map(_collective, entry["collectives"])),
        one_sided=tuple(map(_one_sided, entry["one_sided"])),
        nonblocking=tuple(Nonblocking(**found) for found in entry["nonblocking"]),
        created=entry["created"],
        imbrex_version=entry["imbrex_version"],
        quick=entry["quick"],
        progress_interval_s=entry["progress_interval_s"],
        core_wait_share=entry["core_wait_share"],
        thread_multiple=(
            None if entry["thread_multiple"] is None else CallPrice(**entry["thread_multiple"])
        ),
    )


def _point(entry: dict[str, Any]) -> Point:
    values = dict(entry)
    if "class" in values:
        values["transfer_class"] = values.pop("class")
    return Point(**values)


def _path(entry: dict[str, Any]) -> NetworkPath:
    return NetworkPath(
        points=tuple(map(_point, entry["points"])),
        gap_s_per_byte=entry["gap_s_per_byte"],
        loggp=None if entry["loggp"] is None else LogGP(**entry["loggp"]),
        limits=entry["limits"],
        rates=tuple(map(_rates, entry["rates"])),
        handshakes=tuple(Handshake(**found) for found in entry["handshakes"]),
        sustained_gap_s_per_byte=entry["sustained_gap_s_per_byte"],
        burst_bytes=entry["burst_bytes"],
    )


def _rates(entry: dict[str, Any]) -> MovingRates:
    rates = {name: Rate(**entry[name]) for name in ("neither", "sender", "receiver", "both")}
    return MovingRates(entry["size_bytes"], **rates)


def _collective(entry: dict[str, Any]) -> Collective:
    points = tuple(CollectivePoint(**point) for point in entry["points"])
    return Collective(**{**entry, "points": points})


def _one_sided(entry: dict[str, Any]) -> OneSided:
    return OneSided(**{**entry, "points": tuple(map(_point, entry["points"]))})
