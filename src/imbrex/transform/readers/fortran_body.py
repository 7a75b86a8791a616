"""The executable part of a Fortran routine: statements, blocks and control flow.

What is not positively recognized becomes an opaque statement that nothing may move over.
"""

from __future__ import annotations

import re

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import MOVES, Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers.fortran_allocations import allocations, plainly_allocates
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_assignments import Assignments
from imbrex.transform.readers.fortran_bound import Bound, note_unknown
from imbrex.transform.readers.fortran_comparisons import not_negative
from imbrex.transform.readers.fortran_concurrent import concurrent
from imbrex.transform.readers.fortran_construct_names import without_names
from imbrex.transform.readers.fortran_constructs import construct
from imbrex.transform.readers.fortran_directives import loop_behind, with_directives
from imbrex.transform.readers.fortran_elementwise import elementwise
from imbrex.transform.readers.fortran_inside import calls_inside
from imbrex.transform.readers.fortran_joined import joined
from imbrex.transform.readers.fortran_labels import only_ends
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_masked import masked
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_ranges import begun_at_remainder, loop_range
from imbrex.transform.readers.fortran_reductions import Reductions
from imbrex.transform.readers.fortran_remainders import congruence, set_to, value_of
from imbrex.transform.readers.fortran_scopes import Scope, depth_zero_equals, is_assignment
from imbrex.transform.readers.fortran_selected import select
from imbrex.transform.readers.fortran_skipped import skipped
from imbrex.transform.readers.fortran_statements import Lines
from imbrex.transform.readers.fortran_swapped import Swapped
from imbrex.transform.readers.fortran_values import note_value
from imbrex.transform.readers.fortran_viewing import Viewing

_WORD = re.compile(r"[A-Za-z_]\w*")
_OUTPUT = re.compile(
    r"(read|write|print|open|close|inquire|rewind|backspace|endfile|flush)(\(|\*|'|\"|\d|[a-z])"
)
_CONSTRUCT = re.compile(r"(?:[a-z]\w*:)?(associate\(|block$|critical$|where\(|forall\(|changeteam)")
_NAMED = re.compile(
    r"[a-z]\w*:(?=if\(|do|select|associate\(|block$|critical$|where\(|forall\(|changeteam)"
)
_DO = re.compile(r"do(\d+,?)?([a-z]\w*=|while\(|$)")
_OF_LOOP = re.compile(r"(exit|cycle)([a-z]\w*)")
# A step that is surely positive, unless `max` is a name of the user's (then it is no intrinsic).
_POSITIVE = re.compile(r"(?:merge\(1,)?max\([^()]*,1\)(?:,[^()]*\))?")


class Body(Lines):
    """Reads the executable lines of one scope."""

    def __init__(self, scope: Scope, names: Names) -> None:
        self.names = names
        self.enter(scope)
        self.bound = Bound(names, scope)
        self.viewing = Viewing(names, scope)
        lines = [self.bound.plain(line) for line in self.viewing.lines]
        super().__init__(without_names(lines))
        self.labels: list[str] = []  # labels that end an open DO
        self.before: LogicalLine | None = None  # the line in front, in the same block
        self.only_ends = only_ends(self.lines)
        self.loops: list[str] = []  # the names of those around, empty for one without
        self.names_of_loops: dict[str, int] = {}  # and the lines of their beginnings

    def enter(self, scope: Scope) -> None:
        """Read on with the names of a scope."""
        self.scope = scope
        self.expressions = Assignments(self.names, scope)
        self.reductions = Reductions(self.names, scope)
        self.swapped = Swapped(self.names, scope)

    def read(self) -> Block:
        statements = self.statements(r"$^")
        if self.position < len(self.lines):
            line = self.lines[self.position]
            self.broken_at(line.line, ReasonKind.CLOSES_NOTHING(line=line.text.strip()))
            statements.append(self.opaque(line, ReasonKind.CONSTRUCT()))
        start = self.lines[0].start if self.lines else 0
        end = self.lines[-1].end if self.lines else 0
        block = self.as_block(statements, start, end)
        self.viewing.finish(block)
        return block

    def statements(self, until: str, label: str = "", *, ahead: bool = False) -> list[Statement]:
        """Statements up to a line that matches `until`, or through the one labelled `label`.

        `ahead`: up to that one.
        """
        statements: list[Statement] = []
        ends = re.compile(until)
        while self.position < len(self.lines):
            line = self.lines[self.position]
            if not line.directive and ends.match(line.masked) and not is_assignment(line.masked):
                break
            if re.match(r"end(if|do|select)|else|case[(d]", line.masked) and not is_assignment(
                line.masked
            ):
                break
            if ahead and line.label.lstrip("0") == label:
                break
            self.position += 1
            self.before = self.lines[self.position - 2] if statements else None
            statement = self._statement(line)
            statements.append(statement)
            if label and self._ended == label:
                break
        return joined(statements, self.names.program.files[self.scope.file].data)

    _ended = ""  # the label of the line read last

    def _statement(self, line: LogicalLine) -> Statement:
        self._ended = line.label
        if line.directive:
            return self._directed(line)
        text = line.masked
        effects = Effects()
        if self.swapped.note(line, effects):
            statement = self._new(Kind.SIMPLE, line)
        elif is_assignment(text):
            statement = self._new(Kind.SIMPLE, line)
            equals = depth_zero_equals(text)
            statement.computes = self.expressions.assign(line, equals, effects)
            statement.reduces_arrays = self.expressions.goes_over_arrays(text[equals + 1 :])
            if statement.computes:
                statement.elementwise = elementwise(self.expressions, line, equals)
            note_value(self.expressions, statement, text, equals)
        else:
            statement = self._other(line, text, effects)
        statement.accesses += effects.accesses
        statement.calls += effects.calls
        statement.shaped = effects.shaped
        statement.allocates += effects.allocates
        statement.stop = statement.stop or effects.stop
        self.reductions.note(statement, text)
        if line.label and not text.startswith("format("):
            statement.stop = statement.stop or ReasonKind.LABEL(label=line.label)
        if not line.alone:
            statement.stop = statement.stop or ReasonKind.SEVERAL_ON_LINE()
        for block in statement.blocks:
            block.owner = statement
        return statement

    def _directed(self, line: LogicalLine) -> Statement:
        """The loop that a directive belongs to, else the directive as what is not known."""
        position = loop_behind(self.lines, self.position)
        if position is None:
            return self.opaque(line, ReasonKind.LINE(line=line.directive))
        self.position = position + 1
        loop = self._statement(self.lines[position])
        self.position = with_directives(loop, line, self.lines, self.position)
        return loop

    def _other(self, line: LogicalLine, text: str, effects: Effects) -> Statement:
        named = _NAMED.match(text)
        if named is not None and _DO.match(text, named.end()):
            return self._do(line, text, effects, named.end())
        if named is not None:
            return skipped(self, line, text[named.end() :])
        if text.startswith("if("):
            return self._if(line, text, effects)
        if _DO.match(text):
            return self._do(line, text, effects)
        if text.startswith(("selectcase(", "selecttype(", "selectrank(")):
            return select(self, line, text)
        if text.startswith("doconcurrent("):
            return concurrent(self, line, text) or skipped(self, line, text)
        if text.startswith("where("):
            return masked(self, line, text) or skipped(self, line, text)
        if text == "block" or text.startswith("associate("):
            return construct(self, line, text) or skipped(self, line, text)
        if _CONSTRUCT.match(text) is not None:
            return skipped(self, line, text)
        if text.startswith("call"):
            return self.call(line, text, effects)
        if text == "continue" or text.startswith("format("):
            return self._new(Kind.SIMPLE, line)
        leaving = _OF_LOOP.fullmatch(text)
        if leaving is not None and self.loops and self.loops[-1] == leaving[2]:
            text = leaving[1]  # of the loop that it stands in, by its name
        if text in ("return", "exit", "cycle") or text.startswith("return"):
            statement = self._new(Kind.JUMP, line)
            statement.leaves, statement.text = True, text[:6]
            return statement
        statement = self._new(Kind.OPAQUE, line)
        if leaving is not None:
            statement.leaves, statement.text = True, "goto"
            statement.stop = ReasonKind.NAMED_EXIT()
        elif text.startswith("goto"):
            statement.leaves, statement.text = True, "goto"
            statement.stop = ReasonKind.GO_TO()
        elif text.startswith(("stop", "errorstop", "pause")):
            statement.stop = ReasonKind.PROGRAM_END()
        elif text.startswith(("allocate(", "deallocate(", "nullify(")):
            statement.allocation = not text.startswith("nullify(") and plainly_allocates(
                self.expressions, line, effects
            )
            if not statement.allocation:
                effects.accesses, effects.calls, effects.stop = [], [], None
                statement.stop = ReasonKind.ALLOCATION()
            if text.startswith("allocate("):
                reader = self.expressions
                statement.allocates = allocations(
                    reader.names, reader.components, reader.scope, text
                )
        elif _OUTPUT.match(text):
            statement.stop = ReasonKind.INPUT_OUTPUT()
        else:
            statement.stop = ReasonKind.STATEMENT()
        if not statement.allocation:
            effects.calls = calls_inside(self.expressions, line)
        return statement

    def _condition(self, line: LogicalLine, first: int, last: int, statement: Statement) -> bool:
        """Read a condition; True where evaluating it has no side effect."""
        effects = Effects()
        self.expressions.read(line, first, last, effects)
        statement.accesses += effects.accesses
        statement.calls += effects.calls
        statement.stop = statement.stop or effects.stop
        return not effects.calls and effects.stop is None

    def _if(self, line: LogicalLine, text: str, effects: Effects) -> Statement:
        stop = closing(text, 2)
        rest = text[stop + 1 :]
        statement = self._new(Kind.IF, line)
        if stop < 0 or re.fullmatch(r"\d+,\d+,\d+", rest):
            statement.kind, statement.stop = Kind.OPAQUE, ReasonKind.ARITHMETIC_IF()
            statement.leaves, statement.text = True, "goto"
            return statement
        pure = self._condition(line, 3, stop, statement)
        if pure:
            statement.condition = line.text[3:stop]
            statement.test = self.expressions.test(line.masked[3:stop])
            statement.holding = not_negative(self.names, self.scope, line.masked[3:stop])
            statement.congruent = congruence(self.names, self.scope, line.masked[3:stop])
        if rest != "then":
            inner = self._statement(self.part(line, stop + 1, len(text)))
            self._ended = line.label
            block = self.as_block([inner], inner.start, inner.end)
            block.braced, block.insertable = False, pure
            statement.blocks, statement.more_conditions = [block], []
            return statement
        more_conditions: list[str] | None = []
        while True:
            body = self.statements(r"else|endif")
            statement.blocks.append(self.as_block(body, line.end, self.here()))
            if self.position >= len(self.lines):
                statement.stop = self.broken_at(statement.line, ReasonKind.IF_WITHOUT_END())
                return statement
            line = self.lines[self.position]
            self.position += 1
            text = line.masked
            if text.startswith("endif"):
                statement.end, statement.end_line = line.end, line.end_line
                statement.more_conditions = more_conditions
                self._note_end(line, statement)
                return statement
            if text.startswith("elseif("):
                end = closing(text, 6)
                pure = self._condition(line, 7, end, statement)
                test = self.expressions.test(line.masked[7:end]) if pure else None
                statement.more_tests.append(test)
                more_conditions = (
                    [*more_conditions, line.text[7:end]]
                    if more_conditions is not None and pure
                    else None
                )
            elif text == "else":
                statement.more_tests.append(None)
                more_conditions = None if more_conditions is None else [*more_conditions, ""]
            else:
                statement.stop = ReasonKind.IF()
                return statement

    def _do(self, line: LogicalLine, text: str, effects: Effects, begin: int = 0) -> Statement:
        """`begin`: where its keyword stands, behind a name."""
        statement = self._new(Kind.LOOP, line)
        match = re.compile(r"do(\d*),?").match(text, begin)
        assert match is not None
        name = text[: begin - 1] if begin else ""
        if name and self.names_of_loops.setdefault(name, line.line) != line.line:
            statement.stop = self.broken_at(statement.line, ReasonKind.NAMED_TWICE(name=name))
        label, first = match[1].lstrip("0"), match.end()
        if text.startswith("while(", first):
            self._condition(line, first + 6, closing(text, first + 5), statement)
        elif first < len(text):
            equals = text.index("=", first)
            index = self.expressions.write_to(line, text[first:equals], effects)
            bounds = [
                (equals + 1 + a, equals + 1 + b) for a, b in split_arguments(text[equals + 1 :])
            ]
            for a, b in bounds:
                self.expressions.read(line, a, b, effects)
            values = [self.names.affine(self.scope, text[a:b]) for a, b in bounds]
            unknown = len(bounds) > 2 and _POSITIVE.fullmatch(text, *bounds[2])
            if unknown:
                values[2] = Affine(2)
            if index is not None:
                statement.loop = loop_range(index.key, values, known=not unknown)
            if index is not None and statement.loop is None and not unknown:
                value = value_of(self.names, self.scope, text[slice(*bounds[0])])
                statement.reach = begun_at_remainder(index.key, value, values[1:])
            before = None if line.label else self.before
            if index is not None and not unknown and before is not None:
                value = set_to(self.names, self.scope, before, text[slice(*bounds[0])])
                reach = begun_at_remainder(index.key, value, values[1:])
                statement.reach = reach or statement.reach
        self.loops.append(name)
        if label:
            self.labels.append(label)
            body = self.statements(r"$^", label, ahead=label in self.only_ends)
            self.labels.pop()
        else:
            body = self.statements(r"enddo")
        self.loops.pop()
        statement.blocks = [self.as_block(body, line.end, self.here())]
        if label:
            if self._ended != label and self._labelled_end(label):
                ending = self.lines[self.position]
                self.position += 1
                statement.end, statement.end_line = ending.end, ending.end_line
                if label not in self.only_ends:
                    self._note_end(ending, statement)
                return statement
            if self._ended != label:
                statement.stop = self.broken_at(
                    statement.line, ReasonKind.DO_WITHOUT_LABEL(label=label)
                )
            if body:
                # Nothing may be put behind the statement that ends the loop.
                last = body[-1]
                last.text = "terminal"
                if last.stop is not None and last.stop.kind is ReasonKind.LABEL:
                    last.stop = None
                statement.end, statement.end_line = body[-1].end, body[-1].end_line
            return statement
        if self.position >= len(self.lines) or not self.lines[self.position].masked.startswith(
            "enddo"
        ):
            statement.stop = self.broken_at(statement.line, ReasonKind.DO_WITHOUT_END())
            return statement
        ending = self.lines[self.position]
        self.position += 1
        statement.end, statement.end_line = ending.end, ending.end_line
        self._note_end(ending, statement)
        return statement

    def _labelled_end(self, label: str) -> bool:
        """Whether the next line is an END DO with this label, or as good as that."""
        if self.position >= len(self.lines):
            return False
        line = self.lines[self.position]
        ends = line.masked.startswith("enddo") or label in self.only_ends
        return line.label.lstrip("0") == label and ends

    def call(self, line: LogicalLine, text: str, effects: Effects) -> Statement:
        statement = self._new(Kind.SIMPLE, line)
        match = re.match(r"call([a-z]\w*)(\(.*\))?$", text)
        if match is None or (match[2] and closing(text, match.end(1)) != len(text) - 1):
            statement.stop = ReasonKind.CALL()
            note_unknown(self.names, [line])
            return statement
        last = len(text) - 1 if match[2] else len(text)
        first = match.end(1) + 1 if match[2] else len(text)
        call = self.expressions.call(line, match[1], 0, first, last, effects)
        call.is_statement = True
        if match[1] == "move_alloc":
            self.names.program.variables.setdefault(MOVES, Variable(MOVES, "the arrays", "static"))
            effects.accesses.append(Access(MOVES, False, True, line.line))
            self.names.program.moved = True
        found = self.names.find(self.scope, match[1])
        call.unknown = found is not None and match[1] in found[0].dummies
        if re.search(r"[(,]\*\d+[,)]", text):
            statement.stop = ReasonKind.ALTERNATE_RETURN()
        effects.calls += self.expressions.targets(call, effects)
        return statement
