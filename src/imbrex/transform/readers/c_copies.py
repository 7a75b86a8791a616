"""Which structures are copied where one is: itself, those in it, and those that it inherits."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck


def copied_with(kind: Any) -> set[str]:
    """The names of all structures that are copied with an object of this type, or an array."""
    found: set[str] = set()
    work = [kind]
    while work:
        each = work.pop()
        name = cc.record_of(each)
        record = each.innermost.record if name else None
        if not name or name in found:
            continue
        found.add(name)
        for child in record.children if record is not None else []:
            if child.kind in (ck.FIELD_DECL, ck.CXX_BASE_SPECIFIER):
                work.append(child.type)
    return found
