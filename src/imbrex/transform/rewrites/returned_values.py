"""Functions of C and C++ around messages that return a number: they hand it to an argument.

`pq = dot(p, q, n)` cannot be a start and a finish, of which the one has the work and the other the
value; `dot(p, q, n, &pq)` can.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.headers import is_editable
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, code_of_c
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.declared_ahead import head_for
from imbrex.transform.rewrites.leading import RETURNED_VALUES
from imbrex.transform.rewrites.named_code import NamedCode
from imbrex.transform.rewrites.private import free_name
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.rearrangement import NAME as REARRANGEMENT
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.splitting import RoutineSite
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import whole_lines
from imbrex.transform.text.members import Declared, declared_in_class, is_member
from imbrex.transform.text.number_types import C_NUMBERS
from imbrex.transform.text.pieces import pieces
from imbrex.transform.text.result_arguments import Taken, handed_over
from imbrex.transform.text.routine_text import RoutineText, c_routine_text

NAME = RETURNED_VALUES
_VALUE = "imbrex_value"
_RETURN = re.compile(rb"return\b\s*(.*?)\s*;?", re.DOTALL)
_REGISTER = re.compile(rb"\bregister\b")
# What a statement sets to its outcome, as the last thing that it does.
_SET = re.compile(rb"(?:[\w:]+[\s*&]+)*([A-Za-z_]\w*)\s*[-+*/]?=(?!=)")
COMMUNICATION = mpi_calls.BLOCKING.keys() | mpi_calls.BLOCKING_COLLECTIVES.keys()

Edits = dict[str, list[Edit]]


class ReturnedValues(Preparing[RoutineSite, Edits]):
    """A function that communicates hands its number to an argument, so that it can be split.

    Before:
        double pq = dot(p, q, n);

    After:
        double pq;
        dot(p, q, n, &pq);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.named = NamedCode(program)

    def sites(self) -> Iterator[RoutineSite]:
        if not self.program.is_whole or self.program.unread_code:
            return
        for routine in self.program.editable():
            body = routine.body.statements
            in_c = self.program.files[routine.file].language is Language.C
            if routine.name == "main" or not in_c or not body or body[-1].kind is not Kind.JUMP:
                continue
            plain = not (routine.of_template or routine.address_taken)
            virtual = routine.scope is not None and routine.scope.virtual
            names = {call.name for s in routine.statements() for call in s.calls}
            if plain and not virtual and names & COMMUNICATION and routine.name not in names:
                yield RoutineSite(routine)

    def conditions(self, site: RoutineSite) -> Edits | None:
        """The edits; None where it has no plain number, or a call asks for it in other ways."""
        routine = site.routine
        data = self.program.files[routine.file].data
        found = c_routine_text(self.program, routine, value=True)
        kind = " ".join(data[slice(*found.type)].decode().split())
        returns = [s for s in routine.statements() if s.kind is Kind.JUMP and s.text == "return"]
        last = routine.body.statements[-1]
        if found.problem is not None or kind not in C_NUMBERS or returns != [last]:
            return None
        value = _RETURN.fullmatch(data[last.code_start : last.end])
        if last.stop is not None or value is None or _VALUE in routine.exported:
            return None
        if routine.name not in self.named.calls:
            return None
        edits: Edits = {routine.file: [Edit(*found.type, "void"), _given(found, kind)]}
        edits[routine.file] += self._stored(routine, kind, value[1].decode())
        if not self._declared(routine, found.span[0], kind, edits):
            return None
        self.change_calls(routine, kind, edits)
        return edits

    def _stored(self, routine: Routine, kind: str, value: str) -> list[Edit]:
        """The value goes to the argument in the place of the return."""
        data = self.program.files[routine.file].data
        *_, last = routine.body.statements
        direct = self._received_directly(routine, kind, value)
        if direct is not None:
            return [*direct, Edit(*whole_lines(data, last.code_start, last.end), "")]
        return [Edit(last.code_start, last.end, f"*{_VALUE} = {value};")]

    def _received_directly(self, routine: Routine, kind: str, value: str) -> list[Edit] | None:
        """The edits by which a message brings the value to the argument itself.

        None where the value is no variable that is named for this and nothing else.
        """
        data, body = self.program.files[routine.file].data, routine.body
        statements = body.statements
        code = code_of_c(data[body.start : body.end])
        name = value.encode()
        if re.fullmatch(rb"[A-Za-z_]\w*", name) is None or len(statements) < 3:
            return None
        places = [m.start() for m in re.finditer(rb"\b%s\b" % name, code)]
        talk = statements[-2]
        given = [a for call in talk.calls for a in call.arguments if a.text.strip() == f"&{value}"]
        if len(places) != 3 or len(given) != 1 or talk.kind is not Kind.SIMPLE:
            return None
        variable = self.program.variables.get(given[0].base or "")
        if variable is None or variable.kind != "local" or variable.element != kind:
            return None
        for statement in statements:
            if statement.kind is Kind.DECLARE:
                left = _without(data, statement, kind, value)
                if left is not None:
                    argument = Edit(given[0].start, given[0].end, _VALUE)
                    return [left, argument]
        return None

    def _declared(self, routine: Routine, start: int, kind: str, edits: Edits) -> bool:
        """Change what declares it elsewhere; whether all that names it is known.

        These are its definition, which begins at byte `start`, prototypes and calls.
        """
        if is_member(routine):
            found = declared_in_class(self.program, routine)
            if isinstance(found, Declared):
                head = routine.plain_name, [*found.parameters, f"{kind} *{_VALUE}"]
                edits.setdefault(found.source.name, [])
                edits[found.source.name].append(found.edit([head], keep=False, types=("void",)))
            return found is None or isinstance(found, Declared)
        name = re.escape(routine.plain_name.encode())
        spaced = rb"\s+".join(map(re.escape, kind.encode().split()))
        prototype = re.compile(
            rb"(?m)^[ \t]*(?:(?:static|extern|inline)\s+)*(%s)\s+%s\s*\(([^;{}()]*)\)\s*;"
            % (spaced, name)
        )
        for file, code in self.named.code.items():
            if routine.plain_name.encode() not in code:
                continue
            places = {match.start() for match in re.finditer(rb"\b%s\b" % name, code)}
            header = self.program.headers.get(file)
            if places and header is not None and not is_editable(self.program, header):
                return False
            for match in prototype.finditer(code):
                places = {p for p in places if not match.start() <= p < match.end()}
                inside = match[2].strip()
                more = f"{kind} *" if inside in (b"", b"void") else f", {kind} *"
                first = match.start(2) if inside in (b"", b"void") else match.end(2)
                edits.setdefault(file, []).append(Edit(*match.span(1), "void"))
                edits[file].append(Edit(first, match.end(2), more))
            for user, _, call in self.named.calls.get(routine.name, []):
                inside_call = range(call.start, call.end) if user.file == file else range(0)
                places -= {next((p for p in sorted(places) if p in inside_call), -1)}
            if file == routine.file:
                places = {p for p in places if not start <= p < routine.body.start}
            if places:
                return False
        return True

    def change_calls(self, routine: Routine, kind: str, edits: Edits) -> None:
        """Change all calls; raises Refusal where one is not made in a way that is known."""
        of_statement: dict[int, tuple[Routine, Statement, list[Call]]] = {}
        for user, statement, call in self.named.calls.get(routine.name, []):
            entry = of_statement.setdefault(id(statement), (user, statement, []))
            entry[2].append(call)
        taken: dict[str, set[str]] = {}
        for user, statement, calls in of_statement.values():
            place = Location(user.file, statement.line)
            amid = Refusal(self.name, Reason(ReasonKind.ASKED_AMID(routine=routine.name), place))
            if user.of_template or user.problem or user.file not in self.program.files:
                raise amid
            if not self._may_go_first(routine, user, statement, calls):
                raise amid
            new = taken.setdefault(user.key, set())
            names: list[str] = []
            for _ in calls:
                name = f"imbrex_{routine.plain_name}_value"  # not that of another function's
                names.append(free_name(name, user.taken | new | {*names}))
            calls = sorted(calls, key=lambda call: call.start)
            takers = self._takers(user, statement, routine, calls, kind)
            made = self._handed(user, statement, calls, kind, takers, names)
            if made is None:
                raise amid
            new |= set() if made.target else {*names}
            edits.setdefault(user.file, []).extend(made.edits)

    def _handed(
        self,
        user: Routine,
        statement: Statement,
        calls: list[Call],
        kind: str,
        takers: list[str],
        names: list[str],
    ) -> Taken | None:
        """The edits of a statement that asks for the value; None where they are not known."""
        source = self.program.files[user.file]
        head = partial(head_for, self.program, source.data)
        return handed_over(source, statement, calls, kind, takers, names, head)

    def _takers(
        self, user: Routine, statement: Statement, routine: Routine, calls: list[Call], kind: str
    ) -> list[str]:
        """The names of scalars that a statement sets and that the function does not use."""
        found: list[str] = []
        body = user.body
        if _REGISTER.search(self.program.files[user.file].data, body.start, body.end):
            return found  # it may have no address
        mine = [a for call in calls for a in self._touched(routine, call)]
        for access in statement.accesses:
            variable = self.program.variables.get(access.variable)
            if variable is None or not access.write or access.through or variable.volatile:
                continue
            if variable.element != kind or variable.bounds or variable.pointer:
                continue
            if variable.allocatable:
                continue
            changed = self.footprints.changed([*mine, access])
            if self.footprints.conflict([access], mine, changed) is None:
                found.append(variable.name)
        return found

    def _touched(self, routine: Routine, call: Call) -> list[Access]:
        whole = self.footprints.of_routine(routine)
        return self.footprints.bound(call, routine, whole.accesses)

    def _may_go_first(
        self, routine: Routine, user: Routine, statement: Statement, calls: list[Call]
    ) -> bool:
        """Whether calls of the function may be made ahead of all else that a statement does."""
        spans = sorted((call.start, call.end) for call in calls)
        if any(first[1] > second[0] for first, second in pairwise(spans)):
            return False  # one is an argument of another
        data = self.program.files[user.file].data
        target = _SET.match(data, statement.code_start, statement.end)
        name = "" if target is None else target[1].decode()
        done = [a for a in statement.accesses if not (a.write and self._is(a, name))]
        for other in statement.calls:
            if any(other is call for call in calls):
                continue
            if all(other.start <= start and end <= other.end for start, end in spans):
                continue  # its arguments are evaluated first
            found = self.footprints.of_call(other, user.file)
            if found.stop or found.leaves or found.events:
                return False
            done += found.accesses
        mine = [a for call in calls for a in self._touched(routine, call)]
        changed = self.footprints.changed([*mine, *done])
        return self.footprints.conflict(done, mine, changed) is None

    def _is(self, access: Access, name: str) -> bool:
        variable = self.program.variables.get(access.variable)
        if variable is None or (access.through and variable.kind != "dummy"):
            return False
        return variable.name == name or variable.name == name.lower()

    def refused(self, site: RoutineSite, refusal: Refusal) -> Proposal:
        return Proposal(self.name, site.routine, site.line, refusal.reason, without_window=True)

    def apply(self, plan: Plan[RoutineSite, Edits]) -> Proposal:
        routine = plan.site.routine
        reason = Reason(
            ReasonKind.VALUE_HANDED(routine=routine.name), Location(routine.file, routine.line)
        )
        proposal = Proposal(self.name, routine, routine.line, reason, plan.content)
        users = (user.name for user, _, _ in self.named.calls.get(routine.name, []))
        proposal.also = (routine.name, *dict.fromkeys(users))
        proposal.leads_to = (WRAPPERS, REARRANGEMENT)
        return proposal


def _given(found: RoutineText, kind: str) -> Edit:
    """One more parameter."""
    start, end = found.inside
    if found.parameters:
        return Edit(end, end, f", {kind} *{_VALUE}")
    return Edit(start, end, f"{kind} *{_VALUE}")


def _without(data: bytes, statement: Statement, kind: str, name: str) -> Edit | None:
    """A declaration without a variable that it gives no value; None where it is another one."""
    text = data[statement.code_start : statement.end].decode(errors="replace")
    spaced = r"\s+".join(kind.split())
    found = re.fullmatch(rf"({spaced})\s+([^;]*);", text, re.DOTALL)
    every = [] if found is None else pieces(found[2])
    if found is None or name not in every:
        return None
    left = [piece for piece in every if piece != name]
    if left:
        return Edit(statement.code_start, statement.end, f"{kind} {', '.join(left)};")
    return Edit(*whole_lines(data, statement.code_start, statement.end), "")
