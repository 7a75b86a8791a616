"""Arrays of pointers that are owners: no two elements ever name the same memory.

`send[0]` and `send[1]` then are two allocations, whichever statement makes them: each time that
`send[face] = malloc(...)` runs, it gives memory that no other element holds. Elements may also
exchange what they hold, within an array or between two (`t = now[s]; now[s] = next[s]; next[s] =
t;`): every allocation is then still in one element of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.distinct import Place, closed, joined, maybe_copied
from imbrex.transform.analysis.elements import Owned
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Block, Kind, Statement

_PLACE = rb"(?:\w+(?:->|\.))*(?P<%s>\w+)\s*(?:\[[^][=()]*\])?"
# An assignment of one pointer to another, each a variable or an element of an array.
_MOVE = re.compile(
    rb"(?:[\w \t]*\*\s*(?:restrict\s+|const\s+)*)?(?P<target>"
    + _PLACE % b"set"
    + rb")\s*=\s*(?P<value>"
    + _PLACE % b"read"
    + rb")\s*;?\s*"
)


def find_slotted(program: Program, aliases: Aliases) -> Owned:
    """Such arrays, each with those that it may exchange elements with, itself among them.

    Not those that are copied, as a whole or within a structure, or whose elements can be set
    otherwise than by an assignment that names the array.
    """
    if program.unread_code or not program.is_whole:
        return {}
    facts: dict[str, list[tuple[str, str]]] = {}
    addressed: set[str] = set()
    for target, form, source in program.pointer_facts:
        facts.setdefault(target, []).append((form, source))
        if form == "addr":
            addressed.add(source)
    addressed |= {
        argument.base
        for call in program.calls()
        for argument in call.arguments
        if argument.base and argument.pointer and not argument.through
    }
    exchanges = [
        ring
        for routine in program.routines.values()
        for block in routine.body.every()
        for ring in _rings(program, routine.file, block)
    ]
    exchanged = Counter(key for ring in exchanges for key in ring)
    copied = maybe_copied(program)
    found = {
        key: frozenset((key,))
        for key in facts
        if key not in addressed
        and _is_kept(program, aliases, copied, key)
        and sum(form == "copy" for form, _ in facts[key]) == exchanged[key]
        and all(form == "copy" or source.startswith("heap:") for form, source in facts[key])
        and all(form in ("addr", "copy") for form, _ in facts[key])
    }
    for group in joined(set(exchanges)):
        owned = group <= found.keys()
        for key in group & found.keys():
            if owned:
                found[key] = group
            else:
                del found[key]
    return found


def _is_kept(program: Program, aliases: Aliases, copied: Set[str], key: str) -> bool:
    """Whether it is an array of pointers that nothing copies as a whole."""
    variable = program.variables.get(key)
    if variable is None or not variable.bounds or variable.pointer or key in program.overlays:
        return False
    if aliases.pointees(key) & {EXTERNAL, UNKNOWN_MEMORY}:
        return False
    if variable.kind == "field":
        return variable.record not in copied
    return variable.kind in ("local", "static", "global")


def _rings(program: Program, file: str, block: Block) -> list[tuple[str, ...]]:
    """The arrays of each `t = p[i]; p[i] = q[j]; ... = t;`, and of `std::swap(p[i], q[j]);`.

    Whichever of them are one and the same, these statements leave what they hold in another order.
    """
    source = program.files.get(file)
    data = b"" if source is None else source.data
    found: list[tuple[str, ...]] = [s.swaps for s in block.statements if s.swaps is not None]
    for _, ring in closed([_move(program, statement, data) for statement in block.statements]):
        found.append(tuple([key for key, _ in ring]))
    return found


def _move(program: Program, statement: Statement, data: bytes) -> tuple[Place, Place] | None:
    """(target, source) of a statement that only copies one pointer to another."""
    if statement.kind not in (Kind.SIMPLE, Kind.DECLARE) or statement.calls or statement.stop:
        return None
    words = _MOVE.fullmatch(data[statement.start : statement.end])
    if words is None and statement.moves is not None:  # within a macro
        words = _MOVE.fullmatch(" = ".join(statement.moves).encode())
    written = [a for a in statement.accesses if a.write]
    if words is None or len(written) != 1 or any(a.through for a in written):
        return None
    sources = {
        access.variable
        for access in statement.accesses
        if not access.write and _is_named(program, access.variable, words["read"])
    }
    target = written[0].variable
    if len(sources) != 1 or not _is_named(program, target, words["set"]):
        return None
    (value,) = sources
    return (target, _text(words["target"])), (value, _text(words["value"]))


def _is_named(program: Program, key: str, name: bytes) -> bool:
    variable = program.variables.get(key)
    return variable is not None and variable.name == name.decode()


def _text(words: bytes) -> bytes:
    return b"".join(words.split())
