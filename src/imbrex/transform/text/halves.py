"""The text of a wrapper's start and finish, and of their prototypes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from imbrex.transform.analysis.divided import Item, Schedule
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, code_of_c
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.allocating import allocating, without_entity
from imbrex.transform.text.c_text import CText
from imbrex.transform.text.conditionals import conditional
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.fortran_text import FortranText
from imbrex.transform.text.layout import (
    after_line,
    before_comments,
    first_on_line,
    indent_at,
    line_start,
)
from imbrex.transform.text.local_vectors import begun, is_vector
from imbrex.transform.text.lone_requests import begun_requests, in_half
from imbrex.transform.text.lone_scalars import (
    begun_scalars,
    copied,
    handed_on,
    named_in_half,
    with_copies,
)
from imbrex.transform.text.members import (
    Declared,
    declared_in_class,
    is_member,
    member_problem,
    named_anywhere,
    seen_by_callers,
    takes_prototypes,
)
from imbrex.transform.text.name_lists import renamed_in
from imbrex.transform.text.returning import Segment, composed, handed, segments
from imbrex.transform.text.routine_text import c_routine_text, fortran_routine_text
from imbrex.transform.text.separate_halves import (
    interface_bodies,
    stated_lines,
    stated_names,
)
from imbrex.transform.text.specification import (
    c_declarations,
    fortran_specification,
    identifiers,
)
from imbrex.transform.text.wrapping import wrapped

_LONGEST = 63  # characters of a name of Fortran
_OUT = re.compile(r"(?i)\bintent\s*\(\s*out\s*\)")
_ADDRESS = re.compile(r"\bimbrex_address\b", re.IGNORECASE)  # what fences write


def is_carried(variable: Variable) -> bool:
    """Whether what is kept of C is a number, which the start hands on to the finish."""
    return not variable.bounds


def typed(variable: Variable, name: str) -> str:
    """A name behind its type in C, which may end with the stars of a pointer."""
    kind = variable.element
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def _are_free(program: Program, names: tuple[str, ...]) -> bool:
    """Whether names of procedures can be known wherever one of Fortran may be used."""
    texts = [source.data for source in program.files.values()] + program.included
    used = re.compile(rb"(?i)\b(?:" + "|".join(names).encode() + rb")\b")
    return all(len(name) <= _LONGEST for name in names) and not any(map(used.search, texts))


class Halves:
    """Writes the two halves of one routine."""

    def __init__(self, program: Program, routine: Routine, beside: Sequence[Halves] = ()) -> None:
        self.program = program
        self.routine = routine
        self.source = program.files[routine.file]
        self.fortran = self.source.language is not Language.C
        self.names = (f"{routine.stem}_start", f"{routine.stem}_finish")
        self.kept: list[Variable] = []
        self.takes: list[list[Variable]] = [[], []]  # what each half is given of what is kept
        self.handed_on: dict[int, list[Variable]] = {}  # by the item whose messages take them
        self.used: list[list[int]] = [[], []]  # parameters of each half, by position
        if self.fortran:
            found = fortran_routine_text(program, routine, separate=True)
        else:
            found = c_routine_text(program, routine)
        self.span, self.lead, self.found = found.span, found.lead, found
        # In the places of the routine's own, of which `this` is one.
        self.parameters = [""] * routine.on_object + found.parameters
        self.problem: Cause | None = found.problem or member_problem(program, routine)
        number = 1
        made = {name for halves in beside for name in halves.names}
        while is_member(routine) and any(
            name in made or named_anywhere(program, name) for name in self.names
        ):
            number += 1  # other classes may have methods of such names
            self.names = (
                f"{routine.stem}_start{number}",
                f"{routine.stem}_finish{number}",
            )
        stated = routine.interface_body is not None  # in another file perhaps
        elsewhere = (routine.shares_name or stated) and not _are_free(program, self.names)
        if elsewhere or any(name.lower() in routine.taken for name in self.names):
            self.problem = ReasonKind.NAMES_TAKEN(start=self.names[0], finish=self.names[1])
        if b"imbrex_requests" in self.source.data[slice(*self.span)].lower():
            self.problem = self.problem or ReasonKind.REQUESTS_TAKEN()

    @property
    def full_names(self) -> tuple[str, str]:
        """The names of the halves with their class."""
        return self.routine.beside(self.names[0]), self.routine.beside(self.names[1])

    @staticmethod
    def extents(variable: Variable) -> list[tuple[int, int]] | None:
        """Constant bounds of each dimension, fastest first; None where one is not constant."""
        found = []
        for low, high in variable.bounds:
            if low is None or high is None or low.terms or high.terms:
                return None
            found.append((low.constant, high.constant))
        return found

    def given_out(self, file: str) -> list[Edit] | None:
        """Edits of a file's lists of names, as of `public`; None where one cannot be changed."""
        source = self.program.files[file]
        if not self.fortran or not source.is_fortran:
            return []
        names = (self.routine.plain_name,) * self.routine.stays + self.names
        return renamed_in(self.program, source, self.routine, names)

    def reachable(self, user: Routine) -> bool:
        """Whether a routine in another file can call the halves: Fortran's lists are changed."""
        caller = self.program.files[user.file]
        if self.fortran or seen_by_callers(self.program, self.routine):
            return True
        if is_member(self.routine):
            declared = declared_in_class(self.program, self.routine)
            return isinstance(declared, Declared) and declared.source.name != self.routine.file
        return "static" not in self.lead and takes_prototypes(caller) and not self.source.header

    def definition(self, schedule: Schedule, kept: list[Variable]) -> list[Edit]:
        """The two routines in the place of the one, and their prototypes in C."""
        self.kept, self.takes = kept, [kept, kept]
        transfers = [
            replace(t, status=t.status if t.status_read else None) for t in schedule.transfers
        ]
        ordered = dict(zip(map(id, schedule.transfers), transfers, strict=True))
        for number, transfer in enumerate(transfers):
            transfer.request = number
        self.count = len(transfers) + schedule.requests
        self.schedule = schedule
        if not self.fortran:
            self.handed_on = handed_on(self.program, self.routine, schedule, kept)
        text = self._text_maker(max(2, len(transfers)))
        indent = self._indent()
        guarded = [ordered[id(t)] for i in schedule.early if i.may_be_left for t in i.transfers]
        presets = [indent + self._preset(text, transfer.request) for transfer in guarded]
        waits = [indent + line for line in text.waits(transfers, indent)] if transfers else []
        halves = [
            self._half(
                number, segments(items, lambda i: self._items(i, ordered, text), first), kept
            )
            for number, items, first in ((0, schedule.early, presets), (1, schedule.late, waits))
        ]
        between = "\n\n" if self.fortran else f"\n\n{self._own_indent()}"
        edits = [Edit(self.span[0], self.span[1], between.join(halves))]
        if self.routine.stays:  # a type or a generic name needs it
            edits = [Edit(self.span[1], self.span[1], between + between.join(halves))]
        return edits + ([] if self.fortran else self._prototypes())

    def _own_indent(self) -> str:
        """The indentation of the routine itself, as within a class."""
        return indent_at(self.source.data, self.span[0])

    def in_class(self) -> dict[str, list[Edit]]:
        """The halves in the place of a method's declaration in its class, where that has one, or of
        the interface body of a procedure of Fortran that is apart from it."""
        if self.routine.interface_body is not None:
            used = [[self.parameters[i] for i in self.used[number]] for number in (0, 1)]
            requests = self.request_type(self.routine) + f" imbrex_requests({self.count})"
            return interface_bodies(
                self.program, self.routine, self.names, used, self.kept, requests * bool(self.count)
            )
        declared = declared_in_class(self.program, self.routine)
        if not isinstance(declared, Declared):
            return {}
        heads = [
            (name, self._half_parameters(number, ["", *declared.parameters], declared.source.name))
            for number, name in enumerate(self.names)
        ]
        return {declared.source.name: [declared.edit(heads, keep=False)]}

    def _text_maker(self, count: int) -> CText | FortranText:
        text: CText | FortranText = (
            FortranText(self.program, self.source, self.routine, count)
            if self.fortran
            else CText(self.source, self.routine, count)
        )
        text.name = "imbrex_requests"  # the parameter, whatever else has this name in the file
        if isinstance(text, FortranText):
            text.address = "imbrex_address"
        return text

    def _indent(self) -> str:
        first = next(s for s in self.routine.body.statements if s.kind is not Kind.DECLARE)
        return indent_at(self.source.data, first.code_start)

    def _preset(self, text: CText | FortranText, number: int) -> str:
        if self.fortran:
            return f"{text.name}({number + 1}) = MPI_REQUEST_NULL"
        return f"{text.name}[{number}] = MPI_REQUEST_NULL;"

    def _items(
        self,
        items: list[Item],
        ordered: Mapping[int, Transfer],
        text: CText | FortranText,
        depth: int = 0,
    ) -> list[str]:
        """The lines of some items that share `depth` conditionals, which are written already."""
        lines: list[str] = []
        position = 0
        while position < len(items):
            run = [items[position]]
            position += 1
            if len(run[0].path) == depth:
                lines += self._item(run[0], ordered, text)
                continue
            guard = run[0].path[depth][0]
            while (
                position < len(items)
                and len(items[position].path) > depth
                and items[position].path[depth][0] is guard
            ):
                run.append(items[position])
                position += 1
            branches: list[list[Item]] = [[] for _ in guard.blocks]
            for item in run:
                branches[item.path[depth][1]].append(item)
            texts = [self._items(branch, ordered, text, depth + 1) for branch in branches]
            lines += conditional(self.source, guard, texts)
        return lines

    def _item(
        self, item: Item, ordered: Mapping[int, Transfer], text: CText | FortranText
    ) -> list[str]:
        data = self.source.data
        statement = item.statement
        indent = indent_at(data, statement.code_start)
        one_line = False
        if item.path:
            guard, number = item.path[-1]
            one_line = not guard.blocks[number].braced
        if one_line:
            indent = indent_at(data, guard.code_start) + ("   " if self.fortran else "    ")
        if item.render is not None:
            return [indent + item.render(indent)]
        if item.only_asks:
            more = indent + ("   return" if self.fortran else "    return;")
            return ["\n".join(conditional(self.source, statement, [[more]]))]
        given = self.handed_on.get(id(item), [])
        if item.transfers:
            starts = [self._given(ordered[id(t)], given) for t in item.transfers]
            return copied(given, indent) + [indent + text.start(t, indent) for t in starts]
        behind: list[str] = []
        if id(statement) in self.schedule.waits:
            fences = text.fences(self.schedule.held, indent)
            behind = [indent + line for line in fences if not self._follows(statement, line)]
        if one_line:
            return [indent + data[statement.code_start : statement.end].decode(), *behind]
        comment = self._text_maker(2).comment_line()
        start = line_start(data, statement.start)
        start = before_comments(data, start, self.span[0], comment)
        stop = after_line(data, statement.end)
        if not first_on_line(data, statement.code_start):
            return [indent + data[statement.code_start : statement.end].decode(), *behind]
        return [*copied(given, indent), with_copies(given, data[start:stop].decode()), *behind]

    def _follows(self, statement: Statement, line: str) -> bool:
        """Whether a line stands behind a statement already, by an earlier rewrite."""
        following = self.source.data[statement.end : self.span[1]].decode(errors="replace")
        return line.strip() in [each.strip() for each in following.split("\n")[:8]]

    @staticmethod
    def _given(transfer: Transfer, variables: list[Variable]) -> Transfer:
        """A transfer of numbers that the caller has."""
        arguments = [
            replace(a, text=with_copies(variables, a.text)) for a in transfer.call.arguments
        ]
        return replace(transfer, call=replace(transfer.call, arguments=arguments))

    def _half(self, number: int, parts: list[Segment], kept: list[Variable]) -> str:
        body = "\n".join(line for part in parts for line in part.lines)
        needed = identifiers(body, fold=self.fortran)
        if self.fortran:
            needed |= {variable.name.lower() for variable in kept}
        names = [self.program.variables[key].name for key in self.routine.parameters]
        if self.fortran:
            return self._fortran_half(number, body, needed, names, kept)
        own = self._own() if number == 0 else []
        rest = [variable for variable in kept if variable not in own]
        parts = [replace(p, lines=[self._named(rest, t) for t in p.lines]) for p in parts]
        if number == 0:
            parts[-1] = replace(parts[-1], lines=[*self._begun(), *parts[-1].lines])
            parts = handed(parts, [v for v in kept if is_carried(v)], self._indent())
        body = "\n".join(line for part in parts for line in part.lines)
        needed |= identifiers(body, fold=False)
        if number:  # what messages alone use stays where the caller has it
            asked = {access.variable for i in self.schedule.late for access in i.accesses}
            named = identifiers(code_of_c(body.encode()).decode(), fold=False)
            self.takes[1] = [v for v in kept if v.key in asked or v.name in named]
        given = {v.name for v in rest if number or not is_carried(v)}
        before = c_declarations(self.source, self.routine, needed, given, self.schedule.placed)
        needed |= identifiers("\n".join(text for _, text in before), fold=False)
        first = int(self.routine.on_object)
        needed |= self._deduced(names)
        self.used[number] = [i for i, name in enumerate(names) if i >= first and name in needed]
        head, indent = self.c_head(number), self._own_indent()
        return f"{head}\n{indent}{{\n" + composed(parts, before) + f"\n{indent}}}"

    def _own(self) -> list[Variable]:
        """What the start hands on to messages, of variables that it has itself."""
        return [variable for given in self.handed_on.values() for variable in given]

    def _named(self, kept: list[Variable], text: str) -> str:
        """A text with what is kept as the caller's arrays of one."""
        return named_in_half(self.program, kept, in_half(self.program, kept, text))

    def _deduced(self, names: list[str]) -> set[str]:
        """The parameters that tell what a template is instantiated for."""
        return {
            name
            for name, text in zip(names, self.parameters, strict=True)
            if identifiers(text, fold=False) & set(self.found.template)
        }

    def _begun(self) -> list[str]:
        """What the start does in the place of declarations of what is the caller's."""
        keys = [v.key for v in self.kept if is_vector(v)]
        texts = [begun(self.program, self.routine, key) for key in keys]
        texts += begun_requests(self.program, self.routine, self.kept)
        rest = [variable for variable in self.kept if variable not in self._own()]
        texts += begun_scalars(self.program, self.routine, rest)
        return [self._indent() + text for text in texts if text is not None]

    def _half_parameters(self, number: int, given: list[str], file: str) -> list[str]:
        """The parameters of a half in a file; `given`: those of the routine in its places."""
        parameters = [given[i].strip() for i in self.used[number]]
        for variable in self.takes[number]:
            own = variable in self._own()
            result = (is_carried(variable) or own) and number == 0
            name = f"*imbrex_{variable.name}" if result else variable.name
            name = f"&{name}" if is_vector(variable) else name
            bounds = "" if result else self.c_bounds(variable, file)
            parameters.append(f"{typed(variable, name)}{bounds}")
        return parameters + (["MPI_Request *imbrex_requests"] if self.count else [])

    def c_head(self, number: int, file: str = "") -> str:
        """The head of a half, which is written already, for a file: its own without one."""
        file = file or self.routine.file
        parameters = ", ".join(self._half_parameters(number, self.parameters, file))
        found, indent = self.found, self._own_indent()
        text = f"{self.lead}{found.scope}{self.names[number]}({parameters}){found.tail}"
        return wrapped(Language.C, " ".join(text.split()), len(indent), f"{indent}   ")

    def c_bounds(self, variable: Variable, file: str) -> str:
        """The bounds of what is kept; with its macros where these are at hand in the file."""
        if file == self.routine.file:
            body = self.source.data[slice(*self.span)].decode(errors="replace")
            said = re.search(rf"\b{variable.name}((?:[ ]?\[[^\[\]\n]+\])+)\s*[;,=]", body)
            named = identifiers(said[1], fold=False) if said else set()
            if said and named and all(self._is_macro(name) for name in named):
                return said[1].replace(" [", "[")
        extents = self.extents(variable) or []
        return "".join(f"[{high + 1}]" for _, high in reversed(extents))

    def _is_macro(self, name: str) -> bool:
        """Whether it is one from before the routine's first mention to the end of the file."""
        said = rb"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+%s\b" % name.encode()
        own = re.search(rb"\b%s\s*\(" % self.routine.plain_name.encode(), self.source.data)
        found = [match.start() for match in re.finditer(said, self.source.data)]
        return len(found) == 1 and own is not None and found[0] < own.start()

    def _prototypes(self) -> list[Edit]:
        """Beside each prototype in the file, those of the halves in its place."""
        if is_member(self.routine):
            return []
        pattern = re.compile(
            rb"(?m)^(?:(?:static|extern)\s+)*void\s+"
            + self.routine.plain_name.encode()
            + rb"\s*\([^;{}]*\)\s*;"
        )
        text = "\n".join(f"{self.c_head(number)};" for number in (0, 1))
        return [Edit(m.start(), m.end(), text) for m in pattern.finditer(self.source.data)]

    def _fortran_half(
        self, number: int, body: str, needed: set[str], names: list[str], kept: list[Variable]
    ) -> str:
        data = self.source.data
        views = [line for name, line in self.routine.views.items() if name in needed]
        body = "\n".join([*(self._indent() + line for line in views), body])
        needed = needed | identifiers("\n".join(views), fold=True)
        needed |= stated_names(self.program, self.routine, needed)
        end = data.find(b"\n", self.routine.declare_after)
        lines, used = fortran_specification(
            self.source,
            self.span[0],
            end,
            needed,
            [name.lower() for name in names],
            stated_lines(self.program, self.routine, self._declaration_indent()),
        )
        self.used[number] = [i for i, name in enumerate(names) if name.lower() in used]
        if number:  # what the start has set, and messages since, stays
            lines = [_OUT.sub("intent(inout)", line) for line in lines]
        unsized = [variable for variable in kept if self.unsized(variable)]
        lines, allocated = allocating(lines, unsized, self._declaration_indent(), start=number == 0)
        body = "\n".join([*(self._indent() + line for line in allocated), body])
        indent = indent_at(data, self.span[0])
        arguments = [names[i] for i in self.used[number]] + [v.name for v in kept]
        prefix = "module " if self.routine.interface_body is not None else ""
        head = f"{indent}{prefix}subroutine {self.names[number]}("
        arguments += ["imbrex_requests"] if self.count else []
        text = ", ".join(arguments) + ")"
        inner = self._declaration_indent()
        if self.count:
            lines.append(f"{inner}{self.request_type(self.routine)} imbrex_requests({self.count})")
        declared = any(_ADDRESS.search(line) for line in lines)  # of an earlier rewrite
        if _ADDRESS.search(body) and not declared:
            colons = "" if self.source.language is Language.FORTRAN_FIXED else ":: "
            lines.append(f"{inner}integer(kind=MPI_ADDRESS_KIND) {colons}imbrex_address")
        last = data[line_start(data, self.span[1] - 1) : self.span[1]].decode()
        last = re.sub(r"(?i)\bprocedure\b", "subroutine", last)
        last = re.sub(rf"(?i)\b{self.routine.plain_name}\b", self.names[number], last)
        first = indent + wrapped(self.source.language, head.strip() + text, len(indent), indent)
        return "\n".join([first, *lines, "", body, last])

    def allocates(self, variable: Variable) -> bool:
        """Whether the start can be given an array of no fixed size to allocate."""
        end = self.source.data.find(b"\n", self.routine.declare_after)
        lines = self.source.data[self.span[0] : end].decode(errors="replace").split("\n")
        return without_entity(lines, variable.name) is not None

    def unsized(self, variable: Variable) -> bool:
        """Whether the caller has an allocatable array in its place."""
        return bool(variable.bounds) and self.extents(variable) is None

    def _declaration_indent(self) -> str:
        indent = indent_at(self.source.data, max(self.routine.declare_after - 1, 0))
        fixed = self.source.language is Language.FORTRAN_FIXED
        return indent if not fixed or len(indent) >= 6 else " " * 6

    def request_type(self, routine: Routine) -> str:
        fixed = self.program.files[routine.file].language is Language.FORTRAN_FIXED
        kind = "type(MPI_Request)" if self.routine.interface == "mpi_f08" else "integer"
        return kind if fixed else f"{kind} ::"
