"""Functions that do nothing but check an error code, as `void check(int code)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clang import cindex
from clang.cindex import CursorKind

from imbrex.transform.readers.c_asked_calls import closing, is_one_statement

_HEAD = re.compile(
    r"(?:(?:static|inline|constexpr|extern)\s+)*void\s+[\w:]+\s*"
    r"\(\s*(?:const\s+)?int\s+(?:const\s+)?(\w+)\s*(?:,[^(){}]*)?\)\s*(?:const\s*)?\{",
)
_RETURNS_NONE = r"(?:\b(?:static|inline|constexpr|extern)\s+)*\bvoid"
_CODE_FIRST = r"\(\s*(?:const\s+)?int\b[^(){};]*\)\s*(?:const\s*)?"
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
# The same, and a quotation mark that begins no text.
_NO_NAMES = re.compile(_NO_CODE.pattern + r"|'(?:\\.|[^'\\\n])'", re.DOTALL)
_STATEMENT_WORDS = ("else", "do")


class CheckingFunctions:
    """Asks libclang which function a statement calls, and its text for what that does."""

    def __init__(self, unit: Any, name: str, texts: Mapping[str, bytes]) -> None:
        """`texts`: of the file of this name and of the program's headers that it includes."""
        self.unit = unit
        self.name = name
        self.texts = texts
        self.known: dict[tuple[str, int], bool] = {}

    def __call__(self, offset: int) -> bool:
        """Whether the function that is called at a byte of the file does nothing else."""
        file = cindex.File.from_name(self.unit, self.name)
        place = cindex.SourceLocation.from_offset(self.unit, file, offset)
        named = cindex.Cursor.from_location(self.unit, place).referenced
        if named is None or named.kind not in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD):
            return False
        definition = None if named.is_virtual_method() else named.get_definition()
        if definition is None or definition.location.file is None:
            return False
        where = (str(definition.location.file).removeprefix("./"), definition.extent.start.offset)
        if where not in self.known:
            data = self.texts.get(where[0], b"")
            text = data[where[1] : definition.extent.end.offset].decode(errors="replace")
            self.known[where] = _only_checks(text)
        return self.known[where]


def only_checks_wherever(name: str, texts: Mapping[str, bytes]) -> bool:
    """Whether each function of this name is defined in these texts, and does nothing but check.

    Whatever else has the name there, as a variable, a template or a macro, makes it unknown.
    """
    defined = False
    head_of = re.compile(rf"{_RETURNS_NONE}\s+({name})\s*{_CODE_FIRST}([{{;])")
    for data in texts.values():
        text = _NO_NAMES.sub(_without_names, data.decode(errors="replace"))
        heads = {head.start(1): head for head in head_of.finditer(text)}
        for use in re.finditer(rf"\b{name}\b", text):
            head = heads.get(use.start())
            if head is None:
                if not _is_called(text, use.start(), use.end()):
                    return False
            elif head[2] == "{":
                if not _only_checks(text[head.start() : closing(text, head.end() - 1) + 1]):
                    return False
                defined = True
    return defined


def _without_names(part: re.Match[str]) -> str:
    return '""' if part[0].startswith('"') else " "


def _is_called(text: str, start: int, end: int) -> bool:
    """Whether a name stands where it is a function that a statement calls."""
    before = text[max(0, start - 200) : start].rstrip()
    name = re.search(r"\w+$", before)
    if name is not None and name[0] not in _STATEMENT_WORDS:
        return False
    return before[-1:] not in tuple("*&>.~:=") and re.match(r"\s*\(", text[end:]) is not None


def _only_checks(text: str) -> bool:
    """Whether a function, of this text, does nothing where its first argument is 0."""
    text = _NO_CODE.sub(lambda m: '""' if m[0].startswith('"') else " ", text)
    head = _HEAD.match(text)
    if head is None or "#" in text or closing(text, head.end() - 1) != len(text) - 1:
        return False
    body = text[head.end() : -1].strip()
    code = rf"\b{head[1]}\b"
    success = r"(?:MPI_SUCCESS|0)"
    asked = re.match(
        rf"if\s*\(\s*(?:{code}(?:\s*!=\s*{success})?|{success}\s*!=\s*{code})\s*\)", body
    )
    if asked is not None:
        return is_one_statement(body[asked.end() :].strip())
    return_first = (
        rf"if\s*\(\s*{code}\s*==\s*{success}\s*\)\s*(?:\{{\s*return\s*;\s*\}}|return\s*;)"
    )
    return re.match(return_first, body) is not None
