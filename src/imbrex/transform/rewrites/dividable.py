"""Whether a loop nest, or the routine that is one, can be written in two parts."""

from __future__ import annotations

import re

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.rewrites.signs import headers_keep, signed
from imbrex.transform.text.directives import directives_allow, may_be_parted
from imbrex.transform.text.division import Cuts, by_arguments, is_readable, several_layers
from imbrex.transform.text.labels import relabelled
from imbrex.transform.text.layout import first_on_line, line_start, whole_lines
from imbrex.transform.text.members import object_of
from imbrex.transform.text.parted import problem_of

_LABEL = re.compile(rb"^[ \t]*\d+[ \t]", re.MULTILINE)


def unreadable(program: Program, routine: Routine, space: Space, cuts: Cuts) -> Reason | None:
    """Why the text of a nest cannot be written in two parts."""
    place = Location(routine.file, space.statement.line)
    if space.callee is not None and not by_arguments(space, cuts):
        return _undividable(program, routine, space, cuts)
    source = program.files[routine.file]
    if not may_be_parted(program, source, space, len(cuts)):
        return Reason(ReasonKind.LOOP_DIRECTIVE(), place)
    if space.call is not None:
        if not signed(program, [space.ranges[number] for number in cuts]):
            return Reason(ReasonKind.BOUND_UNSIGNED(), place)
        texts = [space.call.arguments[p].text for n in cuts for p in (space.bounds or [])[n]]
        if space.call.macro or any("\n" in text for text in texts):
            return Reason(ReasonKind.CALL_FROM_MACRO(), place)
        if any(argument.keyword for argument in space.call.arguments):
            return Reason(ReasonKind.KEYWORD_ARGUMENT(), place)
        return None
    if not _can_stand_twice(source, space.statement):
        return Reason(ReasonKind.LOOP_LABELS(), place)
    if not space.statement.parent or not first_on_line(source.data, space.statement.code_start):
        return Reason(ReasonKind.LOOP_LINE(), place)
    if not is_readable(source, space, cuts):
        return Reason(ReasonKind.HEADER(), place)
    if not headers_keep(program, source, space, list(cuts)):
        return Reason(ReasonKind.BOUND_UNSIGNED(), place)
    return None


def _can_stand_twice(source: SourceFile, statement: Statement) -> bool:
    """Whether a nest of Fortran can have other labels, if it has any."""
    text = source.data[line_start(source.data, statement.start) : statement.end]
    return not source.is_fortran or relabelled(source, text.decode(errors="replace")) is not None


def _undividable(program: Program, user: Routine, space: Space, cuts: Cuts) -> Reason | None:
    """Why no routines for the two parts can stand beside the one that is called."""
    callee = space.callee
    assert callee is not None and space.call is not None
    place = Location(callee.file, space.loops[0].line)
    problem = problem_of(program, user, callee)
    if problem is not None:
        return Reason(problem, Location(callee.file, callee.line))
    if space.call.macro:
        return Reason(ReasonKind.CALL_FROM_MACRO(), Location(user.file, space.statement.line))
    if object_of(program, user, callee, space.call) is None:
        cause = ReasonKind.OBJECT_COMPUTED(routine=callee.name)
        return Reason(cause, Location(user.file, space.statement.line))
    source = program.files[callee.file]
    if space.nested is not None:
        inner = space.nested.statement
        if source.is_fortran and not first_on_line(source.data, inner.code_start):
            return Reason(ReasonKind.LOOP_LINE(), Location(callee.file, inner.line))
        return _undividable(program, callee, space.nested, cuts) or _shared(program, space)
    if not directives_allow(program, source, space, len(cuts)):
        return Reason(ReasonKind.LOOP_DIRECTIVE(), place)
    # With several iterations at an end a routine has a nest for each end.
    if several_layers(cuts) and not _can_stand_twice(source, space.loops[0]):
        return Reason(ReasonKind.LOOP_LABELS(), place)
    if not is_readable(source, space, cuts):
        return Reason(ReasonKind.HEADER(), place)
    if not headers_keep(program, source, space, list(cuts)):
        return Reason(ReasonKind.BOUND_UNSIGNED(), place)
    return _shared(program, space)


def _ends_loops(text: bytes) -> bool:
    """Whether all labels in a text of Fortran are those of its own loops, `do 10 i = ...`."""
    labels = (match[0].strip() for match in _LABEL.finditer(text))
    return all(re.search(rb"(?i)\bdo[ \t]*%s\b" % label, text) for label in labels)


def _shared(program: Program, space: Space) -> Reason | None:
    """What of a routine of Fortran that one part leaves out shares its lines with other things."""
    callee = space.callee
    assert callee is not None
    source = program.files[callee.file]
    spans = [(s.start, s.end) for s in space.initial] + space.once()
    for start, end in spans if source.is_fortran else []:
        shared = whole_lines(source.data, start, end) == (start, end)
        if shared or not _ends_loops(source.data[start:end]):
            line = source.line_of(start)
            return Reason(ReasonKind.LOOP_STATEMENT_LINE(), Location(callee.file, line))
    return None
