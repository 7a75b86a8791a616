"""Whether two accesses may touch the same memory, by the objects that pointers may point to."""

from __future__ import annotations

from collections.abc import Callable

from imbrex.transform.analysis.elements import Owned, different_elements
from imbrex.transform.analysis.points_to import EXTERNAL, PointsTo
from imbrex.transform.analysis.records import Records
from imbrex.transform.analysis.two_objects import two_objects
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.program import Program


class Aliases(PointsTo):
    """The objects that each access may touch."""

    def __init__(self, program: Program, known: frozenset[str]) -> None:
        """`known`: routines whose treatment of their arguments is known without their source."""
        super().__init__(program, known)
        self.records = Records(program, self.cells)
        # Pairs of pointers that at no time point into the same object.
        self.distinct: set[frozenset[str]] = set()
        self.sources: dict[str, set[tuple[str, str]]] | None = None
        self.addressed: set[str] = set()
        # Fields that hold allocations of their own in each structure.
        self.owned: set[str] = set()
        self.exchanged: set[str] = set()  # fields of which two objects exchange what they hold
        # Arrays of pointers each of which holds allocations of its own.
        self.slotted: Owned = {}
        self._objects: dict[tuple[str, bool], set[str]] = {}
        self._sharing: dict[tuple[tuple[str, bool], tuple[str, bool]], bool] = {}
        self._plain: dict[tuple[str, bool], bool] = {}
        self._inside: dict[str, frozenset[str]] = {}

    def only_walks(self, parameter: str) -> bool:
        """Whether a pointer parameter is set to nothing but the argument, moved in its array."""
        if self.sources is None:
            self.sources = {}
            for target, form, source in self.program.pointer_facts:
                self.sources.setdefault(target, set()).add((form, source))
            self.addressed = {s for _, form, s in self.program.pointer_facts if form == "addr"}
        return parameter not in self.addressed and all(
            form == "copy" and (source == parameter or source.startswith("argument:"))
            for form, source in self.sources.get(parameter, set())
        )

    def objects(self, variable: str, through: bool) -> set[str]:
        """Objects that an access may touch; `?` stands for any. Not to be changed."""
        found = self._objects.get((variable, through))
        if found is None:
            found = self._objects[variable, through] = self._find_objects(variable, through)
        return found

    def _find_objects(self, variable: str, through: bool) -> set[str]:
        if variable == UNKNOWN_MEMORY:
            return {UNKNOWN_MEMORY}
        shared = self.program.overlays.get(variable, set())
        known = self.program.variables.get(variable)
        # A Fortran dummy argument is an object of its own: the language forbids the alias.
        if not through or (known is not None and known.kind == "dummy"):
            return {variable} | shared
        if found := self.pointees(variable):
            return found
        # Apart from the parameter itself, which may be read while the message is under way.
        return {f"memory:{variable}"} if variable in self.never_given else {UNKNOWN_MEMORY}

    def may_share(self, left: Access, right: Access, changed: frozenset[str]) -> bool:
        """Whether two accesses may touch the same memory, sections apart.

        `changed`: variables whose value may differ between the two. Two pointers that are exchanged
        in between say nothing: each may then be what the other was.
        """
        if left.placed or right.placed or self._other_field(left, right):
            return False
        if left.variable == right.variable and left.through == right.through:
            return not (
                self._owned_apart(left, right, changed) or self._slots_apart(left, right, changed)
            )
        if left.through and right.through:
            if self._apart(left.variable, right.variable, changed):
                return False
            if self._slots_apart(left, right, changed):
                return False
        return self.meet((left.variable, left.through), (right.variable, right.through))

    def _other_field(self, left: Access, right: Access) -> bool:
        """Whether two accesses touch different fields of one type of structure."""
        if not (left.member or right.member):
            return False
        first, second = (
            access.member or ("" if access.through else access.variable) for access in (left, right)
        )
        if first == second:
            return False
        fields = [self.program.variables.get(key) for key in (first, second)]
        records = {"" if each is None or each.kind != "field" else each.record for each in fields}
        return len(records) == 1 and "" not in records

    def one_array(self, left: Access, right: Access) -> bool:
        """Whether the sections of two accesses count in one array.

        A field that is a pointer does so in one object; a vector has memory of its own in each, so
        that where two objects are meant nothing is shared.
        """
        if left.variable != right.variable or left.through != right.through:
            return False
        if left.slot != right.slot and left.variable not in self.slotted:
            return False
        if not left.through or not left.variable.startswith("field:"):
            return True
        if self.is_vector(left.variable):
            return True
        return bool(left.owner) and left.owner == right.owner

    def meeting(self, accesses: list[Access]) -> Callable[[Access], bool]:
        """A quick test, true of every access that may share memory with one of the others."""
        places: dict[tuple[str, bool], bool] = {}
        for other in accesses:
            place = (other.variable, other.through)
            places[place] = places.get(place, False) or other.write
        known: dict[tuple[str, bool, bool], bool] = {}

        def test(access: Access) -> bool:
            key = (access.variable, access.through, access.write)
            found = known.get(key)
            if found is None:
                found = known[key] = any(
                    (access.write or written) and self.meet(key[:2], place)
                    for place, written in places.items()
                )
            return found

        return test

    def _is_plain(self, place: tuple[str, bool]) -> bool:
        """Whether a place is in known objects, none of which has parts that have names or is one:
        it meets another one of the kind where both may be in the same object."""
        found = self._plain.get(place)
        if found is None:
            objects = self.objects(*place)
            known = [self.program.variables.get(item) for item in objects]
            found = self._plain[place] = (
                objects.isdisjoint((UNKNOWN_MEMORY, EXTERNAL))
                and objects.isdisjoint(self.program.passed_fields)
                and all(each is not None and not each.record for each in known)
                and not any(self.records.enclosing(item) for item in objects)
            )
        return found

    def meet(self, left: tuple[str, bool], right: tuple[str, bool]) -> bool:
        """Whether two different places, each a variable or what it points to, may be one."""
        plain = self._is_plain(left) and self._is_plain(right)
        if plain and self.objects(*left).isdisjoint(self.objects(*right)):
            return False
        found = self._sharing.get((left, right))
        if found is not None:
            return found
        if self._beside(left, right) or self._beside(right, left):
            found = False
        else:
            first, second = self.objects(*left), self.objects(*right)
            found = (
                not first.isdisjoint(second)
                or self._outside(first, second)
                or self._outside(second, first)
                or self._record(first | second)
                or self._passed(first, second)
                or self._passed(second, first)
                or self.records.meet(first, second)
                or self._outside_record(first, second)
                or self._outside_record(second, first)
            )
        self._sharing[left, right] = found
        return found

    def are_elements(self, variable: str, through: bool) -> bool:
        """Whether a place is in a vector of numbers, whose memory holds no variable and no object.

        That holds whatever code, also such as is not seen, exchanges the memory of vectors.
        """
        vector = self.program.variables.get(variable)
        known = through and vector is not None and self.is_vector(variable)
        numbers = vector is not None and not vector.of_structures
        return known and vector is not None and numbers and "char" not in vector.element

    def _beside(self, elements: tuple[str, bool], other: tuple[str, bool]) -> bool:
        """Whether one place is a variable, and the other is among the elements of a vector."""
        variable = None if other[1] else self.program.variables.get(other[0])
        if variable is None or variable.kind == "heap":
            return False
        if self.are_elements(*elements):
            return True
        within = self._structures_in(elements[0]) if elements[1] else frozenset()
        if not within or variable.kind != "field":
            return bool(within)
        # One without a name may be a part of any.
        return (
            variable.record not in within and "(" not in variable.record and variable.record != ""
        )

    def _structures_in(self, vector: str) -> frozenset[str]:
        """The structures that the elements of a vector are, or have in them; none if not known."""
        if vector not in self._inside:
            variable = self.program.variables.get(vector)
            known = variable is not None and variable.of_structures and self.is_vector(vector)
            found: set[str] = set()
            work = [variable.element] if known and variable is not None else []
            while work:
                record = work.pop()
                if record in found or not self._fields.get(record):
                    continue
                found.add(record)
                work += [self.program.variables[key].element for key in self._fields[record]]
            self._inside[vector] = frozenset(found)
        return self._inside[vector]

    def _passed(self, first: set[str], second: set[str]) -> bool:
        """Whether a dummy argument of one side may be a component that the other side names."""
        passed = self.program.passed_fields
        return any(not passed[item].isdisjoint(second) for item in first if item in passed)

    def _apart(self, left: str, right: str, changed: frozenset[str]) -> bool:
        """Whether two pointers hold different objects, each at its own time."""
        if left != right and self.is_vector(left) and self.is_vector(right):
            return True  # nothing moves over what exchanges the memory of vectors
        pair = frozenset((left, right))
        return pair in self.distinct and not pair & changed

    def is_vector(self, key: str) -> bool:
        """Whether it is a vector, and no reference to one: its memory is that of no other.

        A unique_ptr to an array is as one, unless it may have got memory that is known elsewhere.
        """
        if f"vector:{key}" not in self.program.variables:
            return False
        return not self.program.variables[key].owned or EXTERNAL not in self.cells[key]

    def _owned_apart(self, left: Access, right: Access, changed: frozenset[str]) -> bool:
        """Whether a field's memory belongs to two structures that are surely different.

        A vector's memory always belongs to its object: nothing moves over what exchanges it.
        """
        variable = self.program.variables.get(left.variable)
        if not (left.owner and right.owner):
            return False
        if left.variable in self.exchanged and left.variable in changed:
            return False
        owned = left.variable in self.owned or self.is_vector(left.variable)
        owned = owned or (variable is not None and variable.apart)
        owners = [self.program.variables.get(name) for name in (left.owner, right.owner)]
        # A part of objects of Fortran that no pointer names, as all are that have a type here.
        if not owned and not all(each is not None and each.object for each in owners):
            return False
        if self._apart(left.owner, right.owner, changed):
            return True
        if any(self._new_beside(owner, other) for owner, other in (owners, owners[::-1])):
            return True
        return left.owner != right.owner and two_objects(*owners)

    def _slots_apart(self, left: Access, right: Access, changed: frozenset[str]) -> bool:
        """Whether the accesses are through different elements of arrays of pointers."""
        if {left.variable, right.variable} & changed:
            return False
        mine, other = (left.variable, left.slot), (right.variable, right.slot)
        return different_elements(self.slotted, mine, other, changed)

    @staticmethod
    def _new_beside(owner: Variable | None, other: Variable | None) -> bool:
        """Whether an object begins in a routine that a reference was given to before."""
        if owner is None or other is None or not other.reference or other.kind != "parameter":
            return False
        return owner.kind == "local" and bool(owner.record) and not owner.bounds

    def _outside(self, first: set[str], second: set[str]) -> bool:
        """`?` may touch anything, `external` what has escaped."""
        if UNKNOWN_MEMORY in first:
            return True
        return EXTERNAL in first and any(self._reachable(item) for item in second)

    def _reachable(self, item: str) -> bool:
        return item in self.escaped or item == EXTERNAL

    def _outside_record(self, first: set[str], second: set[str]) -> bool:
        """Structures of unknown code may lie in memory of the program that it can reach."""
        variables = self.program.variables
        inside = [
            item
            for item in second
            if item in variables
            and (variables[item].kind == "heap" or variables[item].record)
            and variables[item].kind != "field"
            and self._reachable(item)
        ]
        return bool(inside) and any(EXTERNAL in self.records.enclosing(item) for item in first)

    def _record(self, items: set[str]) -> bool:
        """A whole structure and one of its fields are the same memory."""
        variables = self.program.variables
        records = {variables[item].record for item in items if item in variables}
        if not records - {""}:
            return False
        whole = {
            variables[item].record
            for item in items
            if item in variables and variables[item].kind != "field"
        }
        fields = {
            variables[item].record
            for item in items
            if item in variables and variables[item].kind == "field"
        }
        return bool((whole & fields) - {""})
