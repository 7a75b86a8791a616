"""What may still be set once a statement has run, anywhere in a program of which all is seen.

That is what stands behind it in its routine, all of the loops around it, what its callers do behind
their calls, and whatever routine one of these statements may call.
"""

from __future__ import annotations

from collections.abc import Iterable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.setters import Setters
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_JUMPS = frozenset({ReasonKind.C_GOTO, ReasonKind.GO_TO, ReasonKind.ARITHMETIC_IF})
# Why nothing moves over a statement of C of which all is known that it sets.
_READ = frozenset(
    {
        *(ReasonKind.LABEL, ReasonKind.CASE_LABEL, ReasonKind.C_GOTO),
        *(ReasonKind.VOLATILE, ReasonKind.CALL_OF, ReasonKind.CALL_UNREAD),
    }
)


class Region:
    """Routines that may run, and statements of others."""

    def __init__(self) -> None:
        self.routines: set[str] = set()
        self.statements: set[int] = set()
        self.everything = False


class Afterwards:
    """Which variables may be set behind statements."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program: Program = footprints.program
        self.setters = Setters(footprints.program, footprints)
        self.opaque = self._is_opaque()
        self._regions: dict[int, Region] = {}

    def may_change(self, routine: Routine, statement: Statement, keys: Iterable[str]) -> set[str]:
        """Those of some variables that may be set by what runs behind a statement, or by it."""
        region = self._region(routine, statement)
        return {key for key in keys if key and self._may_be_set(region, key)}

    def set_within(self, routine: Routine, keys: Iterable[str]) -> set[str]:
        """Those of some variables that a call of a routine may set."""
        region = Region()
        region.everything = self.opaque
        region.routines = set(self.setters.reached(routine))
        return {key for key in keys if key and self._may_be_set(region, key)}

    def _may_be_set(self, region: Region, key: str) -> bool:
        """Whether statements of a region may set a variable; what is no variable may change."""
        if key not in self.program.variables or region.everything:
            return True
        aliases = self.footprints.aliases
        if key in aliases.escaped or key in self.setters.set_later or key in self.program.overlays:
            return True
        return any(
            where.key in region.routines or id(statement) in region.statements
            for where, statement in self.setters.setting(key)
        )

    def _is_opaque(self) -> bool:
        """Whether some of the program's statements may set more than is seen of them."""
        if self.footprints.unseen is not None:
            return True
        for routine in self.program.routines.values():
            source = self.program.files.get(routine.file)
            fortran = source is not None and source.is_fortran
            for statement in routine.statements():
                stop = statement.stop
                if fortran or stop is None or "#pragma" in stop.text:
                    continue
                if stop.kind not in _READ:
                    return True
        return False

    def _region(self, routine: Routine, statement: Statement) -> Region:
        known = self._regions.get(id(statement))
        if known is None:
            known = self._regions[id(statement)] = Region()
            known.everything = self.opaque
            self._add(known, routine, statement, set())
            # What a pointer calls may run at any time.
            for other in self.program.routines.values():
                if other.address_taken:
                    known.routines |= self.setters.reached(other)
        return known

    def _add(
        self, region: Region, routine: Routine, statement: Statement, inside: set[str]
    ) -> None:
        """Take in what runs behind a statement, where it stands and behind calls of its routine."""
        region.statements.add(id(statement))
        jumps = any(
            each.stop is not None and each.stop.kind in _JUMPS for each in routine.statements()
        )
        inner: Statement | None = statement
        while inner is not None and inner.parent is not None:
            siblings = inner.parent.statements
            owner = inner.parent.owner
            self._run(region, routine, siblings[siblings.index(inner) + 1 :])
            if owner is not None and (jumps or owner.kind is Kind.LOOP):
                self._run(region, routine, [owner])
            inner = owner
        if jumps:
            self._run(region, routine, routine.body.statements)
        if routine.key == "main" or routine.key in inside:
            return
        calls = self.setters.callers.get(routine.key, [])
        region.everything = region.everything or routine.address_taken or not calls
        for user, call in calls:
            self._add(region, user, call, inside | {routine.key})

    def _run(self, region: Region, routine: Routine, statements: list[Statement]) -> None:
        for outer in statements:
            for each in outer.walk():
                region.statements.add(id(each))
                for call in each.calls:
                    callee = self.program.callee(call.name, routine.file)
                    if callee is not None:
                        region.routines |= self.setters.reached(callee)
