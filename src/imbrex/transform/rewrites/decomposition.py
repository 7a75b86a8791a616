"""Decomposition: a collective becomes messages, and a loop uses what each has brought.

What MPI_Alltoallv brings is of no use before all of it has come. A loop that goes through it, one
element after the other in any order, may begin with what came first while the rest travels: keys
that are counted, particles that are unpacked. The pieces are those that the ranks send.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.messages import is_copy
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.whole_program import unseen_code
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal, Site, calls_of
from imbrex.transform.rewrites.collectives import SHARING, all_named, named_elsewhere
from imbrex.transform.rewrites.private import free_name, taken_names
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.received import ALLOCATES, numbers_in
from imbrex.transform.text.directives import directed
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.exchange_text import ExchangeNames, exchange_functions
from imbrex.transform.text.layout import first_on_line, indent_at, line_start
from imbrex.transform.text.loop_headers import Header, read_header
from imbrex.transform.text.received_text import named_type
from imbrex.transform.text.routine_text import c_routine_text
from imbrex.transform.text.terms import shifted
from imbrex.transform.text.wrapping import wrapped

NAME = "decomposition"
_CALL = "MPI_Alltoallv"
_ARGUMENTS = 9
_SENT, _RECEIVED = 0, 4  # positions of the buffers; each has counts and displacements behind it
_TYPES = (3, 7)
_COMMUNICATOR = 8
_WORLD = "MPI_COMM_WORLD"
_INDICES = frozenset(
    {"int", "long", "long long", "unsigned int", "unsigned long", "unsigned long long"}
)
# What makes communicators whose ranks exchange with those of another group.
_BETWEEN_GROUPS = frozenset(
    {
        *("MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Comm_spawn"),
        *("MPI_Comm_spawn_multiple", "MPI_Comm_get_parent", "MPI_Comm_accept"),
        *("MPI_Comm_connect", "MPI_Comm_join"),
    }
)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The loop that uses what comes, and what the text of the functions needs."""

    loop: Statement
    header: Header
    element: str
    index: str  # the type of its index
    width: int  # elements that an iteration uses
    front: int  # where the functions stand: the byte in front of the routine
    worth: int  # computing statements that the messages pass


class Decomposition(Preparing[Site, Pieces]):
    """An MPI_Alltoallv becomes messages, and the loop behind it uses each piece when it has come.

    Before:
        MPI_Alltoallv(keys, sizes, at, MPI_INT, mine, came, from, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            count[mine[i]]++;

    After:
        imbrex_exchange(keys, sizes, at, mine, came, from, MPI_INT);
        int imbrex_span[2];
        while (imbrex_piece(0, n, imbrex_span))
            for (int i = imbrex_span[0]; i < imbrex_span[1]; i++)
                count[mine[i]]++;
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.elsewhere = unseen_code(program, footprints.libraries, SHARING)

    def sites(self) -> Iterator[Site]:
        """The call, where it is the only one that could match itself on another rank."""
        every = all_named(self.program, _CALL)
        if len(every) != 1 or self.elsewhere is not None:
            return
        if named_elsewhere(self.program, _CALL, every) is None:
            yield from calls_of(self.program, _CALL)

    def conditions(self, site: Site) -> Pieces | None:
        """The loop that uses the pieces; None where there is none, or the call is another kind.

        Raises Refusal where there is one whose iterations may not change places.
        """
        routine, statement, call = site.routine, site.statement, site.call
        source = self.program.files[routine.file]
        block = statement.parent
        facts = self.footprints.facts
        if source.is_fortran or facts.threads is not None or facts.in_order is not None:
            return None
        if not call.is_statement or call.macro or statement.stop is not None:
            return None
        if block is None or is_copy(block) or not (block.insertable and block.braced):
            return None
        front = self._front(routine)
        element = None if front is None else self._element(site, front)
        if element is None or front is None:
            return None
        loop = self._consumer(site, block)
        if loop is None or loop.kind is not Kind.LOOP:
            return None
        if not first_on_line(source.data, loop.code_start):
            return None
        spaces = kept_spaces(self.program, self.footprints, routine)
        header, space = read_header(source, loop), spaces.of(loop)
        if header is None or space is None or directed(space) or space.statement is not loop:
            return None
        width = self._width(site, space)
        if width is None or not self._only_reads(site, space):
            return None
        reason = spaces.order_matters(space, [0])
        if reason is not None:
            raise Refusal(self.name, reason)
        passed = block.statements[block.statements.index(statement) + 1 :]
        worth = sum(len(each.walk()) for each in passed[: passed.index(loop) + 1])
        index = self.program.variables[space.ranges[0].index].element
        return Pieces(loop, header, element, index, width, front, worth)

    def _element(self, site: Site, front: int) -> str | None:
        """The type of the elements, where both buffers have it and the datatypes say the same."""
        arguments = site.call.arguments
        if len(arguments) != _ARGUMENTS or not self._has_duplicate(site):
            return None
        variables = [self._variable(arguments[at]) for at in (_SENT, _RECEIVED)]
        lists = [self._variable(arguments[at + n]) for at in (_SENT, _RECEIVED) for n in (1, 2)]
        if any(v is None or v.volatile for v in variables + lists):
            return None
        if any(each.element != "int" for each in lists if each is not None):
            return None
        mine, came = (variable for variable in variables if variable is not None)
        said = [arguments[at + n] for at in (_SENT, _RECEIVED) for n in (0, 1, 2)]
        if mine.key == came.key or mine.element != came.element or mine.rows or came.rows:
            return None
        if any(a.problem or a.slot for a in said):
            return None
        sent, received = (arguments[position] for position in _TYPES)
        if sent.constant != received.constant or numbers_in(self.program, came, received) is None:
            return None
        source = self.program.files[site.routine.file]
        element = named_type(source, came)
        if not came.of_structures:
            return element
        name = re.escape(element.removeprefix("struct ").encode())
        declared = re.compile(rb"\bstruct\s+%b\s*\{|\}\s*%b\s*;" % (name, name))
        texts = [source.data[:front], *(header.data for header in self.program.headers.values())]
        return element if any(declared.search(text) for text in texts) else None

    def _has_duplicate(self, site: Site) -> bool:
        """Whether a duplicate of the communicator may go with it."""
        communicator = site.call.arguments[_COMMUNICATOR]
        if communicator.constant == _WORLD:
            return True
        source = self.program.files[site.routine.file]
        between = any(call.name in _BETWEEN_GROUPS for call in self.program.calls())
        known = communicator.problem is None and not between
        return known and (source.is_cxx or ALLOCATES.search(source.data) is not None)

    def _variable(self, argument: Argument) -> Variable | None:
        shared = self.program.overlays.get(argument.base or "")
        return None if shared else self.program.variables.get(argument.base or "")

    def _front(self, routine: Routine) -> int | None:
        """The byte in front of a function and of the comment above it; None within a class."""
        source = self.program.files[routine.file]
        if routine.scope is not None or routine.file not in self.program.files or source.header:
            return None
        text = c_routine_text(self.program, routine, value=True)
        if text.problem is not None:
            return None
        start = line_start(source.data, text.span[0])
        before = source.data[:start].rstrip()
        if before.endswith(b"*/"):
            start = line_start(source.data, before.rfind(b"/*"))
        outside = source.data[:start].rstrip()
        ended = outside[-1:] in (b"", b"}", b";", b"/") or outside[
            line_start(outside, len(outside)) :
        ].lstrip().startswith(b"#")
        return start if ended else None

    def _consumer(self, site: Site, block: Block) -> Statement | None:
        """The first statement that uses what comes, if what stands in front may run meanwhile.

        A copy of what is sent, where that is changed meanwhile, would cost as much as counting.
        """
        routine, call = site.routine, site.call
        used = [access for argument in call.arguments for access in argument.reads]
        for at, argument in enumerate(call.arguments):
            if at not in (*_TYPES, _COMMUNICATOR):
                used.append(self._use(argument, call.line, at == _RECEIVED))
            if argument.through and argument.base is not None:
                used.append(Access(argument.base, False, False, call.line))
        for statement in block.statements[block.statements.index(site.statement) + 1 :]:
            found = self.footprints.of(statement, routine.file)
            if found.stop or found.leaves or found.events:
                return None
            changed = self.footprints.changed(found.accesses)
            if self.footprints.conflict(found.accesses, used, changed) is None:
                continue
            written = [access for access in found.accesses if access.write]
            if self.footprints.conflict(written, used, changed) is not None:
                return None
            return statement
        return None

    @staticmethod
    def _use(argument: Argument, line: int, write: bool) -> Access:
        """The memory of an argument, all of it."""
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        return Access(base, argument.through, write, line, None, (), argument.owner)

    def _width(self, site: Site, space: Space) -> int | None:
        """How many elements each iteration of the outermost loop uses: those of its own number.

        None where it uses more, or their numbers are not known.
        """
        buffer = site.call.arguments[_RECEIVED]
        span = space.ranges[0]
        names = {span.index} | span.low.numbers() | span.high.numbers()
        numbers = [self.program.variables.get(name) for name in names]
        if any(number is None or number.element not in _INDICES for number in numbers):
            return None
        if buffer.origin != (Affine(0),) or not span.every:
            return None
        mine = self._of_buffer(site, space, of=True)
        widths = {_growth(access, span.index) for access in mine}
        width = widths.pop() if len(widths) == 1 else None
        if width is None or width <= 0 or len(space.loops) > 1:
            return None
        return width if all(_offset(access) in range(width) for access in mine) else None

    @staticmethod
    def _of_buffer(site: Site, space: Space, *, of: bool) -> list[Access]:
        """The accesses of an iteration to what comes, or all else."""
        buffer = site.call.arguments[_RECEIVED]
        place = (buffer.base, buffer.through)
        return [a for a in space.accesses if ((a.variable, a.through) == place) is of]

    def _only_reads(self, site: Site, space: Space) -> bool:
        """Whether nothing else of the loop may be what comes: another name of the same memory."""
        buffer = site.call.arguments[_RECEIVED]
        came = self._use(buffer, site.call.line, True)
        besides = self._of_buffer(site, space, of=False)
        changed = self.footprints.changed(space.accesses)
        return self.footprints.conflict(besides, [came], changed) is None

    def apply(self, plan: Plan[Site, Pieces]) -> Proposal:
        site, pieces = plan.site, plan.content
        routine, call, loop = site.routine, site.call, pieces.loop
        source = self.program.files[routine.file]
        data = source.data
        names = _free_names(data, routine)
        texts = [argument.text.strip() for argument in call.arguments]
        said = [texts[at + n] for at in (_SENT, _RECEIVED) for n in (0, 1, 2)]
        said.append(texts[_TYPES[1]])
        world = call.arguments[_COMMUNICATOR].constant == _WORLD
        said += [] if world else [texts[_COMMUNICATOR]]
        given = ", ".join(said)
        functions = exchange_functions(
            names,
            (pieces.element, pieces.index),
            pieces.width,
            world=world,
            cxx=source.is_cxx,
        )
        here = indent_at(data, call.start)
        begin = wrapped(source.language, f"{names.begin}({given})", len(here), here)
        indent = indent_at(data, loop.code_start)
        header = pieces.header
        end = shifted(header.high, 1)
        span = names.span
        each = f"while ({names.piece}({header.low}, {end}, {span}))"
        one = f"for ({header.first}{span}[0]; {header.index} < {span}[1]; {header.index}++)"
        front = line_start(data, loop.code_start)
        lines = f"{indent}{pieces.index} {span}[2];\n"
        lines += f"{indent}{wrapped(source.language, each, len(indent), indent)}\n"
        body = data[header.end : loop.end].decode()
        edits = [
            Edit(pieces.front, pieces.front, functions),
            Edit(call.start, call.end, begin),
            Edit(front, loop.end, f"{lines}{indent}    {one}{_deeper(body)}"),
        ]
        place = site.location
        told = ReasonKind.IN_PIECES(line=loop.line)
        return Proposal(
            self.name,
            routine,
            call.line,
            Reason(told, place),
            {routine.file: edits},
            worth=pieces.worth,
            opened=frozenset({(routine.file, call.line)}),
            messages=names.functions,
        )


def _growth(access: Access, index: str) -> int | None:
    """By how much an element's number grows from one iteration to the next."""
    section = access.section
    if section is None or access.strides or len(section) != 1:
        return None
    low = section[0].low
    known = low is not None and low == section[0].high and low.variables() == {index}
    return low.coefficient(index) if known and low is not None else None


def _offset(access: Access) -> int:
    """The number of the first iteration's element."""
    low = access.section[0].low if access.section else None
    return -1 if low is None else low.constant


def _free_names(data: bytes, routine: Routine) -> ExchangeNames:
    taken = taken_names(data, routine)
    ours = asdict(ExchangeNames())
    return ExchangeNames(**{role: free_name(name, taken) for role, name in ours.items()})


def _deeper(text: str) -> str:
    """Text behind the header of a loop, which now stands within another one."""
    lines = text.split("\n")
    return "\n".join(
        [
            lines[0],
            *(f"    {line}" if line.strip() and line[0] != "#" else line for line in lines[1:]),
        ]
    )
