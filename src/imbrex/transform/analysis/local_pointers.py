"""Local pointers that are other names of memory which callers of the routine know as well.

`double *u = f.data();` in a routine that is given `f`: what it touches through `u` are elements of
the caller's vector. That holds where the pointer is set at its declaration alone, and the routine
changes nothing that it was set from.
"""

from __future__ import annotations

from collections.abc import Set

from imbrex.transform.analysis.given_lines import lengths_of
from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.linear_indices import Strides, parts_of_index
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
        self._followed: dict[str, dict[str, Meant]] = {}
        self._kept: dict[str, frozenset[str]] = {}
        self._addressed: frozenset[str] | None = None

    def meant(self, routine: Routine, access: Access, changed: Set[str]) -> Access:
        """An access through such a pointer as one to the memory that it names, else the access.

        `changed`: what may have changed when the routine returns.
        """
        for _ in range(_MOST):
            fixed = self.fixed(routine) if access.through else {}
            meant = fixed.get(access.variable)
            if meant is None or ({meant.variable, meant.owner} & changed) - fixed.keys():
                break
            access = there(self.program, access, meant)
        return access

    def first_is_known(self, routine: Routine, key: str) -> bool:
        """Whether such a pointer counts from an element whose number no variable tells."""
        fixed = self.fixed(routine)
        for _ in range(_MOST):
            meant = fixed.get(key)
            if meant is None:
                return True
            if meant.first is not None and any(i is not None and i.terms for i in meant.first):
                return False
            key = meant.variable
        return False

    def fixed(self, routine: Routine) -> dict[str, Meant]:
        """The pointers of a routine that keep what they are declared with, where that is known."""
        found = self._known.get(routine.key)
        if found is None:
            kept = self.kept(routine)
            held = [item for s in routine.statements() for item in s.meant.items()]
            found = self._known[routine.key] = {key: meant for key, meant in held if key in kept}
        return found

    def followed(self, routine: Routine) -> dict[str, Meant]:
        """Those of them that no call of the routine is given."""
        found = self._followed.get(routine.key)
        if found is None:
            given = {a.base for s in routine.statements() for c in s.calls for a in c.arguments}
            fixed = self.fixed(routine)
            found = {key: meant for key, meant in fixed.items() if key not in given}
            self._followed[routine.key] = found
        return found

    def kept(self, routine: Routine) -> frozenset[str]:
        """The local pointers of a routine that nothing but their declarations sets."""
        found = self._kept.get(routine.key)
        if found is None:
            found = self._kept[routine.key] = self._find(routine)
        return found

    def _find(self, routine: Routine) -> frozenset[str]:
        counts: dict[str, int] = {}
        declared: set[str] = set()
        for statement in routine.statements():
            for access in statement.accesses:
                if access.write and not access.through and self._is_pointer(access.variable):
                    counts[access.variable] = counts.get(access.variable, 0) + 1
                    if statement.kind is Kind.DECLARE:
                        declared.add(access.variable)
            for call in statement.calls:
                for argument in call.arguments:
                    if not argument.through and argument.base in counts:
                        counts[argument.base] = 2  # its address is given away
        if self._addressed is None:
            facts = self.program.pointer_facts
            self._addressed = frozenset(s for _, form, s in facts if form == "addr")
        return frozenset(key for key in declared - self._addressed if counts[key] == 1)

    def _is_pointer(self, key: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and variable.pointer and variable.kind == "local"


def there(program: Program, access: Access, meant: Meant) -> Access:
    """An access through a pointer as one to the memory that it was set to."""
    pointer = program.variables[access.variable]
    lines, lengths = pointer.bounds[:-1], lengths_of(pointer)
    section: Section | None = None
    strides: Strides = ()
    if access.strides or not lines:
        section, strides = _moved(access.section, access.strides, meant.first)
    elif lengths is None:
        pass
    elif lines == program.variables[meant.variable].bounds[:-1]:
        section = _of_same_lines(access.section, meant.first)
    else:  # `double (*u)[m] = (double (*)[m]) a;` has lines of `a`
        section, strides = _moved(access.section, lengths, meant.first)
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


def _moved(
    section: Section | None, strides: Strides, first: tuple[Affine | None, ...] | None
) -> tuple[Section | None, Strides]:
    """Elements that are counted from `first` on, as those of its array."""
    if section is None or first is None or first[0] is None or len(section) != len(strides) + 1:
        return None, ()
    begin, rest = first[0], first[1:]
    if strides and (rest or None in first):
        return None, ()
    begins = parts_of_index(begin, strides) if begin != Affine(0) else (begin,) * len(section)
    ranges = (
        Range(*(None if end is None else end.plus(part) for end in touched))
        for touched, part in zip(section, begins, strict=True)
    )
    return (*ranges, *(_at(index) for index in rest)), strides


def _of_same_lines(
    section: Section | None, first: tuple[Affine | None, ...] | None
) -> Section | None:
    """Elements of an array in lines, counted from the line on that `first` begins."""
    if section is None or first is None or len(section) != len(first) or first[-1] is None:
        return None
    if any(index != Affine(0) for index in first[:-1]):
        return None
    ends = (None if end is None else end.plus(first[-1]) for end in section[-1])
    return (*section[:-1], Range(*ends))


def _at(index: Affine | None) -> Range:
    return Range(None, None) if index is None else Range.point(index)
