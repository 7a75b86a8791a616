"""Statements that check the error code which a variable holds, as `CHECK(ierr);`, and assertions.

Where the code is that of success they do nothing: they are read as if they only named the variable.
Whether it is a variable that holds no other codes is for `analysis.taken.other_codes` to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from imbrex.transform.model.covered_calls import CALL, CheckedCall, CodeCheck
from imbrex.transform.readers.c_asked_calls import CONSTANT, closing, ends_the_program
from imbrex.transform.readers.c_checks import CheckingMacro, begins
from imbrex.transform.readers.c_source import directives

_SUCCESS = r"(?:MPI_SUCCESS|0)"
# What is given a name, and perhaps constants; `assert` of a comparison is one of its own.
_USE = re.compile(
    r"(?:^|[{};)]|\belse\b)[ \t]*(?P<check>[A-Za-z_]\w*)[ \t]*\(\s*(?:"
    rf"(?P<asked>{_SUCCESS}\s*==\s*|!\s*)?(?P<name>[A-Za-z_]\w*)"
    rf"(?P<compared>\s*==\s*{_SUCCESS})?(?P<more>(?:\s*,\s*{CONSTANT})*))\s*\)\s*;"
    r"(?!(?:\s|/\*.*?\*/|//[^\n]*)*else\b)",
    re.MULTILINE,
)
_ASSERTED = re.compile(
    rf"(?:^|[{{}};])[ \t]*(assert)\s*\(\s*({_SUCCESS}\s*==\s*|!\s*)?(\(\s*)?(MPI_\w+)[ \t]*\(",
    re.MULTILINE,
)
_CLOSED = re.compile(r"\s*\)")
_COMPARED = re.compile(rf"\s*==\s*{_SUCCESS}")
_ENDS = re.compile(r"\s*;")
_NOT_PLAIN = re.compile(r"[\"'#\\]|/\*|//")
_ASSERT = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<c?assert(?:\.h)?>", re.MULTILINE)
_OWN_ASSERT = re.compile(rb"#[ \t]*(?:define|undef)[ \t]+(?:assert|NDEBUG)\b")


def asserts(texts: Mapping[str, bytes], flags: list[str]) -> bool:
    """Whether `assert` is the C library's, and evaluates what it is given."""
    own = any(_OWN_ASSERT.search(text) for text in texts.values())
    given = any(re.match(r"-[DU](?:assert|NDEBUG)\b", flag) for flag in flags)
    return not (own or given) and any(_ASSERT.search(text) for text in texts.values())


def asserted_calls(data: bytes) -> Iterator[CheckedCall]:
    """Calls of MPI in an assertion that their code is that of success, and nothing else."""
    text = data.decode("latin-1")  # a byte a character
    lines = [(directive.start, directive.end) for directive in directives(data)]
    for use in _ASSERTED.finditer(text):
        call_end = closing(text, use.end() - 1) + 1
        if call_end == 0 or not ends_the_program(use[4]):
            continue
        if _NOT_PLAIN.search(text, use.start(4), call_end):
            continue
        parts = [*([_CLOSED] if use[3] else []), *([] if use[2] else [_COMPARED]), _CLOSED]
        end: int | None = call_end
        for part in parts:
            found = None if end is None else part.match(text, end)
            end = None if found is None else found.end()
        if end is not None and _ENDS.match(text, end) and not _is_within(lines, use.start(1)):
            yield CheckedCall(
                f"assert({CALL} == MPI_SUCCESS);", use.start(1), use.start(4), call_end, end
            )


def code_checks(
    data: bytes,
    macros: Mapping[str, CheckingMacro],
    checks: Callable[[int], bool],
    known: bool,
    not_codes: frozenset[str],
) -> dict[int, CodeCheck]:
    """The statements of a file that check a variable, by where its name stands.

    `known`: whether `assert` is the C library's; `not_codes`: names of variables that are none.
    """
    lines = [(directive.start, directive.end) for directive in directives(data)]
    return {
        check.name: check
        for check in _found(data, macros, checks, known)
        if data[check.name : check.name_end].decode() not in not_codes
        and not _is_within(lines, check.start)
    }


def _is_within(spans: list[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in spans)


def _found(
    data: bytes, macros: Mapping[str, CheckingMacro], checks: Callable[[int], bool], known: bool
) -> Iterator[CodeCheck]:
    text = data.decode("latin-1")  # a byte a character
    for use in _USE.finditer(text):
        name = use["check"]
        if name.startswith("MPI_") or not begins(text, use.start()):
            continue
        compared = (use["asked"] is None) is (use["compared"] is not None)
        if name == "assert":
            right = known and compared and not use["more"]
        elif use["asked"] or use["compared"]:
            right = False
        elif name in macros:
            macro = macros[name]
            constants = len(re.findall(CONSTANT, use["more"]))
            right = constants == macro.constants and use["name"] != macro.variable
        else:
            right = checks(use.start("check"))
        if right:
            end = text.rindex(")", use.start(), use.end()) + 1
            yield CodeCheck(use.start("check"), use.start("name"), use.end("name"), end)
