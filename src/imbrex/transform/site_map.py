"""Which calls of the rewritten text stand for which of the original, for `imbrex compare`."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from imbrex import mpi_facts
from imbrex.errors import ImbrexError
from imbrex.profile.site_map import NAME, Place, SiteMap, load_site_map
from imbrex.transform import mpi_calls
from imbrex.transform.engine import Outcome
from imbrex.transform.line_maps import LineMap
from imbrex.transform.model.calls import Call
from imbrex.transform.model.statements import Statement
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of MPI in a text: its lines there, and its arguments without blanks."""

    line: int
    last_line: int
    name: str
    arguments: tuple[str, ...]
    routine: str = ""

    @property
    def request(self) -> str:
        """The argument with its request or requests; none: an empty text."""
        found = (mpi_facts.position(self.name, role) for role in ("request", "requests"))
        at = next((at for at in found if at is not None), len(self.arguments))
        return self.arguments[at] if at < len(self.arguments) else ""


def site_map(paths: list[Path], options: Options, outcome: Outcome) -> SiteMap:
    """The map of all calls in the files that changed.

    A line that did not change has the calls that it had. Of the others a nonblocking start stands
    for the call that was rewritten to it with most of the same arguments, of several for the
    nearest, and a wait for that of the start in its routine, or else in the nearest one, with the
    same request or requests of one array; both for a collective where they stand in the functions
    that its messages have been given.
    """
    changed = changed_files(outcome)
    # A header is read with the files that include it.
    read = [path for path in paths if path in changed] if {*changed} <= {*paths} else paths
    after = _calls(read, changed, options, outcome.after)
    found: dict[Place, Place] = {}
    last_before: dict[Place, int] = {}
    last_after: dict[Place, int] = {}
    for path in changed:
        name, file = str(path), path.name
        lines = LineMap(outcome.before[name], outcome.after[name])
        texts = outcome.before[name].splitlines(), outcome.after[name].splitlines()
        rewritten = [
            _call(decision.site.call, decision.site.statement)
            for decision in outcome.decisions
            if decision.site.routine.file == name and decision.decision == "rewritten"
        ]
        last_before |= _ends(file, rewritten)
        last_after |= _ends(file, after[name])
        of_messages = {
            function: (file, decision.site.call.line, decision.site.call.name)
            for decision in outcome.decisions
            if decision.site.routine.file == name
            for function in decision.messages
        }
        begun: list[tuple[_Call, Place]] = []
        waits = []
        for call in after[name]:
            if call.routine in of_messages:
                if call.name in mpi_calls.STARTS or mpi_facts.is_wait(call.name):
                    found[file, call.line, call.name] = of_messages[call.routine]
                continue
            old = lines.line(call.line)
            if texts[0][old - 1] == texts[1][call.line - 1]:
                found[file, call.line, call.name] = (file, old, call.name)
                same = replace(call, line=old, last_line=lines.line(call.last_line))
                last_before |= _ends(file, [same])
                continue
            origins = [
                (_alike(origin, call), -abs(origin.line - old), origin)
                for origin in rewritten
                if _becomes(origin.name, call.name)
            ]
            if origins:
                origin = max(origins, key=lambda item: item[:2])[2]
                found[file, call.line, call.name] = (file, origin.line, origin.name)
                begun.append((call, found[file, call.line, call.name]))
            elif mpi_facts.is_wait(call.name):
                waits.append(call)
        for call in waits:
            place = _completed(call, begun)
            if place is not None:
                found[file, call.line, call.name] = place
    return SiteMap(found, last_before, last_after)


def changed_files(outcome: Outcome) -> list[Path]:
    """The files and headers that are not as they were."""
    return [Path(name) for name, text in outcome.before.items() if outcome.after[name] != text]


def write_site_map(paths: list[Path], options: Options, outcome: Outcome) -> Path | None:
    """Leave the map beside the first changed file, on top of one that is there; None where nothing
    changed. Raises ImbrexError where it cannot be written."""
    changed = changed_files(outcome)
    if not changed:
        return None
    made = site_map(paths, options, outcome)
    file = changed[0].parent / NAME
    earlier = load_site_map(file) if file.exists() else SiteMap()
    names = {path.name for path in changed}
    through = {new: earlier.before_of.get(old, old) for new, old in made.before_of.items()}
    elsewhere = [new for new in earlier.before_of if new[0] not in names]
    ends = {new: earlier.last_after[new] for new in elsewhere if new in earlier.last_after}
    whole = SiteMap(
        {new: earlier.before_of[new] for new in elsewhere} | through,
        {**made.last_before, **earlier.last_before},
        {**ends, **made.last_after},
    )
    temporary = file.with_name(f".{NAME}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(whole.to_json(), indent=1) + "\n")
        temporary.replace(file)
    except OSError as error:
        raise ImbrexError(f"{file} cannot be written: {error.strerror}") from error
    return file


def _calls(
    paths: list[Path], wanted: list[Path], options: Options, contents: dict[str, bytes]
) -> dict[str, list[_Call]]:
    """The calls of MPI in edited texts, in order; of these files, which `paths` are or include."""
    texts = {Path(name): data for name, data in contents.items()}
    program = read_program(paths, replace(options, contents=texts))
    found: dict[str, list[_Call]] = {str(path): [] for path in wanted}
    for routine in program.routines.values():
        if routine.file not in found:
            continue
        for statement in routine.statements():
            found[routine.file] += [
                replace(_call(call, statement), routine=routine.name)
                for call in statement.calls
                if call.name.startswith("MPI_")
            ]
    return {name: sorted(calls, key=lambda call: call.line) for name, calls in found.items()}


def _ends(file: str, calls: list[_Call]) -> dict[Place, int]:
    """Where those end that take several lines."""
    return {(file, c.line, c.name): c.last_line for c in calls if c.last_line > c.line}


def _call(call: Call, statement: Statement) -> _Call:
    last = call.line if statement.blocks else max(call.line, statement.end_line)
    texts = ("".join(argument.text.split()).lower() for argument in call.arguments)
    return _Call(call.line, last, call.name, tuple(texts))


def _completed(wait: _Call, begun: list[tuple[_Call, Place]]) -> Place | None:
    """The original call whose message a wait is for: its own routine's start, or the nearest's.

    The half of a routine that starts its messages stands in front of the one that awaits them.
    """

    def distance(routine: str) -> tuple[bool, int]:
        lines = [start.line for start, _ in begun if start.routine == routine]
        return max(lines) > wait.line, min(abs(line - wait.line) for line in lines)

    routines = sorted({start.routine for start, _ in begun}, key=distance)
    if wait.routine in routines:
        routines.remove(wait.routine)
        routines.insert(0, wait.routine)
    for routine in routines if wait.request else ():
        own = [(start.request, place) for start, place in begun if start.routine == routine]
        places = [place for request, place in own if request == wait.request]
        places += [place for request, place in own if _array(request) == _array(wait.request)]
        if places:
            return places[0]
    return None


def _array(request: str) -> str:
    """The variable that holds a request: `reqs` of `&reqs[2]`."""
    match = _NAME.search(request)
    return match.group() if match else ""


def _alike(origin: _Call, start: _Call) -> int:
    """How many arguments of the start the original call has too, in this order."""
    at, count = 0, 0
    for text in start.arguments:
        if text in origin.arguments[at:]:
            at = origin.arguments.index(text, at) + 1
            count += 1
    return count


def _becomes(blocking: str, name: str) -> bool:
    """Whether a rewrite makes this call of that one."""
    parts = mpi_calls.BLOCKING.get(blocking, ())
    starts = {part.start for part in parts} | {mpi_facts.nonblocking_form(blocking)}
    # calls that are nonblocking already move: their start, their wait
    return name in starts or name == blocking
