"""The members that a constructor of C++ sets in front of its body."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_memory import Effects
from imbrex.transform.readers.c_new_reader import is_null


def add_initializers(expressions: ExpressionReader, constructor: Any, block: Block) -> None:
    """Put what sets the members in front of the statements of the body, as one."""
    effects = Effects()
    target = None
    for child in constructor.children:
        if child.kind is ck.MEMBER_REF:
            target = child.referenced
        elif child.kind in ck.EXPRESSIONS:
            _read(expressions, target, child, effects)
            target = None
    start, line = block.start, constructor.location.line
    statement = Statement(
        Kind.OPAQUE, start, start, line, line, stop=ReasonKind.OBJECT(), parent=block
    )
    statement.accesses, statement.calls = effects.accesses, effects.calls
    block.statements.insert(0, statement)


def _read(expressions: ExpressionReader, member: Any | None, value: Any, effects: Effects) -> None:
    made = expressions.constructed(value)
    if made is not None:  # a member or a base, or all by another constructor
        expressions.make(made, effects)
        return
    if member is None or member.kind is not ck.FIELD_DECL:
        expressions.read(value, effects)
        return
    key = expressions.key_of(member)
    line = value.location.line
    if c_vectors.is_vector(member.type) and not member.type.is_reference:
        expressions.fill(member, value, effects)
        if not c_vectors.is_request(member.type):  # such are numbers or no requests
            effects.accesses.append(Access(key, True, True, line))
    else:
        expressions.read(value, effects)
        expressions.initialize(member.type, value)
        if member.type.is_reference:
            expressions.give_away(value)
        elif member.type.is_address:
            expressions.points(key, value)
            expressions.program.null_writes[key] += is_null(value.stripped)
    if not expressions.is_null_request(value):
        effects.accesses.append(Access(key, False, True, line))
