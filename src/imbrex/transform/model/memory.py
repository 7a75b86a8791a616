"""Variables of a program, and what accesses touch of their memory."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

from imbrex.transform.model.affine import Affine, Fit, Section
from imbrex.transform.model.cases import Case

_COMPLEX = ("_Complex ", "std::complex<")  # elements that are numbers, and two of them each


@dataclass(slots=True)
class Variable:
    """A variable, a field (`field:Type.name`) or a heap object (`heap:file:line`)."""

    key: str
    name: str
    kind: str  # "local", "static", "parameter", "global", "field", "heap"
    element: str = ""  # element type as written by the language, e.g. "double"
    pointer: bool = False
    # Declared bounds (low, high) per dimension, fastest first; None where not known.
    bounds: tuple[tuple[Affine | None, Affine | None], ...] = ()
    volatile: bool = False
    record: str = ""  # name of the struct type, where the variable is one
    # Of Fortran: what stands for the derived type of an object, or of a component that is one.
    object: str = ""
    lifetime: tuple[int, int] | None = None  # byte span of the block it lives in; None: for ever
    line: int = 0
    optional: bool = False  # a Fortran dummy argument that may be absent
    only_read: bool = False  # of Fortran: a dummy argument with `intent(in)`
    by_value: bool = False  # of Fortran: a dummy argument with `value`, a copy of what is given
    apart: bool = False  # a field whose memory is none of its object's: an allocatable component
    allocatable: bool = False  # of Fortran: its bounds are those of its last allocation
    keeps_shape: bool = False  # of Fortran: no assignment to it as a whole allocates it anew
    begun: bool = False  # of Fortran: a component that has a value in each new object
    assumed_shape: bool = False  # a Fortran dummy argument with the shape of what it is given
    saved: bool = False  # of Fortran: a routine's own, with its value kept between calls
    reference: bool = False  # of C++: a reference, or `this`, that names one object for good
    # Of C: the size of an element that is a structure of numbers alone, or a complex one; 0: of no
    # such.
    element_bytes: int = 0
    restricted: bool = False  # of C: a pointer that is `restrict`
    owned: bool = False  # of C++: a std::unique_ptr to an array
    # Of C: numbers that nothing may change, with values that they have as the program begins.
    constant: bool = False
    rows: bool = False  # an array of vectors, each of which has memory of its own
    # Of assumed shape, and maybe a section whose elements do not follow each other in memory.
    scattered: bool = False

    @property
    def of_structures(self) -> bool:
        """Whether its elements are structures of C; a complex number is a number."""
        return bool(self.element_bytes) and not self.element.startswith(_COMPLEX)


class Access(NamedTuple):
    """One read or write of a variable, or (`through`) of the memory that it points to."""

    variable: str
    through: bool
    write: bool
    line: int
    section: Section | None = None
    # Of an array that is linear in the language: the extents of the section's faster dimensions.
    strides: tuple[Affine, ...] = ()
    owner: str = ""  # the variable whose field holds the pointer, where the access is through one
    # Of an array of pointers: the element of it that holds the pointer; empty where not known.
    slot: tuple[Affine, ...] = ()
    # What it touches for each value of some variables, all of them together; empty: `section`.
    cases: tuple[Case, ...] = ()
    # Expressions that are not below 0 where the access happens.
    when: frozenset[Affine] = frozenset()
    fit: Fit | None = None  # of a message whose section is not known
    # Of an element of an array of structures: the field of it that is touched, and nothing else.
    member: str = ""
    # Of a field of such an element: an access to the element says where it is.
    placed: bool = False

    def is_plain(self) -> bool:
        """Whether it says no more than which variable it is of, and of which object."""
        _, _, _, _, section, strides, _, slot, cases, when, fit, _, _ = self
        return section is None and fit is None and not (strides or slot or cases or when)

    def at(self, section: Section | None) -> Access:
        """The same access of another section, which counts in the same array."""
        if section is self.section and not (self.cases or self.when or self.fit):
            return self
        variable, through, write, line, _, strides, owner, slot, *_, member, placed = self
        return Access(
            variable,
            through,
            write,
            line,
            section,
            strides,
            owner,
            slot,
            member=member,
            placed=placed,
        )

    def anywhere(self) -> Access:
        """The same access where nothing is known of the elements that it touches."""
        variable, through, write, line, _, _, owner, *_, member, placed = self
        return Access(variable, through, write, line, None, (), owner, member=member, placed=placed)

    def over(self, index: str) -> list[Access]:
        """What it touches by its cases for all values of a loop's index together."""
        if not any(key == index for case in self.cases for key, _ in case.values):
            return [self]
        return self.of_cases([case.at(index) for case in self.cases])

    def of_cases(self, cases: list[Case]) -> list[Access]:
        """The access of some cases; several where they depend on no variable."""
        if any(case.values for case in cases):
            return [self._replace(cases=tuple(cases))]
        return [self._replace(section=c.section, strides=c.strides, cases=()) for c in cases]

    def settled(self, section: Section | None, changed: Set[str]) -> Access:
        """The access of another section, with all else that does not depend on `changed`."""
        slot, cases, when, fit = self.slot, self.cases, self.when, self.fit
        if slot and any(index.variables() & changed for index in slot):
            return self.anywhere()
        if cases and any(case.variables() & changed for case in cases):
            cases = ()
        if when and not all(fact.variables().isdisjoint(changed) for fact in when):
            when = frozenset(fact for fact in when if fact.variables().isdisjoint(changed))
        if fit is not None and not fit.variables().isdisjoint(changed):
            fit = None
        if section is self.section and cases is self.cases and when is self.when:
            return self if fit is self.fit else self._replace(fit=fit)
        return self._replace(section=section, cases=cases, when=when, fit=fit)

    def where(self, facts: frozenset[Affine]) -> Access:
        """The access where these expressions are not below 0 either."""
        return self if facts <= self.when else self._replace(when=self.when | facts)


class Meant(NamedTuple):
    """What a local pointer of C is declared with: the memory of a variable, as in an `Access`."""

    variable: str
    through: bool
    first: tuple[Affine | None, ...] | None  # the element that it points to, fastest index first
    owner: str = ""
    slot: tuple[Affine, ...] = ()


UNKNOWN_MEMORY = "?"
_SIZE = "size:"
MOVES = "moves:"  # set where `move_alloc` gives the memory of an array of Fortran to another one
TEMPORARY = "temporary"  # the memory of an expression that Fortran passes, gone with the call

# Why a Fortran variable may share its memory with others (`Program.overlays`).
BY_POINTER = "a pointer"  # itself a pointer or a target, or of a derived type that may hold some
BY_EQUIVALENCE = "an EQUIVALENCE"


@dataclass(frozen=True, slots=True)
class Layout:
    """A datatype: `count` blocks of `length` elements whose beginnings are `stride` apart."""

    element: str  # MPI's name of the elements' type
    count: Affine
    length: Affine
    stride: Affine

    def of_object(self, owner: str) -> Layout:
        """The layout in one object, of which fields that are named without an object are."""
        sizes = (size.of_object(owner) for size in (self.count, self.length, self.stride))
        return Layout(self.element, *sizes)


def size_of(vector: str) -> str:
    """The variable that stands for the number of elements of a vector of C++."""
    return f"{_SIZE}{vector}"


def is_size(variable: str) -> bool:
    """Whether a variable stands for the number of elements of a vector."""
    return variable.startswith(_SIZE)


def vector_of(size: str) -> str:
    """The vector whose number of elements a variable stands for."""
    return size.removeprefix(_SIZE)
