"""`try` of C++ whose handlers end the program: what it guards is read as a block."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck

_ENDS = frozenset({"MPI_Abort", "abort", "exit", "_Exit", "quick_exit", "terminate"})
_FINALIZES = frozenset({"MPI_Finalize", "MPI_Comm_free", "MPI_Win_free"})  # which may wait


def guarded(cursor: Any, function: str) -> Any | None:
    """The block that a `try` of a function guards, where what it throws ends the program.

    Messages may be under way where it throws: nothing waits for them then, nor uses their buffers.
    """
    body, *handlers = cursor.children
    if body.kind is not ck.COMPOUND_STMT or not handlers:
        return None
    return body if all(_ends(handler, function) for handler in handlers) else None


def _ends(handler: Any, function: str) -> bool:
    """Whether the program ends with the last statement of a handler, whatever it does before."""
    bodies = [child for child in handler.children if child.kind is ck.COMPOUND_STMT]
    if len(bodies) != 1 or not bodies[0].children:
        return False
    if _leaves(bodies[0], function) or _calls(bodies[0], _FINALIZES):
        return False
    last = bodies[0].children[-1].stripped
    if last.kind is ck.RETURN_STMT:
        return function == "main"
    if last.kind is not ck.CALL_EXPR or last.spelling not in _ENDS or last.referenced is None:
        return False
    return bool(last.referenced.in_system_header) or last.spelling == "MPI_Abort"


def _leaves(cursor: Any, function: str) -> bool:
    """Whether something may leave a handler in another way than by its last statement."""
    if cursor.kind is ck.RETURN_STMT:
        return function != "main"
    jumps = (ck.GOTO_STMT, ck.INDIRECT_GOTO_STMT, ck.BREAK_STMT, ck.CONTINUE_STMT)
    if cursor.kind in (*jumps, ck.CXX_THROW_EXPR):
        return True
    return any(_leaves(child, function) for child in cursor.children)


def _calls(cursor: Any, names: frozenset[str]) -> bool:
    if cursor.kind is ck.CALL_EXPR and cursor.spelling in names:
        return True
    return any(_calls(child, names) for child in cursor.children)
