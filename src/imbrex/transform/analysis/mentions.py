"""Where a program's files name its routines, found by one look at each file."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property

from imbrex.transform.model.name_lists import name_lists
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_NO_CALL = re.compile(
    rb"(?i)\s*(?:!|(?:(?:pure|impure|elemental|recursive|module)\s+)*(?:end\s*)?"
    rb"(?:subroutine|function)\b|(?:public|private|use)\b)"
)
_WORD = re.compile(rb"\w+")
# What gives a generic name a procedure, and the lines around such statements.
_GIVES = re.compile(rb"(?i)[ \t]*(?:module[ \t]+)?procedure\b")
_INTERFACE = re.compile(rb"(?im)^[ \t]*(end[ \t]*)?interface\b[ \t]*([^\n!]*)")
Span = tuple[int, int]


class Mentions:
    """The places that name the routines of a program as it was read."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[str, bool] = {}
        self._generics: dict[str, bool] = {}

    def all_known(self, routine: Routine) -> bool:
        """Whether each place that names a routine is a call that is read, or its definition.

        A type may be bound to it: references by the type that are not read take its address. Or a
        generic name stands for it, of which the same holds.
        """
        known = self._known.get(routine.key)
        if known is None:
            known = self._known[routine.key] = self._find(routine)
        return known

    def _find(self, routine: Routine) -> bool:
        own = routine.plain_name
        calls = self._calls[own]
        for name, places in self._places[own.lower()].items():
            data = self.program.files[name].data
            lists = self._lists[name]
            bound = self.program.binding_lines.get(name, ()) if routine.bound else ()
            for place in places:
                start = data.rfind(b"\n", 0, place) + 1
                if _NO_CALL.match(data, start) or _in_comment(data[start:place]):
                    continue
                told = (*calls.get(name, ()), *lists, *bound)
                if any(first <= place < last for first, last in told):
                    continue
                generic = _generic_at(data, place)
                if not generic or not self._generic_known(generic):
                    return False
        return True

    def _generic_known(self, generic: str) -> bool:
        """Whether each place that has a generic name declares it, or is a call that is read."""
        known = self._generics.get(generic)
        if known is None:
            spelled = re.compile(rb"(?i)\b" + re.escape(generic.encode()) + rb"\b")
            known = self._generics[generic] = all(
                self._names_generic(generic, name, source.data, match.start())
                for name, source in self.program.files.items()
                if source.is_fortran
                for match in spelled.finditer(source.data)
            )
        return known

    def _names_generic(self, generic: str, file: str, data: bytes, place: int) -> bool:
        """Whether a generic name is declared at a place, or called by a call that is read."""
        start = data.rfind(b"\n", 0, place) + 1
        line = data[start : data.find(b"\n", place)]
        if _in_comment(data[start:place]) or _INTERFACE.match(line):
            return True
        if any(first <= place < last for first, last in self._lists[file]):
            return b"=>" not in line
        spans = self._by_generic[generic].get(file, ())
        return any(first <= place < last for first, last in spans)

    @cached_property
    def _places(self) -> dict[str, dict[str, list[int]]]:
        """By name in small letters and by file, the bytes where the name stands."""
        names = {each.plain_name.lower().encode() for each in self.program.routines.values()}
        found: dict[str, dict[str, list[int]]] = defaultdict(dict)
        for name, source in self.program.files.items():
            for match in _WORD.finditer(source.data):
                called = match[0].lower()
                if called in names:
                    found[called.decode()].setdefault(name, []).append(match.start())
        return found

    @cached_property
    def _calls(self) -> dict[str, dict[str, list[Span]]]:
        """By name and by file, the statements that call what has the name."""
        found: dict[str, dict[str, list[Span]]] = defaultdict(dict)
        for user in self.program.routines.values():
            for statement in user.statements():
                for name in {c.name.rpartition("::")[2] for c in statement.calls if not c.unknown}:
                    places = found[name].setdefault(user.file, [])
                    places.append((statement.start, statement.end))
        return found

    @cached_property
    def _by_generic(self) -> dict[str, dict[str, list[Span]]]:
        """By generic name and by file, the statements with calls by it."""
        found: dict[str, dict[str, list[Span]]] = defaultdict(dict)
        for user in self.program.routines.values():
            for statement in user.statements():
                for name in {call.generic.lower() for call in statement.calls if call.generic}:
                    places = found[name].setdefault(user.file, [])
                    places.append((statement.start, statement.end))
        return found

    @cached_property
    def _lists(self) -> dict[str, list[Span]]:
        """By file, the lists of names, which are no calls; empty for files of C."""
        return {
            name: list(name_lists(source.data)) if source.is_fortran else []
            for name, source in self.program.files.items()
        }


def _in_comment(before: bytes) -> bool:
    """Whether what follows on the line is a comment, as far as that is plain."""
    text, mark, _ = before.partition(b"!")
    return bool(mark) and not (b"'" in text or b'"' in text)


def _generic_at(data: bytes, place: int) -> str:
    """The generic name that a statement at a place gives a procedure; empty where it is none."""
    start = data.rfind(b"\n", 0, place) + 1
    while data[:start].rstrip().endswith(b"&"):
        start = data.rfind(b"\n", 0, start - 1) + 1
    if not _GIVES.match(data, start):
        return ""
    *_, last = (None, *_INTERFACE.finditer(data, 0, start))
    named = "" if last is None or last[1] else last[2].decode(errors="replace").strip().lower()
    return named if named.isidentifier() else ""
