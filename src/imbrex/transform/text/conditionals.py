"""A conditional written once more, as it stands in the source, with other lines in its branches.

So is an ASSOCIATE of Fortran.
"""

from __future__ import annotations

from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.fortran_text import FortranText
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.wrapping import wrapped


def conditional(source: SourceFile, guard: Statement, branches: list[list[str]]) -> list[str]:
    """The lines of a conditional; `branches`: those of each of its blocks, of one at least."""
    fortran = source.language is not Language.C
    indent = indent_at(source.data, guard.code_start)
    if guard.names_alone:
        block = guard.blocks[0]
        head = source.data[guard.code_start : block.start].decode().rstrip()
        last = source.data[block.end : guard.end].decode().strip()
        return [f"{indent}{head}", *branches[0], f"{indent}{last}"]
    conditions = [guard.condition or "", *(guard.more_conditions or [])]
    while not branches[-1]:
        branches = branches[:-1]
    lines: list[str] = []
    for number, (condition, inside) in enumerate(zip(conditions, branches, strict=False)):
        if fortran:
            asked = f"if ({FortranText._spaced(condition)}) then" if condition else ""
            head = " ".join(["else"] * (number > 0) + [asked] * bool(asked))
            lines.append(indent + wrapped(source.language, head, len(indent), indent))
        elif not number:
            lines.append(f"{indent}if ({condition}) {{")
        elif _is_chain(guard):
            return [*lines, f"{indent}}} else {inside[0].lstrip()}", *inside[1:]]
        else:
            lines.append(f"{indent}}} else {{")
        lines += inside
    return [*lines, f"{indent}end if" if fortran else f"{indent}}}"]


def guarded_again(
    source: SourceFile, guard: Statement, inside: Statement, lines: list[str]
) -> list[str]:
    """Lines on the condition on which a conditional comes to one of its statements."""
    indent = indent_at(source.data, guard.code_start)
    condition = guard.condition or ""
    number = next(n for n, block in enumerate(guard.blocks) if block is inside.parent)
    if source.is_fortran:
        condition = FortranText._spaced(condition)
        asked = f".not. ({condition})" if number else condition
        head = wrapped(source.language, f"if ({asked}) then", len(indent), indent)
        return [f"{indent}{head}", *lines, f"{indent}end if"]
    asked = f"!({condition})" if number else condition
    if len(lines) == 1 and not guard.blocks[number].braced:
        return [f"{indent}if ({asked})", *lines]
    return [f"{indent}if ({asked}) {{", *lines, f"{indent}}}"]


def indented(source: SourceFile, lines: list[str]) -> list[str]:
    """Lines one level further in, with those of a long call that are continued."""
    more = "  " if source.is_fortran else "    "
    return [more + line.replace("\n", f"\n{more}") for line in lines]


def _is_chain(guard: Statement) -> bool:
    """Whether the other branch of a conditional in C is one more, without braces."""
    block = guard.blocks[1]
    return not block.braced and [s.kind for s in block.statements] == [Kind.IF]
