"""What callers of a divided routine get: calls of its halves, and what they declare for these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Statement
from imbrex.transform.text.braces import can_be_braced, closing, opening
from imbrex.transform.text.conditionals import guarded_again, indented
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.given_out import imported
from imbrex.transform.text.halves import Halves, is_carried, typed
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.text.members import is_member, object_of
from imbrex.transform.text.placing import behind, in_front, in_place, left_out
from imbrex.transform.text.wrapping import wrapped

_REQUEST = re.compile(r"(?i)type\s*\(\s*mpi_request\s*\)")


@dataclass(frozen=True, slots=True)
class Finish:
    """The call of a half, which stands on the condition that an `if` has for it."""

    place: int  # where the call was
    text: str
    statement: Statement  # the call, or the `if`
    inside: Statement | None  # the call in the `if`


def finished(source: SourceFile, halves: Sequence[Finish]) -> list[str]:
    """The lines of halves, with one condition for those behind each other that share it."""
    lines: list[str] = []
    position = 0
    while position < len(halves):
        one = halves[position]
        run = [one]
        while position + len(run) < len(halves):
            following = halves[position + len(run)]
            if one.inside is None or following.statement is not one.statement:
                break
            run.append(following)
        position += len(run)
        texts = [half.text for half in run]
        if one.inside is not None:
            inner = indented(source, texts)
            texts = guarded_again(source, one.statement, one.inside, inner)
        lines += texts
    return lines


class HalfCalls:
    """Writes the calls of a routine's halves, which are written already."""

    def __init__(self, halves: Halves, beside: Sequence[HalfCalls] = ()) -> None:
        self.halves = halves
        self.beside = beside  # those of other routines, written at the same time
        self.declared: dict[str, set[str]] = {}  # by caller
        self.program, self.routine = halves.program, halves.routine
        self.fortran = halves.fortran

    def _own(self, user: Routine, name: str) -> str:
        declared = set().union(*(calls.declared.get(user.key, set()) for calls in self.beside))
        own = self.routine.stem
        candidate, number = f"{own}_{name}", 2
        while candidate.lower() in user.taken or candidate.lower() in declared:
            candidate, number = f"{own}_{name}{number}", number + 1
        self.declared.setdefault(user.key, set()).add(candidate.lower())
        return candidate

    def _kept(self, user: Routine, variable: Variable, slot: int) -> str:
        """The caller's variable for one that is kept, of a slot."""
        if not slot:
            return self._own(user, variable.name)
        # No number makes it another one that is kept: of `r` and `r2` there are `r_2` and `r2_2`.
        names = [each.name for each in self.halves.kept]
        name = variable.name + ("_" if any(other[-1].isdigit() for other in names) else "")
        while any(re.fullmatch(rf"(?i){re.escape(name)}\d+", other) for other in names):
            name += "_"
        return self._own(user, f"{name}{slot + 1}")

    def _passed(self, user: Routine, variable: Variable, number: int, slot: int) -> str:
        """The same as an argument of a half."""
        name = self._kept(user, variable, slot)
        result = not self.fortran and is_carried(variable) and number == 0
        return f"&{name}" if result else name

    def _array(self, user: Routine) -> str:
        """The caller's array of requests; none that the routine had itself has its name."""
        kept = {variable.name.lower() for variable in self.halves.kept}
        return self._own(user, "new_requests" if "requests" in kept else "requests")

    def _requests(self, user: Routine, slot: int) -> str:
        name, first = self._array(user), self.halves.count * slot
        if not slot:
            return name
        return f"{name}({first + 1})" if self.fortran else f"&{name}[{first}]"

    def call(self, number: int, user: Routine, call: Call, own: list[str], indent: str) -> str:
        """A call of one half in the place of a call of the routine."""
        passed = self._arguments(number, call, own)
        on = object_of(self.program, user, self.routine, call)
        text = f"{on or ''}{self.halves.names[number]}({', '.join(passed)})"
        text = f"call {text}" if self.fortran else text + ";"
        return wrapped(self.program.files[user.file].language, text, len(indent), indent)

    def _arguments(self, number: int, call: Call, own: list[str]) -> list[str]:
        """The arguments of a half; all have names in Fortran behind one that is left out."""
        names = [self.program.variables[key].name for key in self.routine.parameters]
        mine = [variable.name for variable in self.halves.takes[number]]
        mine += ["imbrex_requests"] if self.halves.count else []
        passed: list[str] = []
        by_name = False
        for position in self.halves.used[number]:
            given = call.arguments[position] if position < len(call.arguments) else None
            if given is None or given.absent:
                by_name = True
                continue
            by_name |= bool(given.keyword)
            text = given.text.strip()
            passed.append(f"{given.keyword or names[position]}={text}" if by_name else text)
        return passed + [f"{a}={b}" if by_name else b for a, b in zip(mine, own, strict=True)]

    def half(
        self, number: int, user: Routine, call: Call, kept: list[Variable], slot: int, indent: str
    ) -> str:
        taken = [variable for variable in kept if variable in self.halves.takes[number]]
        own = [self._passed(user, variable, number, slot) for variable in taken]
        own += [self._requests(user, slot)] if self.halves.count else []
        return indent + self.call(number, user, call, own, indent)

    def start(
        self,
        user: Routine,
        statement: Statement,
        inside: Statement | None,
        call: Call,
        kept: list[Variable],
        slot: int,
    ) -> list[Edit]:
        """The call as its start alone; `inside`: the call, where the statement is an `if`."""
        return self._instead(user, statement, inside, call, (kept, slot), (0,))

    def _instead(
        self,
        user: Routine,
        statement: Statement,
        inside: Statement | None,
        call: Call,
        given: tuple[list[Variable], int],
        halves: tuple[int, ...],
    ) -> list[Edit]:
        """Halves in the place of the call, itself or within its `if`."""
        source = self.program.files[user.file]
        place = inside or statement
        block = place.parent
        assert block is not None
        whole = inside is not None and source.is_fortran and not block.braced
        indent = indent_at(source.data, (statement if whole else place).code_start)
        kept, slot = given
        lines = [self.half(number, user, call, kept, slot, indent) for number in halves]
        if whole:
            every = [Finish(call.start, line, statement, inside) for line in lines]
            return [in_place(source, statement, "\n".join(finished(source, every)))]
        if len(lines) == 1 and not first_on_line(source.data, place.code_start):
            return [Edit(place.code_start, place.end, lines[0].lstrip())]
        if block.braced or len(lines) == 1:
            return [in_place(source, place, "\n".join(lines))]
        if can_be_braced(source, block):
            edits = [opening(source, block), in_place(source, place, "\n".join(lines))]
            return [*edits, closing(source, block)]
        text = "\n".join(["{", *indented(source, lines), f"{indent}}}"])
        return [Edit(place.code_start, place.end, text)]

    def use(
        self,
        user: Routine,
        statement: Statement,
        inside: Statement | None,
        call: Call,
        block: Block,
        places: tuple[int, int],
        interior: str,
        kept: list[Variable],
        slot: int,
        joining: Sequence[Finish] = (),
    ) -> list[Edit]:
        """The call as two, each at its place in the block, with the requests of one slot.

        `inside`: the call, where the statement is an `if`. `joining`: the finishes of other calls,
        which stand in front of this one's.
        """
        source = self.program.files[user.file]
        indent = indent_at(source.data, statement.code_start)
        index = block.statements.index(statement)
        first, last = places
        halves = [self.half(number, user, call, kept, slot, indent) for number in (0, 1)]
        start, finish = (Finish(call.start, half, statement, inside) for half in halves)
        ends = [interior] if interior else []
        ends += finished(source, [*sorted(joining, key=lambda each: each.place), finish])
        if first == index:
            if last == index and inside is None and block.braced:
                return [in_place(source, statement, "\n".join([start.text, *ends]))]
            if last == index and not (interior or joining):
                return self._instead(user, statement, inside, call, (kept, slot), (0, 1))
            edits = self._instead(user, statement, inside, call, (kept, slot), (0,))
            return [*edits, behind(source, block.statements[last], "\n".join(ends))]
        ahead = "\n".join(finished(source, [start]))
        edits = [in_front(source, block.statements[first].start, ahead)]
        if last == index:
            return [*edits, in_place(source, statement, "\n".join(ends))]
        edits.append(left_out(source, statement))
        return [*edits, behind(source, block.statements[last], "\n".join(ends))]

    def declarations(self, user: Routine, kept: list[Variable], slots: int) -> list[Edit]:
        """Requests of each slot, and arrays that the wrapper had for itself, in a caller."""
        source = self.program.files[user.file]
        edits = []
        lines = (
            self._of_fortran(user, kept, slots) if self.fortran else self._of_c(user, kept, slots)
        )
        if not lines:
            return self.known_in(user)
        data = source.data
        if self.fortran and user.interface != "mpi_f08" and _REQUEST.search("\n".join(lines)):
            edits.append(imported(source, user, "mpi_f08", ("MPI_Request",)))
        if user.declare_after >= 0:
            last = line_start(data, user.declare_after - 1)
            indent = indent_at(data, last)
            if source.language is Language.FORTRAN_FIXED and len(indent) < 6:
                indent = " " * 6
            offset = data.find(
                b"\n", user.declare_after - 1 if self.fortran else user.declare_after
            )
            if not self.fortran:
                offset = after_line(data, user.declare_after)
            edits.append(Edit(offset, offset, "".join(f"\n{indent}{line}" for line in lines)))
        else:
            indent = indent_at(data, user.first_executable)
            text = "\n".join(f"{indent}{line}" for line in lines)
            edits.append(in_front(source, user.first_executable, text))
        return edits + self.known_in(user)

    def _of_fortran(self, user: Routine, kept: list[Variable], slots: int) -> list[str]:
        halves = self.halves
        lines = []
        if halves.count:
            requests = self._array(user)
            lines.append(f"{halves.request_type(user)} {requests}({halves.count * slots})")
        fixed = self.program.files[user.file].language is Language.FORTRAN_FIXED
        for variable, slot in product(kept, range(slots)):
            name = self._kept(user, variable, slot)
            if halves.unsized(variable):
                bounds = ", ".join(":" for _ in variable.bounds)
                lines.append(f"{variable.element}, allocatable :: {name}({bounds})")
                continue
            bounds = ", ".join(f"{a}:{b}" for a, b in halves.extents(variable) or [])
            name += f"({bounds})" if bounds else ""
            lines.append(f"{variable.element}{'' if fixed else ' ::'} {name}")
        return lines

    def _of_c(self, user: Routine, kept: list[Variable], slots: int) -> list[str]:
        halves = self.halves
        requests = self._array(user)
        lines = [f"MPI_Request {requests}[{halves.count * slots}];"] if halves.count else []
        for variable, slot in product(kept, range(slots)):
            declared = typed(variable, self._kept(user, variable, slot))
            lines.append(f"{declared}{halves.c_bounds(variable, user.file)};")
        return lines

    def known_in(self, user: Routine) -> list[Edit]:
        """Prototypes of the halves in the file of a caller, where that is another one."""
        edits: list[Edit] = []
        data = self.program.files[user.file].data
        if is_member(self.routine) or self.halves.source.header:
            return edits
        if not self.fortran and user.file != self.routine.file:
            includes = list(re.finditer(rb"(?m)^[ \t]*#[ \t]*include[^\n]*\n", data))
            offset = includes[-1].end()
            text = "\n".join(f"{self.halves.c_head(number, user.file)};" for number in (0, 1))
            edits.append(Edit(offset, offset, f"\n{text}\n"))
        return edits
