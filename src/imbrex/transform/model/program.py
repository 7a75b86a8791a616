"""The program model: routines, statements with exact byte spans, and calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from imbrex.transform.model.affine import Affine, Section, array_of_element
from imbrex.transform.model.allocation import Allocation, Shaped
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.conditions import Choice, Test
from imbrex.transform.model.covered_calls import UnreadCall
from imbrex.transform.model.elementwise import Part
from imbrex.transform.model.formulas import Assignment, Formula, Span
from imbrex.transform.model.list_change import ListChange
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access, Layout, Meant, Variable
from imbrex.transform.model.module_access import ModuleAccess
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.scopes import Scope
from imbrex.transform.model.sources import Language, SourceFile


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
    # Of Fortran, called by the type of an object, `call g%exchange()`: which argument is the
    # object, -1 where none is. None: by its own name.
    on: int | None = None
    picked: bool = False  # the type that the object has at run time says whether it is this one
    library: bool = False  # of the C++ library, and given nothing of the program to call
    known: frozenset[Affine] = frozenset()  # expressions that are not below 0 where it is made
    # Positions of buffers whose messages end in the line of the array that they begin.
    within_line: frozenset[int] = frozenset()


class Kind(Enum):
    SIMPLE = "simple"
    DECLARE = "declare"
    BLOCK = "block"
    CONSTRUCT = "construct"  # an ASSOCIATE or BLOCK of Fortran: nothing leaves it or gets into it
    IF = "if"
    LOOP = "loop"
    SWITCH = "switch"
    JUMP = "jump"
    OPAQUE = "opaque"
    INSERTED = "inserted"


_PLAIN = (Kind.IF, Kind.LOOP, Kind.BLOCK, Kind.CONSTRUCT)


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
    computes: bool = False  # it takes time by itself: an assignment of a whole array
    # Variables whose messages it does not touch, by the user's word (`imbrex independent`).
    independent: frozenset[str] = frozenset()
    parent: Block | None = None
    # An integer variable, or a field by its factor, that it sets, and to what, where that is known.
    sets: tuple[str, Affine] | None = None
    chooses: tuple[str, Choice] | None = None  # the same, of one of two values
    swaps: tuple[str, str] | None = None  # the pointers that `std::swap` exchanges, alone
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
    known: frozenset[Affine] = frozenset()  # what is not below 0 while it runs, by such an IF
    reduces: Reduction | None = None  # what it takes into a scalar, and does nothing else
    counts_in: str = ""  # the array of integers to an element of which it adds, and does no more

    def walk(self) -> list[Statement]:
        """The statement and those inside it, in textual order."""
        found = [self]
        for block in self.blocks:
            _walk(block.statements, found)
        return found


def _walk(statements: list[Statement], found: list[Statement]) -> None:
    for statement in statements:
        found.append(statement)
        for block in statement.blocks:
            _walk(block.statements, found)


@dataclass(slots=True)
class Routine:
    key: str
    name: str
    file: str
    line: int
    parameters: list[str]
    body: Block
    visible: bool = True  # callable from other files
    problem: Cause | None = None  # why nothing in it may be rewritten
    declare_after: int = -1  # byte offset behind the declarations
    first_executable: int = -1
    interface: str = ""  # Fortran: "mpif.h", "mpi" or "mpi_f08"
    address_taken: bool = False
    conditional: bool = False  # of Fortran: other builds may have another one, or none
    generic: bool = False  # of Fortran: it is known by a generic name too
    access: ModuleAccess = field(default_factory=ModuleAccess)  # of Fortran
    bound: bool = False  # of Fortran: it is bound to a type, by which it may be called
    exported: frozenset[str] = frozenset()  # names that are taken already
    scope: Scope | None = None  # of C++: its class and its namespaces, where it has some
    host: str = ""  # of Fortran: the unit that it stands in; "" where it stands alone
    shares_name: bool = False  # of Fortran: others have its name in other scopes
    renames: frozenset[str] = frozenset()  # of Fortran: routines that have another name in it
    result: str = ""  # of a function of Fortran: the variable that is its value
    declared_by: tuple[str, ...] = ()  # of Fortran: integers that its declarations read
    # Of Fortran: what a name means in it, the same text for the same thing; None if not known.
    meaning: Callable[[str], str | None] | None = None

    @property
    def plain_name(self) -> str:
        """Its name within its class or namespace, without what a template is instantiated for."""
        return self._parts[1]

    @property
    def of_template(self) -> bool:
        """Whether it is an instance of a template itself, and not only of its class's."""
        return bool(self._parts[2])

    def beside(self, name: str) -> str:
        """The whole name of a routine with this name in the same place."""
        outer, _, given = self._parts
        return name if self.shares_name else f"{outer}{name}{given}"

    @property
    def _parts(self) -> tuple[str, str, str]:
        """Its class or namespace, its name there, and what its template is instantiated for."""
        name = self.name
        if name.endswith(">") and "operator" not in name:
            depth = 0
            for position in range(len(name) - 1, -1, -1):
                depth += {">": 1, "<": -1}.get(name[position], 0)
                if not depth:
                    name = name[:position]
                    break
        outer, separator, plain = name.rpartition("::")
        return f"{outer}{separator}", plain, self.name[len(name) :]

    @property
    def stem(self) -> str:
        """What names of routines made of it begin with: of Fortran no other one has these."""
        return self.name.replace("::", "_") if self.shares_name else self.plain_name

    @property
    def on_object(self) -> bool:
        """Whether its first parameter is the object that it is called on."""
        return self.scope is not None and self.scope.on_object

    def statements(self) -> list[Statement]:
        """All statements as they are now, in textual order."""
        found: list[Statement] = []
        _walk(self.body.statements, found)
        return found


# One constraint on what pointers hold: (target cell, form, source cell), see analysis.aliases.
PointerFact = tuple[str, str, str]


@dataclass(slots=True)
class Built:
    """A constructor of C++ that an object is declared with, and the members that it sets."""

    constructor: str
    members: dict[str, Affine]  # in the terms of the declaration


@dataclass(slots=True)
class Program:
    files: dict[str, SourceFile] = field(default_factory=dict)
    # Of C and C++: what these include, none of the compiler's or of MPI. Those that have functions
    # and may be changed are among the files.
    headers: dict[str, SourceFile] = field(default_factory=dict)
    included: list[bytes] = field(default_factory=list)  # of Fortran: files of declarations
    root: Path | None = None  # headers elsewhere stay as they are
    variables: dict[str, Variable] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    pointer_facts: list[PointerFact] = field(default_factory=list)
    # Cells that may be given an address which is not the beginning of what they point to.
    inner_addresses: set[str] = field(default_factory=set)
    # What the fields of each structure type are seen in, as of the cell `record:Type`.
    record_facts: set[PointerFact] = field(default_factory=set)
    # Memory whose address becomes a number, or is subtracted from another object's: a variable, and
    # whether it is what that points to.
    numbers: set[tuple[str, bool]] = field(default_factory=set)
    # Cells that hold the functions which calls through pointers call; `?` where not known.
    called_cells: list[str] = field(default_factory=list)
    has_main: bool = False
    unread_code: bool = False  # functions of C++ are not read; what they name has escaped
    single: frozenset[str] = frozenset()  # types of Fortran that have one object in the program
    single_thread: bool = False  # the user says that one thread calls MPI and uses its buffers
    reassociation: bool = False  # floating-point reductions may be made in another order
    # Variables that share memory with others: key -> how (BY_POINTER, BY_EQUIVALENCE, a block).
    overlays: dict[str, set[str]] = field(default_factory=dict)
    # Names of MPI wildcards used otherwise than as the argument of an MPI call.
    stray_wildcards: list[Location] = field(default_factory=list)
    # Where ranks come from that may be MPI_PROC_NULL: its name, and MPI_Cart_shift.
    null_ranks: list[Location] = field(default_factory=list)
    # Where code comes in that is not read: an included file with statements, or a missing one.
    hidden_code: list[Reason] = field(default_factory=list)
    # Of C++: names of objects that an expression picks (`grids[i]`) by each variable that it reads,
    # and the memory that such an object lies in, or that a pointer to it is held in.
    named_by: dict[str, set[str]] = field(default_factory=dict)
    named_objects: dict[str, tuple[str, bool]] = field(default_factory=dict)
    # C++ vectors passed by reference: routine, position of the argument, the vector's key.
    passed_vectors: list[tuple[str, int, str]] = field(default_factory=list)
    # Local vectors of requests all of whose uses are seen; the variables whose handles they take.
    request_lists: dict[str, set[str]] = field(default_factory=dict)
    request_vectors: set[str] = field(default_factory=set)  # all of C++ that hold requests
    # Fields that Fortran dummy arguments are seen to be, while objects are known beside them.
    passed_fields: dict[str, set[str]] = field(default_factory=dict)
    # By local variable of C: where the statements begin in which its address becomes known.
    known_from: dict[str, set[int]] = field(default_factory=dict)
    meant: dict[str, Meant] = field(default_factory=dict)  # by local pointer of C
    null_writes: Counter[str] = field(default_factory=Counter)  # by pointer: set to null, in C
    # Structure types of which one variable is copied to another as a whole.
    copied_records: set[str] = field(default_factory=set)
    # Value of an integer variable at its declaration, where it is known.
    definitions: dict[str, Affine] = field(default_factory=dict)
    # The same of local variables, with quotients of remainders as integers of their own.
    residues: dict[str, Affine] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)  # by local object of C++
    # Members of such objects that keep what they are made with, by factor.
    sizes: dict[str, Affine] = field(default_factory=dict)
    # Variables of Fortran routines that one statement sets, to what does not change in the routine.
    set_once: dict[str, Affine] = field(default_factory=dict)
    # The same of those that it sets to one of two values.
    chosen_once: dict[str, Choice] = field(default_factory=dict)
    # Layouts of datatypes of the program's own, by the variable that holds the handle.
    layouts: dict[str, Layout] = field(default_factory=dict)
    # Bounds of allocatable arrays, of a component in terms of its object's others (`→field`).
    shapes: dict[str, tuple[tuple[Affine, Affine], ...]] = field(default_factory=dict)
    moved: bool = False  # of Fortran: `move_alloc` does something else than to swap arrays
    # By extent of a dummy of assumed shape: expressions with its value while its routine runs.
    given_extents: dict[str, tuple[Affine, ...]] = field(default_factory=dict)
    # Macros that Fortran conditionals ask for and that are not defined, and where.
    undefined: dict[str, Location] = field(default_factory=dict)
    # Of Fortran: the places, by file and byte, where lists of names have one that several
    # procedures have, and the key of that which it is.
    listed: dict[tuple[str, int], str] = field(default_factory=dict)
    # Of Fortran: the spans, by file, of lines that bind types to procedures which are called by
    # names alone, that is by no operator and no assignment.
    binding_lines: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    # Of Fortran: by what stands for derived types, as it extends or is extended, their names.
    record_types: dict[str, set[str]] = field(default_factory=dict)
    inactive: set[str] = field(default_factory=set)  # names in Fortran code that is not compiled
    # Calls of MPI that communicate, in code of C++ that is not analysed, by place and first byte.
    not_analysed: dict[tuple[Location, int], UnreadCall] = field(default_factory=dict)
    # Of C++: the instances of a template that are called, by the file and byte of its body.
    instances: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    skipped: dict[str, str] = field(default_factory=dict)  # file: why it was not read
    # Modules that are used but not among the files, and where: what they declare is not known.
    missing_modules: dict[str, Location] = field(default_factory=dict)
    missing_includes: dict[str, Location] = field(default_factory=dict)  # of Fortran
    _holders: dict[str, list[str]] = field(default_factory=dict)
    _facts_seen: int = 0

    def holders(self, key: str) -> list[str]:
        """Cells that may hold the address of a variable, or what it holds."""
        if self._facts_seen != len(self.pointer_facts):
            self._holders, self._facts_seen = {}, len(self.pointer_facts)
            for target, _, source in self.pointer_facts:
                self._holders.setdefault(source, []).append(target)
        return self._holders.get(key, [])

    def is_of_single(self, key: str) -> bool:
        """Whether a field is one of an object of Fortran that is the only one of its type."""
        variable = self.variables.get(array_of_element(key))
        return variable is not None and variable.kind == "field" and variable.record in self.single

    def callee(self, name: str, file: str) -> Routine | None:
        """The routine that a call in a file names.

        A Fortran procedure `work` is no function `work` of C, unless the file binds names to C's.
        """
        routine = self.routines.get(name)
        source = self.files.get(file)
        if routine is None or source is None or routine.file not in self.files:
            return routine
        if self.files[routine.file].is_fortran is source.is_fortran or source.binds_c:
            return routine
        return None

    def written_in_c(self, name: str, file: str) -> Routine | None:
        """The function of C that a Fortran compiler calls for this name, where it is given."""
        source = self.files.get(file)
        if source is None or not source.is_fortran:
            return None
        routine = self.routines.get(f"{name.lower()}_")
        if routine is None or routine.file not in self.files:
            return None
        return None if self.files[routine.file].is_fortran else routine

    def in_c(self, file: str) -> bool:
        """Whether a file is of C or C++."""
        source = self.files.get(file)
        return source is not None and source.language is Language.C

    def in_fortran(self, file: str) -> bool:
        source = self.files.get(file)
        return source is not None and source.is_fortran

    @property
    def is_whole(self) -> bool:
        """Whether all files of a program are there, and all of them is read but for C++'s code that
        is not analysed (`unread_code`)."""
        return self.has_main and not self.skipped and not self.hidden_code

    def texts(self) -> dict[str, bytes]:
        """What may be edited: the files, and headers whose classes have methods defined in them."""
        names = {
            routine.scope.declared[0]
            for routine in self.routines.values()
            if routine.scope is not None and routine.scope.declared is not None
        }
        inside = {name: self.headers[name] for name in sorted(names & self.headers.keys())}
        return {name: source.data for name, source in (self.files | inside).items()}

    def places_listed(self, routine: Routine, file: str) -> dict[int, bool]:
        """Where lists of names of a file of Fortran have a routine's name, and whether for it."""
        return {
            place: key == routine.key for (name, place), key in self.listed.items() if name == file
        }

    def sources(self) -> Iterator[SourceFile]:
        """The files and the headers, each once."""
        yield from (self.headers | self.files).values()

    def editable(self) -> Iterator[Routine]:
        """The routines that may be rewritten: of the files, where nothing forbids it."""
        for routine in self.routines.values():
            if not routine.problem and routine.file in self.files:
                yield routine

    def hidden_calls(self) -> list[tuple[Location, int]]:
        """The calls of MPI that no routine has as read, by place and first byte."""
        read = {
            (Location(routine.file, call.line), call.start)
            for routine in self.routines.values()
            for statement in routine.statements()
            for call in statement.calls
            if call.name.startswith("MPI_")
        }
        return sorted(self.not_analysed.keys() - read)

    def calls(self) -> Iterator[Call]:
        """All calls, wherever they stand."""
        for routine in self.routines.values():
            for statement in routine.statements():
                yield from statement.calls
