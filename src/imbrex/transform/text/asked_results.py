"""What asks for the value of a function that is always 0, or always 1, once the function has none.

A condition that fails then, `if (f() != MPI_SUCCESS)` or `if (!f())`, goes with its branch; what
takes the value, also in a condition, gets it as a constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.success import SUCCESS
from imbrex.transform.model.calls import Call
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import first_on_line, indent_at

_TAKEN = re.compile(rb"((?:const\s+)?(?:int|bool)\s+(?:const\s+)?)?([A-Za-z_]\w*)\s*=\s*")
# A condition that first of all sets a variable.
_SET = re.compile(
    rb"if\s*\(\s*(?:!\s*|(?:%s|1|true|false)\s*[!=]=\s*)?(\(\s*([A-Za-z_]\w*)\s*=\s*)" % SUCCESS
)
_CLOSED = re.compile(rb"\s*\)")
_RETURNED = re.compile(rb"return\s+")
_ENDS = re.compile(rb"\s*;?")
_MORE = re.compile(rb"(?:\s*,\s*\w+)*\s*\)")
_STRING = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
# What may be entered from elsewhere, or means something else in another build.
_LABEL = re.compile(rb"(?m)(?:^|[{};])\s*(?:\w+|case\b[^:\n]*)\s*:(?!:)|^[ \t]*#")


@dataclass(frozen=True, slots=True)
class Value:
    """A constant, how it is written, and conditions that fail by it."""

    text: str
    before: re.Pattern[bytes]  # from `if` up to the call
    behind: re.Pattern[bytes]
    alone: bool  # whether the value by itself fails; else it is compared, in front or behind
    checked: bool = False  # whether it is what macros ask for that check codes of MPI


def _value(text: str, before: bytes, behind: bytes, *, alone: bool, checked: bool = False) -> Value:
    front = re.compile(rb"if\s*\(\s*(%s)?" % before)
    return Value(text, front, re.compile(rb"\s*(%s)?\s*\)" % behind), alone, checked)


ZERO = _value(
    "MPI_SUCCESS",
    rb"%s\s*!=\s*" % SUCCESS,
    rb"!=\s*%s|<\s*0|>\s*0|==\s*-\s*[1-9]\d*" % SUCCESS,
    alone=True,
    checked=True,
)
_NOT_ONE = (
    rb"!\s*|(?:1|true)\s*!=\s*|(?:0|false)\s*==\s*",
    rb"!=\s*(?:1|true)|==\s*(?:0|false)|<\s*1|<=\s*0",
)
ONE = _value("1", *_NOT_ONE, alone=False)
TRUE = _value("true", *_NOT_ONE, alone=False)


def without_result(
    source: SourceFile, statement: Statement, call: Call, value: Value
) -> list[Edit] | None:
    """The edits of a statement that asks for the value; None where it does so in other ways."""
    data = source.data
    if call.macro in source.checking and value.checked:
        return _within_check(data, statement, call)
    before = data[statement.code_start : call.start]
    named = data[call.start : call.end].decode()
    front = f"{named};\n{indent_at(data, statement.start)}"
    block = statement.parent
    room = block is not None and block.insertable and block.braced and source.mpi_known_from >= 0
    room = room and first_on_line(data, statement.start)
    if statement.kind is Kind.IF:
        kept = _SET.fullmatch(data, statement.code_start, call.start)
        closed = _CLOSED.match(data, call.end)
        if kept is None or closed is None:
            return _asked(data, statement, call, before, value)
        name = kept[2].decode()
        ahead = f"{front}{name} = {value.text};\n{indent_at(data, statement.start)}"
        at = statement.code_start
        return [Edit(at, at, ahead), Edit(kept.start(1), closed.end(), name)] if room else None
    if not room or not _ENDS.fullmatch(data[call.end : statement.end]):
        return None
    if _RETURNED.fullmatch(before):
        return [Edit(statement.code_start, call.end, f"{front}return {value.text}")]
    taken = _TAKEN.fullmatch(before)
    if taken is None:
        return None
    return [Edit(statement.code_start, call.end, f"{front}{taken[0].decode()}{value.text}")]


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


def _asked(
    data: bytes, statement: Statement, call: Call, before: bytes, value: Value
) -> list[Edit] | None:
    """The call alone in the place of a condition that fails, and of its branch."""
    asked = value.before.fullmatch(before)
    if asked is None or not _goes(data, statement, call.end, bool(asked[1]), value):
        return None
    return [
        Edit(statement.code_start, call.start, ""),
        Edit(call.end, statement.end, ";"),
    ]


def _goes(data: bytes, statement: Statement, at: int, compared: bool, value: Value) -> bool:
    """Whether a condition fails, from where it goes on behind the value, and nothing else comes to
    its branch; `compared`: it asks in front of that whether it is another one."""
    behind = data[at : statement.end]
    fails = value.behind.match(behind)
    if fails is None or len(statement.blocks) != 1:
        return False
    if compared + bool(fails[1]) not in ((0, 1) if value.alone else (1,)):
        return False
    return not _LABEL.search(_STRING.sub(b"", behind))
