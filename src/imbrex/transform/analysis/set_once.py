"""Integer variables of a Fortran routine that one statement sets: `ny = ubound(a, 2) - 1`.

What such a variable holds is then known wherever the routine uses it, if nothing that its value is
made of changes in the routine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.conditions import Choice, Test
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, Statement

# Statements that are not analysed, and set no variable but by a specifier (`stat=ierr`).
SETS_NOTHING = re.compile(rb"(?i)\s*(?:de)?allocate\s*\(|\s*(?:print|write)\b")


@lru_cache(maxsize=16)
def _has_namelists(data: bytes) -> bool:
    return re.search(rb"(?i)\bnamelist\b", data) is not None


def set_once(
    program: Program, footprints: Footprints, routine: Routine, source: SourceFile
) -> tuple[dict[str, Affine], dict[str, Choice]]:
    """The values of such variables, in terms of what does not change in the routine.

    Second those of variables that are set to one of two values, as a condition says.
    """
    values: dict[str, Affine] = {}
    choices: dict[str, Choice] = {}
    ahead = _straight(footprints, routine)
    if not ahead or _has_namelists(source.data):
        return values, choices
    written: dict[str, int] = {}
    for statement in _each(routine.body.statements):
        places = {
            access.variable
            for access in footprints.of(statement, routine.file).accesses
            if access.write and not access.through
        }
        for key in places:
            written[key] = written.get(key, 0) + 1
    hidden = _not_analysed(footprints, routine, source)
    found = [(statement.sets or chosen_in(statement)) for statement in ahead]
    single = {
        setting[0]: setting[1]
        for setting in found
        if setting is not None
        and written.get(setting[0]) == 1
        and _own(program, setting[0], hidden)
    }
    elsewhere = [a for a in footprints.of_routine(routine).accesses if a.variable not in single]
    changed = footprints.changed(elsewhere)

    def known(key: str, value: Affine) -> Affine | None:
        """A value in terms of what stays, where nothing hidden sets that."""
        settled = value.replace(lambda factor: values.get(factor, Affine.variable(factor)))
        if settled is None or key in settled.variables() or settled.variables() & changed:
            return None
        names = settled.variables()
        if any(_may_be_hidden(program, name, hidden) for name in names):
            return None
        if hidden and not all(_is_its_own(program, name) for name in names):
            return None
        return settled

    for key, value in single.items():
        if isinstance(value, Affine):
            settled = known(key, value)
            if settled is not None:
                values[key] = settled
            continue
        parts = [known(key, part) for part in (value.test.difference, *value[1:])]
        asked, first, second = parts
        if asked is not None and first is not None and second is not None:
            choices[key] = Choice(Test(asked, value.test.equal), first, second)
    return values, choices


def chosen_in(statement: Statement) -> tuple[str, Choice] | None:
    """The variable that a statement sets to one of two values: by `merge`, or in two branches."""
    if statement.chooses is not None or statement.kind is not Kind.IF or statement.test is None:
        return statement.chooses
    if len(statement.blocks) != 2 or statement.more_conditions != [""]:
        return None
    branches = [block.statements for block in statement.blocks]
    if any(len(inner) != 1 for inner in branches):
        return None
    settings = [inner[0].sets for inner in branches]
    if settings[0] is None or settings[1] is None or settings[0][0] != settings[1][0]:
        return None
    return settings[0][0], Choice(statement.test, settings[0][1], settings[1][1])


def _each(statements: list[Statement]) -> Iterator[Statement]:
    """The statements, with those that share lines one by one."""
    for statement in statements:
        if statement.kind is Kind.BLOCK and statement.stop is None:
            yield from _each([inner for block in statement.blocks for inner in block.statements])
        else:
            yield statement


def _straight(footprints: Footprints, routine: Routine) -> list[Statement]:
    """The statements at the top of a routine that each run of it reaches."""
    found = []
    for statement in _each(routine.body.statements):
        if footprints.of(statement, routine.file).jumps - {"return"} or statement.stop:
            if statement.kind is not Kind.OPAQUE or statement.leaves:
                break
            continue
        found.append(statement)
    return found


def _not_analysed(footprints: Footprints, routine: Routine, source: SourceFile) -> bytes:
    """The text of statements of which it is not known what they set."""
    texts = []
    for statement in routine.statements():
        text = source.data[statement.start : statement.end]
        if statement.kind is Kind.OPAQUE:
            if SETS_NOTHING.match(text):
                text = b" ".join(re.findall(rb"=[^,()]*", text))
            texts.append(text)
        elif any(footprints.of_call(call, routine.file).stop for call in statement.calls):
            texts.append(text)
    return b"\n".join(texts).lower()


def _is_its_own(program: Program, key: str) -> bool:
    """Whether only the routine, or who is given it, can set a variable."""
    variable = program.variables.get(key)
    return variable is not None and variable.kind in ("local", "dummy")


def _own(program: Program, key: str, hidden: bytes) -> bool:
    variable = program.variables.get(key)
    return (
        variable is not None
        and variable.kind == "local"
        and variable.element == "integer"
        and not (variable.bounds or variable.volatile or key in program.overlays)
        and not _may_be_hidden(program, key, hidden)
    )


def _may_be_hidden(program: Program, key: str, hidden: bytes) -> bool:
    """Whether a statement that is not analysed names a variable."""
    variable = program.variables.get(key)
    if variable is None:
        return True
    name = re.escape(variable.name.lower().encode())
    return re.search(rb"(?<![\w%])" + name + rb"(?!\w)", hidden) is not None
