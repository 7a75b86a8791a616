"""A routine that is one loop nest, as two routines beside it: its interior and its boundary.

What bounds the loops may be known in the routine only: a global, a component of an object that it
is given, the size of an array. So the parts are copies of it with other loop headers.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.text.call_text import called
from imbrex.transform.text.directives import without_those_of_loops
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.given_out import made_known
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.loop_headers import Header
from imbrex.transform.text.members import (
    Declared,
    declared_in_class,
    is_member,
    member_problem,
    named_anywhere,
    object_of,
    seen_by_callers,
    takes_prototypes,
)
from imbrex.transform.text.name_lists import renamed_in
from imbrex.transform.text.part_texts import Part, free_name, parts_of
from imbrex.transform.text.routine_text import RoutineText, c_routine_text, fortran_routine_text
from imbrex.transform.text.specification import identifiers
from imbrex.transform.text.wrapping import wrapped

_DIRECTIVE = re.compile(rb"(?m)^[ \t]*#|^[!cC*]\$|^[ \t]*!\$")
_STATIC = re.compile(rb"\bstatic\b")  # memory that would be there twice
_TYPE = re.compile(r"(?:(?:unsigned|long)\s+)*\w+\s+$")
_TEMPLATE = re.compile(rb"(?m)^(?![ \t]*#)[^\n]*>\s*\Z")  # and no `#include <...>`
_MANY = 9  # with a number in it a name of parts is as long as any
_GIVEN = r"(?:<[^<>()]*>\s*)?"  # what a call says that a template is instantiated for


def text_of(program: Program, routine: Routine) -> RoutineText:
    """Where a routine's text stands; with a problem where a copy of it would not be the same."""
    source = program.files[routine.file]
    if source.is_fortran:
        found = fortran_routine_text(program, routine, value=True)
    else:
        found = c_routine_text(program, routine, value=True)
    if found.problem is not None:
        return found
    start, end = found.span
    if _DIRECTIVE.search(without_those_of_loops(source.data[start:end])) or routine.conditional:
        found.problem = ReasonKind.CONDITIONAL(routine=routine.name)
    elif _TEMPLATE.search(source.data[:start]):
        found.problem = ReasonKind.GENERIC(routine=routine.name)
    elif not source.is_fortran and _STATIC.search(source.data[routine.body.start : end]):
        found.problem = ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name)
    elif (saved := saved_in(program, routine)) is not None:
        found.problem = ReasonKind.LOCAL_SAVED(variable=saved.name)
    else:
        found.problem = member_problem(program, routine)
    return found


def saved_in(program: Program, routine: Routine) -> Variable | None:
    """A variable of a routine of Fortran that keeps its value between calls, if it uses one."""
    used = {access.variable for s in routine.statements() for access in s.accesses}
    variables = (program.variables.get(key) for key in sorted(used))
    return next((each for each in variables if each is not None and each.saved), None)


def problem_of(program: Program, user: Routine, routine: Routine) -> Cause | None:
    """Why a caller cannot have the parts of a routine in the place of the routine."""
    if routine.file not in program.files or routine.problem:
        return ReasonKind.NOT_EDITABLE(routine=routine.name)
    found = text_of(program, routine)
    if found.problem is not None:
        return found.problem
    source, caller = program.files[routine.file], program.files[user.file]
    if routine.of_template and not _are_plain(program, user, routine):
        return ReasonKind.GENERIC(routine=routine.name)
    if source.is_fortran is not caller.is_fortran:
        return ReasonKind.OTHER_FILE(routine=routine.name)
    if source.is_fortran:
        longest = (f"{routine.stem}_interior{_MANY}", f"{routine.stem}_boundary{_MANY}")
        for file in program.files.values():
            if renamed_in(program, file, routine, (routine.plain_name, *longest)) is None:
                return ReasonKind.NAME_LISTED(routine=routine.name)
        if routine.key in user.renames:
            return ReasonKind.NAME_LISTED(routine=routine.name)
        otherwise = routine.bound or _by_generic_name(user, routine)
        if otherwise and made_known(program, routine, [user], ()) is None:
            return ReasonKind.NOT_GIVEN_OUT(routine=routine.name)
    elif user.file == routine.file or seen_by_callers(program, routine):
        return None
    elif is_member(routine):
        declared = declared_in_class(program, routine)
        known = isinstance(declared, Declared) and declared.source.name != routine.file
        if not known:
            return ReasonKind.OTHER_FILE(routine=routine.name)
    elif source.header or not takes_prototypes(caller) or "static" in found.lead:
        return ReasonKind.OTHER_FILE(routine=routine.name)
    return None


def _by_generic_name(user: Routine, routine: Routine) -> bool:
    """Whether a caller knows a routine by a generic name, if not by its own."""
    calls = (call for s in user.statements() for call in s.calls)
    return any(call.name == routine.name and call.generic for call in calls)


def _is_by_name(callee: Routine, call: Call) -> bool:
    """Whether what follows the arguments of a call must have a name there."""
    few = len(call.arguments) < len(callee.parameters)
    return few or any(argument.keyword for argument in call.arguments)


def _are_plain(program: Program, user: Routine, routine: Routine) -> bool:
    """Whether the calls of a template's instance name it so that another name can stand there."""
    data, pattern = program.files[user.file].data, _name_of(routine, program)
    return all(
        pattern.search(data[call.start : call.end].decode(errors="replace"))
        for statement in user.statements()
        for call in statement.calls
        if call.name == routine.name
    )


class Parted:
    """The parts that one proposal needs, each written once however many calls are divided."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._names: dict[tuple[str, str, str], tuple[str, str]] = {}
        self._new: list[
            tuple[Routine, RoutineText, tuple[str, str], tuple[str, str], tuple[Part, Part]]
        ] = []
        self._known: list[tuple[Routine, RoutineText]] = []  # whose parts are there already
        self._locals: set[str] = set()  # names of what callers keep
        self._users: set[tuple[str, str]] = set()
        self._by_type: dict[str, list[Routine]] = {}  # callers by a type, or a generic name
        # Calls, by identity; of those in a routine that is parted itself, the routine.
        self._divided: dict[int, Routine | None] = {}

    def calls(
        self,
        user: Routine,
        space: Space,
        headers: dict[int, Header],
        texts: tuple[dict[int, str], dict[int, str]],
        later: int,
        *,
        nested: bool = False,
    ) -> tuple[str, str]:
        """The calls of the interior and of the boundary, in the place of the call of both.

        `texts`: the headers of the loops in each; `later`: which of them runs behind the other, and
        goes on with the scalars that both reduce values into. `nested`: in the parts of `user`,
        which stays as it is where it is called whole.
        """
        callee = space.callee
        assert callee is not None and space.call is not None
        self._divided[id(space.call)] = user if nested else None
        whole, text = self.program.files[callee.file], text_of(self.program, callee)
        inside = None
        if space.nested is not None:
            inside = self.calls(callee, space.nested, headers, texts, later, nested=True)
            headers, texts = {}, ({}, {})
        parts = parts_of(self.program, space, text, headers, texts, later, inside)
        key = (callee.key, parts[0].text, parts[1].text)
        if key not in self._names:
            self._names[key] = self._named(callee, parts)
        if user.file != callee.file and not whole.header:
            self._users.add((user.file, callee.key))
        if space.call.on is not None or space.call.generic:
            self._by_type.setdefault(callee.key, []).append(user)
        return self._calls(user, space, self._names[key], later)

    def _calls(
        self, user: Routine, space: Space, names: tuple[str, str], later: int
    ) -> tuple[str, str]:
        """The statements that call the parts: the later one stands where the routine's call did."""
        callee, call, statement = space.callee, space.call, space.statement
        assert callee is not None and call is not None
        source = self.program.files[user.file]
        indent = indent_at(source.data, statement.code_start)
        head, tail = (
            source.data[start:end].decode()
            for start, end in ((statement.code_start, call.start), (call.end, statement.end))
        )
        text = called(source.data, call)
        pattern = _name_of(callee, self.program)
        if call.generic:
            pattern = re.compile(rf"(?i)\b{re.escape(call.generic)}\b")
        if callee.scope is not None and not is_member(callee):
            on = object_of(self.program, user, callee, call) or ""
            text = on + text[len(on) if text.startswith(on) else 0 :]
        calls = [pattern.sub(name, text, count=1) for name in names]
        lines = [head + each + tail for each in calls]
        if space.taken:
            target = self.program.variables[space.taken].name
            if _is_by_name(callee, call):
                target = f"{self.program.variables[callee.result].name}={target}"
            last = f"{', ' if call.arguments else ''}{target})"
            lines = [f"call {each.rstrip()[:-1].rstrip()}{last}" for each in calls]
        if source.language is Language.C:
            lines[1 - later] = f"{calls[1 - later]};"
        if space.result:
            result = self.program.variables[space.result]
            value = self._local(user, result.name)
            lines[1 - later] = f"{result.element} {value} = {calls[1 - later]};"
            given = len(call.arguments) > callee.on_object
            lines[later] = f"{head}{calls[later][:-1]}{', ' if given else ''}{value}){tail}"
        interior, boundary = (
            indent + wrapped(source.language, line, len(indent), indent) for line in lines
        )
        return interior, boundary

    def _local(self, user: Routine, name: str) -> str:
        """A name for what a caller keeps from one part to the other."""
        data = self.program.files[user.file].data
        taken = identifiers(data.decode(errors="replace"), fold=False) | self._locals
        found = free_name(name, taken)
        self._locals.add(found)
        return found

    def _named(self, callee: Routine, parts: tuple[Part, Part]) -> tuple[str, str]:
        """Names that are free, or that what would be written has already."""
        given = {name.lower() for pair in self._names.values() for name in pair}
        taken = callee.taken | given
        taken |= {routine.name.lower() for routine in self.program.routines.values()}
        number = 1
        while True:
            suffix = "" if number == 1 else str(number)
            own = callee.stem
            names = (f"{own}_interior{suffix}", f"{own}_boundary{suffix}")
            written = tuple(
                _with_name(part.text, _name_of(callee, self.program), name)
                for part, name in zip(parts, names, strict=True)
            )
            if all(self._is_there(callee, n, w) for n, w in zip(names, written, strict=True)):
                self._known.append((callee, text_of(self.program, callee)))
                return names
            hidden = is_member(callee) or callee.shares_name
            hidden = hidden and any(named_anywhere(self.program, n) for n in names)
            if not hidden and not any(name.lower() in taken for name in names):
                text = text_of(self.program, callee)
                self._new.append((callee, text, names, (written[0], written[1]), parts))
                return names
            number += 1

    def _is_there(self, callee: Routine, name: str, written: str) -> bool:
        full = callee.beside(name).lower()
        for routine in self.program.routines.values():
            if routine.name.lower() == full and routine.file == callee.file:
                start, end = text_of(self.program, routine).span
                data = self.program.files[routine.file].data
                return data[start:end].decode(errors="replace") == written
        return False

    def edits(self) -> dict[str, list[Edit]]:
        """What must be written beside the calls: the routines, and what makes them known."""
        found: dict[str, list[Edit]] = {}
        for callee, text, names, written, parts in self._new:
            unused = self._unused(callee, text)
            start, end = text.span
            between = "\n\n"
            if is_member(callee):
                between += indent_at(self.program.files[callee.file].data, start)
            both = between.join(written)
            here = Edit(start, end, both) if unused else Edit(end, end, f"{between}{both}")
            found.setdefault(callee.file, []).append(here)
            if is_member(callee):
                declared = declared_in_class(self.program, callee)
                if isinstance(declared, Declared):
                    given = len(declared.parameters)
                    heads = [
                        (name, [*declared.parameters, *part.parameters[given:]])
                        for name, part in zip(names, parts, strict=True)
                    ]
                    types = tuple(part.type for part in parts)
                    edit = declared.edit(heads, keep=not unused, types=types)
                    found.setdefault(declared.source.name, []).append(edit)
            elif self.program.files[callee.file].is_fortran:
                self._list(callee, names, found)
                users = self._by_type.get(callee.key, [])
                known = made_known(self.program, callee, users, names) or {}
                for name, changes in known.items():
                    found.setdefault(name, []).extend(changes)
            else:
                self._declare(callee, text, list(zip(names, parts, strict=True)), unused, found)
        for callee, text in self._known:
            if self._unused(callee, text) and not any(callee is new[0] for new in self._new):
                self._remove(callee, text, found)
        return found

    def _remove(self, callee: Routine, text: RoutineText, found: dict[str, list[Edit]]) -> None:
        """Take out a routine whose last call is divided into parts that are there."""
        data = self.program.files[callee.file].data
        spans = [text.span, *(m.span() for m in _declared(callee.plain_name).finditer(data))]
        for start, end in spans:
            behind = re.compile(rb"\s*").match(data, end)
            last = end if behind is None else behind.end()
            line = data.rfind(b"\n", 0, last) + 1  # what follows keeps its indentation
            found.setdefault(callee.file, []).append(Edit(start, max(line, end), ""))

    def _unused(self, callee: Routine, text: RoutineText) -> bool:
        """Whether nothing can call the whole routine any more."""
        local = "static" in text.lead and not is_member(callee)
        local = local or (callee.scope is not None and "" in callee.scope.namespaces)
        if not local or callee.address_taken:
            return False
        if sum(callee is new[0] for new in self._new) > 1:
            return False
        return all(self._is_gone(c) for c in self.program.calls() if c.name == callee.name)

    def _is_gone(self, call: Call) -> bool:
        """Whether a call has given way to those of the parts."""
        user = self._divided.get(id(call), call)
        return user is None or (
            isinstance(user, Routine) and self._unused(user, text_of(self.program, user))
        )

    def _list(self, callee: Routine, names: tuple[str, str], found: dict[str, list[Edit]]) -> None:
        """The names in Fortran's lists of what is given out or brought in."""
        for name, file in self.program.files.items():
            if file.is_fortran:
                lists = renamed_in(self.program, file, callee, (callee.plain_name, *names))
                found.setdefault(name, []).extend(lists or [])

    def _declare(
        self,
        callee: Routine,
        text: RoutineText,
        parts: list[tuple[str, Part]],
        unused: bool,
        found: dict[str, list[Edit]],
    ) -> None:
        """Prototypes beside those of the routine, and in other files that call the parts."""
        prototypes = "\n".join(f"{_prototype(text, name, part)};" for name, part in parts)
        for match in _declared(callee.plain_name).finditer(self.program.files[callee.file].data):
            start = match.start() if unused else match.end()
            new = prototypes if unused else f"\n{prototypes}"
            found[callee.file].append(Edit(start, match.end(), new))
        for name in sorted({name for name, key in self._users if key == callee.key}):
            data = self.program.files[name].data
            includes = list(re.finditer(rb"(?m)^[ \t]*#[ \t]*include[^\n]*\n", data))
            offset = includes[-1].end()
            found.setdefault(name, []).append(Edit(offset, offset, f"\n{prototypes}\n"))


def _name_of(routine: Routine, program: Program) -> re.Pattern[str]:
    """A routine's name where it is defined or called; in C its arguments follow."""
    name = re.escape(routine.plain_name)
    if program.files[routine.file].is_fortran:
        return re.compile(rf"(?i)\b{name}\b")
    return re.compile(rf"\b{name}\b(?=\s*{_GIVEN}\()")


def _with_name(text: str, pattern: re.Pattern[str], other: str) -> str:
    """The text of a routine with another name, at its head and at its end in Fortran."""
    head = pattern.sub(other, text, count=1)
    lines = head.split("\n")
    if re.match(r"(?i)[ \t]*end[ \t]*subroutine\b", lines[-1]):
        lines[-1] = pattern.sub(other, lines[-1])
    return "\n".join(lines)


def _prototype(text: RoutineText, name: str, part: Part) -> str:
    parameters = ", ".join(p.strip() for p in part.parameters) or "void"
    lead = _TYPE.sub(f"{part.type} ", text.lead)
    return wrapped(Language.C, " ".join(f"{lead}{name}({parameters})".split()), 0, "   ")


def _declared(name: str) -> re.Pattern[bytes]:
    return re.compile(
        rb"(?m)^(?:(?:static|extern)\s+)*(?:(?:unsigned|long)\s+)*(?!return\b|else\b)\w+\s+"
        + name.encode()
        + rb"\s*\([^;{}]*\)\s*;"
    )
