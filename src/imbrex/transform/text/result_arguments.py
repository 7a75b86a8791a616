"""Calls of functions of C that hand their value to an argument in the place of returning it.

`x = f(y);` becomes `f(y, &x);`. Within an expression a variable takes the value in front of the
statement, where nothing decides whether the call is made at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from imbrex.transform.model.calls import Call
from imbrex.transform.model.sources import SourceFile, code_of_c
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.braces import can_be_braced, closing, opening
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import first_on_line, indent_at, line_start
from imbrex.transform.text.number_types import C_NUMBERS
from imbrex.transform.text.pieces import spans

_NAMED = re.compile(rb"([A-Za-z_]\w*)\s*=\s*")
# What decides whether a call is made, or is no evaluation of it.
_MAYBE = re.compile(
    rb"&&|\|\||\?|\b(?:sizeof|alignof|decltype|typeof|__typeof__|noexcept|typeid|static|constexpr"
    rb"|thread_local|and|or|case|default)\b|(?i:\.(?:and|or)\.)"
)
_KINDS = (Kind.SIMPLE, Kind.DECLARE, Kind.IF, Kind.JUMP)
_BASE = re.compile(
    rb"(?:%s)\b\s*"
    % b"|".join(rb"\s+".join(kind.encode().split()) for kind in sorted(C_NUMBERS, reverse=True))
)
_DECLARATOR = re.compile(rb"\s*\**\s*([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*([={(].*)?", re.DOTALL)
_LINES = re.compile(rb"//|^[ \t]*#", re.MULTILINE)  # what cannot be joined with more


# From a statement and a name to the statement of its block in front of which a variable of it
# may be declared; None where it is declared where it stands.
Head = Callable[[Statement, str], int | None]


@dataclass(frozen=True, slots=True)
class Taken:
    """How the calls of one statement hand their values over."""

    edits: list[Edit]
    target: str = ""  # the variable that gets the value at once, if one does


def has_room(source: SourceFile, statement: Statement) -> bool:
    """Whether another statement can stand in front of one."""
    block = statement.parent
    if block is None or not (block.insertable and block.braced):
        return False
    plain = statement.stop is None and statement.code_start == statement.start
    return plain and statement.kind in _KINDS and first_on_line(source.data, statement.start)


def is_body(statement: Statement) -> bool:
    """Whether a statement is all of the body of an `if` or a loop, without braces."""
    block = statement.parent
    plain = statement.stop is None and statement.code_start == statement.start
    return block is not None and not block.braced and plain and statement.kind is Kind.SIMPLE


def given_result(data: bytes, call: Call, result: str) -> str:
    """A call with one more argument."""
    text = data[call.start : call.end].decode()
    separator = ", " if call.arguments else ""
    return f"{text[:-1].rstrip()}{separator}&{result})"


def handed_over(
    source: SourceFile,
    statement: Statement,
    calls: Sequence[Call],
    kind: str,
    takers: Sequence[str],
    names: Sequence[str],
    head: Head,
) -> Taken | None:
    """The edits of a statement; None where the value is asked for in a way that is not known.

    `kind`: the type of the value. `takers`: names of variables of this type that may get it.
    `names`: of new variables, one for each call. `head`: where one is declared.
    """
    if any(call.macro or call.unknown for call in calls):
        return None
    if is_body(statement):
        return _in_body(source, statement, calls, kind, takers, names)
    if not has_room(source, statement):
        return None
    data, indent = source.data, indent_at(source.data, statement.start)
    listed = _in_list(data, statement, calls, kind, names, head)
    if listed is not None:
        return listed
    direct = _directly(data, statement, calls, kind, takers, head)
    if direct is not None:
        return direct
    if not is_always_asked(data, statement):
        return None
    declared = [_declared(data, statement, kind, name, head) for name in names]
    front = "".join(
        f"{here}{given_result(data, call, name)};\n{indent}"
        for call, name, (here, _) in zip(calls, names, declared, strict=True)
    )
    ahead = [edit for _, edits in declared for edit in edits]
    if statement.kind is Kind.SIMPLE and len(calls) == 1 and calls[0].is_statement:
        (call,) = calls
        return Taken([*ahead, Edit(call.start, call.end, front.rstrip().removesuffix(";"))])
    edits = [*ahead, Edit(statement.code_start, statement.code_start, front)]
    edits += [Edit(c.start, c.end, name) for c, name in zip(calls, names, strict=True)]
    return Taken(edits)


def _in_body(
    source: SourceFile,
    statement: Statement,
    calls: Sequence[Call],
    kind: str,
    takers: Sequence[str],
    names: Sequence[str],
) -> Taken | None:
    """The edits of a statement without room around it: it gets braces, if it is not one call."""
    data, block = source.data, statement.parent
    assert block is not None
    direct = _directly(data, statement, calls, kind, takers, lambda *_: None)
    if direct is not None:
        return direct
    if not is_always_asked(data, statement):
        return None
    text, start = data[statement.code_start : statement.end].decode(), statement.code_start
    for call, name in sorted(zip(calls, names, strict=True), key=lambda pair: -pair[0].start):
        text = f"{text[: call.start - start]}{name}{text[call.end - start :]}"
    lines = [f"{kind} {', '.join(names)};"]
    lines += [f"{given_result(data, c, name)};" for c, name in zip(calls, names, strict=True)]
    if not (len(calls) == 1 and calls[0].is_statement):
        lines.append(text)
    indent = indent_at(data, start)
    if can_be_braced(source, block):
        new = f"\n{indent}".join(lines)
        whole = Edit(start, statement.end, new)
        return Taken([opening(source, block), whole, closing(source, block)])
    inner = f"\n{indent}    "
    return Taken([Edit(start, statement.end, f"{{{inner}{inner.join(lines)}\n{indent}}}")])


def _declared(
    data: bytes, statement: Statement, kind: str, name: str, head: Head
) -> tuple[str, list[Edit]]:
    """The declaration of a variable, right in front of a statement, or as an edit ahead of it."""
    place = head(statement, name)
    if place is None:
        return f"{kind} {name};\n{indent_at(data, statement.start)}", []
    at = line_start(data, place)
    return "", [Edit(at, at, f"{indent_at(data, place)}{kind} {name};\n")]


@dataclass(slots=True)
class _List:
    """The declarations and calls that take the place of one declaration of several variables."""

    base: str
    indent: str
    lines: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)  # declarators of the declaration being written

    def flush(self) -> None:
        if self.open:
            self.lines.append(f"{self.base} {', '.join(self.open)};")
        self.open = []

    def text(self) -> str:
        self.flush()
        return f"\n{self.indent}".join(self.lines)


def _in_list(
    data: bytes,
    statement: Statement,
    calls: Sequence[Call],
    kind: str,
    names: Sequence[str],
    head: Head,
) -> Taken | None:
    """The edits of a declaration of several variables of a plain type, one after the other.

    None where it is no such declaration, or a call in it may not be made.
    """
    start, end = statement.code_start, statement.end
    code = code_of_c(data[start:end])
    base = _BASE.match(code) if statement.kind is Kind.DECLARE else None
    if base is None or _LINES.search(data, start, end) or not code.rstrip().endswith(b";"):
        return None
    every = spans(code.rstrip()[base.end() : -1].decode(errors="replace"))
    found = [(start + base.end() + first, start + base.end() + last) for first, last in every]
    if len(found) < 2:
        return None
    made = _List(" ".join(base[0].decode().split()), indent_at(data, statement.start))
    ahead: list[Edit] = []
    for first, last in found:
        text = data[first:last].decode()
        declarator = _DECLARATOR.fullmatch(code, first - start, last - start)
        mine = [(c, n) for c, n in zip(calls, names, strict=True) if first <= c.start < last]
        if declarator is None:
            return None
        if not mine:
            made.open.append(text)
            continue
        call, name = mine[0]
        own = declarator[1].decode()
        whole = rf"{own}\s*=\s*{re.escape(data[call.start : call.end].decode())}"
        direct = made.base == kind and re.fullmatch(whole, text) is not None
        if direct and not re.search(rf"\b{own}\b", data[call.start : call.end].decode()):
            place, edits = _declared(data, statement, kind, own, head)
            made.open += [own] if place else []
            made.flush()
            made.lines.append(f"{given_result(data, call, own)};")
            ahead += edits
            continue
        if not _is_certain(code[first - start : last - start]):
            return None
        made.flush()
        for call, name in reversed(mine):
            text = f"{text[: call.start - first]}{name}{text[call.end - first :]}"
        for call, name in mine:
            place, edits = _declared(data, statement, kind, name, head)
            made.lines += [f"{kind} {name};"] if place else []
            made.lines.append(f"{given_result(data, call, name)};")
            ahead += edits
        made.open.append(text)
    return Taken([*ahead, Edit(start, end, made.text())])


def _directly(
    data: bytes,
    statement: Statement,
    calls: Sequence[Call],
    kind: str,
    takers: Sequence[str],
    head: Head,
) -> Taken | None:
    """The edits where the value of one call goes to a variable, and nowhere else."""
    call = calls[0]
    if len(calls) != 1 or data[call.end : statement.end].strip() not in (b";", b""):
        return None
    before = data[statement.code_start : call.start]
    if statement.kind is Kind.DECLARE:
        declared = re.fullmatch(rb"%s\s+([A-Za-z_]\w*)\s*=\s*" % _spaced(kind), before)
        name = None if declared is None else declared[1].decode()
        named = rb"\b%s\b" % (declared[1] if declared is not None else b"")
        if name is None or re.search(named, data[call.start : call.end]):
            return None
        here, ahead = _declared(data, statement, kind, name, head)
        made = f"{here}{given_result(data, call, name)}"
        return Taken([*ahead, Edit(statement.code_start, call.end, made)], name)
    found = _NAMED.fullmatch(before)
    if statement.kind is not Kind.SIMPLE or found is None or found[1].decode() not in takers:
        return None
    name = found[1].decode()
    return Taken([Edit(statement.code_start, call.end, given_result(data, call, name))], name)


def _spaced(kind: str) -> bytes:
    return rb"\s+".join(map(re.escape, kind.encode().split()))


def is_always_asked(data: bytes, statement: Statement) -> bool:
    """Whether all of a statement, or of its condition, is evaluated whenever it is reached."""
    end = statement.blocks[0].start if statement.blocks else statement.end
    return _is_certain(code_of_c(data[statement.code_start : end]))


def _is_certain(code: bytes) -> bool:
    """Whether nothing in an expression decides what of it is evaluated."""
    return _MAYBE.search(code) is None and not _has_comma_operator(code)


def _has_comma_operator(code: bytes) -> bool:
    """Whether a comma may be something else than what separates arguments of a call."""
    opened: list[bool] = []  # whether each parenthesis is a call's
    for position, character in enumerate(code):
        if character in b"([{":
            before = code[:position].rstrip()
            opened.append(character == ord("(") and re.search(rb"[\w\])]$", before) is not None)
        elif character in b")]}" and opened:
            opened.pop()
        elif character == ord(",") and not (opened and opened[-1]):
            return True
    return False
