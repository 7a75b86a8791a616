"""Calls in one branch of an `if` whose condition can be asked once more.

`if (size > 1) exchange(u);` is a call like others: what follows the `if` may stand between its
start and its finish, each of which has the condition.
"""

from __future__ import annotations

from imbrex.transform.model.calls import Call
from imbrex.transform.model.statements import Kind, Statement


def call_alone(statement: Statement) -> Call | None:
    """The call that a statement is, if it is no more."""
    if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1:
        return None
    call = statement.calls[0]
    return call if call.is_statement and not call.macro and not call.unknown else None


def may_ask_again(statement: Statement) -> bool:
    """Whether it is an `if` whose condition has no effect, with one other branch at most."""
    if statement.kind is not Kind.IF or statement.condition is None or statement.stop:
        return False
    plain = not statement.calls and statement.code_start == statement.start
    return plain and statement.more_conditions in ([], [""])
