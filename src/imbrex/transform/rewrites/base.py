"""What rewrites share: their class, sites, decisions and refusals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.model.advice import advice, in_the_way
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import IN_TEMPLATE, ORDERS, PERMISSIONS, ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

SCHEMA_VERSION = 1


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error
    """A rewrite may not be done: why, and where the cause stands."""

    def __init__(self, rewrite: str, reason: Reason) -> None:
        super().__init__(str(reason))
        self.rewrite = rewrite
        self.reason = reason


SiteT = TypeVar("SiteT")
ContentT = TypeVar("ContentT")
DoneT = TypeVar("DoneT")


@dataclass(frozen=True, slots=True)
class Plan(Generic[SiteT, ContentT]):
    """What a rewrite is to do at a site."""

    site: SiteT
    content: ContentT


class Rewrite(ABC, Generic[SiteT, ContentT, DoneT]):
    """A change of a program that keeps what it computes.

    The docstring of a rewrite says in its first paragraph what it does and holds an example:
    indented lines after `Before:` and after `After:`. `imbrex transform --rewrites list` and the
    documentation show them.
    """

    name: ClassVar[str]

    @abstractmethod
    def sites(self) -> Iterable[SiteT]:
        """Where in the program the rewrite may have something to do."""

    def validate(self, site: SiteT) -> Plan[SiteT, ContentT] | Refusal | None:
        """How a site is rewritten, why it may not be, or None where nothing stands to gain."""
        try:
            content = self.conditions(site)
        except Refusal as refusal:
            return refusal
        return None if content is None else Plan(site, content)

    @abstractmethod
    def conditions(self, site: SiteT) -> ContentT | None:
        """What is to be done, for `validate`. Changes nothing; raises Refusal."""

    @abstractmethod
    def apply(self, plan: Plan[SiteT, ContentT]) -> DoneT:
        """Carry out a plan: edits of the text, or statements put into the model."""


@dataclass(slots=True, eq=False)
class Site:
    """A communication call in the user's source."""

    routine: Routine
    statement: Statement
    call: Call

    @property
    def line(self) -> int:
        return self.call.line

    @property
    def location(self) -> Location:
        return Location(self.routine.file, self.call.line)


Places = frozenset[tuple[str, int]]
"""Files and lines."""


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
    work: bool = False  # whether the routine computes beside the call: it cannot be moved there
    barred: Reason | None = None  # what keeps it from the work of the routine's callers
    worked: int = 0  # of those, the ones that do more than pack or unpack a message
    beside: int = 0  # messages that its own were moved over
    # Of a collective that has become messages: the functions of its file that send them.
    messages: tuple[str, ...] = ()
    begun: Places = frozenset()  # of a wait that moves: where what it completes is started

    @property
    def wait_moves(self) -> bool:
        """Whether it starts a message that is overlapped by its wait alone."""
        return self.reason.cause.kind is ReasonKind.WAIT_MOVES

    @property
    def counts(self) -> bool:
        """Whether it stays for an argument like `&requests[n++]`, with which a routine that only
        communicates is taken apart all the same."""
        problem = dict(self.reason.cause.parameters).get("cause", self.reason.cause)
        return isinstance(problem, Cause) and problem.kind is ReasonKind.ARGUMENT_EFFECTS

    @property
    def obstacle(self) -> Reason:
        """What stands in the way, of all that is told, to what a user would look at first."""
        if self.kept_from_more and self.barred is not None:
            return self.barred
        told = self.decision == "nothing-to-gain" or self.counts
        free = not self.work or (self.barred and self.barred.cause.kind in PERMISSIONS)
        if self.barred is not None and told and free:
            return self.barred
        return in_the_way(self.reason) if self.work else self.reason

    @property
    def obstacle_text(self) -> str:
        """The obstacle, with its place where that is not the call's."""
        reason = self.obstacle
        return reason.text if reason.location == self.site.location else str(reason)

    @property
    def kept_from_more(self) -> bool:
        """Whether it is rewritten, and a permission would have it under way beside more work."""
        ordered = self.barred is not None and self.barred.cause.kind in ORDERS
        return self.decision == "rewritten" and ordered

    @property
    def hindered(self) -> bool:
        """Whether there is work, in the routine or around it, that it is kept from."""
        return self.work or self.barred is not None

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.site.routine.file,
            "line": self.site.call.line,
            "routine": self.site.routine.name,
            "call": self.site.call.name,
            "window": {"first_line": self.first_line, "last_line": self.last_line},
            "decision": self.decision,
            "reason": self.reason.text,
            "reason_kind": self.reason.cause.name,
            "reason_parameters": self.reason.cause.as_json()["parameters"],
            "reason_file": self.reason.location.file,
            "reason_line": self.reason.location.line,
            "rewrites": self.rewrites,
            "details": self.details,
            "measured": self.measured,
            "work": self.hindered,
            "advice": advice(self.obstacle.cause),
        }


def is_about(decision: Decision, rewrite: str) -> bool:
    """Whether a decision was made by this rewrite, or says why it did nothing."""
    return (
        rewrite in decision.rewrites
        or dict(decision.reason.cause.parameters).get("subject") == rewrite
    )


def left_alone(site: Site) -> Decision | None:
    """Calls that no rewrite takes, with the reason."""
    name = site.call.name
    cause = mpi_calls.LEFT_ALONE[name]() if name in mpi_calls.LEFT_ALONE else None
    if cause is None and name in mpi_calls.COLLECTIVES - mpi_calls.BLOCKING_COLLECTIVES.keys():
        neighbours = mpi_facts.dependence(name) == "neighbours"
        left = ReasonKind.NEIGHBOURS_LEFT if neighbours else ReasonKind.COLLECTIVE_LEFT
        cause = left(call=name)
    if cause is None:
        return None
    place = Location(site.routine.file, site.call.line)
    return Decision(site, "refused", Reason(cause, place), site.call.line, site.call.line)


def not_analysed(program: Program, only: Set[tuple[str, int]]) -> list[Decision]:
    """The calls that communicate in code that is not analysed, as sites that stay."""
    found = []
    for place, first in program.hidden_calls():
        if only and (place.file, place.line) not in only:
            continue
        unread = program.not_analysed[place, first]
        routine = Routine("", unread.routine, place.file, place.line, [], Block([], 0, 0))
        statement = Statement(Kind.OPAQUE, 0, 0, place.line, place.line)
        site = Site(routine, statement, Call(unread.name, [], 0, 0, place.line))
        found.append(Decision(site, "refused", unread.reason, place.line, place.line))
    return found


def one_of_each_place(decisions: list[Decision]) -> list[Decision]:
    """Of what was decided of the instances of a template, that by which its call moves, if any."""
    kept: dict[tuple[str, int, int], Decision] = {}
    for number, decision in enumerate(decisions):
        routine, call = decision.site.routine, decision.site.call
        instance = routine.problem == IN_TEMPLATE
        key = (routine.file, call.start if instance else -1 - number, call.end)
        known = kept.setdefault(key, decision)
        if decision.decision == "rewritten" and known.decision != "rewritten":
            kept[key] = decision
    return list(kept.values())


def calls_of(program: Program, *names: str) -> Iterator[Site]:
    """The calls of these MPI functions in routines that may be rewritten."""
    for routine in program.editable():
        for statement in routine.statements():
            for call in statement.calls:
                if call.name in names:
                    yield Site(routine, statement, call)
