"""What the model asks of statements that change lists of requests."""

from __future__ import annotations

from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.requests import started
from imbrex.transform.model.list_change import ListChange
from imbrex.transform.model.statements import Kind, Statement


def taken_by(statement: Statement) -> ListChange | None:
    """What takes the request of a start into a list, right behind it."""
    following = _beside(statement, 1)
    if following is None or following.list_change is None:
        return None
    return following.list_change if follows_start(following) else None


def follows_start(statement: Statement) -> bool:
    """Whether what a list takes in has been started by the statement right in front."""
    change, before = statement.list_change, _beside(statement, -1)
    if change is None or not change.taken or before is None:
        return False
    if before.kind is not Kind.SIMPLE or len(before.calls) != 1:
        return False
    call = before.calls[0]
    if started(call) is None:
        return False
    argument = request_argument(call)
    return argument.base == change.taken and not argument.through


def _beside(statement: Statement, step: int) -> Statement | None:
    """The statement in front or behind in the same block, but for what is inserted."""
    if statement.parent is None:
        return None
    own = [s for s in statement.parent.statements if s.kind is not Kind.INSERTED or s is statement]
    at = own.index(statement) + step
    return own[at] if 0 <= at < len(own) else None
