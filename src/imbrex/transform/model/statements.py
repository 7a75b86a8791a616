"""Statements and the blocks they stand in, the same for C and Fortran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.allocation import Allocation, Shaped
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.conditions import Choice, Test
from imbrex.transform.model.elementwise import Part
from imbrex.transform.model.formulas import Assignment, Formula, Span
from imbrex.transform.model.list_change import ListChange
from imbrex.transform.model.memory import Access, Meant
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.remainders import Congruence, Value


class Kind(Enum):
    SIMPLE = "simple"
    DECLARE = "declare"
    BLOCK = "block"
    CONSTRUCT = "construct"  # an ASSOCIATE or BLOCK of Fortran: nothing leaves it or gets into it
    IF = "if"
    LOOP = "loop"
    SWITCH = "switch"
    TRY = "try"  # of C++: what throws in it ends the program
    JUMP = "jump"
    OPAQUE = "opaque"
    INSERTED = "inserted"


_PLAIN = (Kind.IF, Kind.LOOP, Kind.BLOCK, Kind.CONSTRUCT, Kind.TRY)


@dataclass(slots=True, eq=False)
class Block:
    """A list of statements that statements may be inserted into, if `insertable`."""

    statements: list[Statement]
    start: int
    end: int
    insertable: bool = True
    braced: bool = True  # False: one statement, which is the whole body
    owner: Statement | None = None
    as_before: bool = False  # a copy of what a rewrite has changed, which stays as it was

    def every(self) -> Iterator[Block]:
        """This block and all inside it."""
        yield self
        for statement in self.statements:
            for inner in statement.blocks:
                yield from inner.every()

    def plain(self) -> Iterator[Block]:
        """This block and those inside its conditionals, loops, blocks and constructs."""
        yield self
        for statement in self.statements:
            if statement.blocks and statement.kind in _PLAIN:
                for inner in statement.blocks:
                    yield from inner.plain()


@dataclass(slots=True)
class LoopRange:
    """A counted loop: `index` runs from low to high; None: bounds not known."""

    index: str
    low: Affine
    high: Affine
    every: bool = True  # it takes each value between them, in one direction or the other
    by: int | None = None  # how far each iteration of C goes, where that is a constant
    unsigned: bool = False  # of C: its header computes or compares without a sign
    congruent: Congruence | None = None  # of one that takes each second value, or each third, ...
    # What it begins with, where that is known but for a remainder: `low` is the least of it.
    first: Value | None = None


@dataclass(slots=True, eq=False)
class Statement:
    kind: Kind
    start: int
    end: int
    line: int
    end_line: int
    accesses: list[Access] = field(default_factory=list)  # its own, not its blocks'
    calls: list[Call] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    loop: LoopRange | None = None
    # Of a loop: the range of one that begins at a remainder, also of a variable set to it in front.
    reach: LoopRange | None = None
    stop: Cause | None = None  # why nothing may move over it
    leaves: bool = False  # it may leave the block that contains it
    condition: str | None = None  # of an IF whose condition has no side effect
    test: Test | None = None  # what the condition of an IF compares, where that is known
    # The same of its further blocks; None for ELSE, and where it is not known.
    more_tests: list[Test | None] = field(default_factory=list)
    # The conditions of an IF's further blocks, empty for ELSE; None where one has a side effect.
    more_conditions: list[str] | None = None
    code_start: int = -1  # start without leading directives
    text: str = ""  # of an inserted statement
    names_alone: bool = False  # of a CONSTRUCT: it gives names to variables, and does no more
    # What an inserted statement does; see rewrites.
    role: object | None = None
    removed: bool = False
    computes: bool = False  # it takes time by itself: as an assignment of a whole array
    reduces_arrays: bool = False  # of Fortran: it takes elements into a number, as `sum` does
    # Variables whose messages it does not touch, by the user's word (`imbrex independent`).
    independent: frozenset[str] = frozenset()
    parent: Block | None = None
    # An integer variable, or a field by its factor, that it sets, and to what, where that is known.
    sets: tuple[str, Affine] | None = None
    # Of C: the pointers that it declares, and the memory that they name.
    meant: dict[str, Meant] = field(default_factory=dict)
    # Of a declaration of C: no request begins with the handle of a message that is under way.
    begins_unused: bool = False
    unset: frozenset[str] = frozenset()  # of a declaration of C: the variables without a value
    chooses: tuple[str, Choice] | None = None  # the same, of one of two values
    swaps: tuple[str, str] | None = None  # the pointers that `std::swap` exchanges, alone
    # Of C: how the pointers are named, target and value, of which it copies one, and no more.
    moves: tuple[str, str] | None = None
    exchanges: tuple[str, str] | None = None  # the objects of C++ that it exchanges, alone
    list_change: ListChange | None = None  # of C++: what it does to a list of requests
    allocates: tuple[Allocation, ...] = ()  # of Fortran
    shaped: Shaped | None = None  # of an assignment of Fortran to an array as a whole
    elementwise: tuple[Part, ...] = ()  # of an assignment of Fortran to a section of an array
    allocation: bool = False  # of Fortran: it gives or frees memory of plain arrays, and no more
    # Of C: the integers that it sets, the range of a loop that is not affine, what an IF asks.
    assigned: tuple[Assignment, ...] = ()
    span: Span | None = None
    asks: Formula | None = None
    # Of an IF: what is not below 0 where its condition holds, and where it does not.
    holding: tuple[Affine, ...] = ()
    failing: tuple[Affine, ...] = ()
    congruent: Congruence | None = None  # what its condition says of remainders where it holds
    known: frozenset[Affine] = frozenset()  # what is not below 0 while it runs, by such an IF
    reduces: Reduction | None = None  # what it takes into a scalar, and does nothing else
    counts_in: str = ""  # the array of integers to an element of which it adds, and does no more

    def walk(self) -> list[Statement]:
        """The statement and those inside it, in textual order."""
        return walk([self]) if self.blocks else [self]


def walk(statements: list[Statement]) -> list[Statement]:
    """Some statements and those inside them, in textual order."""
    found: list[Statement] = []
    _walk(statements, found)
    return found


def _walk(statements: list[Statement], found: list[Statement]) -> None:
    add = found.append
    for statement in statements:
        add(statement)
        for block in statement.blocks:
            if block.statements:
                _walk(block.statements, found)
