"""Local pointers that are other names of memory which callers of the routine know as well.

`double *u = f.data();` in a routine that is given `f`: what it touches through `u` are elements of
the caller's vector. That holds where the pointer is set at its declaration alone, and the routine
changes nothing that it was set from.
"""

from __future__ import annotations

from collections.abc import Set

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.memory import Access, Meant
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind

_MOST = 4  # pointers that are set from each other


class LocalPointers:
    """What the pointers that routines declare are set to, for good."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[str, dict[str, Meant]] = {}
        self._addressed: frozenset[str] | None = None

    def meant(self, routine: Routine, access: Access, changed: Set[str]) -> Access:
        """An access through such a pointer as one to the memory that it names, else the access.

        `changed`: what may have changed when the routine returns.
        """
        for _ in range(_MOST):
            if not access.through or access.variable not in self.program.meant:
                break
            fixed = self.fixed(routine)
            meant = fixed.get(access.variable)
            if meant is None or ({meant.variable, meant.owner} & changed) - fixed.keys():
                break
            access = self._there(access, meant)
        return access

    def fixed(self, routine: Routine) -> dict[str, Meant]:
        """The pointers of a routine that keep what they are declared with."""
        found = self._known.get(routine.key)
        if found is None:
            found = self._known[routine.key] = self._find(routine)
        return found

    def _find(self, routine: Routine) -> dict[str, Meant]:
        known = self.program.meant
        counts: dict[str, int] = {}
        declared: set[str] = set()
        for statement in routine.statements():
            for access in statement.accesses:
                if access.write and not access.through and access.variable in known:
                    counts[access.variable] = counts.get(access.variable, 0) + 1
                    if statement.kind is Kind.DECLARE:
                        declared.add(access.variable)
            for call in statement.calls:
                for argument in call.arguments:
                    if argument.base in known and not argument.through:
                        counts[argument.base or ""] = 2  # its address is given away
        if self._addressed is None:
            facts = self.program.pointer_facts
            self._addressed = frozenset(s for _, form, s in facts if form == "addr")
        return {key: known[key] for key in declared - self._addressed if counts[key] == 1}

    def _there(self, access: Access, meant: Meant) -> Access:
        section, strides = self._section(access.section, meant), access.strides
        if strides:  # lines from the first element on are lines of the memory
            begins = meant.first == (Affine(0),)
            section, strides = (access.section, strides) if begins else (None, ())
        return Access(
            meant.variable,
            meant.through,
            access.write,
            access.line,
            section,
            strides,
            meant.owner,
            meant.slot,
            when=access.when,
            member=access.member,
            placed=access.placed,
        )

    @staticmethod
    def _section(section: Section | None, meant: Meant) -> Section | None:
        if section is None or meant.first is None or len(section) != 1:
            return None
        first, *rest = meant.first
        if first is None:
            return None
        (touched,) = section
        low, high = (None if end is None else end.plus(first) for end in touched)
        return (Range(low, high), *(_at(index) for index in rest))


def _at(index: Affine | None) -> Range:
    return Range(None, None) if index is None else Range.point(index)
