"""From files to decisions and edited text: read, analyse, rewrite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.transform import mpi_calls
from imbrex.transform.analysed import Analysis
from imbrex.transform.analysis.beside import has_work
from imbrex.transform.analysis.left_over import left_over
from imbrex.transform.call_stack import with_deep_stack
from imbrex.transform.choice import are_chosen, goes_with_chosen, of_chosen
from imbrex.transform.deciding import Deciding
from imbrex.transform.garbage import collect, keep, objects, uncollected
from imbrex.transform.imports import complete_imports
from imbrex.transform.line_maps import LineMap, line_maps
from imbrex.transform.model.program import Program
from imbrex.transform.one_sided import one_sided_note
from imbrex.transform.options import MessageTime, Options
from imbrex.transform.permissions import Permissions
from imbrex.transform.readers.c_kept import KeptFiles
from imbrex.transform.readers.fortran_units import FORTRAN_SUFFIXES
from imbrex.transform.replaced_sites import put_back
from imbrex.transform.rewrites.base import Decision, not_analysed, one_of_each_place
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.collectives import CollectivesToNonblocking
from imbrex.transform.rewrites.motion import ExistingMotion
from imbrex.transform.rewrites.progress import ProgressCalls
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.registry import PREPARING
from imbrex.transform.rewrites.splitting import Splitting
from imbrex.transform.rewrites.statement_motion import StatementMotion
from imbrex.transform.search import Rejected, prepare, unchanged
from imbrex.transform.telling import (
    add_later,
    copies,
    note,
    note_stated,
    of_routines,
    relocated,
    tell_bound,
    tell_starts,
    without_room,
)
from imbrex.transform.text.edits import Edit, apply_edits
from imbrex.transform.text.emit import Emitter, has_inserted, number_requests
from imbrex.transform.text.languages import text_of

_NO_SITE = frozenset({("", 0)})
_PASSES = 20  # far more than any program has needed


@dataclass(slots=True)
class Outcome:
    """Decisions for every call site, and the text of each file before and after."""

    decisions: list[Decision]
    before: dict[str, bytes]
    after: dict[str, bytes]
    skipped: dict[str, str]
    notes: list[str] = field(default_factory=list)  # what was looked for and not found
    ahead: _Ahead | None = None
    has_main: bool = True  # whether the main program is among the files


@dataclass(slots=True)
class _Ahead:
    """What reading these contents gives, where the search that led to them has read them."""

    contents: dict[Path, bytes]
    outcome: Outcome
    offered: list[Proposal]


def transform(paths: list[Path], options: Options) -> Outcome:
    """Analyse all files as one program and rewrite what may be rewritten.

    Raises ImbrexError where none of the files can be read.
    """
    # What other programs share says nothing, and nothing of theirs is kept.
    options = replace(options, shared_names=set(), kept=KeptFiles())

    def work() -> Outcome:
        with uncollected():
            outcome = _transform(paths, options)
            if options.progress_interval_s is not None and not outcome.skipped:
                _add_progress(paths, options, outcome, options.progress_interval_s)
            for path in paths:
                if str(path) in outcome.after and path.suffix.lower() in FORTRAN_SUFFIXES:
                    texts, flags = (outcome.before, outcome.after), options.flags_for(path)
                    before, after = (text[str(path)] for text in texts)
                    outcome.after[str(path)] = complete_imports(path, before, after, flags)
            return outcome

    return with_deep_stack(work)


def _add_progress(paths: list[Path], options: Options, outcome: Outcome, interval_s: float) -> None:
    """Put progress calls into the windows of the text as it is by now."""
    of_path = {str(path): path for path in paths}
    contents = {of_path.get(name, Path(name)): data for name, data in outcome.after.items()}
    analysis = Analysis(paths, replace(options, contents=contents))
    program = analysis.program
    facts = analysis.footprints.facts
    maps = line_maps(outcome.before, outcome.after)

    windows = [
        (d.site.routine.file, d.first_line, d.last_line)
        for d in outcome.decisions
        if d.decision == "rewritten"
    ]

    def chosen(file: str, line: int) -> bool:
        """The wait of a call that was chosen, or in the window of one that was rewritten."""
        at = maps[file].line(line)
        if not options.only or (file, at) in options.only:
            return True
        return any(file == name and first <= at <= last for name, first, last in windows)

    longest_s = _longest_s(outcome, program, maps, options.message_s)
    progress = ProgressCalls(program, analysis.footprints, facts, interval_s, longest_s)
    edits, decisions = progress.insert(chosen)
    decisions = relocated(decisions, maps)
    for name, changes in edits.items():
        outcome.after[name] = apply_edits(outcome.after[name], changes)
    outcome.decisions += decisions
    outcome.decisions.sort(key=lambda item: (item.site.routine.file, item.site.call.line))


def _longest_s(
    outcome: Outcome, program: Program, maps: dict[str, LineMap], message_s: MessageTime | None
) -> dict[tuple[str, str], float]:
    """What a message takes at most, by file and routine, of the calls that start them."""
    found: dict[tuple[str, str], float] = {}
    if message_s is None:
        return found
    places = [
        (site.routine, site.call.line, max(site.call.line, site.statement.end_line))
        for site in (decision.site for decision in outcome.decisions)
    ]
    for routine in program.routines.values():
        if routine.file in maps:
            line = maps[routine.file].line
            for statement in routine.statements():
                if any(call.name in mpi_calls.STARTS for call in statement.calls):
                    places.append((routine, line(statement.line), line(statement.end_line)))
    for routine, first, last in places:
        each_s = message_s(routine.file, first, last)
        if each_s is not None:
            key = (routine.file, routine.name)
            found[key] = max(found.get(key, 0.0), each_s)
    return found


def _transform(paths: list[Path], options: Options) -> Outcome:
    rejected: Rejected = {}
    outcome = _prepared(paths, options, rejected)
    of_path = {str(path): path for path in paths}
    before = outcome.before
    for _ in range(_PASSES):
        # What has moved may have made room for more: a further run must find nothing to do.
        if outcome.skipped or options.only or outcome.after == outcome.before:
            break
        contents = {of_path.get(name, Path(name)): data for name, data in outcome.after.items()}
        rejected = unchanged(rejected, before, outcome.after)
        before = outcome.after
        again = _prepared(paths, replace(options, contents=contents), rejected, outcome.ahead)
        permissions = Permissions()
        permissions.note(again.decisions, line_maps(outcome.before, outcome.after))
        permissions.tell(outcome.decisions)
        if again.after == outcome.after:
            break
        add_later(outcome.decisions, again.decisions, outcome.before, outcome.after)
        outcome.after, outcome.ahead = again.after, again.ahead
    tell_starts(outcome.decisions)
    outcome.ahead = None
    return outcome


def _prepared(
    paths: list[Path], options: Options, rejected: Rejected, ahead: _Ahead | None = None
) -> Outcome:
    """One run: the rewrites that make room, and those of communication."""
    chosen = [rewrite for rewrite in PREPARING if rewrite.name in options.rewrites]
    dividing = {rewrite.name for rewrite in chosen if issubclass(rewrite, Splitting)}

    def proposed(
        analysis: Analysis, given: Options, among: Sequence[type[Preparing[Any, Any]]]
    ) -> list[Proposal]:
        return [
            of_chosen(proposal, given.only)
            for rewrite in among
            if not analysis.program.skipped
            for proposal in rewrite(analysis.program, analysis.footprints).proposals()
            if proposal.rewrite not in dividing
            or goes_with_chosen(proposal, analysis.program, given.only)
            if are_chosen(proposal.posts, analysis.program, given.only)
        ]

    def run(given: Options) -> tuple[Outcome, list[Proposal]]:
        analysis = Analysis(paths, given)
        offered = proposed(analysis, given, chosen)
        return _communication(analysis, given), offered

    before = objects()
    if ahead is not None and ahead.contents == options.contents:
        first, offered = ahead.outcome, ahead.offered
    else:
        first, offered = run(options)
    model = objects() - before
    if not options.contents:
        keep()
    if not offered:
        return first
    of_path = {str(path): path for path in paths}
    permissions = Permissions()

    def changed(texts: dict[str, bytes], maps: dict[str, LineMap]) -> Options:
        contents = {of_path.get(name, Path(name)): data for name, data in texts.items()}
        only = frozenset(
            (name, number)
            for name, known in maps.items()
            for number, line in known.to_original.items()
            if (name, line) in options.only
        )
        if options.only:
            only = only or _NO_SITE  # an empty set would choose all
        return replace(options, contents=contents, only=only)

    def check(skipped: dict[str, str]) -> None:
        unread = skipped.keys() - first.skipped.keys()
        if unread:
            raise ImbrexError(skipped[min(unread)])

    def screen(texts: dict[str, bytes], names: frozenset[str]) -> list[Proposal]:
        collect(model)  # the models of earlier attempts
        given = changed(texts, line_maps(first.before, texts))
        analysis = Analysis(paths, given)
        check(analysis.program.skipped)
        return proposed(analysis, given, [each for each in chosen if each.name in names])

    def attempt(texts: dict[str, bytes]) -> tuple[Outcome, list[Proposal]]:
        collect(model)
        maps = line_maps(first.before, texts)
        outcome, offers = run(changed(texts, maps))
        check(outcome.skipped)
        for name, data in texts.items():  # headers that declare nothing of it any more
            outcome.before.setdefault(name, data)
            outcome.after.setdefault(name, data)
        permissions.note(outcome.decisions, maps)
        return outcome, offers

    best, taken, offers = prepare(first, offered, attempt, screen, rejected)
    further = None
    if taken and not options.only and best.after == best.before:  # a further run reads it next
        contents = {of_path.get(name, Path(name)): data for name, data in best.after.items()}
        known = Outcome(copies(best.decisions), best.before, best.after, best.skipped, best.notes)
        known.has_main = first.has_main
        further = _Ahead(contents, known, [each for each in offers if not each.on_first])
    maps = line_maps(first.before, best.before)
    decisions = relocated(best.decisions, maps) if taken else best.decisions
    permissions.tell(decisions)
    unmoved = without_room(decisions, first.decisions)
    decisions = put_back(decisions, first.decisions, taken)
    named = of_routines(decisions)
    for proposal in taken:
        note(named, proposal, {}, unmoved)
    divided = {(proposal.rewrite, proposal.routine.name) for proposal in taken}
    for proposal in offers:
        if proposal.edits or (proposal.rewrite, proposal.routine.name) in divided:
            continue  # what is left of it
        note(named, proposal, {} if proposal.on_first else maps)
    return Outcome(
        decisions,
        first.before,
        best.after,
        first.skipped,
        first.notes,
        further,
        has_main=first.has_main,
    )


def _communication(analysis: Analysis, options: Options) -> Outcome:
    """The rewrites of communication itself."""
    program, footprints = analysis.program, analysis.footprints
    facts = footprints.facts
    before = program.texts()
    after = dict(before)
    edits: dict[str, list[Edit]] = {name: [] for name in program.files}
    messages = BlockingToNonblocking(program, footprints, facts)
    deciding = Deciding(
        options.only,
        options.rewrites,
        messages,
        CollectivesToNonblocking(
            messages,
            analysis.libraries,
            options.reassociation,
        ),
        ExistingMotion(program, footprints, facts),
        StatementMotion(program, footprints, facts),
    )
    alone = left_over(program)
    routines = [routine for routine in program.routines.values() if routine.key not in alone]
    decisions = one_of_each_place(deciding.decide(routines))
    decisions += not_analysed(program, options.only)
    note_stated(program, decisions)
    for decision in decisions:
        if decision.decision == "nothing-to-gain":
            site = decision.site
            beside = has_work(footprints, site.routine, site.statement)
            decision.work = decision.work or beside
    tell_bound(program, decisions)
    for routine in program.routines.values():
        ordered = number_requests(routine)
        moved = deciding.existing.completed_in(routine) + deciding.whole.completed_in(routine)
        if has_inserted(routine.body) and routine.file in edits:
            source = program.files[routine.file]
            text = text_of(program, source, routine, len(ordered))
            edits[routine.file] += text.declarations(ordered, moved)
            edits[routine.file] += Emitter(source, text).emit(routine.body)
    for name, changes in edits.items():
        after[name] = apply_edits(after[name], changes)
    decisions.sort(key=lambda item: (item.site.routine.file, item.site.call.line))
    notes = [
        f"{place}: the module {module} is not among the files: what it declares is not known"
        for module, place in program.missing_modules.items()
    ]
    notes += [
        f"{place}: the include file {name} is not found (give its folder with -I after --)"
        for name, place in program.missing_includes.items()
    ]
    notes += [
        f"{place}: the macro {name} is taken as not defined (give the build's flags after --)"
        for name, place in program.undefined.items()
    ]
    notes += [
        f"{place}: the procedure {name} is not read: its interface body is not understood"
        for name, place in program.unread_procedures.items()
    ]
    notes += one_sided_note(program)
    has_main = program.has_main or bool(program.unread_procedures)
    return Outcome(decisions, before, after, program.skipped, notes, has_main=has_main)
