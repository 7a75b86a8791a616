"""What rewrites share: sites, decisions and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from imbrex.transform import mpi_calls
from imbrex.transform.model.program import Call, Location, Reason, Routine, Statement

SCHEMA_VERSION = 1


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error
    """A rewrite may not be done: why, and where the cause stands."""

    def __init__(self, rewrite: str, reason: Reason) -> None:
        super().__init__(str(reason))
        self.rewrite = rewrite
        self.reason = reason


@dataclass(slots=True, eq=False)
class Site:
    """A communication call in the user's source."""

    routine: Routine
    statement: Statement
    call: Call

    @property
    def location(self) -> Location:
        return Location(self.routine.file, self.call.line)


@dataclass(slots=True)
class Decision:
    """What was decided for a site, and why."""

    site: Site
    decision: str  # "rewritten", "refused" or "nothing-to-gain"
    reason: Reason
    first_line: int = 0  # the window: from behind the last producer to the first consumer
    last_line: int = 0
    rewrites: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    measured: dict[str, float] | None = None  # of a run, see imbrex.transform.measured
    crossed: int = 0  # computing statements that the start and the wait pass
    worked: int = 0  # of those, the ones that do more than pack or unpack a message

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.site.routine.file,
            "line": self.site.call.line,
            "routine": self.site.routine.name,
            "call": self.site.call.name,
            "window": {"first_line": self.first_line, "last_line": self.last_line},
            "decision": self.decision,
            "reason": self.reason.text,
            "reason_file": self.reason.location.file,
            "reason_line": self.reason.location.line,
            "rewrites": self.rewrites,
            "details": self.details,
            "measured": self.measured,
        }


def left_alone(site: Site) -> Decision | None:
    """Calls that no rewrite takes, with the reason."""
    name = site.call.name
    text = mpi_calls.LEFT_ALONE.get(name)
    if text is None and name in mpi_calls.COLLECTIVES - mpi_calls.BLOCKING_COLLECTIVES.keys():
        text = f"{name} is not among the collectives that are rewritten"
    if text is None:
        return None
    place = Location(site.routine.file, site.call.line)
    return Decision(site, "refused", Reason(text, place), site.call.line, site.call.line)
