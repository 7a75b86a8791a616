"""The machine profile: what network, MPI library and settings can do.

Its format: docs/reference/machine-profile.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from imbrex.whole_file import write_whole

FORMAT = "imbrex-machine-profile"
SCHEMA_VERSION = 1
PATHS = ("self", "intra-node", "inter-node")
CLASSES = ("two-sided", "one-sided", "third-party", "unknown")
ROLES = ("any", "root", "other")
_MOST_NAMED = 4


@dataclass(frozen=True)
class Point:
    """Transfer of one size on one path; seconds. None: not measured."""

    size_bytes: int
    x_lo_s: float
    x_hi_s: float
    tail_s: float | None = None
    head_s: float | None = None
    send_returns_before_match: bool | None = None
    synchronization: bool | None = None
    transfer_class: str = "unknown"
    median_s: float | None = None
    """Of half a ping-pong."""
    least_s: float | None = None
    """The shortest time from a send's start to the arrival, of this size or larger."""


@dataclass(frozen=True)
class Rate:
    """An interval of a share of the full rate, 0 to 1."""

    lowest: float
    highest: float


@dataclass(frozen=True)
class MovingRates:
    """At which rate a message moves while neither side is inside MPI, one alone, or both."""

    size_bytes: int
    neither: Rate
    sender: Rate
    receiver: Rate
    both: Rate

    def at(self, size_bytes: int) -> MovingRates:
        """The same rates for another size."""
        return replace(self, size_bytes=size_bytes)


@dataclass(frozen=True)
class Handshake:
    """Who has to be inside MPI, each in a call that waits or tests, before a message moves.

    First the receiver, who answers the announcement, then the sender, who acts on the answer.
    `before_s` is what may have moved all the same, in seconds at the full rate; `latency_s` is how
    long a word of one side to the other takes at the least.
    """

    size_bytes: int
    sender: bool
    receiver: bool
    before_s: float
    latency_s: float


@dataclass(frozen=True)
class LogGP:
    """Parameters of T(size) = EEL + G size, with EEL = L + o_s + o_r; relative rms residual."""

    L_s: float
    o_s_s: float
    o_r_s: float
    g_s: float
    G_s_per_byte: float
    EEL_s: float
    residual: float


@dataclass(frozen=True)
class NetworkPath:
    """All that is known of one path; `points` sorted by size."""

    points: tuple[Point, ...]
    gap_s_per_byte: float
    loggp: LogGP | None = None
    limits: dict[str, int] = field(default_factory=dict)
    rates: tuple[MovingRates, ...] = ()
    handshakes: tuple[Handshake, ...] = ()
    sustained_gap_s_per_byte: float = 0.0
    """Of what moves behind a burst of `burst_bytes`; 0: not known."""
    burst_bytes: int = 0


@dataclass(frozen=True)
class CollectivePoint:
    """One collective with `size_bytes` of user data that this role contributes or obtains."""

    size_bytes: int
    x_lo_s: float
    x_hi_s: float
    early_s: float | None = None
    """What may move from or to a rank before it enters, at the full rate; None: not known."""


@dataclass(frozen=True)
class Collective:
    """A blocking collective on a communicator of `ranks`."""

    operation: str
    ranks: int
    path: str
    role: str
    points: tuple[CollectivePoint, ...]


@dataclass(frozen=True)
class OneSided:
    """Transfers of a one-sided operation on one path; `tail_s` is what a local flush leaves."""

    operation: str
    path: str
    gap_s_per_byte: float
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Nonblocking:
    """Whether a nonblocking collective moves its data while all ranks compute, by the probe.

    Of the sizes from `from_bytes` to `to_bytes` (None: and above); `moves` is None where the probe
    could not tell.
    """

    operation: str
    path: str
    from_bytes: int
    to_bytes: int | None
    moves: bool | None


@dataclass(frozen=True)
class CallPrice:
    """What MPI_THREAD_MULTIPLE adds to a call that has nothing to wait for, by kind of call.

    `lowest_s` and `highest_s` are of a poll and of a nonblocking exchange.
    """

    lowest_s: float
    highest_s: float
    sendrecv_s: float | None = None
    """To MPI_Sendrecv, which begins, waits and completes in one; None: a profile without it."""


@dataclass(frozen=True)
class MachineProfile:
    """One machine profile."""

    library_name: str
    library_version: str
    hosts: tuple[str, ...]
    ranks: int
    settings: dict[str, str]
    paths: dict[str, NetworkPath]
    collectives: tuple[Collective, ...]
    created: str
    imbrex_version: str
    quick: bool
    progress_interval_s: float | None = None
    one_sided: tuple[OneSided, ...] = ()
    nonblocking: tuple[Nonblocking, ...] = ()
    thread_multiple: CallPrice | None = None
    core_wait_share: float | None = None
    """For which share of the ping-pongs a rank was ready to run and had no core; the largest."""

    def to_json(self) -> dict[str, Any]:
        """The profile as the documented JSON object."""
        return {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "created": self.created,
            "imbrex_version": self.imbrex_version,
            "quick": self.quick,
            "library": {"name": self.library_name, "version": self.library_version},
            "hosts": list(self.hosts),
            "ranks": self.ranks,
            "settings": dict(self.settings),
            "paths": {name: _path_to_json(path) for name, path in self.paths.items()},
            "collectives": [asdict(c) for c in self.collectives],
            "one_sided": [_one_sided_to_json(o) for o in self.one_sided],
            "nonblocking": [asdict(n) for n in self.nonblocking],
            "progress_interval_s": self.progress_interval_s,
            "thread_multiple": None
            if self.thread_multiple is None
            else asdict(self.thread_multiple),
            "core_wait_share": self.core_wait_share,
        }

    def save(self, file: Path) -> None:
        """Write the profile; never half of it."""
        # Two runs may keep the same profile at once: each writes its own.
        write_whole(file, json.dumps(self.to_json(), indent=1) + "\n")

    def mismatch(self, library_name: str, library_version: str) -> str | None:
        """One line that says how this profile's library differs from the one given, or None."""
        ours = f"{self.library_name} {self.library_version}"
        theirs = f"{library_name} {library_version}"
        if ours == theirs:
            return None
        return f"the machine profile was measured with {ours}, the program uses {theirs}"

    def differences(self, settings: Mapping[str, str], host: str | None) -> str | None:
        """One line that says which settings differ from those given, or None.

        `host` is where all ranks run; None where that is not known beforehand.
        """
        names = sorted(
            name
            for name in {*self.settings, *settings}
            if self.settings.get(name) != settings.get(name)
        )
        found = [
            f"{name}={self.settings.get(name, '(unset)')}, now {settings.get(name, '(unset)')}"
            for name in names[:_MOST_NAMED]
        ]
        if len(names) > _MOST_NAMED:
            found.append(f"{len(names) - _MOST_NAMED} more")
        if host is not None and self.hosts and host not in self.hosts:
            found.append(f"hosts {', '.join(self.hosts[:_MOST_NAMED])}, now {host}")
        if not found:
            return None
        return f"the machine profile was measured with {'; '.join(found)}: its times may not hold"


def _path_to_json(path: NetworkPath) -> dict[str, Any]:
    points = []
    for point in path.points:
        row = asdict(point)
        row["class"] = row.pop("transfer_class")
        points.append(row)
    return {
        "points": points,
        "gap_s_per_byte": path.gap_s_per_byte,
        "loggp": asdict(path.loggp) if path.loggp else None,
        "limits": dict(path.limits),
        "rates": [asdict(rates) for rates in path.rates],
        "handshakes": [asdict(handshake) for handshake in path.handshakes],
        "sustained_gap_s_per_byte": path.sustained_gap_s_per_byte,
        "burst_bytes": path.burst_bytes,
    }


def _one_sided_to_json(found: OneSided) -> dict[str, Any]:
    return {
        "operation": found.operation,
        "path": found.path,
        "gap_s_per_byte": found.gap_s_per_byte,
        "points": [
            {key: getattr(p, key) for key in ("size_bytes", "x_lo_s", "x_hi_s", "tail_s")}
            for p in found.points
        ],
    }
