"""Loop distribution: one loop over what is sent, and one over the rest, which the message passes.

A loop whose body computes what is sent and other things becomes two, so that the message is under
way while the second runs; likewise the part of a body that needs nothing of a message comes before
the part that does (sancho-potential-overlap, section 3.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.copies import only_copies
from imbrex.transform.analysis.fission import Fission, Groups
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.messages import (
    Messages,
    around_collectives,
    communicating_blocks,
)
from imbrex.transform.analysis.space import Space
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.leading import leading
from imbrex.transform.rewrites.proposals import Preparing, Proposal, StatementSite
from imbrex.transform.text.directives import directed
from imbrex.transform.text.edits import Edit, apply_edits
from imbrex.transform.text.labels import relabelled
from imbrex.transform.text.layout import (
    C_COMMENT_LINE,
    FORTRAN_COMMENT_LINE,
    after_line,
    before_comments,
    first_on_line,
    line_start,
    whole_lines,
)
from imbrex.transform.text.loop_headers import read_header

NAME = "loop-distribution"


@dataclass(slots=True)
class Division:
    """A loop nest, and what of its body goes into each of the two that take its place."""

    space: Space
    groups: Groups
    produces: bool


class LoopDistribution(Preparing[StatementSite, Division]):
    """A loop whose body computes what is sent, and other things, becomes two loops.

    The message is under way while the second runs; likewise the part of a body that needs nothing
    of a message comes before the part that does.

    Before:
        for (int i = 0; i < n; i++) {
            buffer[i] = 0.5 * u[i];
            v[i] = v[i] + u[i];
        }
        MPI_Send(buffer, n, MPI_DOUBLE, right, 0, comm);

    After:
        for (int i = 0; i < n; i++)
            buffer[i] = 0.5 * u[i];
        for (int i = 0; i < n; i++)
            v[i] = v[i] + u[i];
        MPI_Send(buffer, n, MPI_DOUBLE, right, 0, comm);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.wrappers = around_collectives(program)
        self.messages = Messages(program, footprints, self.wrappers)

    def sites(self) -> Iterator[StatementSite]:
        for routine, block in communicating_blocks(self.program, self.wrappers):
            for index, statement in enumerate(block.statements):
                if statement.kind is Kind.LOOP and block.insertable:
                    yield StatementSite(routine, block, index, produces=True)
                    yield StatementSite(routine, block, index, produces=False)

    def proposals(self) -> list[Proposal]:
        """What may be done by itself, and once more for routines that can then be taken apart."""
        found = super().proposals()
        return found + leading(found, self.wrappers)

    def refused(self, site: StatementSite, refusal: Refusal) -> Proposal:
        return Proposal(self.name, site.routine, site.line, refusal.reason, without_window=True)

    def conditions(self, site: StatementSite) -> Division | None:
        """How to divide loop `index` of a block; None where no message waits for part of it.

        Raises Refusal where one does, but the parts need each other, or the text forbids it.
        """
        routine, block, index = site.routine, site.block, site.index
        statement, produces = site.statement, site.produces
        wanted = self.messages.waiting(routine, block, index, produces=produces, collective=True)
        if not wanted:
            return None
        spaces = kept_spaces(self.program, self.footprints, routine)
        space = spaces.of(statement)
        if space is None or space.elements or space.nested is not None:
            return None
        inner = space.loops[-1].blocks[0].statements
        body = [s for s in inner if s.kind is not Kind.DECLARE and not _ends_loop(s)]
        if len(body) < 2 or any(self.footprints.of(s, routine.file).events for s in body):
            return None
        source = self.program.files[routine.file]
        headers = [read_header(source, loop, named=True, ahead=True) for loop in space.loops]
        upward = all(header is not None for header in headers)
        fission = Fission(self.program, self.footprints, routine, spaces)
        reason = fission.prepare(space, upward=upward)
        if reason is not None:
            if not self._touches(routine, statement, wanted, write=produces):
                return None
            raise Refusal(self.name, reason)
        seeds = fission.writers(wanted, write=produces)
        if len(seeds) == len(body):
            seeds = fission.writers(self._nearest(site), write=produces)
        if not seeds or len(seeds) == len(body):
            return None  # nothing to do with the message, or all of it
        place = Location(routine.file, statement.line)
        groups = fission.split(seeds, forward=produces)
        if groups is None and not fission.tie:
            return None
        if groups is None:
            raise Refusal(self.name, Reason(ReasonKind.ONE_PART(variable=fission.tie), place))
        passed = groups.second if produces else groups.first
        if all(only_copies(self.program, s) for s in passed):
            return None
        reason = undividable(source, routine, space, block)
        if reason is not None:
            raise Refusal(self.name, reason)
        return Division(space, groups, produces)

    def _nearest(self, site: StatementSite) -> list[Access]:
        """Buffers of the first collective behind the loop, or of the last one in front of it.

        Those of several vectors may be all that the loop sets.
        """
        routine, statements, index = site.routine, site.block.statements, site.index
        way = range(index + 1, len(statements)) if site.produces else range(index - 1, -1, -1)
        for position in way:
            own = self.messages.of(routine, statements[position], produces=site.produces).collective
            if own:
                low, high = min(index + 1, position), max(index, position + 1)
                changed = self.footprints.changed_by(statements[low:high], routine.file)
                return self.footprints.later(own, changed)
        return []

    def _touches(
        self, routine: Routine, loop: Statement, wanted: list[Access], *, write: bool
    ) -> bool:
        """Whether a loop writes (or reads) what is communicated at all."""
        accesses = self.footprints.of(loop, routine.file).accesses
        mine = [access for access in accesses if access.write or not write]
        changed = self.footprints.changed(mine + wanted)
        return self.footprints.conflict(mine, wanted, changed) is not None

    def apply(self, plan: Plan[StatementSite, Division]) -> Proposal:
        routine, division = plan.site.routine, plan.content
        source = self.program.files[routine.file]
        space = division.space
        start = line_start(source.data, space.statement.code_start)
        groups = (division.groups.first, division.groups.second)
        first, second = (with_statements(source, space, group) for group in groups)
        if source.is_fortran:
            second = relabelled(source, second) or second
        text = f"{first}\n{second}"
        order = ReasonKind.SENT_FIRST if division.produces else ReasonKind.INDEPENDENT_FIRST
        reason = Reason(order(), Location(routine.file, space.statement.line))
        edits = {routine.file: [Edit(start, space.statement.end, text)]}
        line = space.statement.line
        return Proposal(self.name, routine, line, reason, edits, divides=True)


def undividable(source: SourceFile, routine: Routine, space: Space, block: Block) -> Reason | None:
    """Why the text of a loop cannot be divided by its statements."""
    place = Location(routine.file, space.statement.line)
    if directed(space):
        return Reason(ReasonKind.LOOP_DIRECTIVE(), place)
    text = source.data[line_start(source.data, space.statement.start) : space.statement.end]
    if source.is_fortran and relabelled(source, text.decode(errors="replace")) is None:
        return Reason(ReasonKind.LOOP_LABELS(), place)
    if not block.braced or not first_on_line(source.data, space.statement.code_start):
        return Reason(ReasonKind.LOOP_LINE(), place)
    inner = space.loops[-1].blocks[0]
    for statement in inner.statements:
        if _ends_loop(statement):
            continue
        span = whole_lines(source.data, statement.code_start, _end(source, statement))
        alone = span != (statement.code_start, _end(source, statement))
        if not alone or not inner.insertable or not inner.braced:
            at = Location(routine.file, statement.line)
            return Reason(ReasonKind.LOOP_STATEMENT_LINE(), at)
    return None


def with_statements(source: SourceFile, space: Space, group: list[Statement]) -> str:
    """The loop with these statements of its body alone."""
    start = line_start(source.data, space.statement.code_start)
    edits = [
        Edit(edit.start - start, edit.end - start, edit.text)
        for edit in without_statements(source, space, group)
    ]
    return apply_edits(source.data[start : space.statement.end], edits).decode()


def without_statements(source: SourceFile, space: Space, kept: list[Statement]) -> list[Edit]:
    """Edits that leave out all other statements of the loop, with the comments above them."""
    data = source.data
    inner = space.loops[-1].blocks[0]
    comment = C_COMMENT_LINE if source.language is Language.C else FORTRAN_COMMENT_LINE
    edits = []
    floor = inner.start
    for statement in inner.statements:
        first, last = whole_lines(data, statement.code_start, _end(source, statement))
        first = before_comments(data, first, floor, comment)
        floor = statement.end
        if statement not in kept and not _ends_loop(statement):
            edits.append(Edit(first, last, ""))
    return edits


def _ends_loop(statement: Statement) -> bool:
    """Whether it is the `10 continue` of Fortran, which both loops have."""
    return statement.text == "terminal" and not (statement.accesses or statement.calls)


def _end(source: SourceFile, statement: Statement) -> int:
    """The end of a statement and of the comment behind it."""
    return after_line(source.data, statement.end)
