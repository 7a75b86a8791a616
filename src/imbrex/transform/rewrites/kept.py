"""Local variables of a routine that is taken apart which hold something from start to finish."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from imbrex.transform.analysis.declared_values import placed_variables
from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.own_variables import is_of_another
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.text.halves import Halves, is_carried
from imbrex.transform.text.local_vectors import array_type, vector_type
from imbrex.transform.text.lone_requests import as_array_of_one, lone_request_fits
from imbrex.transform.text.lone_scalars import as_lone_scalar, lone_scalar_fits
from imbrex.transform.text.number_types import C_NUMBERS
from imbrex.transform.text.pointers import pointer_type
from imbrex.transform.text.specification import c_declarations, identifiers

# Types that every file which calls MPI has a name for.
KNOWN_TYPES = frozenset((*C_NUMBERS, "void", "size_t", "MPI_Request"))

# Calls of MPI that tell a number and keep no address.
_ASKS = re.compile(r"argument:MPI_(?:Comm_(?:rank|size)|Type_size|Get_count|Get_elements):")
# Elements without fields that a program may send.
_NO_FIELDS = ("MPI_", "imbrex_", "_Complex ", "std::complex<")
_REQUEST = "imbrex_request"  # what a request points to, in the headers that programs are read with
_PLAIN_TYPES = ("integer", "logical", "real", "double precision", "complex", "double complex")


class Kept:
    """Finds what becomes the callers', so that both halves can be given it."""

    def __init__(self, program: Program, footprints: Footprints, rewrite: str) -> None:
        self.program = program
        self.footprints = footprints
        self.rewrite = rewrite  # on whose behalf

    def _refuse(self, routine: Routine, line: int, cause: Cause) -> None:
        raise Refusal(self.rewrite, Reason(cause, Location(routine.file, line)))

    def of(self, routine: Routine, schedule: Schedule) -> list[Variable]:
        """The variables; raises Refusal where one cannot be kept."""
        late = [item.statement for item in schedule.late]
        guards = [guard for item in schedule.late for guard, _ in item.path]
        used: dict[str, int] = {}
        for item in schedule.late:
            for access in item.accesses:
                used.setdefault(access.variable, access.line)
        for access in schedule.statuses:
            used.setdefault(access.variable, access.line)
        finished = frozenset(used)
        for access in schedule.flying:
            used.setdefault(access.variable, access.line)
        changed = self.footprints.changed([a for i in schedule.early for a in i.accesses])
        begun = self._begun(schedule)
        statuses = {access.variable for access in schedule.statuses if access.write}
        in_flight = self._in_flight(routine, schedule)
        kept: list[Variable] = []
        for key, line in used.items():
            variable = self.program.variables.get(key)
            if variable is None:
                continue
            if key in begun & finished and self._is_saved(routine, schedule, variable):
                self._refuse(routine, line, ReasonKind.LOCAL_SAVED(variable=variable.name))
            if key in in_flight and (ending := self._ending(routine, variable)) is not None:
                self._refuse(routine, line, ReasonKind.ENDS_WITH_START(variable=ending.name))
            if variable.kind not in ("local", "host"):
                continue
            c = self.program.in_c(routine.file)
            if c and is_of_another(self.program, routine, key):
                continue  # of a routine that goes on behind the finish: what messages are about
            plain = bool(variable.bounds) or self.program.in_fortran(routine.file)
            if plain and variable.kind == "local" and key not in begun:
                continue  # it is the finish's alone
            if variable.kind == "local" and key in statuses:
                if key in begun or self._is_left(schedule, key):
                    self._refuse(routine, line, ReasonKind.STATUS_READ())
                continue  # a wait sets it before the finish reads it
            if variable.kind == "host" and not self._declares(routine, key):
                continue  # both halves know it, as the routine does
            if f"vector:{key}" in self.program.variables:
                made = vector_type(self.program, routine, key)
                asked = [a for s in schedule.declarations for a in s.accesses if not a.write]
                if made is None or any(access.variable == key for access in asked):
                    self._refuse(routine, line, ReasonKind.LOCAL_UNSIZED(variable=variable.name))
                kept.append(replace(variable, element=made or "", bounds=((None, None),)))
                continue
            made = array_type(self.program, routine, key) if c else None
            if made is not None:
                kept.append(replace(variable, element=made, bounds=((None, None),)))
                continue
            lone = c and self._is_lone_request(routine, schedule, variable)
            if lone and lone_request_fits(self.program, routine, variable):
                kept.append(as_array_of_one(variable))
                continue
            number = variable.kind == "local" and (variable.pointer or not variable.bounds)
            if key in in_flight and number:
                kept += self._alone(routine, schedule, variable, line)
                continue
            made = self._pointer(routine, schedule, variable)
            if made is not None:
                if key in finished:
                    kept.append(replace(variable, element=made, bounds=()))
                continue
            to_lines = variable.pointer and len(variable.bounds) > 1
            if to_lines and self._again(routine, key, changed):
                continue
            if variable.bounds or self._request(schedule, routine, key):
                unsized = variable.pointer or Halves.extents(variable) is None
                unsized = unsized and self.extents_read(routine, variable) is None
                unsized = unsized and not self._allocated(routine, variable)
                if unsized or self._measured_or_preset(routine, variable):
                    self._refuse(routine, line, ReasonKind.LOCAL_UNSIZED(variable=variable.name))
                kept.append(self._as_declared(schedule, routine, variable))
                continue
            inner = variable.lifetime is not None and variable.lifetime[0] > routine.body.start
            first = sets_first(late, key, self.footprints, routine.file)
            unread = never_read(self.program, routine, key) is None
            if (
                unread
                or inner
                or (first and not any(a.variable == key for g in guards for a in g.accesses))
            ):
                continue
            if self._again(routine, key, changed):
                continue
            if self._may_carry(routine, schedule, variable) or self._passed_on(routine, variable):
                kept.append(variable)
                continue
            text = ReasonKind.CARRIED_TO_FINISH(variable=variable.name)
            self._refuse(routine, line, text)
        self._check_reached(routine, schedule, {variable.key for variable in kept})
        carried = {variable.key for variable in kept if is_carried(variable)}
        self._check_placed(routine, schedule, (finished | in_flight) - carried)
        return kept

    def _check_placed(self, routine: Routine, schedule: Schedule, used: Set[str]) -> None:
        """Refuse where the finish, or a message, uses what a declaration in the start declares.

        `used`: what either uses, but for numbers that the start hands on.
        """
        for item in schedule.early:
            if item.statement.kind is Kind.DECLARE:
                for key in placed_variables(routine.file, item.statement) & used:
                    name = self.program.variables[key].name
                    cause = ReasonKind.CARRIED_TO_FINISH(variable=name)
                    self._refuse(routine, item.statement.line, cause)

    @staticmethod
    def _is_left(schedule: Schedule, key: str) -> bool:
        """Whether a status is read where its message may not have been started."""
        set_on = [
            item.path
            for item in schedule.early
            for transfer in item.transfers
            if (sets := transfer.sets_status) is not None and sets.variable == key
        ]
        return any(
            item.path[: len(path)] != path
            for item in schedule.late
            if any(access.variable == key for access in item.accesses)
            for path in set_on
        )

    def _ending(self, routine: Routine, variable: Variable) -> Variable | None:
        """What ends with the start of that which a message uses, where no caller can have it.

        A parameter that is passed by its value, or an object: a field may be of any of its type.
        """
        if variable.by_value or (variable.kind == "parameter" and not variable.reference):
            return variable
        if variable.kind != "field" or not self.program.in_c(routine.file):
            return None
        return next(filter(self._is_object, self._own(routine)), None)

    def _in_flight(self, routine: Routine, schedule: Schedule) -> set[str]:
        """Variables whose own memory messages use until the finish.

        Of messages that other routines start it is known what these touch, which is more: the
        variables of C whose addresses they may have are among it.
        """
        found = {a.variable for a in schedule.sent if not a.through or self._is_copy(a.variable)}
        released = {access.variable for access in schedule.released if not access.through}
        if self.program.in_c(routine.file):
            fields = {k for k in released if k.startswith("field:")}
            released = fields | (released & self.footprints.addressed)
        return found | released

    def _is_copy(self, key: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and variable.by_value

    def _own(self, routine: Routine) -> list[Variable]:
        """The parameters and local variables of a routine of C."""
        every = self.program.variables
        return [v for k, v in every.items() if k in routine.parameters or self._is_of(routine, k)]

    def _is_object(self, variable: Variable) -> bool:
        """Whether fields may lie in the memory of a variable itself, or in what it owns."""
        number = variable.element in C_NUMBERS or variable.element.startswith(_NO_FIELDS)
        owns = f"vector:{variable.key}" in self.program.variables or variable.owned
        plain = variable.kind in ("local", "parameter") and not variable.reference
        return plain and not number and (owns or not variable.pointer)

    def _alone(
        self, routine: Routine, schedule: Schedule, variable: Variable, line: int
    ) -> list[Variable]:
        """What is kept of a local variable, no array, that a message uses until the finish."""
        if variable.key in schedule.requested:
            return [variable]
        if self._passed_on(routine, variable):
            if routine.interface not in ("mpi", "mpi_f08"):  # fences name arrays as well
                self._refuse(routine, line, ReasonKind.MISMATCH())
            return [] if variable.saved else [variable]
        if self.program.in_c(routine.file) and lone_scalar_fits(self.program, routine, variable):
            return [as_lone_scalar(variable)]
        self._refuse(routine, line, ReasonKind.ENDS_WITH_START(variable=variable.name))
        return []

    def _is_saved(self, routine: Routine, schedule: Schedule, variable: Variable) -> bool:
        """Whether both halves would need the value of one variable that a routine saves."""
        if not variable.saved or not self._declares(routine, variable.key):
            return False
        halves = ([i.statement for i in items] for items in (schedule.early, schedule.late))
        anew = all(sets_first(h, variable.key, self.footprints, routine.file) for h in halves)
        return bool(variable.bounds) or not anew

    @staticmethod
    def _declares(routine: Routine, key: str) -> bool:
        """Whether a variable of Fortran is one of the routine's own."""
        return key.endswith(f":{routine.name}:{routine.line}")

    def _check_reached(self, routine: Routine, schedule: Schedule, kept: set[str]) -> None:
        """Refuse where what is late, or a message, reaches a local variable by another name.

        It would end with the start.
        """
        if self.program.files[routine.file].language is not Language.C:
            return
        begun = self._begun(schedule)
        used = [access for item in schedule.late for access in item.accesses] + schedule.flying
        for access in used:
            anew = access.variable not in begun and self._is_of(routine, access.variable)
            if not access.through or anew:
                continue  # the finish declares it, and what it points to
            for item in sorted(self.footprints.aliases.objects(access.variable, True)):
                key = item.removeprefix("vector:")
                if key not in kept and self._is_of(routine, key):
                    name = self.program.variables[key].name
                    self._refuse(routine, access.line, ReasonKind.LOCAL_UNSIZED(variable=name))

    def _is_of(self, routine: Routine, key: str) -> bool:
        """Whether a variable of C is a local one of the routine."""
        variable = self.program.variables.get(key)
        file, _, offset = key.partition("@")[2].rpartition(":")
        if variable is None or variable.kind != "local" or file != routine.file:
            return False
        number = re.match(r"\d+", offset)
        return number is not None and routine.body.start <= int(number[0]) < routine.body.end

    def _may_carry(self, routine: Routine, schedule: Schedule, variable: Variable) -> bool:
        """Whether the start can hand the value of a number on: in C it has one by then for sure.

        What is late keeps what it reads from being set behind it, so that it is the last value.
        """
        if variable.element not in C_NUMBERS or variable.pointer or variable.bounds:
            return False
        return self._has_value(routine, schedule, variable)

    def _pointer(self, routine: Routine, schedule: Schedule, variable: Variable) -> str | None:
        """The type of a local pointer that the start can hand on, as a number.

        It points to memory that outlives the start.
        """
        if not variable.pointer or variable.reference or len(variable.bounds) != 1:
            return None
        known = self.program.variables
        if f"vector:{variable.key}" in known or not self._has_value(routine, schedule, variable):
            return None
        aliases = self.footprints.aliases
        objects = aliases.objects(variable.key, True)
        held = {item.removeprefix("vector:") for item in objects} & known.keys()
        if objects & {UNKNOWN_MEMORY, EXTERNAL}:
            return None  # it may be the stack's
        if any(known[item].kind in ("local", "parameter") for item in held):
            return None
        return pointer_type(self.program, routine, variable)

    def _has_value(self, routine: Routine, schedule: Schedule, variable: Variable) -> bool:
        """Whether a scalar of C has its value for sure where the start ends."""
        source = self.program.files[routine.file]
        key, name = variable.key, variable.name
        if source.language is not Language.C or variable.kind != "local" or variable.volatile:
            return False
        if name == "requests" and schedule.transfers:
            return False  # the name that the requests of the halves have
        if key in self.program.overlays or not self._only_asked(key):
            return False
        placed = schedule.placed
        always = [text for _, text in c_declarations(source, routine, set(), set(), placed)]
        if name in identifiers("\n".join(always), fold=False):
            return False  # the declaration cannot be left out of the finish
        declared = re.compile(rb"\b" + re.escape(name.encode()) + rb"\s*=(?!=)")
        return any(
            any(a.variable == key and a.write for a in statement.accesses)
            and declared.search(source.data[statement.start : statement.end]) is not None
            for statement in schedule.declarations
        ) or any(
            item.statement.kind in (Kind.SIMPLE, Kind.DECLARE)
            and not (item.path or key in item.statement.unset)
            and any(a.variable == key and a.write and not a.through for a in item.accesses)
            for item in schedule.early
        )

    def _only_asked(self, key: str) -> bool:
        """Whether the address of a variable is given to nothing but calls that set it at once."""
        if key not in self.footprints.addressed:
            return True
        facts = self.program.pointer_facts
        return all(_ASKS.match(t) for t, form, s in facts if form == "addr" and s == key)

    def _passed_on(self, routine: Routine, variable: Variable) -> bool:
        """Whether a scalar of Fortran goes from the start to the finish as it is."""
        if not self.program.files[routine.file].is_fortran or variable.kind != "local":
            return False
        if variable.pointer or variable.volatile or variable.key in self.program.overlays:
            return False
        if variable.allocatable:
            return False
        return variable.element.startswith(_PLAIN_TYPES)

    def sizes(self, routine: Routine, schedule: Schedule) -> list[Access]:
        """What the extents of the arrays read that must be given to both halves."""
        found: list[Access] = []
        for access in schedule.flying:
            variable = self.program.variables.get(access.variable)
            if variable is not None and variable.kind == "local" and variable.bounds:
                found += self.extents_read(routine, variable) or []
        return found

    def extents_read(self, routine: Routine, variable: Variable) -> list[Access] | None:
        """What the extents of a local array of Fortran are made of, where a caller may allocate it.

        None where they are not known, or may differ later in the routine. The start gets it as an
        allocatable argument, which asks for an interface that its callers know.
        """
        source = self.program.files[routine.file]
        plain = not (variable.pointer or variable.allocatable)
        plain = plain and variable.key not in self.program.overlays
        if source.language is not Language.FORTRAN_FREE or not plain or not routine.host:
            return None
        if not Halves(self.program, routine).allocates(variable):
            return None
        names: set[str] = set()
        for low, high in variable.bounds:
            if low is None or high is None:
                return None
            names |= low.variables() | high.variables()
        changed = self.footprints.changed_in(self.footprints.of_routine(routine))
        variables = [self.program.variables.get(name) for name in sorted(names)]
        found = []
        for each in variables:
            if each is None or each.key in changed or each.bounds or each.optional:
                return None
            if each.kind not in ("dummy", "global", "static", "host"):
                return None
            found.append(Access(each.key, each.kind == "dummy", False, variable.line))
        return found

    def _allocated(self, routine: Routine, variable: Variable) -> bool:
        """Whether it is an allocatable array, which both halves can be given as such."""
        source = self.program.files[routine.file]
        if not variable.allocatable or variable.keeps_shape or variable.volatile:
            return False
        if source.language is not Language.FORTRAN_FREE or not routine.host:
            return False
        if variable.kind != "local" or variable.key in self.program.overlays:
            return False
        return Halves(self.program, routine).allocates(variable)

    @staticmethod
    def _begun(schedule: Schedule) -> set[str]:
        """What the start touches; a status that it no longer asks for is not among it."""
        found = {access.variable for access in schedule.flying}
        for item in schedule.early:
            ignored = {t.status.base for t in item.transfers if t.status is not None}
            found |= {access.variable for access in item.accesses} - ignored
        return found

    def _request(self, schedule: Schedule, routine: Routine, key: str) -> bool:
        """Whether a scalar is a request that a reference can be passed of as it is."""
        fortran = self.program.files[routine.file].language is not Language.C
        return fortran and key in schedule.requested

    @staticmethod
    def _is_lone_request(routine: Routine, schedule: Schedule, variable: Variable) -> bool:
        """Whether a scalar of C is a request that all of the routine knows."""
        inner = variable.lifetime is not None and variable.lifetime[0] > routine.body.start
        if variable.kind != "local" or variable.reference or variable.volatile or inner:
            return False
        if variable.pointer:
            return variable.element == _REQUEST and len(variable.bounds) == 1
        return variable.key in schedule.requested and not variable.bounds

    def _as_declared(self, schedule: Schedule, routine: Routine, variable: Variable) -> Variable:
        """The variable with the type that callers may write: what a request is is MPI's own."""
        c = self.program.files[routine.file].language is Language.C
        if c and (variable.key in schedule.requested or variable.element == _REQUEST):
            return replace(variable, element="MPI_Request")
        return variable

    def _measured_or_preset(self, routine: Routine, variable: Variable) -> bool:
        """Whether an array of C has its size asked for, or is declared with values."""
        source = self.program.files[routine.file]
        if source.language is not Language.C:
            return False
        text = source.data[routine.body.start : routine.body.end].decode(errors="replace")
        name = re.escape(variable.name)
        measured = re.search(rf"\bsizeof\s*\(?\s*{name}\b", text)
        preset = re.search(rf"\w[\s*]+(?:[^;{{}}]*,\s*)?{name}\s*(?:\[[^\]]*\]\s*)+=(?!=)", text)
        if preset is not None and variable.line:
            line = text.count("\n", 0, preset.end()) + source.line_of(routine.body.start)
            preset = preset if line == variable.line else None
        return measured is not None or preset is not None

    def _again(self, routine: Routine, key: str, changed: frozenset[str]) -> bool:
        """Whether the declaration in the finish gives the variable the value it had."""
        for statement in routine.body.statements:
            if statement.kind is not Kind.DECLARE:
                continue
            mine = [a for a in statement.accesses if a.variable == key]
            if mine:
                reads = {a.variable for a in statement.accesses if not a.write}
                through = any(a.through for a in statement.accesses)
                calls = bool(statement.calls)
                changing = {k for k in reads if k in changed}
                return key not in changed and not changing and not through and not calls
        return False
