"""What a preparing rewrite proposes: edits that may make room for communication to move."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Block, Statement
from imbrex.transform.rewrites.base import Refusal, Rewrite
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.name_lists import folded


@dataclass(slots=True)
class Proposal:
    """Edits of one preparing rewrite; without edits a refusal, whose reason it carries."""

    rewrite: str
    routine: Routine
    line: int
    reason: Reason
    edits: dict[str, list[Edit]] = field(default_factory=dict)
    # Of a refusal: told only at sites without a window that this variable stands in the way of.
    about: str = ""
    without_window: bool = False  # of a refusal: told only at sites that have no window
    # It divides a loop where it stands: pays only if something then goes in between.
    divides: bool = False
    for_work: bool = False  # only for windows in which more is done than messages are packed
    opens: int = 0  # line of a call that must have no window without it
    worth: int = 0  # computing statements that communication passes by the edits themselves
    beside: int = 0  # messages that others are under way with by the edits themselves
    # File and line of calls of MPI that get a window by the edits themselves.
    opened: frozenset[tuple[str, int]] = frozenset()
    # Of a routine that is replaced by others: their names, and the calls that now only start.
    replaces: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # further routines that are replaced
    starts: frozenset[tuple[str, int]] = frozenset()
    # File and line of calls elsewhere that become nonblocking for those of a routine's, whose
    # collectives they may match.
    matching: frozenset[tuple[str, int]] = frozenset()
    all_chosen: bool = False  # only where calls of all routines that are replaced are chosen
    # Of receives that are posted ahead, and of their refusal: routine and line of each call.
    posts: frozenset[tuple[str, int]] = frozenset()
    # Of a collective, the first of `opened`, that becomes messages: the functions that send them.
    messages: tuple[str, ...] = ()
    # Of one that gains nothing by itself: the rewrites that gain by what it makes possible.
    leads_to: tuple[str, ...] = ()
    on_first: bool = False  # of a refusal: it has the lines of the text before all proposals


class Place(Protocol):
    """A site of a preparing rewrite."""

    @property
    def routine(self) -> Routine: ...

    @property
    def line(self) -> int: ...


@dataclass(frozen=True, slots=True)
class StatementSite:
    """A statement of a block, beside a message."""

    routine: Routine
    block: Block
    index: int
    produces: bool = False  # what is sent further down; else it uses what is received further up

    @property
    def statement(self) -> Statement:
        return self.block.statements[self.index]

    @property
    def line(self) -> int:
        return self.statement.line


PlaceT = TypeVar("PlaceT", bound=Place)
ContentT = TypeVar("ContentT")


class Preparing(Rewrite[PlaceT, ContentT, Proposal]):
    """A rewrite that makes room for others: each proposal is tried, and stays where it helped."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints

    def proposals(self) -> list[Proposal]:
        """What may be done, and refusals with their reasons."""
        found = []
        for site in self.sites():
            plan = self.validate(site)
            if isinstance(plan, Refusal):
                proposal = self.refused(site, plan)
            else:
                proposal = self.unneeded(site) if plan is None else self.apply(plan)
            if proposal is not None:
                self._fold(proposal)
                found.append(proposal)
        return found

    def _fold(self, proposal: Proposal) -> None:
        """Keep Fortran's lists of names within the lengths of lines."""
        for name, edits in proposal.edits.items():
            source = self.program.files.get(name)
            if source is not None and edits and source.language is Language.FORTRAN_FREE:
                proposal.edits[name] = folded(source.data, edits)

    def refused(self, site: PlaceT, refusal: Refusal) -> Proposal | None:
        """How a refusal is told; None where it is not worth telling."""
        return Proposal(self.name, site.routine, site.line, refusal.reason)

    def unneeded(self, site: PlaceT) -> Proposal | None:
        """What is told of a site where nothing stands to gain."""
        return None
