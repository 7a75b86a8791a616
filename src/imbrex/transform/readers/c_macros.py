"""Macros that stand for one of MPI's names: datatypes, operations, communicators, ranks."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINE = re.compile(
    rb"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(?)[ \t]*(.*?)[ \t]*(?://.*|/\*.*)?\r?$"
)
_UNDEFINED = re.compile(rb"(?m)^[ \t]*#[ \t]*undef[ \t]+([A-Za-z_]\w*)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_BEHIND_TOKEN = re.compile(rb"[\w)\]};'\"]")
_ARGUMENTS = re.compile(rb"\s*\((?:[^()'\"]|\([^()'\"]*\))*\)")
_MPI_NAME = re.compile(r"MPI_[A-Z0-9_]+")


def mpi_macros(texts: Iterable[bytes], flags: list[str]) -> dict[str, str]:
    """MPI's name by macro, where the macro has no other definition in any of the texts.

    `flags`: the compiler's, of which `-D` defines macros too.
    """
    values: dict[str, set[str]] = {}
    for text in texts:
        for name, opening, value in _DEFINE.findall(text):
            known = values.setdefault(name.decode(), set())
            known.add("" if opening else value.decode(errors="replace").strip("() "))
        for name in _UNDEFINED.findall(text):
            values.setdefault(name.decode(), set()).add("")
    for flag in flags:
        if flag.startswith("-D"):
            name, _, value = flag[2:].partition("=")
            values.setdefault(name, set()).add(value)
    found: dict[str, str] = {}
    for name in values:
        meaning, seen = name, set[str]()
        while meaning in values and len(values[meaning]) == 1 and meaning not in seen:
            seen.add(meaning)
            meaning = next(iter(values[meaning]))
        if _MPI_NAME.fullmatch(meaning) and meaning not in values:
            found[name] = meaning
    return found


def behind_macro(data: bytes, end: int) -> int:
    """The byte behind what ends with a macro's use, where libclang says `end`.

    It leaves the use out where the last token is an argument of a macro inside the macro, as with
    `#define ZERO REAL(0.0)`: `end` then is where the macro's name begins.
    """
    use = _WORD.match(data, end)
    if use is None or _BEHIND_TOKEN.match(data, end - 1):
        return end
    arguments = _ARGUMENTS.match(data, use.end())
    return use.end() if arguments is None else arguments.end()
