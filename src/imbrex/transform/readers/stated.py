"""What a user states that cannot be proven: `imbrex independent(u, v)` ahead of a statement.

`#pragma imbrex independent(u)` in C, `!$imbrex independent(u)` in Fortran (`c$imbrex` in fixed
form): the next statement that does not call MPI touches nothing of a message whose buffer is `u`,
and where its code is not known, it does not communicate either.
"""

from __future__ import annotations

import re

from imbrex.errors import ImbrexError
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind, Statement

_IN_C = re.compile(rb"(?m)^[ \t]*#[ \t]*pragma[ \t]+imbrex\b([^\n]*)")
_IN_FORTRAN = re.compile(rb"(?im)^[ \t]*[!c*]\$imbrex\b([^\n!]*)")
_CLAUSE = re.compile(r"\s*independent\s*\(\s*(\w+(?:\s*,\s*\w+)*)\s*\)\s*", re.IGNORECASE)


def read_stated(program: Program) -> None:
    """Note at each statement what the user states of it.

    Raises ImbrexError where a directive is not understood, or names or stands before nothing.
    """
    for source in program.files.values():
        pattern = _IN_C if source.language is Language.C else _IN_FORTRAN
        for match in pattern.finditer(source.data):
            where = f"{source.name}:{source.line_of(match.start())}"
            clause = _CLAUSE.fullmatch(match[1].decode(errors="replace").rstrip())
            if clause is None:
                raise ImbrexError(f"{where}: only `imbrex independent(NAME, ...)` is known")
            found = _behind(program, source, match.end())
            if found is None:
                raise ImbrexError(f"{where}: no statement stands behind the directive")
            routine, statement = found
            for name in re.split(r"\s*,\s*", clause[1]):
                key = _key(program, source, routine, name)
                if key is None:
                    raise ImbrexError(f"{where}: {routine.name} uses no variable {name}")
                statement.independent |= {key}


def _behind(program: Program, source: SourceFile, offset: int) -> tuple[Routine, Statement] | None:
    """The first statement behind an offset that does not call MPI, and its routine."""
    best: tuple[Routine, Statement] | None = None
    for routine in program.routines.values():
        if routine.file != source.name:
            continue
        for statement in routine.statements():
            if statement.code_start < offset or statement.kind is Kind.DECLARE:
                continue
            if any(c.name.startswith("MPI_") for s in statement.walk() for c in s.calls):
                continue
            if best is None or statement.code_start < best[1].code_start:
                best = (routine, statement)
            break
    return best


def _key(program: Program, source: SourceFile, routine: Routine, name: str) -> str | None:
    """The variable that a name means in a routine; None where it is not used there."""
    if source.language is not Language.C:
        meaning = None if routine.meaning is None else routine.meaning(name.lower())
        return meaning if meaning in program.variables else None
    used = {a.variable for s in routine.statements() for a in s.accesses}
    used |= {a.base for s in routine.statements() for c in s.calls for a in c.arguments if a.base}
    keys = {k for k in used if k in program.variables and program.variables[k].name == name}
    return keys.pop() if len(keys) == 1 else None
