"""What asks for the value of a function that is always 0, once the function has none.

A condition that fails then, `if (f() != MPI_SUCCESS)`, goes with its branch; what takes the value
gets it as a constant.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.taken import SUCCESS
from imbrex.transform.model.calls import Call
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import first_on_line, indent_at

_ASKED = re.compile(rb"if\s*\(\s*(%s\s*!=\s*)?" % SUCCESS)
_FAILS = re.compile(rb"\s*(!=\s*%s|<\s*0|>\s*0|==\s*-\s*[1-9]\d*)?\s*\)" % SUCCESS)
_TAKEN = re.compile(rb"((?:const\s+)?int\s+(?:const\s+)?)?([A-Za-z_]\w*)\s*=\s*")
_RETURNED = re.compile(rb"return\s+")
_ENDS = re.compile(rb"\s*;?")
_MORE = re.compile(rb"(?:\s*,\s*\w+)*\s*\)")
_STRING = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
# What may be entered from elsewhere, or means something else in another build.
_LABEL = re.compile(rb"(?m)(?:^|[{};])\s*(?:\w+|case\b[^:\n]*)\s*:(?!:)|^[ \t]*#")


def without_result(source: SourceFile, statement: Statement, call: Call) -> list[Edit] | None:
    """The edits of a statement that asks for the value; None where it does so in other ways."""
    data = source.data
    if call.macro in source.checking:
        return _within_check(data, statement, call)
    before = data[statement.code_start : call.start]
    named = data[call.start : call.end].decode()
    if statement.kind is Kind.IF:
        return _asked(data, statement, call, before)
    block = statement.parent
    if block is None or not (block.insertable and block.braced) or source.mpi_known_from < 0:
        return None
    if not first_on_line(data, statement.start) or not _ENDS.fullmatch(
        data[call.end : statement.end]
    ):
        return None
    front = f"{named};\n{indent_at(data, statement.start)}"
    if _RETURNED.fullmatch(before):
        return [Edit(statement.code_start, call.end, f"{front}return MPI_SUCCESS")]
    taken = _TAKEN.fullmatch(before)
    if taken is None:
        return None
    return [Edit(statement.code_start, call.end, f"{front}{taken[0].decode()}MPI_SUCCESS")]


def _within_check(data: bytes, statement: Statement, call: Call) -> list[Edit] | None:
    """The call alone in the place of a macro that checks what it returns, `CHECK(f());`."""
    name = call.name.rpartition("::")[2].encode()
    begins = re.compile(rb"%s\s*\(\s*(?=%s\s*\()" % ((call.macro or "").encode(), re.escape(name)))
    begun = begins.match(data, statement.code_start, statement.end)
    if begun is None:
        return None
    depth, end = 1, data.index(b"(", begun.end()) + 1
    while end < statement.end and depth:
        depth += {b"(": 1, b")": -1}.get(data[end : end + 1], 0)
        end += 1
    if not _MORE.fullmatch(data, end, statement.end):
        return None
    return [Edit(statement.code_start, begun.end(), ""), Edit(end, statement.end, "")]


def _asked(data: bytes, statement: Statement, call: Call, before: bytes) -> list[Edit] | None:
    """The call alone in the place of a condition that fails, and of its branch."""
    asked = _ASKED.fullmatch(before)
    if asked is None or len(statement.blocks) != 1:
        return None
    behind = data[call.end : statement.end]
    fails = _FAILS.match(behind)
    if fails is None or (asked[1] and fails[1]) or _LABEL.search(_STRING.sub(b"", behind)):
        return None
    return [
        Edit(statement.code_start, call.start, ""),
        Edit(call.end, statement.end, ";"),
    ]
