"""The program model: all routines, files and variables of a program, and what is known of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from imbrex.transform.model.affine import Affine, array_of_element
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.conditions import Choice
from imbrex.transform.model.covered_calls import UnreadCall
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Layout, Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.row_pointers import RowLengths, RowsSet, RowStore
from imbrex.transform.model.sources import Language, SourceFile

# One constraint on what pointers hold: (target cell, form, source cell), see analysis.aliases.
PointerFact = tuple[str, str, str]


@dataclass(slots=True)
class Built:
    """A constructor of C++ that an object is declared with, and the members that it sets."""

    constructor: str
    members: dict[str, Affine]  # in the terms of the declaration
    alike: dict[str, Affine]  # also what is no number as it is written: of the same the same


@dataclass(frozen=True, slots=True)
class Made:
    """What a constructor of C++ sets, in the terms of its parameters."""

    members: dict[str, Affine]
    within: dict[str, Built]  # by member that is an object


_DECLARED = re.compile(rb"\b(?:int|void)\s+(\w+)\s*\(")  # a function of C


@dataclass(slots=True)
class Program:
    files: dict[str, SourceFile] = field(default_factory=dict)
    # Of C and C++: what these include, none of the compiler's or of MPI. Those that have functions
    # and may be changed are among the files.
    headers: dict[str, SourceFile] = field(default_factory=dict)
    included: list[bytes] = field(default_factory=list)  # of Fortran: files of declarations
    root: Path | None = None  # headers elsewhere stay as they are
    aborts: bool = True  # of C++: an exception of the library ends the program
    throws: bool = False  # and one that is taken for such an end may be thrown
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
    errors_are_fatal: bool = False  # the user says that error handlers end the program
    reassociation: bool = False  # floating-point reductions may be made in another order
    # Variables that share memory with others: key -> how (BY_POINTER, BY_EQUIVALENCE, a block).
    overlays: dict[str, set[str]] = field(default_factory=dict)
    # Routines that another language calls, C those of Fortran and the other way round.
    across: set[str] = field(default_factory=set)
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
    # Those of which a method or the like may change the number of elements, and pairs of which two
    # exchange theirs.
    resized_vectors: set[str] = field(default_factory=set)
    exchanged_vectors: list[tuple[str, str]] = field(default_factory=list)
    # Local vectors of requests all of whose uses are seen; the variables whose handles they take.
    request_lists: dict[str, set[str]] = field(default_factory=dict)
    request_vectors: set[str] = field(default_factory=set)  # all of C++ that hold requests
    # Fields that Fortran dummy arguments are seen to be, while objects are known beside them.
    passed_fields: dict[str, set[str]] = field(default_factory=dict)
    # By local variable of C: where the statements begin in which its address becomes known.
    known_from: dict[str, set[int]] = field(default_factory=dict)
    null_writes: Counter[str] = field(default_factory=Counter)  # by pointer: set to null, in C
    # Structure types of which one variable is copied to another as a whole.
    copied_records: set[str] = field(default_factory=set)
    # Of C++: those of which two variables are exchanged as a whole.
    exchanged_records: set[str] = field(default_factory=set)
    # Value of an integer variable at its declaration, where it is known.
    definitions: dict[str, Affine] = field(default_factory=dict)
    # The same of local variables, with quotients of remainders as integers of their own.
    residues: dict[str, Affine] = field(default_factory=dict)
    built: dict[str, Built] = field(default_factory=dict)  # by local object of C++
    made: dict[str, Made] = field(default_factory=dict)  # by constructor of C++
    # Of C++: objects that are members, each the object that it is in and its field.
    member_objects: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Members of such objects that keep what they are made with, by factor.
    sizes: dict[str, Affine] = field(default_factory=dict)
    # Variables of Fortran routines that one statement sets, to what does not change in the routine.
    set_once: dict[str, Affine] = field(default_factory=dict)
    # The same of those that it sets to one of two values.
    chosen_once: dict[str, Choice] = field(default_factory=dict)
    # Of C: pointers to rows, `double **u`, what sets them, and the lengths of the rows of those
    # that are read as the one array that their rows are parts of.
    to_rows: set[str] = field(default_factory=set)
    row_stores: list[RowStore] = field(default_factory=list)
    rows_set: list[RowsSet] = field(default_factory=list)
    row_lengths: RowLengths = field(default_factory=dict)
    # Layouts of datatypes of the program's own, by the variable that holds the handle.
    layouts: dict[str, Layout] = field(default_factory=dict)
    # Bounds of allocatable arrays, of a component in terms of its object's others (`→field`).
    shapes: dict[str, tuple[tuple[Affine, Affine], ...]] = field(default_factory=dict)
    # Those of them that not all routines know by these names.
    by_given: set[str] = field(default_factory=set)
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
    # Of Fortran: procedures whose arguments are not known, so that they are not read.
    unread_procedures: dict[str, Location] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=dict)
    _facts_seen: int = 0
    # By file, what is declared at which byte of it; of so many variables.
    _declared: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    _declared_seen: int = 0

    def declared_in(self, routine: Routine) -> set[str]:
        """The names of what a routine declares within its body."""
        if self._declared_seen != len(self.variables):
            self._declared, self._declared_seen = {}, len(self.variables)
            for key, variable in self.variables.items():
                file, _, offset = key.partition("@")[2].rpartition(":")
                if offset.isdigit():
                    self._declared.setdefault(file, []).append((int(offset), variable.name))
            for declared in self._declared.values():
                declared.sort()
        declared = self._declared.get(routine.file, [])
        first = bisect_left(declared, (routine.body.start, ""))
        end = bisect_left(declared, (routine.body.end, ""))
        return {name for _, name in declared[first:end]}

    def holders(self, key: str) -> list[str]:
        """Cells that may hold the address of a variable, or what it holds."""
        if self._facts_seen != len(self.pointer_facts):
            self._holders, self._facts_seen = {}, len(self.pointer_facts)
            for target, _, source in self.pointer_facts:
                self._holders.setdefault(source, []).append(target)
        return self._holders.get(key, [])

    @property
    def assigned_records(self) -> set[str]:
        """Structure types of which one variable gets what another one has, as a whole."""
        return self.copied_records | self.exchanged_records

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

    def called_across(self, name: str, file: str) -> Routine | None:
        """The routine of another language that a call in a file names, where it is given."""
        fortran = self.in_fortran(file)
        routine = self.written_in_c(name, file)
        if routine is None and not fortran and name.endswith("_") and name not in self.routines:
            routine = self.routines.get(name.removesuffix("_"))
        routine = routine or self.callee(name, file)
        if routine is None or routine.file not in self.files:
            return None
        return routine if self.in_fortran(routine.file) is not fortran else None

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
        """What may be edited: the files, and headers that declare their methods and functions."""
        names = {
            routine.scope.declared[0]
            for routine in self.routines.values()
            if routine.scope is not None and routine.scope.declared is not None
        }
        functions = {routine.plain_name.encode() for routine in self.routines.values()}
        for name, header in self.headers.items():
            if not functions.isdisjoint(_DECLARED.findall(header.data)):
                names.add(name)
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

    @contextmanager
    def keeping_statements(self) -> Iterator[None]:
        """While nothing inserts statements or moves any: each routine's are listed once."""
        for routine in self.routines.values():
            routine.kept_statements = routine.statements()
        try:
            yield
        finally:
            for routine in self.routines.values():
                routine.kept_statements = None

    def calls(self) -> Iterator[Call]:
        """All calls, wherever they stand."""
        for routine in self.routines.values():
            for statement in routine.statements():
                yield from statement.calls
