"""Declarations of a routine, reduced to what one half of it needs, so that nothing is unused."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Kind, Language, Routine, SourceFile
from imbrex.transform.rewrites.layout import line_start

_WORD = re.compile(r"[A-Za-z_]\w*")
_C_TYPE = re.compile(
    r"(\s*)((?:(?:const|unsigned|signed|struct|long|short)\s+)*\w+)\s+(.*);\s*$", re.S
)
_FORTRAN_TYPE = re.compile(
    r"(?P<head>[^:!'\"]*::\s*)(?P<rest>[^:].*)$"
    r"|(?P<bare>\s*(?:integer|real|double\s*precision|logical|complex|double\s*complex)"
    r"(?:\s*\*\s*\d+)?\s+)(?P<list>[a-z][^:=]*)$",
    re.IGNORECASE,
)


def words(text: str, *, fold: bool) -> set[str]:
    """Identifiers of a text, in lower case if `fold`."""
    return {word.lower() if fold else word for word in _WORD.findall(text)}


def pieces(text: str) -> list[str]:
    """The parts of a list, split at commas outside parentheses, brackets and braces."""
    found, depth, last = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[last:position].strip())
            last = position + 1
    return [*found, text[last:].strip()]


def c_declarations(
    source: SourceFile, routine: Routine, needed: set[str], without: set[str]
) -> list[str]:
    """The leading declarations with only the variables that are needed."""
    found: list[str] = []
    for statement in reversed([s for s in routine.body.statements if s.kind is Kind.DECLARE]):
        start = line_start(source.data, statement.start)
        text = source.data[start : statement.end].decode(errors="replace")
        match = _C_TYPE.match(text)
        if match is None:
            found.insert(0, text)
            continue
        kept: list[str] = []
        for declarator in reversed(pieces(match[3])):
            name = _WORD.search(declarator)
            if name is not None and name[0] in needed and name[0] not in without:
                kept.insert(0, declarator)
                needed |= words(declarator, fold=False)
        if kept:
            found.insert(0, f"{match[1]}{match[2]} {', '.join(kept)};")
    return found


def fortran_specification(
    source: SourceFile, start: int, end: int, needed: set[str], dummies: list[str]
) -> tuple[list[str], set[str]]:
    """Lines behind the header, without entities that nothing uses; and what is used in all."""
    lines = source.data[start:end].decode(errors="replace").split("\n")
    fixed = source.language is Language.FORTRAN_FIXED
    first = 1
    while first < len(lines) and _continues(lines[first - 1], lines[first], fixed):
        first += 1
    body = lines[first:]
    used = set(needed)
    plain = [_plain(body, i, fixed) for i in range(len(body))]
    for line, match in zip(body, plain, strict=True):
        bare = line.split("!")[0]
        comment = fixed and line[:1] in ("c", "C", "*")
        neutral = re.match(r"\s*(use|implicit|include|intent)\b", bare, re.IGNORECASE)
        if match is None and not comment and neutral is None:
            used |= words(bare, fold=True)
    growing = True
    while growing:
        before = len(used)
        for match in plain:
            for entity in pieces(_list(match)) if match else []:
                name = _WORD.match(entity)
                if name is not None and name[0].lower() in used:
                    used |= words(entity, fold=True)
        growing = len(used) > before
    found = []
    for line, match in zip(body, plain, strict=True):
        if match is None:
            found.append(line)
            continue
        entities = pieces(_list(match))
        kept = [e for e in entities if (name := _WORD.match(e)) and name[0].lower() in used]
        if len(kept) == len(entities):
            found.append(line)
        elif kept:
            found.append((match["head"] or match["bare"]) + ", ".join(kept))
    return found, used & set(dummies)


def _continues(line: str, following: str, fixed: bool) -> bool:
    if fixed:
        return following[:5] == "     " and following[5:6] not in ("", " ", "0")
    return line.split("!")[0].rstrip().endswith("&")


def _plain(lines: list[str], index: int, fixed: bool) -> re.Match[str] | None:
    """A declaration of variables that stands on one line."""
    line = lines[index]
    if fixed and line[:1] in ("c", "C", "*"):
        return None
    following = lines[index + 1] if index + 1 < len(lines) else ""
    before = lines[index - 1] if index else ""
    if _continues(line, following, fixed) or (index and _continues(before, line, fixed)):
        return None
    if "!" in line or "parameter" in line.lower():
        return None
    return _FORTRAN_TYPE.match(line)


def _list(match: re.Match[str]) -> str:
    return match["rest"] or match["list"] or ""
