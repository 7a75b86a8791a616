"""Calls as C and Fortran are read into, with their arguments."""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.transform.model.affine import Affine, Section
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.formulas import Formula
from imbrex.transform.model.memory import Access


@dataclass(slots=True)
class Argument:
    """An actual argument: its text, what evaluating it reads, and the memory that it names."""

    text: str
    start: int
    end: int
    reads: list[Access] = field(default_factory=list)
    # Variable whose memory is passed, and whether it is a pointer to it. None: not known.
    base: str | None = None
    through: bool = False
    origin: tuple[Affine | None, ...] | None = None  # first element, fastest dimension first
    first: tuple[Affine | None, ...] | None = None  # the same, also of one of many structures
    strides: tuple[Affine, ...] = ()  # as of an access
    section: Section | None = None  # of Fortran: what an array section is, `u(:, 1)`
    owner: str = ""  # as of an access
    slot: tuple[Affine, ...] = ()  # as of an access
    part_of: str = ""  # of Fortran: the one object whose component it is
    whole: bool = False  # the argument is the whole array, from its first element
    value: Affine | None = None
    formula: Formula | None = None  # of an integer whose value is not affine
    pointer: bool = False  # whether memory can be reached through it at all
    problem: Cause | None = None  # why it may not be a buffer of a nonblocking call
    meaning: str = ""  # MPI's name that the text, a macro or a named constant, stands for
    extends_into: tuple[str, ...] = ()  # further variables that a message from here may reach into
    keyword: str = ""  # of Fortran: the name that is given before it
    absent: bool = False  # of Fortran: nothing is given for an optional dummy argument
    # Of a Fortran component, or a vector of C++: what names it whatever its indices have become.
    fence: str = ""

    @property
    def constant(self) -> str:
        """The argument in capital letters, as MPI's constants are compared."""
        return (self.meaning or self.text).strip().upper()


@dataclass(slots=True)
class Call:
    name: str
    arguments: list[Argument]
    start: int
    end: int
    line: int
    # The call is a whole statement and its value is not used.
    is_statement: bool = False
    macro: str | None = None  # name of the macro that the call comes from
    checked: str = ""  # the statement around it that ends the program where it fails
    unknown: bool = False  # through a function pointer
    held_in: str = ""  # of such a one in C: the cell that holds what is called
    # Of Fortran, called by the type of an object, `call g%exchange()`: which argument is the
    # object, -1 where none is. None: by its own name.
    on: int | None = None
    generic: str = ""  # of Fortran: the generic name by which it is called
    picked: bool = False  # it may be another one: by what type the object has, or arguments have
    library: bool = False  # of the C++ library, and given nothing of the program to call
    # By dummy of the routine around it: the value that all calls in the program give that, of
    # variables that keep theirs.
    given: dict[str, Affine] = field(default_factory=dict)
    known: frozenset[Affine] = frozenset()  # expressions that are not below 0 where it is made
    repeats: bool = False  # of C++: a lambda makes it, any number of times for one statement
    # Positions of buffers whose messages end in the line of the array that they begin.
    within_line: frozenset[int] = frozenset()
