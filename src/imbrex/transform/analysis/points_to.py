"""Which objects a pointer may point to: inclusion constraints, solved to a fixed point.

A cell is a variable, a field of a structure type, an allocation, or `*p`, the contents of what
`p` points to. An object that unknown code can reach may hold a pointer to anything such code can
reach: the object `external`. Flow and calling context are ignored, which only adds aliases.
Assumes that the program keeps to the language's rules on the types of objects.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program

EXTERNAL = "external"


def called_by(cell: str) -> str:
    """The routine that `argument:NAME:POSITION` is an argument of; a name may hold colons."""
    return cell.removeprefix("argument:").rpartition(":")[0]


class PointsTo:
    """The objects whose addresses each cell may hold."""

    def __init__(self, program: Program, known: frozenset[str]) -> None:
        """`known`: routines whose treatment of their arguments is known without their source."""
        self.program = program
        self.known = known
        # Further routines of C's libraries, which know nothing of the program by its name.
        self.outside: frozenset[str] = frozenset()
        # Calls through pointers call the program's own routines, unless that turns out wrong.
        self._start(inside=bool(program.called_cells) and program.has_main)
        if self.inside and not self._calls_stay_inside():
            self._start(inside=False)

    def _start(self, *, inside: bool) -> None:
        self.inside = inside
        self.facts = [*self.program.pointer_facts, *sorted(self.program.record_facts)]
        self._close_world(self.known)
        self.cells: dict[str, set[str]] = defaultdict(set)
        self.escaped: set[str] = set()
        self._solve()

    def _calls_stay_inside(self) -> bool:
        own = {f"function:{name}" for name in self.program.routines}
        addressed = {source for target, _, source in self.facts if target == "address"}
        held = [self.pointees(c) for c in self.program.called_cells if c != UNKNOWN_MEMORY]
        known = len(held) == len(self.program.called_cells) and addressed <= own
        return known and all(functions and functions <= own for functions in held)

    @cached_property
    def never_given(self) -> frozenset[str]:
        """The parameters of functions of C that nothing calls: no value is ever in one."""
        program = self.program
        problems = any(routine.problem for routine in program.routines.values())
        if not program.is_whole or program.unread_code or problems or self._calls_unseen():
            return frozenset()
        alone = {
            routine.name: routine
            for routine in program.routines.values()
            if routine.name != "main" and routine.scope is None and program.in_c(routine.file)
            if not routine.address_taken and "operator" not in routine.name
        }
        running = [routine for routine in program.routines.values() if routine.name not in alone]
        while running:
            for statement in running.pop().statements():
                for call in statement.calls:
                    called = alone.pop(call.name, None)
                    running += [] if called is None else [called]
        return frozenset(key for routine in alone.values() for key in routine.parameters)

    def _calls_unseen(self) -> bool:
        """Whether code is called that is not at hand, which may call any function by its name."""
        names = {call.name for call in self.program.calls() if not call.unknown}
        names -= self.known | self.outside | self.program.routines.keys()
        return any(not name.startswith("MPI_") for name in names)

    def _across_languages(self) -> set[str]:
        """The routines that another language calls: as good as those whose address is taken."""
        program = self.program
        if len({source.is_fortran for source in program.files.values()}) < 2:
            return set()
        named = {
            (c.name, u.file)
            for u in program.routines.values()
            for s in u.statements()
            for c in s.calls
        }
        found = (program.called_across(name, file) for name, file in named)
        return {routine.name for routine in found if routine is not None}

    def _close_world(self, known: frozenset[str]) -> None:
        """Add what code outside the files may do."""
        routines = self.program.routines
        addressed = {source for target, _, source in self.facts if target == "address"}
        extra = []
        for target, form, source in self.facts:
            if target.startswith("argument:"):
                name = called_by(target)
                if name == "?" and self.inside:
                    continue
                if name not in routines and name not in known:
                    extra.append(("escape", form, source))
        across = self.program.across = self._across_languages()
        for routine in routines.values():
            taken = f"function:{routine.name}" in addressed
            routine.address_taken = taken or routine.name in across
            open_to_others = routine.visible and not self.program.has_main
            outside = routine.address_taken and not self.inside
            if open_to_others or outside or routine.name == "main":
                extra += [(key, "addr", EXTERNAL) for key in routine.parameters]
            if routine.address_taken:
                extra += [
                    (key, "copy", f"argument:?:{position}")
                    for position, key in enumerate(routine.parameters)
                ]
        returned = {
            source
            for _, form, source in self.facts
            if form == "copy" and source.startswith("return:")
        }
        extra += [
            (source, "addr", EXTERNAL)
            for source in returned
            if source.removeprefix("return:") not in routines
        ]
        for key, variable in self.program.variables.items():
            if variable.kind == "global" and not self.program.has_main:
                extra.append((key, "addr", EXTERNAL))
        self.facts += extra

    def _solve(self) -> None:
        facts = set(self.facts)
        changed = True
        while changed:
            changed = False
            for target, form, source in facts:
                values = {source} if form == "addr" else self.pointees(source)
                for cell in self._targets(target):
                    held = self.cells[cell]
                    if not values <= held:
                        held |= values
                        changed = True
            if self._escape():
                changed = True

    def _targets(self, cell: str) -> list[str]:
        if not cell.startswith("*"):
            return [cell]
        return list(self.pointees(cell[1:]))

    def _escape(self) -> bool:
        """Whatever unknown code can reach may come to hold anything such code can reach."""
        reachable = set(self.cells["escape"]) | self.cells[EXTERNAL]
        if not self.program.has_main:
            reachable |= {k for k, v in self.program.variables.items() if v.kind == "global"}
        reachable |= self._given_away()
        fields = self._fields_inside()
        work = [*reachable, EXTERNAL]
        while work:
            item = work.pop()
            for inner in (self.cells[item] | fields.get(item, set())) - reachable:
                reachable.add(inner)
                work.append(inner)
        reachable.discard(EXTERNAL)
        for item in list(reachable):
            routine = self.program.routines.get(item.removeprefix("function:"))
            if item.startswith("function:") and routine is not None:
                reachable |= set(routine.parameters)
        grown = not reachable <= self.escaped
        self.escaped |= reachable
        for cell in reachable:
            if EXTERNAL not in self.cells[cell]:
                self.cells[cell].add(EXTERNAL)
                grown = True
        return grown

    def _fields_inside(self) -> dict[str, set[str]]:
        """The fields that may lie in an object: who reaches the one reaches the others."""
        found: dict[str, set[str]] = {}
        for record, fields in self._fields.items():
            for item in self.cells.get(f"record:{record}", ()):
                found.setdefault(item, set()).update(fields)
        return found

    @cached_property
    def _fields(self) -> dict[str, set[str]]:
        """The fields of each structure type."""
        found: dict[str, set[str]] = {}
        for key, variable in self.program.variables.items():
            if variable.kind == "field":
                found.setdefault(variable.record, set()).add(key)
        return found

    def _given_away(self) -> set[str]:
        """Functions passed to library routines, which may call them."""
        found = set()
        for cell in list(self.cells):
            if cell.startswith("argument:") and called_by(cell) not in self.program.routines:
                if cell.startswith("argument:?:"):
                    continue
                found |= {item for item in self.cells[cell] if item.startswith("function:")}
        return found

    def pointees(self, cell: str) -> set[str]:
        """Objects that the pointer held in `cell` may point to."""
        if cell.startswith("*"):
            found: set[str] = set()
            for owner in self.pointees(cell[1:]):
                found |= self.cells[owner]
            if EXTERNAL in self.pointees(cell[1:]):
                found.add(EXTERNAL)
            return found
        return self.cells[cell]
