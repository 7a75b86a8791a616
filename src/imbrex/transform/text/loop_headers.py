"""The headers of counted loops as text: read, and written anew with other bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.edits import Edit, apply_edits
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.terms import difference, shifted
from imbrex.transform.text.wrapping import wrapped

_C = re.compile(
    r"for\s*\((?P<first>[^;=]*?(?P<index>\w+)\s*=(?!=)\s*)(?P<low>[^;]*?)\s*;"
    r"\s*(?P=index)\s*(?:\+\s*(?P<ahead>\d{1,9})\s*)?(?P<compare><=?)\s*(?P<high>[^;]*?)\s*;"
    r"\s*(?:(?P=index)\s*\+\+|\+\+\s*(?P=index)|(?P=index)\s*\+=\s*1)\s*\)"
)
_FORTRAN = re.compile(
    r"(?P<first>(?P<name>[a-z]\w*\s*:\s*)?do\s+(?:\d+\s*(?:,\s*|\s))?(?P<index>[a-z]\w*)\s*=\s*)(?P<low>[^,]*?(?:\([^()]*\)[^,]*?)*)\s*,"
    r"\s*(?P<high>[^,]*?(?:\([^()]*\)[^,]*?)*)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Header:
    """One loop's header: its span in the file and the parts of its text."""

    start: int
    end: int
    first: str  # up to the low bound
    index: str
    low: str
    high: str  # the last index, inclusive
    strict: bool  # C: the comparison is `<`
    fortran: bool

    def text(self, low: str, high: str, step: str = "") -> str:
        if self.fortran:
            return f"{self.first}{low}, {high}" + (f", {step}" if step else "")
        limit, compare = (shifted(high, 1), "<") if self.strict else (high, "<=")
        advance = f"{self.index} += {step}" if step else f"{self.index}++"
        return f"for ({self.first}{low}; {self.index} {compare} {limit}; {advance})"

    def inner(self, cut: tuple[int, int]) -> str:
        """The loop without its first and last iterations."""
        return self.text(shifted(self.low, cut[0]), shifted(self.high, -cut[1]))

    def strips(self, cut: tuple[int, int]) -> list[str]:
        """The loops over what is cut off at either end, no iteration twice."""
        low, high = self.low, self.high
        before, behind = cut
        found = []
        if before:
            found.append(self._up_to(low, shifted(low, before - 1), high))
        if behind:
            found.append(self._from(shifted(low, before), shifted(high, 1 - behind), high))
        return found

    def _up_to(self, low: str, last: str, high: str) -> str:
        if self.fortran:
            return self.text(low, f"min({last}, {high})")
        return replace(self, strict=False).text(low, f"({last} < {high} ? {last} : {high})")

    def _from(self, low: str, first: str, high: str) -> str:
        least = f"max({low}, {first})"
        return self.text(least if self.fortran else f"({low} > {first} ? {low} : {first})", high)

    # What follows is for cuts of at most one iteration.

    def outside(self, cut: tuple[int, int]) -> list[str]:
        """Conditions of which one holds where an index is in the part cut off."""
        equal = ".eq." if self.fortran else "=="
        ends = [self.low] * cut[0] + [self.high] * cut[1]
        return [f"{self.index} {equal} {end}" for end in ends]

    def ends(self, cut: tuple[int, int], always: list[str]) -> str:
        """The part cut off; the whole loop where one of the conditions `always` holds."""
        if self.fortran:
            return self._fortran_ends(cut, " .or. ".join(always))
        return self._c_ends(cut, " || ".join(always))

    def _c_ends(self, cut: tuple[int, int], always: str) -> str:
        low, high = self.low, self.high
        before = f"{always} || " if always else ""
        if cut == (1, 1):
            few = f"{high} <= {low}"
            return self.text(low, high, f"{before}{few} ? 1 : {difference(high, low)}")
        few = f"{high} < {low}"
        if cut == (1, 0):
            last = f"({before}{few} ? {high} : {low})"
            return replace(self, strict=False).text(low, last)
        return self.text(f"{before}{few} ? {low} : {high}", high)

    def _fortran_ends(self, cut: tuple[int, int], always: str) -> str:
        low, high = self.low, self.high
        if cut == (1, 1):
            step = f"max({difference(high, low)}, 1)"
            return self.text(low, high, f"merge(1, {step}, {always})" if always else step)
        if cut == (1, 0):
            last = f"min({low}, {high})"
            return self.text(low, f"merge({high}, {last}, {always})" if always else last)
        first = f"max({low}, {high})"
        return self.text(f"merge({low}, {first}, {always})" if always else first, high)


@dataclass(frozen=True, slots=True)
class UnsignedHeader(Header):
    """The header of a loop of C that computes without a sign and begins with a constant.

    Nothing is subtracted from the bound unless it is known to be larger: `i < n - 1` holds for
    nearly every index where n is 0. An index with something added to it gets to no number that the
    index itself does not have to reach for the loop to end.
    """

    limit: str = ""  # the bound as it is written, of either comparison
    ahead: int = 0  # what is added to the index that is compared with it, as in `i + 1 < n`

    @property
    def _least(self) -> str:
        """What is compared with the bound first."""
        return shifted(self.low, self.ahead)

    def inner(self, cut: tuple[int, int]) -> str:
        before, behind = cut
        return self._loop(shifted(self.low, before), self.limit, ahead=behind)

    def strips(self, cut: tuple[int, int]) -> list[str]:
        before, behind = cut
        found = []
        if before:
            last = shifted(self._least, before if self.strict else before - 1)
            found.append(self._loop(self.low, f"({last} < {self.limit} ? {last} : {self.limit})"))
        if behind:
            first = shifted(self.low, before)
            # So many iterations leave none out at the low end, and more than `behind` in all.
            behind += self.ahead
            least = shifted(first, behind if self.strict else behind - 1)
            start = shifted(self.limit, -behind if self.strict else 1 - behind)
            found.append(self._loop(f"({self.limit} < {least} ? {first} : {start})", self.limit))
        return found

    def _c_ends(self, cut: tuple[int, int], always: str) -> str:
        low, least, limit = self.low, self._least, self.limit
        before = f"{always} || " if always else ""
        second = shifted(least, 1) if self.strict else least
        compare = "<=" if self.strict else "<"
        if cut == (1, 1):
            step = f"{before}{limit} <= {second} ? 1 : {difference(limit, second)}"
            return self._loop(low, limit, step)
        if cut == (1, 0):
            return self._loop(low, f"({before}{limit} {compare} {least} ? {limit} : {second})")
        return self._loop(f"({before}{limit} {compare} {least} ? {low} : {self.high})", limit)

    def _loop(self, low: str, limit: str, step: str = "", ahead: int = 0) -> str:
        index = shifted(self.index, self.ahead + ahead)
        compare = "<" if self.strict else "<="
        advance = f"{self.index} += {step}" if step else f"{self.index}++"
        return f"for ({self.first}{low}; {index} {compare} {limit}; {advance})"


def whole_statement(statement: Statement) -> Header:
    """In the place of a header: a statement, or a nest, that is written anew as a whole."""
    return Header(statement.code_start, statement.end, "", "", "", "", False, True)


def with_headers(
    source: SourceFile,
    span: tuple[int, int],
    headers: dict[int, Header],
    texts: dict[int, str],
    changes: Iterable[Edit] = (),
) -> str:
    """The text of a span in which some loops, by number, have other headers.

    `changes`: what else is written anew in it.
    """
    start, end = span
    edits = [Edit(edit.start - start, edit.end - start, edit.text) for edit in changes]
    for number, text in texts.items():
        header = headers[number]
        indent = indent_at(source.data, header.start)
        column = header.start - line_start(source.data, header.start)
        text = wrapped(source.language, text, column, indent) if header.index else text
        edits.append(Edit(header.start - start, header.end - start, text))
    return apply_edits(source.data[start:end], edits).decode()


def read_header(
    source: SourceFile, loop: Statement, *, named: bool = False, ahead: bool = False
) -> Header | None:
    """The header of a loop with the step 1; None where it is written in another way.

    `named`: a loop of Fortran may have a name, of which a routine has one. `ahead`: something may
    be added to an index without a sign where it is compared, so that `n - 1` may be no bound.
    """
    fortran = source.language is not Language.C
    start = loop.code_start
    stop = loop.blocks[0].start
    if not fortran:
        text = source.data[start:stop].decode(errors="replace")
        match = _C.match(text)
        if match is None or text[match.end() :].strip():
            return None
        if re.search(r"[?:,&|]|/\*|//", match["low"] + match["high"]):
            return None
        strict = match["compare"] == "<"
        added = int(match["ahead"] or 0)
        high = shifted(match["high"], -added - strict)
    else:
        end = source.data.find(b"\n", start)
        text = source.data[start : end if end >= 0 else len(source.data)].decode(errors="replace")
        text = re.split("[;!]", text, maxsplit=1)[0]
        match = _FORTRAN.match(text.rstrip())
        if match is None or "&" in text or (match["name"] and not named):
            return None
        if source.language is Language.FORTRAN_FIXED and end + 6 < len(source.data):
            following = source.data[end + 1 : end + 7]
            if following[:5] == b"     " and following[5:6] not in (b" ", b"0", b"\n", b""):
                return None  # continued
        strict, high, added = False, match["high"], 0
    parts = (
        start + match.start(),
        start + match.end(),
        match["first"],
        match["index"],
        match["low"],
        high,
        strict,
        fortran,
    )
    if loop.loop is not None and loop.loop.unsigned:
        header = UnsignedHeader(*parts, limit=match["high"], ahead=added)
        return header if ahead or not added else None
    return Header(*parts)
