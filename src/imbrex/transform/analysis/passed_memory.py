"""Whether a compiler of Fortran must expect a call to change what messages use until its end.

It may keep in registers over a call what it is not given, and change what it is given to read only
some time later. So what ends messages of other calls must name their memory, as a fence does, or it
must be memory of a module or of COMMON, which any routine may name.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle
from imbrex.transform.analysis.places import Place, Places
from imbrex.transform.analysis.requests import started
from imbrex.transform.analysis.transfer import data_accesses
from imbrex.transform.model.affine import Range
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


class PassedMemory:
    """Asks of statements that end messages which others have begun."""

    def __init__(self, footprints: Footprints, places: Places) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.places = places

    def of(
        self, routine: Routine, end: Statement, begun: list[Handle], accesses: list[Access]
    ) -> list[Access] | None:
        """What messages use until a statement that other statements begin; None if it is not given.

        `accesses`: all that these touch.
        """
        data: list[Access] = []
        for start in begun:
            transfer = started(start.call)
            if transfer is None:
                return None
            data += data_accesses(self.program, transfer)
        bases = [self.program.variables.get(access.variable) for access in data]
        if any(base is None or not (base.bounds or base.kind == "global") for base in bases):
            return None  # of scalars it is not told apart what else reads them
        used = [self.places.of(access.variable, access.through) for access in data]
        found = [access for access in accesses if self._meets(access, used)]
        named = {
            (a.variable, a.through, a.owner) for a in self.footprints.of(end, routine.file).accesses
        }
        for access in found:
            if self._is_known_anywhere(access):
                continue
            if (access.variable, access.through, access.owner) not in named:
                return None
            changing = self._may_change(routine, end, access.variable, access.owner)
            if access.write and not (changing or self._is_given(routine, end, access)):
                return None
        return found

    def _is_known_anywhere(self, access: Access) -> bool:
        variable = self.program.variables.get(access.owner or access.variable)
        return variable is not None and variable.kind == "global"

    def _meets(self, access: Access, used: list[frozenset[Place] | None]) -> bool:
        place = (access.variable, access.through)
        return any(places is None or self.places.share(places, place) for places in used)

    def _is_given(self, routine: Routine, end: Statement, access: Access) -> bool:
        """Whether one argument is just what an access touches, whatever the others are of it."""
        if access.owner or access.section is None:
            return False
        for call in end.calls:
            callee = self.program.callee(call.name, routine.file)
            if callee is None:
                continue
            binding = self.footprints.binding(call, callee)
            given = zip(callee.parameters, call.arguments, strict=False)
            for position, (key, argument) in enumerate(given):
                parameter = self.program.variables.get(key)
                if argument.base != access.variable or parameter is None or parameter.only_read:
                    continue
                whole = tuple(Range(low, high) for low, high in parameter.bounds)
                mine = binding.access(Access(key, access.through, True, call.line, whole), position)
                if mine.section == access.section and all(
                    self._may_change(callee, each, key, "") for each in callee.statements()
                ):
                    return True
        return False

    def _may_change(
        self, routine: Routine, statement: Statement, variable: str, owner: str
    ) -> bool:
        """Whether no routine on the way says that it only reads what it is given."""
        for call in statement.calls:
            callee = self.program.callee(call.name, routine.file)
            if callee is None or call.name.startswith("MPI_"):
                continue
            for key, argument in zip(callee.parameters, call.arguments, strict=False):
                whole = bool(owner) and argument.base == owner
                if argument.base != variable and not whole:
                    continue
                parameter = self.program.variables.get(key)
                if parameter is None or parameter.only_read:
                    return False
                inner = (variable, key) if whole else (key, "")
                statements = callee.statements()
                if not all(self._may_change(callee, each, *inner) for each in statements):
                    return False
        return True
