"""Versioning: a block whose order may change where bounds are not negative, beside it as it was.

Whether packing a face and unpacking the other one touch different elements may depend on a size
that the source nowhere shows to be at least 0. A guard then asks for it where the program runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import ARROW, PRODUCT, Affine
from imbrex.transform.model.cases import Case
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.proposals import Proposal, StatementSite
from imbrex.transform.rewrites.rearrangement import Exchange, Rearrangement
from imbrex.transform.text.edits import Edit

_MOST_LINES = 40  # that are copied
_HEAD_OF_VOID = re.compile(rb"(?:^|[\s;}])void\s+(\w+)\s*\([^;{}]*\)\s*\Z")
_ELEMENT = re.compile(r"\[\d+\]$")
_MARK = "/* imbrex: as before, where elements may be shared */"


@dataclass(slots=True)
class Guarded(Exchange):
    """An exchange that may be made where none of some conditions holds."""

    unless: list[str]
    leave: str


class Versioning(Rearrangement):
    """Two statements change places where sizes are not negative; elsewhere they stay as they were.

    Before:
        for (int d = 0; d < 2; d++) {
            pack(g, u, 2 * d, g->out[0]);
            exchange(g, g->out[0], g->in[1]);
            unpack(g, u, 2 * d + 1, g->in[1]);
            pack(g, u, 2 * d + 1, g->out[1]);
            exchange(g, g->out[1], g->in[0]);
            unpack(g, u, 2 * d, g->in[0]);
        }

    After:
        for (int d = 0; d < 2; d++) {
            if (g->n[1] < 0) { /* imbrex: as before, where elements may be shared */
                pack(g, u, 2 * d, g->out[0]);
                exchange(g, g->out[0], g->in[1]);
                unpack(g, u, 2 * d + 1, g->in[1]);
                pack(g, u, 2 * d + 1, g->out[1]);
                exchange(g, g->out[1], g->in[0]);
                unpack(g, u, 2 * d, g->in[0]);
                continue;
            }
            pack(g, u, 2 * d, g->out[0]);
            exchange(g, g->out[0], g->in[1]);
            pack(g, u, 2 * d + 1, g->out[1]);
            unpack(g, u, 2 * d + 1, g->in[1]);
            exchange(g, g->out[1], g->in[0]);
            unpack(g, u, 2 * d, g->in[0]);
        }
    """

    name = "versioning"

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self._stable: dict[int, frozenset[str]] = {}

    def refused(self, site: StatementSite, refusal: Refusal) -> Proposal | None:
        return None  # told by rearrangement

    def conditions(self, site: StatementSite) -> Exchange | None:
        """What guards make possible; None where nothing needs them, or none can be written."""
        routine, block = site.routine, site.block
        if not self._may_be_copied(routine, block):
            return None
        leave = self._leave(routine, block)
        sizes = self._sizes(routine, block, site.statement)
        if leave is None or not sizes or self._with(site, set()) is not None:
            return None
        for least in (0, 1):
            facts = {size.plus(Affine(-least)): text for size, text in sizes.items()}
            exchange = self._with(site, set(facts))
            if exchange is None:
                continue
            needed = set(facts)
            for fact in facts:
                if self._with(site, needed - {fact}) is not None:
                    needed -= {fact}
            tests = sorted(f"{facts[fact]} < {least}" for fact in needed)
            return Guarded(exchange.block, exchange.above, exchange.moved, tests, leave)
        return None

    def _with(self, site: StatementSite, sizes: set[Affine]) -> Exchange | None:
        """What may be exchanged where `sizes` are not below 0."""
        known = self.footprints.nonnegative
        self.footprints.nonnegative = known | sizes
        self._received.clear()
        try:
            return super().conditions(site)
        except Refusal:
            return None
        finally:
            self.footprints.nonnegative = known
            self._received.clear()

    def _may_be_copied(self, routine: Routine, block: Block) -> bool:
        source = self.program.files[routine.file]
        if source.language is not Language.C or not block.insertable or not block.braced:
            return False
        start, end = self._span(routine, block)
        return start < end and source.data.count(b"\n", start, end) <= _MOST_LINES

    def _span(self, routine: Routine, block: Block) -> tuple[int, int]:
        """Whole lines from the first statement that declares nothing to the end of the block."""
        source = self.program.files[routine.file]
        for index, statement in enumerate(block.statements):
            if statement.kind is not Kind.DECLARE:
                last = len(block.statements) - 1
                return self._lines(source, block, index)[0], self._lines(source, block, last)[1]
        return 0, 0

    def _leave(self, routine: Routine, block: Block) -> str | None:
        """The statement that leaves the block as its end does; None where there is none."""
        owner = block.owner
        every = [inner for statement in block.statements for inner in statement.walk()]
        if any(s.kind in (Kind.OPAQUE, Kind.SWITCH, Kind.TRY) or s.text == "goto" for s in every):
            return None
        if owner is not None:
            return "continue;" if owner.kind is Kind.LOOP else None
        data = self.program.files[routine.file].data
        before = max(data.rfind(end, 0, block.start) for end in (b";", b"{", b"}"))
        text = data[max(before, 0) : block.start]
        head = _HEAD_OF_VOID.search(text)
        return "return;" if head and head[1] == routine.name.encode() else None

    def _sizes(self, routine: Routine, block: Block, statement: Statement) -> dict[Affine, str]:
        """The sizes that a guard may ask for, and how they read."""
        found: dict[Affine, str] = {}
        changed = self._stable.get(id(block))
        if changed is None:
            changed = self.footprints.changed_by(block.statements, routine.file)
            self._stable[id(block)] = changed
        for access in self.footprints.of(statement, routine.file).accesses:
            cases = access.cases or (Case((), access.section, access.strides),)
            forms = [stride for case in cases for stride in case.strides]
            ends = [end for case in cases for span in case.section or () for end in span]
            for form in (*forms, *(end for end in ends if end is not None)):
                for term, _ in form.terms:
                    size = Affine.variable(term)
                    if PRODUCT in term or size.variables() & changed or size in found:
                        continue
                    text = self._text(routine, block, term)
                    if text is not None:
                        found[size] = text
        return found

    def _text(self, routine: Routine, block: Block, term: str) -> str | None:
        """A variable, or the field of one, as the block may read it at its beginning."""
        base, arrow, field = term.partition(ARROW)
        variable = self.program.variables.get(base)
        if variable is None or variable.kind not in ("parameter", "local", "static", "global"):
            return None
        if base in self.program.named_objects:
            return None
        life = variable.lifetime
        if life is not None and not life[0] <= block.start <= block.end <= life[1]:
            return None
        names = {
            access.variable
            for statement in routine.statements()
            for access in statement.accesses
            if access.variable in self.program.variables
        }
        if any(self.program.variables[n].name == variable.name and n != base for n in names):
            return None
        if not arrow:
            known = variable.kind != "local" or self._reads(block, base, None)
            return variable.name if known else None
        index = _ELEMENT.search(field)
        component = self.program.variables.get(_ELEMENT.sub("", field))
        if component is None or not self._reads(block, base, component.record):
            return None
        reference = variable.reference and variable.name != "this"
        operator = "->" if variable.pointer and not reference else "."
        return f"{variable.name}{operator}{component.name}{index[0] if index else ''}"

    def _reads(self, block: Block, base: str, record: str | None) -> bool:
        """Whether the block surely reads a variable itself, or a field of what it points to."""
        if record is not None and not self.program.variables[base].pointer:
            return True
        for statement in block.statements:
            if statement.kind not in (Kind.SIMPLE, Kind.DECLARE):
                return False
            own = [access for access in statement.accesses if not access.write]
            fields = [self.program.variables.get(access.variable) for access in own]
            there = record is None or any(
                v is not None and v.kind == "field" and v.record == record for v in fields
            )
            if there and any(access.variable == base and not access.through for access in own):
                return True
        return False

    def apply(self, plan: Plan[StatementSite, Exchange]) -> Proposal:
        routine, guarded = plan.site.routine, plan.content
        assert isinstance(guarded, Guarded)
        proposal = super().apply(plan)
        source = self.program.files[routine.file]
        start, end = self._span(routine, guarded.block)
        lines = source.data[start:end].decode().splitlines()
        first = next(line for line in lines if line.strip())
        indent = first[: len(first) - len(first.lstrip())]
        deeper = "\t" if indent.startswith("\t") else "    "
        condition = " || ".join(guarded.unless)
        copied = [f"{deeper}{line}" if line.strip() else line for line in lines]
        text = [
            f"{indent}if ({condition}) {{ {_MARK}",
            *copied,
            f"{indent}{deeper}{guarded.leave}",
            f"{indent}}}",
        ]
        guard = Edit(start, start, "".join(f"{line}\n" for line in text))
        edits = [guard, *proposal.edits[routine.file]]
        line = plan.site.line
        moved, above = (guarded.block.statements[n] for n in (guarded.moved[-1], guarded.above))
        name = moved.calls[0].name if moved.kind is Kind.SIMPLE and moved.calls else "the loop"
        cause = ReasonKind.GUARDED(statement=name, line=above.line, condition=condition)
        reason = Reason(cause, Location(routine.file, line))
        return Proposal(self.name, routine, line, reason, {routine.file: edits})
