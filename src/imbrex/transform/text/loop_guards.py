"""When a counted loop has a first iteration, and when another follows the one that runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.keywords import is_keyword

_C = re.compile(
    r"for\s*\(\s*(?:(?:const\s+)?[A-Za-z_][\w ]*?\s)?\s*(?P<index>[A-Za-z_]\w*)\s*=(?!=)"
    r"\s*(?P<low>[^;]+?)\s*;"
    r"\s*(?P=index)\s*(?P<compare><=|>=|<|>)\s*(?P<high>[^;]+?)\s*;"
    r"\s*(?:(?P=index)\s*(?P<one>\+\+|--)|(?P<before>\+\+|--)\s*(?P=index)"
    r"|(?P=index)\s*(?P<by>[+-]=)\s*(?P<step>[^;]+?))\s*\)\s*\Z"
)
_FORTRAN = re.compile(r"do\s*(?:\d+\s*,?\s*)?(?P<index>[A-Za-z]\w*)\s*=(?P<values>.*)\Z", re.I)
_NOT_PLAIN = re.compile(r"[?:,&|=<>!~^{}\"']|/\*|//|\+\+|--")
# What stands in front of a name that is not a member's or a component's. In Fortran a dot ends an
# operator: `.eq.k`.
_FRONT_C = r"(?<![\w.])(?<!->)"
_FRONT_FORTRAN = r"(?<![\w%])(?<!%\s)"
_SIMPLE = re.compile(r"[\w.\[\]]+(?:->[\w.\[\]]+)*\Z")
_SIGNED = frozenset({"int", "long", "long int", "long long", "ptrdiff_t", "int32_t", "int64_t"})
_INTEGER = _SIGNED | {"size_t", "unsigned", "unsigned int", "unsigned long", "uint32_t", "uint64_t"}


@dataclass(frozen=True, slots=True)
class LoopGuards:
    """Conditions of the language; `first` is empty where the loop surely runs once."""

    index: str
    first: str  # whether there is an iteration at all, asked in front of the loop
    more: str  # whether another iteration follows, asked within one
    low: str  # the index in the first iteration
    advanced: str  # the index in the iteration that follows
    step: int | None  # None where it is not a constant
    fortran: bool = False

    def at_first(self, text: str) -> str:
        """An expression of the first iteration, as it reads in front of the loop."""
        return self._with(text, self.low)

    def at_next(self, text: str) -> str:
        """An expression of the iteration that follows, as it reads within one."""
        return self._with(text, self.advanced)

    def _with(self, text: str, value: str) -> str:
        front = _FRONT_FORTRAN if self.fortran else _FRONT_C
        case = re.IGNORECASE if self.fortran else 0
        name = re.compile(front + re.escape(self.index) + r"(?!\w)", case)
        if name.fullmatch(text.strip()):
            return value

        def replaced(found: re.Match[str], by: str) -> str:
            keyword = self.fortran and is_keyword(text, found.start(), found.end())
            return found[0] if keyword else by

        if _SIMPLE.match(value):
            return name.sub(lambda found: replaced(found, value), text)
        whole = name.sub(lambda found: replaced(found, f"({value})"), text)
        return whole.replace(f"[({value})]", f"[{value}]")


def read_guards(program: Program, source: SourceFile, loop: Statement) -> LoopGuards | None:
    """The conditions of a loop; None where its header is not one that is understood."""
    if loop.calls or loop.kind.value != "loop" or loop.code_start != loop.start:
        return None
    c = source.language is Language.C
    guards = _of_c(program, source, loop) if c else _of_do(program, source, loop)
    if guards is None or loop.loop is None:
        return guards
    span = loop.loop.high.plus(loop.loop.low, -1)
    surely = not span.terms and span.constant >= 0
    return replace(guards, first="") if surely else guards


def _of_c(program: Program, source: SourceFile, loop: Statement) -> LoopGuards | None:
    text = source.data[loop.code_start : loop.blocks[0].start].decode(errors="replace")
    match = _C.match(text.rstrip())
    if match is None:
        return None
    low, high, step = match["low"], match["high"], match["step"] or "1"
    if any(_NOT_PLAIN.search(part) for part in (low, high, step)):
        return None
    if re.search(rf"\b{match['index']}\b", high):
        return None
    written = {a.variable for a in loop.accesses if a.write and not a.through}
    variables = program.variables
    if len(written) != 1 or not (written <= variables.keys()):
        return None
    (key,) = written
    element = variables[key].element
    if variables[key].pointer or variables[key].volatile or element not in _INTEGER:
        return None
    if not step.isdigit() and not _all_signed(program, loop):
        return None  # the sum of a signed and an unsigned number may be another than the index
    up = "+" in (match["one"] or match["before"] or match["by"])
    if up is not match["compare"].startswith("<"):
        return None
    compare, index = match["compare"], match["index"]
    step = step if _SIMPLE.match(step) else f"({step})"
    advanced = f"{index} {'+' if up else '-'} {step}"
    size = None if loop.loop is None else loop.loop.by  # also of a macro, or of `2 * m`
    if step.isdigit():
        size = int(step) * (1 if up else -1)
    more = f"{advanced} {compare} {high}"
    return LoopGuards(index, f"{low} {compare} {high}", more, low, advanced, size)


def _all_signed(program: Program, loop: Statement) -> bool:
    """Whether all that a header reads are signed numbers, and pointers on the way to them."""
    for access in loop.accesses:
        variable = program.variables.get(access.variable)
        if variable is None:
            return False
        holds = variable.element.removeprefix("const ").strip()
        if not (variable.pointer or variable.record) and holds not in _SIGNED:
            return False
    return True


def _of_do(program: Program, source: SourceFile, loop: Statement) -> LoopGuards | None:
    variables = [program.variables.get(access.variable) for access in loop.accesses]
    if loop.loop is None or not all(
        v is not None and v.element.lower().startswith("integer") and not v.volatile
        for v in variables
    ):
        return None  # with bounds of another type the number of iterations is rounded
    end = source.data.find(b"\n", loop.code_start)
    line = source.data[loop.code_start : end if end >= 0 else len(source.data)]
    text = line.decode(errors="replace").rstrip()
    following = source.data[end + 1 : end + 7] if end >= 0 else b""
    if source.language is Language.FORTRAN_FIXED:
        if following[:5] == b"     " and following[5:6] not in (b" ", b"0", b"\n", b"\r", b""):
            return None  # continued
    elif text.endswith("&"):
        return None
    match = _FORTRAN.match(text)
    if match is None or re.search(r"[!&;\"']", text):
        return None
    values = _split(match["values"])
    if len(values) not in (2, 3) or not all(values):
        return None
    low, high, step = values[0], values[1], (values[2] if len(values) == 3 else "1")
    amount = re.fullmatch(r"([+-]?)\s*(\d+)", step)
    if amount is None or int(amount[2]) == 0:
        return None
    if re.search(rf"\b{match['index']}\b", high, re.IGNORECASE):
        return None  # it is evaluated once, with what the index was
    up, size = amount[1] != "-", int(amount[2])
    index, compare = match["index"], ".le." if up else ".ge."
    advanced = f"{index} {'+' if up else '-'} {size}"
    more = f"{advanced} {compare} {high}"
    if size == 1:
        more = f"{index} {'.lt.' if up else '.gt.'} {high}"
    first = f"{low} {compare} {high}"
    return LoopGuards(index, first, more, low, advanced, size if up else -size, fortran=True)


def _split(text: str) -> list[str]:
    """What commas separate that stand in no parenthesis."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
