"""Procedures that are written without their arguments: `module procedure exchange`.

What their arguments are stands in an interface body of the module, or of the submodule, that they
are in, or in that of one of its hosts. It is taken from there; a procedure where it cannot be is
not read, and what it does is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from imbrex.transform.model.interface_body import InterfaceBody
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers.fortran_conditionals import Conditionals
from imbrex.transform.readers.fortran_imports import clash
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Declarations, Scope, is_specification

UNREAD = "unread"  # the kind of a scope that is not entered
_SEPARATE = re.compile(r"moduleprocedure([a-z]\w*)")
_ENDED = re.compile(r"end(subroutine|function)?\w*")
_WORD = re.compile(r"[a-z_]\w*")
_PARENTHESES = re.compile(r"\([^()]*\)")


def begun(line: LogicalLine, parent: Scope | None, conditionals: Conditionals) -> Scope | None:
    """The scope of a procedure without arguments that a statement begins; None where none."""
    match = _SEPARATE.fullmatch(line.masked)
    if match is None or parent is None or parent.kind not in ("module", "submodule"):
        return None
    scope = Scope(match[1], "subroutine", parent.file, line.line, parent)
    scope.separate = True
    scope.conditional = conditionals.hold(line.line)
    scope.declare_after = line.end
    scope.behind_head = line.end if line.alone else -1
    if parent.implicit is None:
        scope.implicit = None
    return scope


class InterfaceBodies:
    """Reads those of a file that say the arguments of procedures of modules and submodules."""

    def __init__(
        self,
        opened: Callable[[str, LogicalLine, Scope | None], Scope | None],
        declarations: Declarations,
    ) -> None:
        """`opened`: the scope that a header opens."""
        self.opened = opened
        self.declarations = declarations
        self._inner: Scope | None = None

    def read(self, line: LogicalLine, host: Scope) -> None:
        """A line of an interface block of a module or a submodule."""
        text = line.masked
        if self._inner is None:
            opened = None if line.directive else self.opened(text, line, host)
            if opened is None or not opened.of_interface:
                return
            self._inner = opened
            if opened.name in host.interface_bodies:  # which of them holds is not known
                opened.problem = ReasonKind.TWICE_DEFINED()
            host.interface_bodies[opened.name] = opened
        elif line.directive:
            self._inner.problem = ReasonKind.PREPROCESSOR_LINE(line=line.directive)
        elif _ENDED.fullmatch(text):
            self._inner.last_line = line.line
            self._inner = None
        elif is_specification(text):
            self.declarations.read(self._inner, line)
            self._inner.declare_after = line.end
        else:
            self._inner.problem = ReasonKind.LINE(line=text)


def has_prefix(text: str, scope: Scope) -> bool:
    """Whether the header of a procedure has the prefix MODULE."""
    prefix = text[: text.index(f"{scope.kind}{scope.name}")]
    while (shorter := _PARENTHESES.sub("", prefix)) != prefix:
        prefix = shorter
    return "module" in prefix


def take_arguments(scopes: Sequence[Scope], names: Names) -> None:
    """Give procedures without arguments those of their interface bodies.

    Of others it is noted that they, and what they contain, are not read.
    """
    for scope in scopes:
        if scope.separate and not _takes(scope, names):
            cause = ReasonKind.NO_INTERFACE_BODY(routine=scope.name)
            scope.hidden = scope.problem = cause
            scope.kind = UNREAD
    for scope in scopes:
        host = scope.parent
        while host is not None and scope.kind not in ("type", UNREAD):
            if host.kind == UNREAD:
                scope.kind, scope.hidden = UNREAD, host.hidden
            host = host.parent


def body_of(scope: Scope) -> InterfaceBody | None:
    """Where the interface of a procedure stands that the program states apart from it."""
    body = _found(scope) if scope.separate or scope.of_interface else None
    if body is None:
        return None
    clear = not (body.problem or body.hidden or body.missing or body.conditional)
    return InterfaceBody(
        body.file, body.line, body.last_line, body.declare_after, scope.separate, clear
    )


def _found(scope: Scope) -> Scope | None:
    host = scope.parent
    while host is not None and scope.name not in host.interface_bodies:
        host = host.parent
    return None if host is None else host.interface_bodies[scope.name]


def _takes(scope: Scope, names: Names) -> bool:
    """Enter the arguments of one procedure; False where they are not known for certain."""
    body = _found(scope)
    if body is None or body.problem or body.hidden or body.missing:
        return False
    given = {*body.dummies, body.result} - {""}
    if (
        any(map(clash, given))
        or given & scope.symbols.keys()
        or "*" in given
        or not given <= body.symbols.keys()
    ):
        return False  # an ASYNCHRONOUS statement, or a name of the body's own
    symbols = [body.symbols[name] for name in given]
    plain = body.implicit or scope.implicit  # letters that have types of their own
    if plain and not all(symbol.type for symbol in symbols):
        return False
    words: set[str] = set()
    for symbol in symbols:
        if symbol.common is not None or symbol.value is not None:
            return False
        words.update(*(_WORD.findall(text) for ends in symbol.bounds for text in ends))
        words.update(_WORD.findall(symbol.type))
    for name in words - given:
        there, here = names.find(body, name), names.find(scope, name)
        if (there and there[1]) is not (here and here[1]):
            return False  # a name that stands for another thing where the procedure is
    scope.kind, scope.dummies, scope.result = body.kind, list(body.dummies), body.result
    scope.elemental, scope.recursive = body.elemental, body.recursive
    for symbol in symbols:  # no line of the procedure declares them
        scope.symbols[symbol.name] = replace(symbol, line=0)
    return True
