"""Conditionals that ask a call of MPI for its error code, as `if (MPI_Wait(...)) abort();`.

What runs where it failed prints constants and ends the program, and means the same wherever the
statement is moved to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.model.covered_calls import CALL, CheckedCall

_BRACKETS = {"(": ")", "{": "}"}
# What means the same in each routine of a file.
CONSTANT = (
    r'(?:(?:"(?:\\.|[^"\\\n])*"\s*)+|-?\d+|std(?:err|out)|EXIT_FAILURE|MPI_COMM_WORLD'
    r"|MPI_ERR_[A-Z]+|__LINE__|__FILE__|__func__|__FUNCTION__)"
)
_GIVEN = rf"\(\s*(?:{CONSTANT}\s*(?:,\s*{CONSTANT}\s*)*)?\)"
_CALLED = r"(?:std::)?(?:exit|_Exit|abort|terminate|printf|fprintf|perror|puts|fputs)|MPI_Abort"
_PRINTED = rf"(?:{CONSTANT}|(?:std::)?(?:endl|flush)|'(?:\\.|[^'\\\n])')"
_PRINTS = rf"(?:std::)?c(?:out|err|log)(?:\s*<<\s*{_PRINTED})+"
_STATEMENT = rf"(?:(?:{_CALLED})\s*{_GIVEN}|throw\s+std::\w+\s*{_GIVEN}|{_PRINTS})\s*;"
_FAILED = re.compile(rf"\s*(?:{_STATEMENT}|\{{\s*(?:{_STATEMENT}\s*)+\}})")
_ASKED = re.compile(
    r"(?:^|[{};])[ \t]*(if)\s*\(\s*((?:MPI_SUCCESS|0)\s*!=\s*)?(MPI_\w+)[ \t]*\(", re.MULTILINE
)
_COMPARED = re.compile(r"\s*!=\s*(?:MPI_SUCCESS|0)\s*\)")
_CLOSED = re.compile(r"\s*\)")
_ELSE = re.compile(r"(?:\s|/\*.*?\*/|//[^\n]*)*else\b", re.DOTALL)
_NOT_PLAIN = re.compile(r"[\"'#\\]|/\*|//")
_NO_CODE = ("MPI_Wtime", "MPI_Wtick", "MPI_Aint_")  # what these return is none


def asked_calls(data: bytes) -> Iterator[CheckedCall]:
    """Statements that are such a conditional, without an `else`."""
    text = data.decode("latin-1")  # a byte a character
    for use in _ASKED.finditer(text):
        call_end = closing(text, use.end() - 1) + 1
        if call_end == 0 or not ends_the_program(use[3]):
            continue
        if _NOT_PLAIN.search(text, use.start(3), call_end):
            continue
        compared = None if use[2] else _COMPARED.match(text, call_end)
        condition = compared or _CLOSED.match(text, call_end)
        failed = None if condition is None else _FAILED.match(text, condition.end())
        if failed is None or _ELSE.match(text, failed.end()):
            continue
        before, behind = (
            " ".join(data[start:end].decode(errors="replace").split())
            for start, end in ((use.start(1), use.start(3)), (call_end, failed.end()))
        )
        space = " " if compared is not None or use[2] else ""
        form = f"{before}{space if use[2] else ''}{CALL}{space if compared else ''}{behind}"
        start, call, end = use.start(1), use.start(3), failed.end()
        yield CheckedCall(form, start, call, call_end, end, whole=True)


def ends_the_program(name: str) -> bool:
    """Whether what a function of MPI returns is an error code, which is that of success."""
    return not name.startswith((*mpi_calls.ERRORS_RETURN, *_NO_CODE))


def is_one_statement(text: str) -> bool:
    """Whether what runs where the call failed is all that is left of a macro."""
    if text.startswith("{"):
        end = closing(text, 0)
        return end > 0 and not text[end + 1 :].strip(" \t;")
    plain = not re.search(r"[{}]|\b(?:else|for|while|do|switch)\b", text)
    return plain and ";" not in text.rstrip(" \t;")


def closing(text: str, at: int) -> int:
    """Where the bracket at `at` is closed; -1: nowhere."""
    depth, opening, closed = 0, text[at], _BRACKETS[text[at]]
    for position in range(at, len(text)):
        depth += (text[position] == opening) - (text[position] == closed)
        if depth == 0:
            return position
    return -1
