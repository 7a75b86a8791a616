"""Whether a variable or a field is ever asked for before a certain statement has set it."""

from __future__ import annotations

from imbrex.transform.analysis.allocators import routine_of
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.setters import Setters
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_SHARED = frozenset({"global", "static"})
_BEGINNING = frozenset({"MPI_Init", "MPI_Init_thread"})


class FirstValues:
    """What holds of the values that objects have at first: 0 of static memory, else none."""

    def __init__(self, program: Program, footprints: Footprints, setters: Setters) -> None:
        self.program = program
        self.footprints = footprints
        self.setters = setters

    def never_read(self, routine: Routine, statement: Statement, owner: str, key: str) -> bool:
        """Whether no object is read that has its first value, 0, still."""
        variable = self.program.variables[key]
        source = self.program.files.get(routine.file)
        if variable.kind == "field" and source is not None and source.is_fortran:
            if not variable.begun:
                return True
            single = not owner and self.program.is_of_single(key)
            return single and self._before_all(routine, statement, key)
        if not owner:
            return self._before_all(routine, statement, key)
        empty = {
            item
            for item in self.footprints.aliases.records.enclosing(key)
            if not self._without_value(routine, statement, owner, key, item)
        }
        if not empty:
            return True
        alone = empty == {owner} or empty == self.footprints.aliases.pointees(owner)
        objects = [self.program.variables.get(item) for item in empty]
        single = len(objects) == 1 and objects[0] is not None and not objects[0].bounds
        static = single and objects[0] is not None and objects[0].kind in _SHARED
        return alone and static and self._before_all(routine, statement, key)

    def _without_value(
        self, routine: Routine, statement: Statement, owner: str, key: str, item: str
    ) -> bool:
        """Whether nothing valid reads the field of an object before the statement sets it."""
        variable = self.program.variables.get(item)
        if variable is None:
            return False
        if variable.kind == "local":
            return True  # a declaration with a value would be among what sets its fields
        if variable.kind != "heap":
            return False
        allocator = routine_of(item)
        if allocator:
            own = self.footprints.aliases.pointees(f"return:{allocator}")
            each = (self._without_value(routine, statement, owner, key, i) for i in own)
            return bool(own) and all(each)
        file, _, offset = item.removeprefix("heap:").rpartition(":")
        at = int(offset)
        data = self.program.files[file].data if file in self.program.files else b""
        if data[at:].startswith(b"malloc"):
            return True
        statements = statement.parent.statements if statement.parent is not None else []
        for index, made in enumerate(statements[: statements.index(statement)]):
            if made.start <= at < made.end and file == routine.file:
                sets = any(a.variable == owner and a.write and not a.through for a in made.accesses)
                behind = statements[index + 1 : statements.index(statement)]
                return sets and self.setters.passable(routine, behind, owner, key)
        return False

    def _before_all(self, routine: Routine, statement: Statement, key: str) -> bool:
        """Whether each run of the program comes to a statement before anything asks for `key`."""
        block = statement.parent
        assert block is not None
        if block is not routine.body:
            return False
        here = block.statements[: block.statements.index(statement)]
        if not self._ask_not(routine, here, key):
            return False
        if routine.name == "main" or routine.key == "main":
            return True
        calls = [
            (user, inner)
            for user in self.program.routines.values()
            for inner in user.statements()
            for call in inner.calls
            if call.name == routine.name
        ]
        if len(calls) != 1 or routine.address_taken:
            return False
        user, inner = calls[0]
        return inner.kind in (Kind.SIMPLE, Kind.DECLARE) and self._before_all(user, inner, key)

    def _ask_not(self, routine: Routine, statements: list[Statement], key: str) -> bool:
        for statement in statements:
            if statement.calls and {call.name for call in statement.calls} <= _BEGINNING:
                continue
            found = self.footprints.of(statement, routine.file)
            if found.jumps - {"return"} or found.leaves:
                return False
            if found.stop and not self.setters.passable(routine, [statement], "", key):
                return False
            if self.setters.touches(found.accesses, key, statement):
                return False
        return True
