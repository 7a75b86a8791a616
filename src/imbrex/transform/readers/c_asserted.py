"""`assert` of the C library, which GNU C writes as a statement inside an expression."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck

_FAILS = frozenset({"__assert_fail", "__assert"})


def asserted(cursor: Any) -> list[Any]:
    """What `({ if (condition) ; else __assert_fail(...); })` evaluates; nothing for others."""
    inner = cursor.children
    if len(inner) != 1 or inner[0].kind is not ck.COMPOUND_STMT:
        return []
    statements = inner[0].children
    if len(statements) != 1 or statements[0].kind is not ck.IF_STMT:
        return []
    parts = statements[0].children
    if len(parts) != 3 or parts[0].kind not in ck.EXPRESSIONS or parts[1].kind is not ck.NULL_STMT:
        return []
    call = parts[2]
    fails = call.kind is ck.CALL_EXPR and call.spelling in _FAILS
    return [parts[0], call] if fails else []
