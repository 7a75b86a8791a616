"""Which statements set a variable or a field, and what else happens between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cached_property

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.cleared import clears
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.set_once import SETS_NOTHING
from imbrex.transform.model.affine import field_of
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import TEMPORARY, UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

# What a handle stands for stays; of what is freed nothing is read any more.
_HARMLESS = frozenset({"MPI_Type_commit", "MPI_Type_free", "free"})
# Calls that are over when they return, and keep no address.
_AT_ONCE = re.compile(
    "MPI_(?:Type|Cart|Comm|Dims|Group|Graph|Dist_graph|Init|Finalize|Query|Op|Info)"
)
_ENDS = frozenset({"MPI_Abort", "abort", "_Exit"})  # at once: no handlers run
# Of Fortran, beside those of MPI: what a program asks of its environment.
_COMES_BACK = re.compile(
    _AT_ONCE.pattern
    + r"|(?:get_command_argument|get_command|get_environment_variable|getarg|getenv|date_and_time)$"
)
_NEW_TYPE = {"MPI_Type_contiguous": 2, "MPI_Type_vector": 4}
# Of Fortran: `use m, only: here => there`, and what associates names otherwise.
_RENAMED = re.compile(
    rb"(?i)([a-z]\w*)\s*(?:&\s*)*=>\s*(?:&\s*)*([a-z]\w*(?:[\s&]*%[\s&]*[a-z]\w*)*)"
)
_BEHIND = rb"%(?:[\s&]|![^\n]*\n)*"
_COMPONENT = re.compile(_BEHIND + rb"([a-z]\w*)")
GOES_ON = re.compile(rb"(?i)\b(?:err|end|eor)\s*=")  # maybe with another statement of Fortran
_LITERAL = re.compile(rb"'[^'\n]*'|\"[^\"\n]*\"")
_MACRO = re.compile(rb"\b(?!MPI_)[A-Z][A-Z0-9_]+\s*\(")  # it may name what the text does not


class Setters:
    """The statements of a program of which all code is seen, by what they set."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self._dummies: dict[str, bool] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._writers: dict[str, list[tuple[Routine, Statement]]] = {}

    def writers(self, key: str) -> list[tuple[Routine, Statement]]:
        """The innermost statements that may set a variable, by themselves or by a library."""
        found = self._writers.get(key)
        if found is None:
            sets, each = self._set_by
            mine = {number for number, keys in sets.items() if key in keys}
            found = [(routine, statement) for number, routine, statement in each if number in mine]
            self._writers[key] = found
        return found

    @cached_property
    def _set_by(
        self,
    ) -> tuple[dict[int, Set[str]], list[tuple[int, Routine, Statement]]]:
        """What statements may set, each set once by a number, and all statements with theirs.

        Many statements have a large set in common, as those that write by a pointer have.
        """
        sets: dict[int, Set[str]] = {}
        found: list[tuple[int, Routine, Statement]] = []
        for routine in self.program.routines.values():
            for statement in routine.statements():
                # An allocation sets no element; the bounds that it sets are told elsewhere.
                own = [] if statement.allocation else statement.accesses
                written = [a for a in own if a.write]
                for call in statement.calls:
                    if call.name not in _HARMLESS:
                        written += self._by_call(routine, call)
                keys: Set[str] = self.footprints.changed(written)
                unread = self._unread(routine, statement)
                keys = keys | unread if unread else keys
                if keys:
                    sets[id(keys)] = keys
                    found.append((id(keys), routine, statement))
        return sets, found

    @cached_property
    def _by_name(self) -> dict[bytes, set[str]]:
        found: dict[bytes, set[str]] = {}
        for key, variable in self.program.variables.items():
            found.setdefault(variable.name.lower().encode(), set()).add(key)
        return found

    def _unread(self, routine: Routine, statement: Statement) -> set[str]:
        """What a statement of Fortran may set that is not analysed: all that it names."""
        source = self.program.files.get(routine.file)  # None: a header of C
        if source is None or not source.is_fortran:
            return set()
        known = statement.stop is None and not statement.allocation
        if known and not self._calls_unread(routine, statement):
            return set()
        text = _without_literals(source.data[statement.start : statement.end].lower())
        if SETS_NOTHING.match(text):
            text = b" ".join(re.findall(rb"=[^,()]*", text))  # `stat=ierr`
        names = set(re.findall(rb"[a-z]\w*", text))
        fields = set(_COMPONENT.findall(text))
        waiting = list(names)
        while waiting:
            new = self._renamed.get(waiting.pop(), set())
            fields |= new
            waiting += new - names
            names |= new
        variables = self.program.variables
        named = {
            key
            for name in names
            for key in self._by_name.get(name, ())
            if name in fields or variables[key].kind != "field"
        }
        return named.union(*map(self.footprints.aliases.records.inside, named))

    @cached_property
    def _renamed(self) -> dict[bytes, set[bytes]]:
        """What a name of Fortran stands for somewhere, beside what is declared by that name."""
        found: dict[bytes, set[bytes]] = {}
        for source in self.program.files.values():
            for here, there in _RENAMED.findall(source.data) if source.is_fortran else ():
                named = re.findall(rb"[a-z]\w*", there.lower())
                found.setdefault(here.lower(), set()).update(named)
        return found

    def _names(self, key: str) -> re.Pattern[bytes]:
        """The names that a variable may have in Fortran, or its name in C."""
        names = {self.program.variables[key].name.lower().encode()}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            new = {here for here, there in self._renamed.items() if name in there} - names
            names |= new
            waiting += new
        variable = self.program.variables[key]
        own = variable.name.lower().encode()
        each = [rb"\b" + re.escape(name) + rb"\b" for name in sorted(names)]
        if variable.record.startswith("type("):  # behind what has it, or as a keyword
            named = re.escape(own)
            each.remove(rb"\b" + named + rb"\b")
            each += [_BEHIND + named + rb"\b", rb"\b" + named + rb"\s*=(?!=)"]
        return re.compile(rb"(?i)(?:" + rb"|".join(each) + rb")")

    def _calls_unread(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement calls what no analysis knows the effects of: `call getarg(1, a)`."""
        return any(
            not call.name.startswith("MPI_")
            and self.program.callee(call.name, routine.file) is None
            and self.footprints.of_call(call, routine.file).stop is not None
            for call in statement.calls
        )

    @cached_property
    def set_later(self) -> frozenset[str]:
        """What MPI may set when another call completes."""
        written: list[Access] = []
        for routine in self.program.routines.values():
            for statement in routine.statements():
                for call in statement.calls:
                    known = call.name in mpi_calls.EFFECTS
                    now = known and not mpi_facts.is_nonblocking(call.name)
                    if call.name.startswith("MPI_") and not (now or _AT_ONCE.match(call.name)):
                        written += self._by_call(routine, call)
        return self.footprints.changed(written)

    def _by_call(self, routine: Routine, call: Call) -> list[Access]:
        callee = self.program.callee(call.name, routine.file)
        if callee is None:
            if call.name.startswith("MPI_") and call.name not in mpi_calls.EFFECTS:
                return self._by_unlisted(call)
            return [a for a in self.footprints.of_call(call, routine.file).accesses if a.write]
        source = self.program.files.get(routine.file)
        if source is None or not source.is_fortran:
            return []  # its own statements say what it sets, through pointers too
        return [
            Access(argument.base or UNKNOWN_MEMORY, False, True, call.line)
            for argument, dummy in zip(call.arguments, callee.parameters, strict=False)
            if argument.base is None or argument.base in self.program.variables
            if self._sets_dummy(callee, dummy)
        ]

    def _sets_dummy(self, routine: Routine, dummy: str) -> bool:
        """Whether a routine of Fortran may set what it is given, its components apart."""
        known = self._dummies.get(dummy)
        if known is not None:
            return known
        self._dummies[dummy] = True  # as far as a call of itself is concerned
        found = any(
            any(a.write and a.variable == dummy for a in statement.accesses)
            or dummy in self._unread(routine, statement)
            or any(a.variable == dummy for c in statement.calls for a in self._by_call(routine, c))
            for statement in routine.statements()
        )
        self._dummies[dummy] = found
        return found

    def _by_unlisted(self, call: Call) -> list[Access]:
        """What a call of MPI may set that the other analyses do not follow.

        A handle names no memory of the program: none of its addresses is ever in it.
        """
        listed = {at for at, mode in mpi_facts.access(call.name).items() if "w" in mode}
        listed |= {_NEW_TYPE[call.name]} if call.name in _NEW_TYPE else set()
        found = []
        for position, argument in enumerate(call.arguments):
            if not argument.pointer or (listed and position not in listed):
                continue
            if argument.constant.startswith("MPI_") or argument.base == TEMPORARY:
                continue
            base = argument.base or UNKNOWN_MEMORY
            objects = self.footprints.aliases.objects(base, argument.through)
            if argument.through and objects == {UNKNOWN_MEMORY}:
                continue
            found.append(Access(base, argument.through, True, call.line))
        return found

    def reached(self, first: Routine) -> frozenset[str]:
        """The routines that may run while one does: itself, those inside it, and what they call."""
        known = self._reached.get(first.key)
        if known is None:
            found, waiting = {first.key}, [first]
            while waiting:
                routine = waiting.pop()
                inside = f"{routine.name}@{routine.file}"
                called = [r for r in self.program.routines.values() if r.host == inside]
                for statement in routine.statements():
                    for call in statement.calls:
                        callee = self.program.callee(call.name, routine.file)
                        called += [] if callee is None else [callee]
                new = [routine for routine in called if routine.key not in found]
                found |= {routine.key for routine in new}
                waiting += new
            known = self._reached[first.key] = frozenset(found)
        return known

    def setting(self, key: str, *, cleared: bool = True) -> Iterator[tuple[Routine, Statement]]:
        """The statements that may give a variable a value; `cleared`: or clear its object."""
        for where, statement in self.writers(key):
            known = statement.kind is not Kind.DECLARE or self._begins(where, statement, key)
            if known and (cleared or not clears(self.program, where, statement, key)):
                yield where, statement

    def in_a_block(
        self, routine: Routine, block: Block, key: str, *, cleared: bool = True
    ) -> Iterator[Statement | None]:
        """The statements of a block that set a variable; None for one elsewhere."""
        for where, statement in self.setting(key, cleared=cleared):
            inside = where is routine and in_block(statement, block) is not None
            yield statement if inside else None

    def leading_to(
        self, routine: Routine, block: Block, key: str, *, cleared: bool = True
    ) -> Iterator[Statement | None]:
        """The same, of a variable that routines share: also those that call routines which set it,
        where these are called from nowhere else."""
        for where, statement in self.setting(key, cleared=cleared):
            if where is routine:
                yield statement if in_block(statement, block) is not None else None
            else:
                yield from self._calling(where, routine, block, frozenset())

    def _calling(
        self, where: Routine, routine: Routine, block: Block, inside: frozenset[str]
    ) -> Iterator[Statement | None]:
        """The statements of a block that may run a routine; None for one elsewhere."""
        calls = self.callers.get(where.key, [])
        if not calls or where.address_taken or where.key in inside or where.problem:
            yield None
            return
        for user, statement in calls:
            if user is routine:
                yield statement if in_block(statement, block) is not None else None
            else:
                yield from self._calling(user, routine, block, inside | {where.key})

    @cached_property
    def callers(self) -> dict[str, list[tuple[Routine, Statement]]]:
        """The statements that call each routine."""
        found: dict[str, list[tuple[Routine, Statement]]] = {}
        for user in self.program.routines.values():
            for statement in user.statements():
                for call in statement.calls:
                    callee = self.program.callee(call.name, user.file)
                    if callee is not None:
                        found.setdefault(callee.key, []).append((user, statement))
        return found

    def _begins(self, routine: Routine, statement: Statement, key: str) -> bool:
        """Whether a declaration gives a variable, or a field of what it declares, a value."""
        source = self.program.files.get(routine.file)
        if source is None or source.is_fortran or statement.calls:
            return True
        given = [a for a in statement.accesses if a.write and a.variable not in statement.unset]
        return key in self.footprints.changed(given)

    def names(self, routine: Routine, statement: Statement, owner: str, key: str) -> bool:
        """Whether what a statement sets of a field is that of this object."""
        if statement.sets is not None and statement.sets[0] == field_of(owner, key):
            return True
        written = [a for a in statement.accesses if a.write]
        if statement.kind is Kind.DECLARE:
            return any(a.variable == owner for a in written)
        for call in statement.calls:
            if self.program.callee(call.name, routine.file) is None:
                found = self.footprints.of_call(call, routine.file).accesses
                written += [a for a in found if a.write]
        setting = [a for a in written if key in self.footprints.changed([a])]
        if routine.file not in self.program.files:
            return False
        if any(a.variable != key or a.through for a in setting):
            return False
        text = self.program.files[routine.file].data[statement.start : statement.end]
        name, field = (self.program.variables[k].name.encode() for k in (owner, key))
        every = re.findall(rb"(?i)(?:->|\.|%)\s*" + re.escape(field) + rb"\b", text)
        mine = rb"(?i)(?<![\w.>%)\]])" + re.escape(name) + rb"\s*(?:->|\.|%)\s*"
        own = re.findall(mine + re.escape(field) + rb"\b", text)
        return bool(own) and len(own) == len(every) and not _MACRO.search(text)

    def passable(self, routine: Routine, statements: list[Statement], owner: str, key: str) -> bool:
        """Whether statements run to their end, keep the object, and do not ask for a variable.

        They may end the program: nothing asks for it then.
        """
        if routine.file not in self.program.files:
            return False
        variables = self.program.variables
        data = self.program.files[routine.file].data
        names = self._names(key)
        if owner and self._is_hidden(owner, statements):
            return False
        changed = self.footprints.changed_by(statements, routine.file)
        for statement in statements:
            found = self.footprints.of(statement, routine.file)
            text = data[statement.start : statement.end]
            if found.leaves or found.jumps:
                return False
            if found.stop and not self._goes_on(routine, [statement], key):
                return False
            if self.program.files[routine.file].is_fortran:
                text = _without_literals(text)
            if found.stop and names.search(text):
                return False
            if self.touches(found.accesses, key, statement):
                return False
            if owner and variables[owner].pointer and owner in changed | self.footprints.addressed:
                return False
        return True

    def _goes_on(
        self,
        routine: Routine,
        statements: list[Statement],
        key: str,
        inside: frozenset[str] = frozenset(),
    ) -> bool:
        """Whether what is not analysed of them only allocates, reads, writes, calls MPI or ends.

        So do routines of Fortran that they call, in which nothing names the variable `key`.
        `inside`: those that are looked at.
        """
        data = self.program.files[routine.file].data
        for inner in (each for statement in statements for each in statement.walk()):
            text = data[inner.start : inner.end]
            reads = inner.stop is not None and inner.stop.kind is ReasonKind.INPUT_OUTPUT
            ends = inner.stop is not None and inner.stop.kind is ReasonKind.PROGRAM_END
            if inner.stop and not (reads or ends or SETS_NOTHING.match(text)):
                return False
            if inner.stop and GOES_ON.search(text):
                return False  # it may go on elsewhere
            for call in inner.calls:
                unknown = self.footprints.of_call(call, routine.file).stop is not None
                if not unknown or _COMES_BACK.match(call.name) or call.name in _ENDS:
                    continue
                callee = self.program.callee(call.name, routine.file)
                if callee is None or not self._comes_back(callee, key, inside):
                    return False
        return True

    def _comes_back(self, routine: Routine, key: str, inside: frozenset[str]) -> bool:
        """The same of a routine, which must not name the variable."""
        source = self.program.files.get(routine.file)
        if source is None or not source.is_fortran or routine.problem or routine.key in inside:
            return False
        named = self._names(key)
        texts = (source.data[s.start : s.end] for s in routine.statements())
        if any(named.search(_without_literals(text)) for text in texts):
            return False
        return self._goes_on(routine, routine.body.statements, key, inside | {routine.key})

    def _is_hidden(self, owner: str, statements: list[Statement]) -> bool:
        """Whether another variable of that name is declared among the statements."""
        name = self.program.variables[owner].name
        return bool(statements) and any(
            variable.name == name
            and key != owner
            and variable.lifetime is not None
            and statements[0].start <= variable.lifetime[0]
            and variable.lifetime[1] <= statements[-1].end
            for key, variable in self.program.variables.items()
        )

    def touches(self, accesses: list[Access], key: str, statement: Statement) -> bool:
        """Whether accesses may be of a variable; a declaration gives it no value yet."""
        if statement.kind is Kind.DECLARE:
            accesses = [a for a in accesses if not a.write]
        return key in self.footprints.changed([a._replace(write=True) for a in accesses])


def in_block(statement: Statement, block: Block) -> Statement | None:
    """The statement of a block that is, or contains, a statement."""
    inner: Statement | None = statement
    while inner is not None and inner.parent is not block:
        inner = None if inner.parent is None else inner.parent.owner
    return inner


def _without_literals(text: bytes) -> bytes:
    """A statement of Fortran without its character literals, if none goes on to another line."""
    if any(line.count(quote) % 2 for line in text.splitlines() for quote in (b"'", b'"')):
        return text
    return _LITERAL.sub(b"''", text)
