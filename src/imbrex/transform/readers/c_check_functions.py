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
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)


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
