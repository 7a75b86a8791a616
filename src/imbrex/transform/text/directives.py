"""Directives that tell how a loop is run: which of them both parts of a divided loop may have.

A directive that leaves each iteration its meaning holds for the parts as it does for the whole.
So does a reduction of what the loop is known to reduce in the same way: OpenMP adds what the
threads found to what the variable was. What joins the iterations' values otherwise (`lastprivate`)
does not. OpenMP 5.2, sections 4.4 (loops), 5.4 and 5.5 (clauses).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind

_CONTINUED = re.compile(r"\\\r?\n|&[ \t]*\r?\n[ \t]*[!cC*]\$omp[ \t]*&?|\n[!cC*]\$omp[^\s0]", re.I)
_LINE = re.compile(
    r"\s*(?:#\s*pragma|[!cC*](?:dir|dec|gcc)\$|[!cC*]\$(?=omp))\s*(.*)", re.IGNORECASE
)
_OMP = re.compile(r"omp\s+(?:parallel\s*(?:for|do)(?:\s*simd)?|simd)\b(.*)", re.IGNORECASE)
_END = re.compile(r"omp\s+end\b", re.IGNORECASE)
_HINT = re.compile(
    r"(?:GCC\s+)?(?:ivdep|(?:no)?unroll)\b|clang\s+loop\b|simd\b|(?:no)?(?:vector|prefetch)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[\s,]*(\w+)\s*(\()?")
_EACH_ITERATION = frozenset(
    {
        *("private", "firstprivate", "shared", "default", "schedule", "num_threads", "if"),
        *("proc_bind", "collapse", "safelen", "simdlen", "aligned", "nontemporal", "order"),
    }
)
_REDUCTION = re.compile(r"\(\s*(\+|max|min)\s*:([\w\s,]+)\)\Z", re.IGNORECASE)
_REDUCES = {
    "+": frozenset({"sum"}),
    "max": frozenset({"extreme max", "chosen max"}),
    "min": frozenset({"extreme min", "chosen min"}),
}
"""By the operation of the clause, those of `Reduction`."""
_OF_LOOPS = re.compile(
    rb"(?im)^[ \t]*(?:"
    rb"#[ \t]*pragma[ \t]+(?:omp[ \t]+(?:parallel[ \t]+for|simd)|GCC|ivdep|unroll)\b.*"
    rb"|[!c*]\$omp[ \t]+(?:end[ \t]*)?(?:parallel[ \t]*do|simd)\b"
    rb"(?:.*&[ \t]*\r?\n[ \t]*!\$omp\b)*.*"
    rb"|[!c*]\$omp[^\s0].*)$"
)
"""Lines that belong to a loop, and those that go on with such a line."""


def both_may_have(text: str, loops_cut: int, reduced: Mapping[str, str]) -> bool:
    """Whether the parts of a loop may each have what stands in front of it.

    `loops_cut`: how many loops of the nest get other bounds; those that `collapse` joins may not
    depend on each other, so that it goes with one alone. `reduced`: by its name in small letters
    what the loop is known to do to a variable, as `Reduction.operation`.
    """
    for line in _CONTINUED.sub(" ", text).splitlines():
        if not line.strip():
            continue
        found = _LINE.match(line)
        if found is None:
            return False
        if _HINT.match(found[1]) or _END.match(found[1]):
            continue
        loop = _OMP.match(found[1])
        clauses = None if loop is None else _clauses(loop[1])
        if clauses is None:
            return False
        for name, arguments in clauses:
            if name == "reduction":
                if not _reduces(arguments, reduced):
                    return False
            elif name not in _EACH_ITERATION or (name == "collapse" and loops_cut > 1):
                return False
    return True


def _reduces(arguments: str, reduced: Mapping[str, str]) -> bool:
    """Whether a clause says of variables what the loop is known to do to them."""
    found = _REDUCTION.match(arguments)
    if found is None:
        return False
    names = [name.strip() for name in found[2].split(",")]
    return all(reduced.get(name) in _REDUCES[found[1]] for name in names)


def without_those_of_loops(text: bytes) -> bytes:
    """A text without the directives that stand in front of loops and behind their ends."""
    return _OF_LOOPS.sub(b"", text)


def directives_allow(program: Program, source: SourceFile, space: Space, loops_cut: int) -> bool:
    """Whether nothing in front of loops, and of the loops in them, keeps them whole."""
    reduced = {
        program.variables[key].name.lower(): reduction.operation
        for key, reduction in space.reduced.items()
    }
    return all(
        both_may_have(source.data[inner.start : inner.code_start].decode(), loops_cut, reduced)
        for loop in space.loops
        for inner in loop.walk()
        if inner.blocks and inner.code_start > inner.start
    )


def may_be_parted(program: Program, source: SourceFile, space: Space, loops_cut: int) -> bool:
    """Whether both parts of a space may have the directives of its loops."""
    return not _behind_opaque(space) and (
        space.call is not None or directives_allow(program, source, space, loops_cut)
    )


def directed(space: Space) -> bool:
    """Whether a line such as `#pragma omp` or `!$omp` tells how to run the loop."""
    return _behind_opaque(space) or any(
        inner.code_start > inner.start
        for loop in ([] if space.call is not None else space.loops)
        for inner in loop.walk()
        if inner.blocks
    )


def _behind_opaque(space: Space) -> bool:
    """Whether a line that is not known stands in front of the loop."""
    statement = space.statement
    assert statement.parent is not None
    index = statement.parent.statements.index(statement)
    before = statement.parent.statements[index - 1] if index else None
    return before is not None and before.kind is Kind.OPAQUE and not before.allocation


def _clauses(text: str) -> list[tuple[str, str]] | None:
    """The clauses of a directive, each with its arguments in parentheses; None where they are not
    understood."""
    found, at = [], 0
    text = text.strip().lower()
    while at < len(text):
        clause = _CLAUSE.match(text, at)
        if clause is None:
            return None
        at = clause.end()
        depth, begin = (1, at - 1) if clause[2] else (0, at)
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        if depth:
            return None
        found.append((clause[1], text[begin:at]))
    return found
