"""What a user could state so that a call can be rewritten: a scaffold, never applied.

Where a start or a wait is stopped by what is not known rather than by what is known to stand in the
way, a directive ahead of that statement would let it pass. Each is written with the reason why it
is not proven; whether it holds is for the user to say.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform import mpi_calls
from imbrex.transform.analysed import Analysis
from imbrex.transform.analysis.filled import covers
from imbrex.transform.analysis.sections import buffer_section
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.given_places import begun_at, parse_place
from imbrex.transform.line_maps import LineMap
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program
from imbrex.transform.rewrites.base import Decision
from imbrex.transform.text.edits import Edit, apply_edits, unified_diff
from imbrex.transform.text.layout import indent_at, line_start

_ALWAYS = (Kind.LOOP, Kind.SIMPLE, Kind.BLOCK, Kind.DECLARE)  # what a nest does in each iteration
_MOST = 8  # statements that are assumed to leave the message alone
_NOT_KNOWN = frozenset(
    {
        ReasonKind.MAY_BE_USED,
        ReasonKind.MAY_BE_SET,
        ReasonKind.MAY_BE_USED_THROUGH,
        ReasonKind.MAY_BE_SET_THROUGH,
        ReasonKind.CALL_UNREAD,
        ReasonKind.CALL_OF,
        ReasonKind.POINTER_CALL,
    }
)
_NAMED = frozenset({ReasonKind.USED, ReasonKind.SET})  # perhaps other elements, in a loop or a call


def suggest(paths: list[Path], options: Options, place: str) -> str:
    """A diff with directives and what would then be rewritten, for the call at FILE:LINE.

    Raises ImbrexError where the call is rewritten already, or no assumption helps.
    """
    return unified_diff(parse_place("--suggest", place, paths)[0], *scaffold(paths, options, place))


def scaffold(paths: list[Path], options: Options, place: str) -> tuple[bytes, bytes]:
    """The file of the call at FILE:LINE as it is, and with directives and the rewrite.

    Raises ImbrexError as `suggest`.
    """
    given_place = parse_place("--suggest", place, paths)
    file, original = begun_at("--suggest", given_place, read_program(paths, options))
    of_name = {str(path): path for path in paths}
    texts: dict[str, bytes] = {}
    first: Outcome | None = None
    for _ in range(_MOST + 1):
        contents = {of_name.get(name, Path(name)): data for name, data in texts.items()}
        line = original
        if first is not None:
            line = _line_now(first.before[file], texts[file], original)
        given = replace(options, contents=contents, only=frozenset({(file, line)}))
        outcome = transform(paths, given)
        first = first or outcome
        decision = next((d for d in outcome.decisions if d.site.call.line == line), None)
        if decision is None:
            raise ImbrexError(f"--suggest {place}: no call that could be rewritten stands there")
        if decision.decision == "rewritten":
            if not texts:
                raise ImbrexError(f"--suggest {place}: this call can be rewritten as it is")
            return first.before[file], outcome.after[file]
        analysis = Analysis(paths, given)
        edit = _assume(analysis, analysis.program.files[file], decision)
        if edit is None:
            raise ImbrexError(f"--suggest {place}: nothing to suggest: {decision.obstacle}")
        texts = {**outcome.before, file: apply_edits(outcome.before[file], [edit])}
    raise ImbrexError(f"--suggest {place}: more than {_MOST} statements would have to be assumed")


def _line_now(before: bytes, after: bytes, line: int) -> int:
    known = LineMap(before, after)
    return next((now for now, old in known.to_original.items() if old == line), line)


def _assume(analysis: Analysis, source: SourceFile, decision: Decision) -> Edit | None:
    """The directive that lets the start or the wait pass what stops it; None where none can."""
    program = analysis.program
    call = decision.site.call
    parameters = dict(decision.reason.cause.parameters)
    reasons = [parameters.get("behind"), parameters.get("before"), decision.reason]
    site = _statement_at(program, source, call.line)
    for reason in reasons:
        if not isinstance(reason, Reason) or reason.location.file != source.name or site is None:
            continue
        statement = _beside(site, reason.location.line)
        if statement is None or statement is site or statement.independent:
            continue
        if any(c.name.startswith("MPI_") for inner in statement.walk() for c in inner.calls):
            continue  # whether it may be passed is no matter of memory
        named = reason.kind in _NAMED and (statement.kind is Kind.LOOP or statement.calls)
        if reason.kind not in _NOT_KNOWN and not named:
            continue
        if named and _is_certain(analysis, site, statement):
            continue
        bases = _buffers(program, decision)
        if bases:
            return _directive(source, statement, bases, reason)
    return None


def _is_certain(analysis: Analysis, site: Statement, statement: Statement) -> bool:
    """Whether a plain nest is known to touch what the messages of a call are made of."""
    if statement.calls or any(each.kind not in _ALWAYS for each in statement.walk()):
        return False
    program, footprints = analysis.program, analysis.footprints
    known = footprints.of(statement, "").accesses
    for call in site.calls:
        for part in mpi_calls.PARTS.get(call.name, ()):
            section = buffer_section(program, call, part)
            touched = [a.section for a in known if a.variable == call.arguments[part.buffer].base]
            if section is not None and any(
                each is not None and (covers(each, section) or covers(section, each))
                for each in touched
            ):
                return True
    return False


def _buffers(program: Program, decision: Decision) -> list[str]:
    """The names of the variables that the call's messages are in."""
    call = decision.site.call
    parts = mpi_calls.PARTS.get(call.name, ())
    bases = [call.arguments[p.buffer].base for p in parts if p.buffer < len(call.arguments)]
    if any(base not in program.variables for base in bases):
        return []
    return list(dict.fromkeys(program.variables[base].name for base in bases if base))


def _statement_at(program: Program, source: SourceFile, line: int) -> Statement | None:
    for routine in program.routines.values():
        for statement in routine.statements() if routine.file == source.name else ():
            if any(c.line == line and c.name.startswith("MPI_") for c in statement.calls):
                return statement
    return None


def _beside(site: Statement, line: int) -> Statement | None:
    """The statement that holds a line, in the block of the call or in one around it."""
    block: Block | None = site.parent
    while block is not None:
        for statement in block.statements:
            if statement.line <= line <= statement.end_line and site not in statement.walk():
                return statement
        block = block.owner.parent if block.owner is not None else None
    return None


def _directive(source: SourceFile, statement: Statement, names: list[str], why: Reason) -> Edit:
    start = line_start(source.data, statement.code_start)
    indent = indent_at(source.data, statement.code_start)
    stated = f"imbrex independent({', '.join(names)})"
    told = f"imbrex: not proven: {why.text}"
    if source.language is Language.C:
        text = f"{indent}/* {told} */\n#pragma {stated}\n"
    elif source.language is Language.FORTRAN_FIXED:
        text = f"! {told}\n!${stated}\n"
    else:
        text = f"{indent}! {told}\n{indent}!${stated}\n"
    return Edit(start, start, text)
