"""Fortran text as logical statements with exact byte positions, for fixed and free form.

Blanks carry no meaning for what follows (fixed form ignores them, and no statement of free form
becomes another one without them), so a statement is kept compact, each character with its byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FIXED_COMMENT = frozenset("cC*!dD")
_MARKS = re.compile(r"[!;&'\"]")  # what may be more than a character of a statement
_SENTINEL = re.compile(
    r"(?![!cC*]\$imbrex\b)([!cC*]\$(omp|acc)?\b|!\$|[!cC*]dir\$|[!cC*]dec\$|[!cC*]gcc\$)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z_]\w*")
_ALONE = re.compile(r"(?<![\w%])[a-z_]\w*")  # a name, not of a component
_ASSOCIATE = re.compile(r"(?:[a-z]\w*:)?associate\(.*\)$")
_GIVEN = re.compile(r"[(,]([a-z]\w*)=>")
_NULL = re.compile(r"=>null\(\)")
_ADDRESS = re.compile(r"c_f_pointer|c_loc|\bloc\(|c_funloc|mpi_(?:get_)?address|mpi_bottom")
_INCLUDE = re.compile(r"\s*include\s*(['\"])(.*?)\1", re.IGNORECASE)


@dataclass(slots=True)
class LogicalLine:
    """One statement: its compact text, the byte of each of its characters, its label."""

    text: str
    bytes: list[int]
    line: int
    end_line: int
    label: str = ""
    label_start: int = -1
    alone: bool = True  # nothing else stands on its lines
    directive: str = ""  # a preprocessor or compiler directive instead of a statement
    start: int = 0
    end: int = 0
    # Of procedures written in the text in the place of `a%b`: by the byte where `a` begins, which
    # argument it is; -1 where it is none.
    bound: dict[int, int] = field(default_factory=dict)
    lower: str = field(default="", init=False)
    masked: str = field(default="", init=False)  # lower case, contents of strings replaced

    def __post_init__(self) -> None:
        self.masked = _mask(self.text)
        self.lower = self.masked
        if self.bytes:
            self.start = self.label_start if self.label_start >= 0 else self.bytes[0]
            self.end = self.bytes[-1] + 1

    def rewritten(self, text: str, places: list[int], bound: dict[int, int]) -> LogicalLine:
        """The same statement with another text, whose characters stand at these bytes."""
        new = LogicalLine(text, places, self.line, self.end_line, self.label, bound=bound)
        new.label_start, new.alone = self.label_start, self.alone
        new.start, new.end = self.start, self.end
        return new


def _mask(text: str) -> str:
    """Lower case, with the contents of strings replaced by underscores."""
    if "'" not in text and '"' not in text:
        return text.lower()
    out = []
    quote = ""
    for char in text:
        if quote:
            out.append(char if char == quote else "_")
            if char == quote:
                quote = ""
        else:
            out.append(char.lower())
            if char in "'\"":
                quote = char
    return "".join(out)


_FORMS = {
    "-ffixed-form": True, "-fixed": True, "-Mfixed": True, "-qfixed": True,
    "-ffree-form": False, "-free": False, "-Mfree": False, "-qfree": False,
}  # fmt: skip


def is_fixed_form(name: str) -> bool:
    """What the end of a file's name says of its form."""
    return name.endswith((".f", ".for", ".ftn", ".f77", ".F", ".FOR", ".FTN", ".inc", ".h"))


def is_form_flag(flag: str) -> bool:
    """Whether a flag says in which form a file is written, whatever its name is."""
    return flag.partition("=")[0] in _FORMS


def form_of(flags: list[str]) -> bool | None:
    """Whether the flags ask for fixed form; the last one counts, None where none does."""
    given = [_FORMS[flag.partition("=")[0]] for flag in flags if is_form_flag(flag)]
    return given[-1] if given else None


def logical_lines(text: str, *, fixed: bool) -> list[LogicalLine]:
    """Split Latin-1 text (one character per byte) into statements.

    Raises ValueError with the line number where a continuation or a string is not understood.
    """
    return _Splitter(text, fixed).split()


class _Splitter:
    def __init__(self, text: str, fixed: bool) -> None:
        self.text = text
        self.fixed = fixed
        self.lines: list[LogicalLine] = []
        self.chars: list[str] = []
        self.places: list[int] = []
        self.first_line = 0
        self.last_line = 0
        self.label = ""
        self.label_start = -1
        self.quote = ""
        self.continued = False  # free form: the line before ended with &
        self.pieces = 0  # statements seen on the current lines

    def split(self) -> list[LogicalLine]:
        offset = 0
        for number, line in enumerate(self.text.split("\n"), start=1):
            self._line(line.rstrip("\r"), offset, number)
            offset += len(line) + 1
        self._finish()
        return self.lines

    def _line(self, line: str, offset: int, number: int) -> None:
        if _SENTINEL.match(line.lstrip() if not self.fixed else line) or line.startswith("#"):
            if not self.continued:
                self._finish()
            self._directive(line, offset, number)
        elif self.fixed:
            self._fixed(line, offset, number)
        else:
            self._free(line, offset, number)

    def _directive(self, line: str, offset: int, number: int) -> None:
        found = LogicalLine("", [], number, number, directive=line.strip())
        found.start, found.end = offset, offset + len(line)
        self.lines.append(found)

    def _fixed(self, line: str, offset: int, number: int) -> None:
        if not line.strip() or line[0] in _FIXED_COMMENT:
            return
        if "\t" in line[:6]:
            head, _, rest = line.partition("\t")
            continuation = rest[:1].isdigit() and rest[0] != "0"
            column = len(head) + 1 + continuation
            label = head
        else:
            if line.lstrip().startswith("!") and line.index("!") != 5:
                return
            continuation = len(line) > 5 and line[5] not in " 0" and not line[:5].strip()
            column, label = 6, line[:5]
        if continuation:
            if not self.chars and not self.lines:
                raise ValueError(f"line {number}: a continuation of nothing")
        else:
            self._finish()
            self.first_line = number
            if label.strip():
                if not label.strip().isdigit():
                    raise ValueError(f"line {number}: `{label.strip()}` is not a label")
                self.label = label.strip().lstrip("0")
                self.label_start = offset + len(label) - len(label.lstrip())
        self.last_line = number
        end = min(len(line), 72) if "\t" not in line[:6] else len(line)
        self._take(line, column, end, offset, number)
        if self.quote and end < 72:
            # A string that goes on keeps the blanks up to column 72.
            self.chars += " " * (72 - end)
            self.places += [offset + end - 1] * (72 - end)

    def _free(self, line: str, offset: int, number: int) -> None:
        stripped = line.strip()
        if not self.quote and (not stripped or stripped.startswith("!")):
            return
        column = len(line) - len(line.lstrip())
        if self.continued:
            if stripped.startswith("&"):
                column += 1
            elif self.quote:
                column = 0
        else:
            self._finish()
            self.first_line = number
            label = re.match(r"\s*(\d{1,5})\s+", line)
            if label:
                self.label, self.label_start = label[1].lstrip("0"), offset + label.start(1)
                column = label.end()
        self.last_line = number
        self.continued = self._take(line, column, len(line), offset, number)

    def _take(self, line: str, column: int, end: int, offset: int, number: int) -> bool:
        """Add the characters of a line; True where it ends with a continuation mark."""
        if not self.quote and not _MARKS.search(line, column, end):
            piece = line[column:end]
            self.chars += piece.replace(" ", "").replace("\t", "")
            self.places += [
                place for place, char in enumerate(piece, offset + column) if char not in " \t"
            ]
            return False
        position = column
        while position < end:
            char = line[position]
            if self.quote:
                if not self.fixed and char == "&" and not line[position + 1 : end].strip():
                    return True
                self._add(char, offset + position)
                if char == self.quote:
                    self.quote = ""
            elif char == "!":
                return False
            elif char == "&" and not self.fixed:
                rest = line[position + 1 : end].strip()
                if rest and not rest.startswith("!"):
                    raise ValueError(f"line {number}: a & within the line")
                return True
            elif char == ";":
                self._finish(more=True)
                self.first_line = self.last_line = number
            elif char not in " \t":
                if char in "'\"":
                    self.quote = char
                self._add(char, offset + position)
            position += 1
        if self.quote and not self.fixed:
            raise ValueError(f"line {number}: a string does not end")
        return False

    def _add(self, char: str, place: int) -> None:
        self.chars.append(char)
        self.places.append(place)

    def _finish(self, *, more: bool = False) -> None:
        """End the statement at hand; `more`: another one follows on the same line."""
        if self.quote and not more:
            raise ValueError(f"line {self.first_line}: a string does not end")
        if self.chars:
            self.lines.append(
                LogicalLine(
                    "".join(self.chars),
                    self.places,
                    self.first_line,
                    self.last_line,
                    self.label,
                    self.label_start,
                    alone=not more and not self.pieces,
                )
            )
        self.pieces = self.pieces + 1 if more else 0
        self.chars, self.places = [], []
        self.label, self.label_start = "", -1
        self.continued = False


def at_depth_zero(text: str, wanted: str) -> Iterator[int]:
    """Positions of the character `wanted` in masked text, outside strings and parentheses."""
    depth = 0
    quote = ""
    for mark in re.finditer(rf"['\"(\[)\]{wanted}]", text):
        char = mark.group()
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0:
            yield mark.start()


def split_arguments(text: str) -> list[tuple[int, int]]:
    """Spans of the parts of `text` (masked) between commas outside parentheses."""
    spans = []
    start = 0
    for position in at_depth_zero(text, ","):
        spans.append((start, position))
        start = position + 1
    if text:
        spans.append((start, len(text)))
    return spans


def closing(text: str, opening: int) -> int:
    """Position of the parenthesis that closes the one at `opening`; -1 where there is none."""
    depth = 0
    quote = ""
    for position in range(opening, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return position
    return -1


def first_of_reference(text: str, start: int) -> int:
    """Where the reference begins of which a component's name stands at a place."""
    while start and text[start - 1] == "%":
        start -= 1
        if text[start - 1] == ")":
            depth = 0
            while start:
                start -= 1
                depth += {")": 1, "(": -1}.get(text[start], 0)
                if not depth:
                    break
        while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
    return start


def linked_names(line: LogicalLine) -> set[str]:
    """The words of a line that may associate pointers, or show where they point to."""
    text = line.masked
    if line.directive and not line.directive.startswith("macro"):
        return set()
    left = _NULL.sub("", text)
    address = _ADDRESS.search(text) is not None and "imbrex_address" not in text
    if "=>" in left or address or line.directive:
        return set(_WORD.findall(text))
    return set()


def without_associates(lines: list[LogicalLine], linking: list[LogicalLine]) -> list[LogicalLine]:
    """Lines without those that begin an ASSOCIATE, whose names end with the construct.

    They stay where one of the names may be pointed at itself: where any line that links has it.
    """
    begin = [line for line in linking if _ASSOCIATE.match(line.masked) and not line.directive]
    given = {name for line in begin for name in _GIVEN.findall(line.masked)}
    known = {id(line) for line in begin}
    for line in lines:
        other = id(line) not in known and bool(linked_names(line))
        if other and given & set(_ALONE.findall(line.masked)):
            return linking
    return [line for line in linking if id(line) not in known]
