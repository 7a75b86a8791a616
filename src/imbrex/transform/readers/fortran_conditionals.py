"""The preprocessor's conditionals in Fortran sources: which lines a build compiles.

Lines that it does not compile become blanks, so that every byte keeps its place; the directives
stay, and nothing moves over them. A conditional whose condition cannot be told here keeps all of
its branches, as code of which nothing is known.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_DIRECTIVE = re.compile(r"#\s*(ifdef|ifndef|if|elif|else|endif|define|undef)\b(.*)")
_DEFINITION = re.compile(r"\s*([A-Za-z_]\w*)(\(?)(?:\s+(.*))?")
_TOKEN = re.compile(
    r"\s*(?:(defined)\s*(?:\(\s*([A-Za-z_]\w*)\s*\)|([A-Za-z_]\w*))|([A-Za-z_]\w*)|(\d+)[uUlL]*"
    r"|(&&|\|\||==|!=|<=|>=|[!<>()+*-]))"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_OF_COMPILERS = frozenset({"unix", "linux", "i386", "vms", "sun", "hpux"})
_PYTHON = {"&&": " and ", "||": " or ", "!": "~"}  # `not` would bind less than C's `!`
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@dataclass(slots=True)
class Conditionals:
    """What the conditionals of one file leave of it."""

    text: str
    spans: list[tuple[int, int]] = field(default_factory=list)  # lines from `#if` to `#endif`
    inactive: set[str] = field(default_factory=set)  # names in what is not compiled, small letters

    # Macros that a condition asks for and that are not defined, with the line of the first.
    undefined: dict[str, int] = field(default_factory=dict)

    def hold(self, line: int) -> bool:
        """Whether a line stands between an `#if` and its `#endif`."""
        return any(first < line < last for first, last in self.spans)


@dataclass(slots=True)
class _Group:
    """A conditional that is open."""

    line: int
    known: bool  # whether its conditions can be told
    outer: bool  # whether it is compiled itself
    taken: bool  # whether a branch has been compiled
    active: bool  # whether this branch is


def conditionals(text: str, flags: list[str], unknown: set[str]) -> Conditionals:
    """Blank what a build with these flags does not compile.

    `unknown`: macros that headers define or not; conditions with them cannot be told.
    """
    found = Conditionals(text)
    if not re.search(r"(?m)^#\s*if", text):
        return found
    macros = _given(flags)
    groups: list[_Group] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        directive = _DIRECTIVE.match(line)
        if directive is not None and not _is_blank(directive[1], groups):
            _read(directive[1], directive[2], number, groups, macros, unknown, found)
        elif groups and not groups[-1].active:
            found.inactive |= {name.lower() for name in _IDENTIFIER.findall(line)}
            lines[number - 1] = re.sub(r"[^\r]", " ", line)
    if groups:
        return Conditionals(text)  # not closed: the compiler would not take it
    found.text = "\n".join(lines)
    return found


def _is_blank(name: str, groups: list[_Group]) -> bool:
    """Whether a directive is one of macros, in code that is not compiled."""
    return name in ("define", "undef") and bool(groups) and not groups[-1].active


def _given(flags: list[str]) -> dict[str, str]:
    macros: dict[str, str] = {}
    for flag in flags:
        if flag.startswith("-D"):
            name, _, value = flag[2:].partition("=")
            macros[name] = value if "=" in flag else "1"
        elif flag.startswith("-U"):
            macros.pop(flag[2:], None)
    return macros


def _read(
    name: str,
    rest: str,
    line: int,
    groups: list[_Group],
    macros: dict[str, str],
    unknown: set[str],
    found: Conditionals,
) -> None:
    """One directive; `groups` are those that are open."""
    active = not groups or groups[-1].active
    if active and name in ("ifdef", "ifndef", "if", "elif"):
        for asked in _IDENTIFIER.findall(rest.partition("/*")[0]):
            if asked != "defined" and asked not in macros and asked not in unknown:
                found.undefined.setdefault(asked, line)
    if name in ("ifdef", "ifndef", "if"):
        value = _value(name, rest, macros, unknown) if active else False
        known = value is not None
        taken = value is not False
        groups.append(_Group(line, known, active, taken, active and taken))
    elif name in ("define", "undef"):
        definition = _DEFINITION.match(rest)
        if definition is None or not active:
            return
        if any(not group.known for group in groups):
            unknown.add(definition[1])  # it may be compiled or not
        elif name == "undef":
            macros.pop(definition[1], None)
        else:
            macros[definition[1]] = "(" if definition[2] else (definition[3] or "").strip()
    elif groups:
        group = groups[-1]
        if name == "endif":
            groups.pop()
            found.spans.append((group.line, line))
        elif group.known and group.outer:
            value = True if name == "else" else _value("if", rest, macros, unknown)
            if value is None and not group.taken:
                group.known = group.taken = group.active = True
                group.known = False
                return
            group.active = not group.taken and bool(value)
            group.taken = group.taken or bool(value)


def _value(name: str, rest: str, macros: dict[str, str], unknown: set[str]) -> bool | None:
    """Whether a condition holds; None where that cannot be told."""
    if name != "if":
        words = rest.split()
        if not words or _is_unknown(words[0], macros, unknown):
            return None
        return (words[0] in macros) is (name == "ifdef")
    translated = _translated(re.sub(r"/\*.*?\*/", " ", rest), macros, unknown)
    if translated is None:
        return None
    try:
        return bool(_evaluated(ast.parse(translated, mode="eval").body))
    except (SyntaxError, ValueError):
        return None


def _is_unknown(name: str, macros: dict[str, str], unknown: set[str]) -> bool:
    if name in unknown:
        return True
    return name not in macros and (name.startswith("_") or name in _OF_COMPILERS)


def _translated(text: str, macros: dict[str, str], unknown: set[str]) -> str | None:
    """A condition in Python's words; None where a part of it is not understood."""
    parts: list[str] = []
    position = 0
    while text[position:].strip():
        token = _TOKEN.match(text, position)
        if token is None:
            return None
        position = token.end()
        name = token[2] or token[3] or token[4]
        if name and _is_unknown(name, macros, unknown):
            return None
        if token[1]:
            parts.append(str(int(name in macros)))
        elif name:
            value = macros.get(name, "0").strip("() ")
            if not value.isdigit():
                return None
            parts.append(str(int(value)))
        elif token[5]:
            parts.append(str(int(token[5])))
        else:
            parts.append(_PYTHON.get(token[6], token[6]))
    return "".join(parts).strip()


def _evaluated(node: ast.expr) -> int:
    """Raises ValueError for what is no condition of integers."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.BoolOp(op=ast.And()):
            return int(all(_evaluated(value) for value in node.values))
        case ast.BoolOp():
            return int(any(_evaluated(value) for value in node.values))
        case ast.UnaryOp(op=ast.Invert()):
            return int(not _evaluated(node.operand))
        case ast.UnaryOp(op=ast.USub()):
            return -_evaluated(node.operand)
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            return _ARITHMETIC[type(node.op)](_evaluated(node.left), _evaluated(node.right))
        case ast.Compare(ops=[only], comparators=[right]):
            return int(_COMPARE[type(only)](_evaluated(node.left), _evaluated(right)))
    raise ValueError("not a condition of integers")
