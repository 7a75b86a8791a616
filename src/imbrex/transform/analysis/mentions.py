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
Span = tuple[int, int]


class Mentions:
    """The places that name the routines of a program as it was read."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[str, bool] = {}

    def all_known(self, routine: Routine) -> bool:
        """Whether each place that names a routine is a call that is read, or its definition.

        A type may be bound to it: references by the type that are not read take its address.
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
                if not any(first <= place < last for first, last in told):
                    return False
        return True

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
