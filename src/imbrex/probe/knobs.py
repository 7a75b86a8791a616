"""Settings that change overlap, tried one by one: before, after, and the lines to export."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from typing import Any

from imbrex.network import MachineProfile, settings, transfer_time
from imbrex.probe.answer import Answer
from imbrex.probe.point_to_point import Operation
from imbrex.probe.ranges import Range

# The standard library has it from Python 3.11 on.
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Knob:
    """One setting of one library."""

    libraries: list[str]
    variables: dict[str, str]
    effect: str
    cost: str
    needs: dict[str, str] = field(default_factory=dict)
    unless: dict[str, str] = field(default_factory=dict)
    unless_only: dict[str, str] = field(default_factory=dict)
    needs_path: str = ""
    memory_per_peer_bytes: int = 0
    most_per_peer_bytes: int = 0
    """How far that limit may be raised for a program with larger messages; 0: not at all."""
    progress: bool = False
    """Whether it makes progress while the program computes."""
    spins: bool = False
    """Whether a thread of each rank does so without a pause."""
    from_version: int = 0
    """Major version from which the library reads it."""
    before_version: int = 1 << 30
    prefix: tuple[str, ...] = ()
    """Words before the program that set the variables, in place of a line to export."""

    @property
    def label(self) -> str:
        """`NAME=VALUE` of each variable."""
        return " ".join(f"{name}={value}" for name, value in self.variables.items())

    def up_to(self, size_bytes: int) -> Knob:
        """The same with a limit that messages of this size are within, a power of two; itself where
        they are already, or where they are larger than the limit may be."""
        before = self.memory_per_peer_bytes
        if not before < size_bytes <= self.most_per_peer_bytes:
            return self
        told, asked = (f"{size // MEBIBYTE} MiB" for size in (before, size_bytes))
        changed = {
            name: str(size_bytes) if value == str(before) else value
            for name, value in self.variables.items()
        }
        return replace(
            self,
            variables=changed,
            effect=self.effect.replace(told, asked),
            cost=self.cost.replace(told, asked),
            memory_per_peer_bytes=size_bytes,
        )

    @property
    def export(self) -> str:
        """The line for the user's job script."""
        if self.prefix:
            return " ".join(("mpirun ...", *self.prefix, "./app"))
        return f"export {self.label}"


@dataclass(frozen=True)
class Tried:
    """A knob and what it changed. Memory: the most that a rank held during the same experiments."""

    knob: Knob
    operation: str
    path: str
    before_bytes: int | None
    after_bytes: int | None
    before_class: str
    after_class: str
    latency_before_s: float | None
    latency_after_s: float | None
    mebibyte_before_s: float | None
    mebibyte_after_s: float | None
    memory_before_bytes: int | None = None
    memory_after_bytes: int | None = None
    before_unclear: bool = False
    after_unclear: bool = False
    """Beyond `before_bytes`, `after_bytes` it cannot be told, rather than that it ends there."""

    def to_json(self) -> dict[str, Any]:
        """All fields, with the line to export."""
        return {**asdict(self), "export": self.knob.export}


def knobs_for(
    library: str,
    in_force: Mapping[str, str],
    paths: Collection[str] = ("intra-node",),
    version: str = "",
) -> list[Knob]:
    """The knobs of a library whose needs settings and paths meet, and that are not in force.

    `version`: the library's, as 4.1.4; where it is none all versions' knobs are found.
    """
    number = re.match(r"\d+", version)
    if in_force.get("MPIR_CVAR_NOLOCAL", "0") not in ("0", "no", "false", "off"):
        # MPICH is told to take the network also within a node.
        paths = {*paths, "inter-node"}
    text = resources.files("imbrex.probe").joinpath("knobs.toml").read_text(encoding="utf-8")
    found = [Knob(**entry) for entry in tomllib.loads(text)["knob"]]
    return [
        knob
        for knob in found
        if library in knob.libraries
        and (number is None or knob.from_version <= int(number[0]) < knob.before_version)
        and (not knob.needs_path or knob.needs_path in paths)
        and all(value in in_force.get(name, "") for name, value in knob.needs.items())
        and not any(value in in_force.get(name, "") for name, value in knob.unless.items())
        and not any(_only(in_force.get(name, ""), few) for name, few in knob.unless_only.items())
        and any(in_force.get(name) != value for name, value in knob.variables.items())
    ]


def _only(value: str, few: str) -> bool:
    """Whether a setting names some of a few, and nothing else: `tcp,self`."""
    named = set(value.split(",")) - {""}
    return bool(named) and named <= set(few.split(","))


def knobs_of(profile: MachineProfile) -> list[Knob]:
    """The knobs of the library and the settings for which a machine profile was made."""
    return knobs_for(profile.library_name, profile.settings, profile.paths, profile.library_version)


def free_knobs(
    knobs: Sequence[Knob], launcher_words: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[Knob], tuple[str, ...]]:
    """The knobs that the user has set neither in the launcher line nor in the environment, and a
    line for each other. The one rule of the probe and of tune: what a user chose stays, and a line
    would win over a variable that is set beside it."""
    fixed = settings.relevant(launcher_words, environment)
    free, notes = [], []
    for knob in knobs:
        own = [f"{name}={fixed[name]}" for name in knob.variables if name in fixed]
        if own:
            notes.append(f"{knob.label}: not tried: {' '.join(own)} is set by you")
        else:
            free.append(knob)
    return free, tuple(notes)


def overlaps_up_to(ranges: Sequence[Range]) -> int | None:
    """The largest size up to which all ranges synchronize; None: all sizes; 0: none."""
    border = 0
    for r in ranges:
        if r.synchronization is not True:
            return border
        if r.to_bytes is None:
            return None
        border = r.to_bytes
    return border


def ends_unclear(ranges: Sequence[Range]) -> bool:
    """Whether the first range that does not synchronize for certain is one of which nothing is."""
    first = next((r for r in ranges if r.synchronization is not True), None)
    return first is not None and first.synchronization is None


def compare(knob: Knob, before: Answer, after: Answer) -> list[Tried]:
    """What a knob changed, per operation and path measured in both."""
    found = []
    for old in before.operations:
        new = _same(old, after.operations)
        if new is None:
            continue
        found.append(
            Tried(
                knob=knob,
                operation=old.operation,
                path=old.path,
                before_bytes=overlaps_up_to(old.ranges),
                after_bytes=overlaps_up_to(new.ranges),
                before_class=old.ranges[-1].transfer_class,
                after_class=new.ranges[-1].transfer_class,
                latency_before_s=_x_hi_s(before.profile, old.path, 1),
                latency_after_s=_x_hi_s(after.profile, old.path, 1),
                mebibyte_before_s=_x_hi_s(before.profile, old.path, MEBIBYTE),
                mebibyte_after_s=_x_hi_s(after.profile, old.path, MEBIBYTE),
                memory_before_bytes=before.memory_bytes,
                memory_after_bytes=after.memory_bytes,
                before_unclear=ends_unclear(old.ranges),
                after_unclear=ends_unclear(new.ranges),
            )
        )
    return found


def _same(operation: Operation, candidates: Sequence[Operation]) -> Operation | None:
    return next(
        (o for o in candidates if (o.operation, o.path) == (operation.operation, operation.path)),
        None,
    )


def _x_hi_s(profile: MachineProfile, path: str, size_bytes: int) -> float | None:
    """X_hi of a size, where what the setting costs in time shows; None beyond what was measured."""
    found = profile.paths.get(path)
    if found is None or found.points[-1].size_bytes < size_bytes:
        return None
    return transfer_time(found.points, size_bytes).x_hi_s
