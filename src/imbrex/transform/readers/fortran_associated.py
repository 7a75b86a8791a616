"""The names of an ASSOCIATE of Fortran: what they stand for, and lines with that written out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import MOVES
from imbrex.transform.model.statements import Statement
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_plain import Plain
from imbrex.transform.readers.fortran_scopes import OWNS, Scope, is_call

_WORD = re.compile(r"[a-z_]\w*")
_ENTRY = re.compile(r"([a-z]\w*)=>(.+)")
_PATH = re.compile(r"[a-z]\w*(?:%[a-z]\w*)*")
_ELEMENT = re.compile(r"([a-z]\w*)\(([^()]+)\)((?:%[a-z]\w*)*)")  # of an array of objects
_TOKEN = re.compile(
    r"'[^']*'|\"[^\"]*\"|\.[a-z]+\.|(?:\d+\.?\d*|\.\d+)(?:[ed][+-]?\d+)?(?:_\w+)?|(?P<name>[a-z_]\w*)|."
)
_DO = re.compile(r"(?:[a-z]\w*:)?do(?:\d+,?)?([a-z]\w*)=")


@dataclass(slots=True)
class Selectors:
    """What each name stands for."""

    texts: dict[str, str] = field(default_factory=dict)  # of a variable
    # Of a value: its type, and where it stands in the first line of the construct.
    values: list[tuple[str, str, tuple[int, int]]] = field(default_factory=list)
    swapped: bool = False  # something in the program may give an array of them other memory
    # Variables that choose an element, which must keep their values; and of these, the ones that
    # no procedure but MPI's can set.
    choosing: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)

    @property
    def names(self) -> set[str]:
        return {*self.texts, *(name for name, _, _ in self.values)}

    @staticmethod
    def of(names: Names, scope: Scope, line: LogicalLine) -> Selectors | None:
        """Those of `associate(u => grid%u, h => 1 / n)`; None where one may be anything else."""
        found = Selectors()
        text = line.masked
        opening = text.index("(")
        for a, b in split_arguments(text[opening + 1 : closing(text, opening)]):
            first, last = opening + 1 + a, opening + 1 + b
            entry = _ENTRY.fullmatch(text[first:last])
            if entry is None or not found._take(names, scope, line, entry, first):
                return None
        return found

    def _take(
        self, names: Names, scope: Scope, line: LogicalLine, entry: re.Match[str], at: int
    ) -> bool:
        """Take an entry; False where it is not known what the name stands for."""
        name, selector = entry[1], entry[2]
        if name in self.names or names.find(scope, name) is not None or name.startswith("mpi_"):
            return False  # where it hides another one, a text that names that one means this one
        first, last = at + entry.start(2), at + entry.end(2)
        known = names.find(scope, selector)
        element = _ELEMENT.fullmatch(selector)
        if element is not None and names.is_array(scope, element[1]):
            if not self._is_of_element(names, scope, element):
                return False
            self.texts[name] = line.text[first:last]
            return True
        if _PATH.fullmatch(selector) is not None and (known is None or known[1].value is None):
            if not self._is_variable(names, scope, selector):
                return False
            self.texts[name] = line.text[first:last]
            return True
        if Plain(names, scope).rank(selector) != 0 or not _is_one_value(selector):
            return False
        integer = names.affine(scope, selector) is not None
        self.values.append((name, "integer" if integer else "double precision", (first, last)))
        return True

    def take_view(self, names: Names, scope: Scope, line: LogicalLine, name: str) -> bool:
        """Take what a pointer is set to, `u => grid%u`; False where that is not known."""
        at = line.masked.index("=>") + 2
        if not self._is_variable(names, scope, line.masked[at:]):
            return False
        self.texts[name] = line.text[at:]
        return True

    def _is_variable(self, names: Names, scope: Scope, selector: str) -> bool:
        """Whether a selector names one object, or a component of one in which it stays."""
        if "%" not in selector:
            return self._is_object(names, scope, selector)
        components = Components(names, scope)
        whole = components.object_of(selector)
        if whole != selector:
            return self._is_variable(names, scope, whole)
        component = components.resolve(selector, 0)
        if component is None or component.end != len(selector) or component.part:
            return False
        if not component.one_object or component.base.bounds:
            return False
        if component.base.allocatable or component.base.optional or component.base.volatile:
            return False
        if any(each.allocatable or each.volatile for each in component.fields[:-1]):
            return False
        array = component.last
        held = array.element.startswith(("type(", "class("))
        if array.volatile or (array.allocatable and (held or not array.bounds)):
            return False
        self.swapped |= array.allocatable and names.may_move(array.name)
        return True

    def _is_of_element(self, names: Names, scope: Scope, element: re.Match[str]) -> bool:
        """Whether `lev(l)` or `lev(l)%u` is one object, or a component in which it stays."""
        found, array = names.find(scope, element[1]), names.variable(scope, element[1])
        if found is None or "pointer" in found[1].attributes or array is None:
            return False
        if not array.record or array.optional or array.volatile:
            return False
        for a, b in split_arguments(element[2]):
            index = names.affine(scope, element[2][a:b])
            if index is None or not self._choose(names, index):
                return False
        self.swapped |= array.allocatable or OWNS in found[1].attributes
        if not element[3]:
            return True
        component = Components(names, scope).resolve(element[0], 0)
        if component is None or component.end != len(element[0]) or component.part:
            return False
        if component.scattered or component.definition is not None:
            return False
        last = component.last
        if any(each.allocatable or each.volatile or each.bounds for each in component.fields[:-1]):
            return False
        return not (last.volatile or (last.allocatable and not last.bounds))

    def _choose(self, names: Names, index: Affine) -> bool:
        """Note the variables of an index; False where one may be changed unseen."""
        for factor, _ in index.terms:
            variable = names.program.variables.get(factor)
            if variable is None or variable.kind == "field" or factor in names.program.overlays:
                return False
            self.choosing.add(factor)
            if variable.kind == "local" or (variable.kind == "dummy" and variable.only_read):
                self.own.add(factor)
        return True

    @staticmethod
    def _is_object(names: Names, scope: Scope, selector: str) -> bool:
        """Whether a selector names one object whose components are told apart."""
        known = names.find(scope, selector)
        variable = None if known is None else names.variable(scope, selector)
        if variable is None or not variable.record or variable.bounds:
            return False
        return not (variable.allocatable or variable.optional or variable.volatile)

    def fits(self, line: LogicalLine) -> bool:
        """Whether the names can be written out in a line that stands in the construct."""
        looped = _DO.match(line.masked)
        return looped is None or looped[1] not in self.names


def _is_one_value(selector: str) -> bool:
    """Whether an expression is made of numbers, names and operators alone."""
    return re.fullmatch(r"[\w%+\-*/.()]+", selector) is not None and "(" not in re.sub(
        r"(?<![\w)])\(", "", selector
    )


def keeps_names(
    statements: list[Statement], inside: list[LogicalLine], selectors: Selectors
) -> bool:
    """Whether all that the names of an ASSOCIATE stand for is seen in what it holds.

    What is not analysed may name them. An array keeps its memory where nothing there can take it.
    """
    every = [each for statement in statements for each in statement.walk()]
    if any(each.allocation or each.allocates for each in every):
        return False
    stopped = [(each.line, each.end_line) for each in every if each.stop is not None]
    for line in inside:
        words = set(_WORD.findall(line.masked))
        near = any(first <= line.line <= last for first, last in stopped)
        if near and words & selectors.names:
            return False
    if not _keeps_elements(every, selectors):
        return False
    if not selectors.swapped:
        return True
    moved = any(access.variable == MOVES for each in every for access in each.accesses)
    return not moved and all(call.name.startswith("MPI_") for each in every for call in each.calls)


def _keeps_elements(statements: list[Statement], selectors: Selectors) -> bool:
    """Whether nothing in the construct sets what chooses an element of an array of objects."""
    chosen = selectors.choosing
    if chosen and any(each.stop is not None for each in statements):
        return False
    calls = [call for each in statements for call in each.calls]
    if any(a.write and a.variable in chosen for each in statements for a in each.accesses):
        return False
    if any(argument.base in chosen for call in calls for argument in call.arguments):
        return False
    return chosen <= selectors.own or all(call.name.startswith("MPI_") for call in calls)


def written_out(line: LogicalLine, texts: dict[str, str]) -> LogicalLine:
    """A line in which what names stand for is written in their places; the same where none is.

    The characters of a text stand where its name does.
    """
    pieces: list[str] = []
    places: list[int] = []
    depth, before, changed = 0, "", False
    for match in _TOKEN.finditer(line.masked):
        token, (start, end) = match[0], match.span()
        depth += {"(": 1, ")": -1}.get(token, 0)
        follow = line.masked[end : end + 2]
        keyword = depth and follow[:1] == "=" and follow not in ("==", "=>")
        text = texts.get(token) if match["name"] and before != "%" and not keyword else None
        if text is None and follow[:1] == "%" and is_call(line.masked, start):
            text = texts.get(token.removeprefix("call"))
            if text is not None:
                pieces.append(line.text[start : start + 4])
                places += line.bytes[start : start + 4]
                start += 4
        if text is None:
            pieces.append(line.text[start:end])
            places += line.bytes[start:end]
        else:
            changed = True
            pieces.append(text)
            places += [line.bytes[start]] * (len(text) - 1) + [line.bytes[end - 1]]
        before = token
    if not changed:
        return line
    return line.rewritten("".join(pieces), places, line.bound)
