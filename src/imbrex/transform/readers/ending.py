"""A `return` at the end of a routine does nothing: the statement in front of it is the last."""

from __future__ import annotations

import re

from imbrex.transform.model.statements import Block, Kind

_RETURN = re.compile(rb"return\s*;?", re.IGNORECASE)


def drop_last_return(block: Block, data: bytes) -> None:
    """Leave a last `return` without value, label and directive out of a routine's statements.

    Its text stays; what is put at the end of the routine goes in front of it.
    """
    last = block.statements[-1] if block.statements else None
    if last is None or last.kind is not Kind.JUMP or last.text != "return" or last.stop:
        return
    alone = not data[data.rfind(b"\n", 0, last.start) + 1 : last.start].strip()
    if alone and last.code_start == last.start and _RETURN.fullmatch(data[last.start : last.end]):
        del block.statements[-1]
