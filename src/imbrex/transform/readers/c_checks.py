"""Calls of MPI in a macro that checks their error code, as `CHECK(MPI_Send(...));`.

Where an error ends the program, the macro does nothing but make the call: it is read as if the call
stood alone, and keeps its macro where it is rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from imbrex.transform import mpi_calls
from imbrex.transform.model.covered_calls import CheckedCall
from imbrex.transform.readers.c_source import directives

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*(define|undef)[ \t]+([A-Za-z_]\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_PARAMETER = re.compile(r"\(\s*([A-Za-z_]\w*)\s*\)(.*)", re.DOTALL)
_NO_CODE = re.compile(r'/\*.*?\*/|\\\r?\n|"(?:\\.|[^"\\])*"', re.DOTALL)
_ONCE = re.compile(r"do\s*(\{.*\})\s*while\s*\(\s*0\s*\)\s*;?", re.DOTALL)
_KEPT = re.compile(
    r"(?:const\s+)?int\s+(?:const\s+)?(\w+)\s*=\s*(?:\(\s*§\s*\)|§)\s*;"
    r"\s*if\s*\(\s*(?:\1(?:\s*!=\s*(?:MPI_SUCCESS|0))?|(?:MPI_SUCCESS|0)\s*!=\s*\1)\s*\)(.*)",
    re.DOTALL,
)
_ASKED = re.compile(
    r"if\s*\(\s*(?:\(\s*§\s*\)|§)(?:\s*!=\s*(?:MPI_SUCCESS|0))?\s*\)(.*)", re.DOTALL
)
_ALONE = re.compile(r"(?:\(\s*void\s*\)\s*)?(?:\(\s*§\s*\)|§)\s*;?")
_NOT_PLAIN = re.compile(rb"[\"'#\\]|/\*|//")
_BEHIND = re.compile(r"\s*\)\s*;(?:\s|/\*.*?\*/|//[^\n]*)*(else\b)?", re.DOTALL)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_BRACKETS = {"(": ")", "{": "}"}


def checking_macros(texts: Iterable[bytes], flags: list[str]) -> dict[str, str]:
    """The macros all of whose definitions check an error code and do nothing where it is that of
    success, each with the variable that they keep it in ("": none)."""
    found: dict[str, str | None] = {}
    for text in texts:
        for kind, name, rest in _DEFINE.findall(text):
            variable = _variable(rest.decode(errors="replace")) if kind == b"define" else None
            macro = name.decode()
            found[macro] = variable if found.get(macro, variable) == variable else None
    for flag in flags:
        if flag.startswith(("-D", "-U")):
            found.pop(flag[2:].partition("=")[0], None)
    return {name: variable for name, variable in found.items() if variable is not None}


def _variable(definition: str) -> str | None:
    """What a macro that checks keeps the error code in ("": nothing); None: it is another one."""
    parts = _PARAMETER.match(definition)
    if parts is None:
        return None
    text = _NO_CODE.sub(lambda m: '""' if m[0].startswith('"') else " ", parts[2])
    text = re.sub(rf"\b{parts[1]}\b", "§", text).strip()
    once = _ONCE.fullmatch(text)
    if once is not None:
        text = once[1]
    enclosed = text.startswith("{")
    if enclosed:
        if _closing(text, 0) != len(text) - 1:
            return None
        text = text[1:-1].strip()
    if _ALONE.fullmatch(text):
        return ""
    kept, asked = _KEPT.fullmatch(text), _ASKED.fullmatch(text)
    # Without a scope of its own the variable of a second check would be the first's.
    if kept is not None and enclosed and _is_one_statement(kept[2].strip()):
        return kept[1]
    if asked is not None and _is_one_statement(asked[1].strip()):
        return ""
    return None


def _is_one_statement(text: str) -> bool:
    """Whether what runs where the call failed is all that is left of a macro."""
    if text.startswith("{"):
        end = _closing(text, 0)
        return end > 0 and not text[end + 1 :].strip(" \t;")
    plain = not re.search(r"[{}]|\b(?:else|for|while|do|switch)\b", text)
    return plain and ";" not in text.rstrip(" \t;")


def _closing(text: str, at: int) -> int:
    """Where the bracket at `at` is closed; -1: nowhere."""
    depth, opening, closing = 0, text[at], _BRACKETS[text[at]]
    for position in range(at, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if depth == 0:
            return position
    return -1


def checked_calls(data: bytes, macros: dict[str, str]) -> dict[int, CheckedCall]:
    """The statements of a file that are such a macro with a call of MPI, by where the call begins.

    Calls whose errors do not end the program are none, whatever its error handler is.
    """
    if not macros:
        return {}
    names = "|".join(map(re.escape, macros)).encode()
    uses = re.compile(rb"^[ \t]*(%s)[ \t]*\(\s*(MPI_\w+)[ \t]*\(" % names, re.MULTILINE)
    lines = [(directive.start, directive.end) for directive in directives(data)]
    text = data.decode("latin-1")  # a byte a character
    found = {}
    for use in uses.finditer(data):
        macro, name = use[1].decode(), use[2].decode()
        call_end = _closing(text, use.end() - 1) + 1
        behind = _BEHIND.match(text, call_end)
        if call_end == 0 or behind is None or name.startswith(mpi_calls.ERRORS_RETURN):
            continue
        if behind[1]:  # of the macro's own `if`, for what is known here
            continue
        inside = data[use.start(2) : call_end]
        hidden = macros[macro].encode() in _IDENTIFIER.findall(inside)
        if hidden or _NOT_PLAIN.search(inside) or any(a <= use.start(1) < b for a, b in lines):
            continue
        end = text.index(")", call_end) + 1
        found[use.start(2)] = CheckedCall(macro, use.start(1), use.start(2), call_end, end)
    return found


def without_checks(data: bytes, calls: Iterable[CheckedCall]) -> bytes:
    """The text with blanks in place of the macros, each byte where it was."""
    text = bytearray(data)
    for call in calls:
        for start, end in ((call.start, call.call), (call.call_end, call.end)):
            text[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(text)
