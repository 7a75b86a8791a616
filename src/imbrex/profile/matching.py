"""What a run says about its call log, its clocks and its matches (job.json and run.json)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from imbrex.formats.schema import optional
from imbrex.formats.value_types import MapOf, Number, Object, Text, Whole

LOG = Object(
    (
        optional("budget_bytes", Whole(), "memory for it in each rank", "bytes", 0),
        optional("logged_share", Number(), "share of the run's time that it covers", "", 0.0),
        optional("windows", Whole(), "windows of time that were kept", "", 0),
        optional("level", Whole(0, 62), "of 2^level windows one was kept", "", 0),
    )
)
CLOCKS = Object(
    (
        optional("error_s", Number(), "the largest error between two matched ranks", "s"),
        optional("violations", Whole(), "messages that ended before they began", "", 0),
    )
)
MATCHING = Object(
    (
        optional("matched", Whole(), "starts of transfers whose other side was found", "", 0),
        optional("unmatched", MapOf(Whole()), "the others, by reason", "", {}),
        optional("seconds", Number(), "what it took in MPI_Finalize, on the slowest rank", "s"),
        optional("reason", Text(), "why nothing was matched at all"),
    )
)
TIMELINE = Object(
    (
        optional("begin_s", Number(), "from when on, since the run began", "s", 0.0),
        optional("end_s", Number(), "until when", "s", 0.0),
    )
)


@dataclass(frozen=True)
class Log:
    """The call log: how much of the run it covers."""

    budget_bytes: int
    """Memory for it in each rank."""
    logged_share: float
    """Share of the run's time that it covers, from 0 to 1."""
    windows: int = 1
    level: int = 0
    """Of 2 ** level windows of time one was kept."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Clocks:
    """How well the ranks' clocks agree."""

    error_s: float | None = None
    """The largest error between two ranks whose calls were matched; None: not known."""
    violations: int = 0
    """Messages that ended before they began, on the common clock."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Matching:
    """Starts of transfers whose other side was found, and the others by reason."""

    matched: int = 0
    unmatched: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    """What it took in MPI_Finalize, on the slowest rank."""
    reason: str | None = None
    """Why nothing was matched at all."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "unmatched": dict(self.unmatched)}


@dataclass(frozen=True)
class Kept:
    """The part of the run of which single calls were kept, in s since it began."""

    begin_s: float
    end_s: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
