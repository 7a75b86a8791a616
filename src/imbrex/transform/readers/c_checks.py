"""Calls of MPI whose error code is checked at once, by a macro, a function or a conditional.

As `CHECK(MPI_Send(...));`, `check(MPI_Send(...), "send");` or `if (MPI_Send(...)) abort();`. Where
an error ends the program, the check does nothing but make the call: it is read as if the call
stood alone, and keeps its check where it is rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from imbrex.transform.model.covered_calls import CALL, CheckedCall, CodeCheck
from imbrex.transform.readers.c_asked_calls import (
    CONSTANT,
    asked_calls,
    closing,
    ends_the_program,
    is_one_statement,
)
from imbrex.transform.readers.c_check_functions import only_checks_wherever
from imbrex.transform.readers.c_source import directives

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*(define|undef)[ \t]+([A-Za-z_]\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_PARAMETERS = re.compile(
    r"\(\s*([A-Za-z_]\w*|\.\.\.)\s*(?:,\s*([A-Za-z_]\w*)\s*)?\)(.*)", re.DOTALL
)
_NO_CODE = re.compile(r'/\*.*?\*/|\\\r?\n|"(?:\\.|[^"\\])*"', re.DOTALL)
_ONCE = re.compile(r"do\s*(\{.*\})\s*while\s*\(\s*0\s*\)\s*;?", re.DOTALL)
_KEPT = re.compile(
    r"(?:const\s+)?int\s+(?:const\s+)?(\w+)\s*(?:;\s*\1\s*)?=\s*(?:\(\s*§\s*\)|§)\s*;"
    r"\s*if\s*\(\s*(?:\1(?:\s*!=\s*(?:MPI_SUCCESS|0))?|(?:MPI_SUCCESS|0)\s*!=\s*\1)\s*\)(.*)",
    re.DOTALL,
)
_ASKED = re.compile(
    r"if\s*\(\s*(?:\(\s*§\s*\)|§)(?:\s*!=\s*(?:MPI_SUCCESS|0))?\s*\)(.*)", re.DOTALL
)
_ALONE = re.compile(r"(?:\(\s*void\s*\)\s*)?(?:\(\s*§\s*\)|§)\s*;?")
# A macro that gives the call to a function; what else it may give that, besides constants.
_PASSED = re.compile(
    rf"([A-Za-z_]\w*)\s*\(\s*(?:\(\s*§\s*\)|§)\s*(?:,\s*(?:{CONSTANT}|#\s*§|¤)\s*)*\)\s*;?"
)
_NOT_PLAIN = re.compile(rb"[\"'#\\]|/\*|//")
_BEHIND = re.compile(r"\s*\)\s*;(?:\s|/\*.*?\*/|//[^\n]*)*(else\b)?", re.DOTALL)
# A statement that gives a call of MPI to a macro or a function, and what else it may give that.
_USE = re.compile(
    rb"(?:^|[{};)]|\belse\b)[ \t]*([A-Za-z_]\w*)[ \t]*\(\s*(MPI_\w+)[ \t]*\(", re.MULTILINE
)
_BEFORE_HEAD = re.compile(r"\b(?:if|for|while)\s*$")
_MORE = re.compile(rf"(?:\s*,\s*{CONSTANT})*")
_EACH = re.compile(rf"\s*,\s*{CONSTANT}")
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class CheckingMacro:
    """What a macro keeps the error code in ("": nothing), and how many constants it is given."""

    variable: str
    constants: int = 0


def checking_macros(texts: Mapping[str, bytes], flags: list[str]) -> dict[str, CheckingMacro]:
    """The macros all of whose definitions check an error code and do nothing where it is that of
    success. `texts`: of a file and of the program's headers that it includes, by name."""
    found: dict[str, CheckingMacro | None] = {}
    for text in texts.values():
        for kind, name, rest in _DEFINE.findall(text):
            known = _check(rest.decode(errors="replace"), texts) if kind == b"define" else None
            macro = name.decode()
            found[macro] = known if found.get(macro, known) == known else None
    for flag in flags:
        if flag.startswith(("-D", "-U")):
            found.pop(flag[2:].partition("=")[0], None)
    return {name: check for name, check in found.items() if check is not None}


def _check(definition: str, texts: Mapping[str, bytes]) -> CheckingMacro | None:
    """What a macro of this definition does, if it checks; None: it is another one."""
    parts = _PARAMETERS.match(definition)
    if parts is None or (parts[1] == "..." and parts[2]):
        return None
    text = _NO_CODE.sub(lambda m: '""' if m[0].startswith('"') else " ", parts[3])
    first = "__VA_ARGS__" if parts[1] == "..." else parts[1]
    text = re.sub(rf"\b{first}\b", "§", text)
    if parts[2]:
        text = re.sub(rf"\b{parts[2]}\b", "¤", text)
    variable = _variable(text.strip(), texts)
    return None if variable is None else CheckingMacro(variable, 1 if parts[2] else 0)


def _variable(text: str, texts: Mapping[str, bytes]) -> str | None:
    """What a macro that checks keeps the error code in ("": nothing); None: it is another one."""
    once = _ONCE.fullmatch(text)
    if once is not None:
        text = once[1]
    enclosed = text.startswith("{")
    if enclosed:
        if closing(text, 0) != len(text) - 1:
            return None
        text = text[1:-1].strip()
    if _ALONE.fullmatch(text):
        return ""
    passed = _PASSED.fullmatch(text)
    if passed is not None:
        return "" if only_checks_wherever(passed[1], texts) else None
    kept, asked = _KEPT.fullmatch(text), _ASKED.fullmatch(text)
    # Without a scope of its own the variable of a second check would be the first's.
    if kept is not None and enclosed and is_one_statement(kept[2].strip()):
        return kept[1]
    if asked is not None and is_one_statement(asked[1].strip()):
        return ""
    return None


def checked_calls(
    data: bytes, macros: Mapping[str, CheckingMacro], checks: Callable[[int], bool]
) -> dict[int, CheckedCall]:
    """The statements of a file that check a call of MPI, by where the call begins.

    `checks`: whether the function that is called at a byte does nothing but check an error code.
    Calls whose errors do not end the program are none, whatever its error handler is.
    """
    found = {check.call: check for check in _given(data, macros, checks)}
    found |= {check.call: check for check in asked_calls(data)}
    lines = [(directive.start, directive.end) for directive in directives(data)]
    return {
        at: check
        for at, check in found.items()
        if not any(start <= check.start < end for start, end in lines)
    }


def _given(
    data: bytes, macros: Mapping[str, CheckingMacro], checks: Callable[[int], bool]
) -> Iterator[CheckedCall]:
    """Calls that are given to a macro or a function which checks their error code."""
    text = data.decode("latin-1")  # a byte a character
    for use in _USE.finditer(data):
        macro, name = use[1].decode(), use[2].decode()
        call_end = closing(text, use.end() - 1) + 1
        if call_end == 0 or not ends_the_program(name) or not begins(text, use.start()):
            continue
        inside = data[use.start(2) : call_end]
        if _NOT_PLAIN.search(inside):
            continue
        more = _MORE.match(text, call_end)
        assert more is not None
        behind = _BEHIND.match(text, more.end())
        if behind is None or behind[1]:  # an `else` is of the macro's own `if`, as far as is known
            continue
        if macro in macros:
            check = macros[macro]
            hidden = check.variable.encode() in _IDENTIFIER.findall(inside)
            known = len(_EACH.findall(more[0])) == check.constants and not hidden
        else:
            known = not macro.startswith("MPI_") and checks(use.start(1))
        if known:
            end = text.index(")", more.end()) + 1
            form = f"{macro}({CALL}{more[0].rstrip()});"
            yield CheckedCall(form, use.start(1), use.start(2), call_end, end)


def begins(text: str, at: int) -> bool:
    """Whether a statement begins behind this character: behind a bracket, where that closes the
    head of an `if` or a loop."""
    if text[at : at + 1] != ")":
        return True
    depth = 0
    for position in range(at, -1, -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if text[position] in "\"'#":
            return False
        if depth == 0:
            return _BEFORE_HEAD.search(text[max(0, position - 50) : position]) is not None
    return False


def without_checks(
    data: bytes, calls: Iterable[CheckedCall], codes: Iterable[CodeCheck] = ()
) -> bytes:
    """The text with blanks in place of the checks, each byte of all else where it was."""
    text = bytearray(data)
    for call in calls:
        for start, end in call.blanks:
            text[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
        if call.whole:  # lines keep their numbers
            at = next(n for n in range(call.call_end, call.end) if data[n] not in b"\r\n")
            text[at : at + 1] = b";"
    for check in codes:
        for start, end in ((check.start, check.name), (check.name_end, check.end)):
            text[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(text)
