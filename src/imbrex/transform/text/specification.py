"""Declarations of a routine, reduced to what one half of it needs, so that nothing is unused."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.number_types import DECLARED
from imbrex.transform.text.pieces import pieces

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_QUALIFIERS = r"(?:(?:static|constexpr|register|volatile|const)\s+)*"
_C_TYPE = re.compile(rf"(\s*)({_QUALIFIERS}{DECLARED})(?:\s+|(?=\())(.*);\s*$", re.DOTALL)
_VECTORS = re.compile(
    r"(\s*)((?:std::)?(?:vector<[\w:\s]+>|array<[\w:\s]+,\s*\d+>))\s+(\w.*);\s*$", re.DOTALL
)
_FORTRAN_TYPE = re.compile(
    r"(?P<head>[^:!'\"]*::\s*)(?P<rest>[^:].*)$"
    r"|(?P<bare>\s*(?:integer|real|double\s*precision|logical|complex|double\s*complex)"
    r"(?:\s*\*\s*\d+)?\s+)(?P<list>[a-z][^:=]*)$",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?i)\s*(?:use|implicit|import)\b")


def identifiers(text: str, *, fold: bool) -> set[str]:
    """Identifiers of a text, in lower case if `fold`."""
    return {name.lower() if fold else name for name in _IDENTIFIER.findall(text)}


def c_declarations(
    source: SourceFile,
    routine: Routine,
    needed: set[str],
    without: set[str],
    placed: Container[int] = (),
) -> list[tuple[int, str]]:
    """The leading declarations with only the variables that are needed, each behind its place.

    `placed`: the identities of those that stand among the statements.
    """
    found: list[tuple[int, str]] = []
    declared = [s for s in routine.body.statements if s.kind is Kind.DECLARE]
    for statement in reversed([s for s in declared if id(s) not in placed]):
        start = line_start(source.data, statement.start)
        text = source.data[start : statement.end].decode(errors="replace")
        if source.data[start : statement.start].strip():  # others stand on its line
            code = source.data[statement.code_start : statement.end].decode(errors="replace")
            text = indent_at(source.data, start) + code
        match = _C_TYPE.match(text) or _VECTORS.match(text)
        if match is None:
            found.insert(0, (statement.start, text))
            continue
        kept: list[str] = []
        for declarator in reversed(pieces(match[3])):
            name = _IDENTIFIER.search(declarator)
            if name is not None and name[0] in needed and name[0] not in without:
                kept.insert(0, declarator)
                needed |= identifiers(declarator, fold=False)
        if kept:
            text = f"{match[1]}{match[2]} {', '.join(kept)};"
            found.insert(0, (statement.start, text))
    return found


def fortran_specification(
    source: SourceFile,
    start: int,
    end: int,
    needed: set[str],
    dummies: list[str],
    stated: Sequence[str] = (),
) -> tuple[list[str], set[str]]:
    """Lines behind the header, without entities that nothing uses; and what is used in all.

    `stated`: declarations from elsewhere, which go behind what must stand first.
    """
    lines = source.data[start:end].decode(errors="replace").split("\n")
    fixed = source.language is Language.FORTRAN_FIXED
    first = 1
    while first < len(lines) and _continues(lines[first - 1], lines[first], fixed):
        first += 1
    body = lines[first:]
    body = _with(body, stated, fixed) if stated else body
    used = set(needed)
    plain = [plain_declaration(body, i, fixed) for i in range(len(body))]
    for line, match in zip(body, plain, strict=True):
        bare = line.split("!")[0]
        comment = fixed and line[:1] in ("c", "C", "*")
        neutral = re.match(r"\s*(use|implicit|include|intent)\b", bare, re.IGNORECASE)
        if match is None and not comment and neutral is None:
            used |= identifiers(bare, fold=True)
    growing = True
    while growing:
        before = len(used)
        for match in plain:
            for entity in pieces(_list(match)) if match else []:
                name = _IDENTIFIER.match(entity)
                if match and name is not None and name[0].lower() in used:
                    used |= identifiers(entity, fold=True)
                    used |= identifiers(match["head"] or match["bare"], fold=True)
        growing = len(used) > before
    found = []
    for line, match in zip(body, plain, strict=True):
        if match is None:
            found.append(line)
            continue
        entities = pieces(_list(match))
        kept = [e for e in entities if (name := _IDENTIFIER.match(e)) and name[0].lower() in used]
        if len(kept) == len(entities):
            found.append(line)
        elif kept:
            found.append((match["head"] or match["bare"]) + ", ".join(kept))
    return found, used & set(dummies)


def _with(body: list[str], stated: Sequence[str], fixed: bool) -> list[str]:
    """Lines of declarations with others behind their last USE or IMPLICIT."""
    place = 0
    for number, line in enumerate(body):
        if _FIRST.match(line):
            place = number + 1
            while place < len(body) and _continues(body[place - 1], body[place], fixed):
                place += 1
    return [*body[:place], *stated, *body[place:]]


def _continues(line: str, following: str, fixed: bool) -> bool:
    if fixed:
        return following[:5] == "     " and following[5:6] not in ("", " ", "0")
    return line.split("!")[0].rstrip().endswith("&")


def plain_declaration(lines: list[str], index: int, fixed: bool) -> re.Match[str] | None:
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


def opening_of(head: str) -> int:
    """Where the parameter list that ends the text opens."""
    depth = 0
    for position in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[position], 0)
        if depth == 0:
            return position if head.endswith(")") else -1
    return -1


def parameters_of(text: str) -> list[str]:
    """The parameters of a list, without the parentheses around it.

    Commas part what a template is given as well; inside parentheses `<` may compare.
    """
    found, depth, angles, last = [], 0, 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(character, 0)
        if depth == 0:
            angles += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == angles == 0:
            found.append(text[last:position])
            last = position + 1
    return [*found, text[last:]]
