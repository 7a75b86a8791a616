"""Prefetching: collectives bring the data of the next iteration while this one computes.

Each step of a matrix product by panels broadcasts a panel and uses it at once. What is broadcast
is not computed by the steps, so that the panel of the next step may travel meanwhile, to memory of
its own. Filling and broadcast go one iteration ahead, in the same order on every rank as before:
what they pass does not communicate. The first are made in front of the loop, the last iteration
makes none. What has come is copied to the buffer where it was received until now, so that all else
finds there what it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.ahead import AheadParts, Parts, collectives_in
from imbrex.transform.analysis.copies import only_copies
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.iterations import Iterations
from imbrex.transform.rewrites.pipelining import LoopSite
from imbrex.transform.rewrites.private import free_name, taken_names
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.ahead_text import AheadText, broken
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    after_line,
    first_on_line,
    indent_at,
    line_start,
    whole_lines,
)
from imbrex.transform.text.loop_guards import LoopGuards
from imbrex.transform.text.second_buffers import Second, SecondBuffers, declarations

NAME = "prefetching"


@dataclass(frozen=True, slots=True)
class Prefetch:
    """What goes ahead, as text: for the first iteration, and for the one that follows."""

    parts: Parts
    seconds: list[Second]
    first: str  # whether there is a first iteration; empty where there surely is
    more: str
    lines: tuple[list[str], list[str]]
    declared: list[Edit]


class Prefetching(Preparing[LoopSite, Prefetch]):
    """Collectives bring what the next iteration needs while this one computes.

    Before:
        for (int k = 0; k < q; k++) {
            if (column == k)
                memcpy(panel, a, n * sizeof(double));
            MPI_Bcast(panel, n, MPI_DOUBLE, k, row);
            multiply(c, panel, b, n);
        }

    After:
        double *panel_next = malloc(panel_bytes);
        if (0 < q) {
            memcpy(panel_next, panel, panel_bytes);
            if (column == 0)
                memcpy(panel_next, a, n * sizeof(double));
            MPI_Bcast(panel_next, n, MPI_DOUBLE, 0, row);
        }
        for (int k = 0; k < q; k++) {
            memcpy(panel, panel_next, panel_bytes);
            if (k + 1 < q) {
                if (column == k + 1)
                    memcpy(panel_next, a, n * sizeof(double));
                MPI_Bcast(panel_next, n, MPI_DOUBLE, k + 1, row);
            }
            multiply(c, panel, b, n);
        }
        free(panel_next);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.iterations = Iterations(program, footprints, self.name)

    def sites(self) -> Iterator[LoopSite]:
        for routine in self.program.editable():
            for statement in routine.statements():
                if statement.kind is Kind.LOOP and statement.blocks and collectives_in(statement):
                    yield LoopSite(routine, statement)

    def refused(self, site: LoopSite, refusal: Refusal) -> Proposal:
        calls = self._calls(site)
        return Proposal(
            self.name, site.routine, site.line, refusal.reason, posts=calls, without_window=True
        )

    @staticmethod
    def _calls(site: LoopSite) -> frozenset[tuple[str, int]]:
        found = collectives_in(site.loop)
        return frozenset((site.routine.name, call.line) for _, call in found)

    def conditions(self, site: LoopSite) -> Prefetch | None:
        """What goes ahead; None where nothing is computed beside it.

        Raises Refusal where an iteration may need what the one before computes.
        """
        routine, loop = site.routine, site.loop
        source = self.program.files[routine.file]
        if not self._computes(site):
            return None
        guards = self.iterations.of(routine, loop)
        place = Location(routine.file, loop.line)
        index = self.iterations.index(loop, guards)
        kind = "" if index is None else self.program.variables[index].element
        if not kind or (source.is_fortran and kind.strip().lower() != "integer"):
            raise Refusal(self.name, Reason(ReasonKind.NOT_COUNTED(), place))
        parts = AheadParts(self.program, self.footprints, routine, loop).divide()
        if isinstance(parts, Reason):
            raise Refusal(self.name, parts)
        if not first_on_line(source.data, loop.code_start) or not self._ends_line(source, site):
            raise Refusal(self.name, Reason(ReasonKind.LOOP_LINE(), place))
        taken = taken_names(source.data, routine)
        buffers, seconds = SecondBuffers(self.program, source, routine, loop), []
        for variable in parts.buffers:
            name, size = (free_name(f"{variable.name}_{e}", taken) for e in ("next", "bytes"))
            known = not variable.pointer or variable.key not in self.footprints.addressed
            second = buffers.of(variable, name, size) if known else None
            if second is None:
                cause = ReasonKind.NO_SECOND(variable=variable.name)
                raise Refusal(self.name, Reason(cause, place))
            seconds.append(second)
        lines = self._lines(site, parts, (guards, kind), seconds, taken)
        if lines is None:
            where = Location(routine.file, parts.moved[0].line)
            raise Refusal(self.name, Reason(ReasonKind.NOT_COPIED(), where))
        return Prefetch(parts, seconds, guards.first, guards.more, lines[:2], lines[2])

    def _lines(
        self,
        site: LoopSite,
        parts: Parts,
        counted: tuple[LoopGuards, str],
        seconds: list[Second],
        taken: set[str],
    ) -> tuple[list[str], list[str], list[Edit]] | None:
        """What goes ahead, for the first iteration and for the one that follows.

        `counted`: when these are, and the type of the loop's index.
        """
        guards, kind = counted
        routine, loop = site.routine, site.loop
        source = self.program.files[routine.file]
        names = {second.variable.name: second.name for second in seconds}
        types: dict[int, str] = {}
        declared: list[str] = []
        for key, setter in parts.derived.items():
            variable = self.program.variables[key]
            name = names[variable.name] = free_name(f"{variable.name}_next", taken)
            if source.is_fortran:
                declared.append(f"{variable.element} :: {name}")
            elif setter.kind is Kind.SIMPLE:
                types[id(setter)] = f"{variable.element} "
        moved = [s for s in site.body.statements if s in (*parts.moved, *parts.derived.values())]
        text = AheadText(self.program, source, routine, loop, guards, kind)
        arrays = {v.name for v in parts.buffers if not (source.is_fortran or v.pointer)}
        arrays -= {v.name for v in parts.buffers if f"vector:{v.key}" in self.program.variables}
        if not text.movable(moved, names.keys(), arrays):
            return None
        outside = indent_at(source.data, loop.code_start)
        inside = indent_at(source.data, parts.last.code_start)
        step = "    " if source.language is Language.C else "  "
        within = outside + step * bool(guards.first or types or parts.derived)
        first = text.lines(moved, names, within, first=True, types=types)
        following = text.lines(moved, names, inside + step, first=False, types=types)
        if first is None or following is None:
            return None
        return first, following, declarations(source, routine, declared)

    def _computes(self, site: LoopSite) -> bool:
        """Whether an iteration does more than bring and fill."""
        file = site.routine.file
        own = [statement for statement, _ in collectives_in(site.loop)]
        behind = site.body.statements[site.body.statements.index(own[-1]) + 1 :]
        return any(
            self.footprints.of(statement, file).heavy and not only_copies(self.program, statement)
            for statement in behind
        )

    @staticmethod
    def _ends_line(source: SourceFile, site: LoopSite) -> bool:
        behind = after_line(source.data, site.loop.end)
        return source.data[behind : behind + 1] in (b"\n", b"\r", b"")

    def apply(self, plan: Plan[LoopSite, Prefetch]) -> Proposal:
        site, prefetch = plan.site, plan.content
        routine, loop, parts = site.routine, site.loop, prefetch.parts
        source = self.program.files[routine.file]
        data = source.data
        seconds = prefetch.seconds
        outside = indent_at(data, loop.code_start)
        inside = indent_at(data, parts.last.code_start)
        c = source.language is Language.C
        apart = bool(prefetch.first or parts.derived)
        step = ("    " if c else "  ") if apart else ""

        def said(lines: list[str], indent: str) -> list[str]:
            return [each for line in lines for each in broken(source.language, line, indent)]

        before = said([line for second in seconds for line in second.before], outside)
        opened = said([line for second in seconds for line in second.first], outside + step)
        opened += prefetch.lines[0]
        head = prefetch.first or ("1" if c else ".true.") if apart else ""
        before += self._guarded(head, opened, outside, c=c)
        each = said([line for second in seconds for line in second.each], inside)
        each += self._guarded(prefetch.more, prefetch.lines[1], inside, c=c)
        behind = said([line for second in seconds for line in second.behind], outside)
        front = line_start(data, loop.code_start)
        end = after_line(data, loop.end)
        edits = [*prefetch.declared, *(edit for second in seconds for edit in second.edits)]
        edits.append(Edit(front, front, "".join(f"{line}\n" for line in before)))
        for statement in (*parts.moved, *parts.idle):
            start, stop = whole_lines(data, statement.code_start, statement.end)
            text = "".join(f"{line}\n" for line in each) if statement is parts.last else ""
            edits.append(Edit(start, stop, text))
        edits.append(Edit(end, end, "".join(f"\n{line}" for line in behind)))
        line = parts.calls[0].line
        told = ReasonKind.BROUGHT_AHEAD(names=", ".join(second.name for second in seconds))
        return Proposal(
            self.name,
            routine,
            line,
            Reason(told, Location(routine.file, line)),
            {routine.file: edits},
            posts=self._calls(site),
        )

    @staticmethod
    def _guarded(condition: str, lines: list[str], indent: str, *, c: bool) -> list[str]:
        """Lines, which are indented already, under a condition."""
        if not condition:
            return lines
        head, tail = (f"if ({condition}) {{", "}") if c else (f"if ({condition}) then", "end if")
        return [f"{indent}{head}", *lines, f"{indent}{tail}"]
