"""The requests of a loop that starts its messages: arrays for what it receives and what it sends.

Each is waited for as a whole, so that what is received is not waited for with what is sent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.text.c_text import CText, call_text, checked
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.fortran_text import FortranText
from imbrex.transform.text.loop_headers import Header
from imbrex.transform.text.terms import difference, is_in_parentheses, product, shifted


@dataclass(frozen=True, slots=True)
class RequestArray:
    """The requests of the messages of one direction."""

    name: str
    size: str
    first: str  # the element that an iteration begins with, counted from 0, `offset` apart
    offset: int
    transfers: list[Transfer]  # of one iteration
    counted: bool = True  # the size is a constant, and not below 0

    def element(self, number: int, base: int) -> str:
        """The index of a message of an iteration, where the first element is `base`."""
        return shifted(self.first, self.offset + number + base)


class _CRequests(CText):
    """In C, from 0."""

    arrays: Sequence[RequestArray] = ()
    places: Sequence[tuple[RequestArray, int]] = ()  # of each message of an iteration

    def _element(self, number: int) -> str:
        array, place = self.places[number]
        return f"{array.name}[{array.element(place, 0)}]"

    def _request(self, number: int) -> str:
        return f"&{self._element(number)}"

    def none(self, number: int) -> str:
        """What makes the request of a message that of none."""
        return f"{self._element(number)} = MPI_REQUEST_NULL;"

    def wait(self, indent: str) -> list[str]:
        """The waits for all iterations."""
        texts = []
        for array in self.arrays:
            arguments = [array.size, array.name, "MPI_STATUSES_IGNORE"]
            texts.append(checked(call_text("MPI_Waitall", arguments, indent), array.transfers))
        return texts

    @property
    def names(self) -> list[str]:
        """What it declares."""
        return [each.name for each in self.arrays]

    def declarations(self, transfers: list[Transfer], fenced: list[Transfer]) -> list[Edit]:
        return self.declare([f"MPI_Request {each.name}[{each.size}];" for each in self.arrays])


class _FortranRequests(FortranText):
    """In Fortran, from 1."""

    arrays: Sequence[RequestArray] = ()
    places: Sequence[tuple[RequestArray, int]] = ()

    def _request(self, number: int) -> str:
        array, place = self.places[number]
        return f"{array.name}({array.element(place, 1)})"

    def none(self, number: int) -> str:
        """What makes the request of a message that of none."""
        return f"{self._request(number)} = MPI_REQUEST_NULL"

    def wait(self, indent: str) -> list[str]:
        """The waits for all iterations, and what keeps the compiler from moving accesses."""
        texts = []
        for array in self.arrays:
            self._follow(array.transfers[0])
            error = self._error(array.transfers[0])
            count = array.size if array.counted else f"max({array.size}, 0)"
            arguments = [count, array.name, "MPI_STATUSES_IGNORE", *error]
            texts.append(self._call("MPI_Waitall", arguments, indent))
            texts += self.fences(array.transfers, indent)
        return texts

    def _declared(self) -> list[str]:
        return [f"{each.name}({each.size})" for each in self.arrays]

    @property
    def names(self) -> list[str]:
        """What it declares."""
        return [*(each.name for each in self.arrays), self.address]


LoopRequests = _CRequests | _FortranRequests


def loop_requests(
    program: Program,
    source: SourceFile,
    routine: Routine,
    headers: Sequence[Header],
    transfers: list[Transfer],
    taken: Collection[str] = (),
    *,
    counted: bool = True,
) -> LoopRequests:
    """The writer of a nest of loops with these messages in each iteration of its innermost.

    `taken`: names that other loops of the routine declare; `counted`: how many iterations there are
    is a constant.
    """
    text: LoopRequests
    if source.language is Language.C:
        text = _CRequests(source, routine, len(transfers))
    else:
        text = _FortranRequests(program, source, routine, len(transfers))
        while text.address in taken:
            text.address += "_"
    arrays = []
    for kind in ("receives", "sends"):
        mine = [t for t in transfers if t.receives is (kind == "receives")]
        if mine:
            name = _free_name(f"imbrex_loop_{kind}", source, routine, taken)
            array = _array(name, source, headers, mine)
            if not counted and is_in_parentheses(array.size):
                array = replace(array, size=array.size[1:-1])
            arrays.append(replace(array, counted=counted))
    places = {id(t): (each, n) for each in arrays for n, t in enumerate(each.transfers)}
    text.arrays = arrays
    text.places = [places[id(transfer)] for transfer in transfers]
    for number, transfer in enumerate(transfers):
        transfer.request = number
    return text


def _array(
    name: str, source: SourceFile, headers: Sequence[Header], transfers: list[Transfer]
) -> RequestArray:
    # By how many messages one iteration of each loop comes behind the one before.
    scales = [str(len(transfers))]
    for header in reversed(headers):
        scales.insert(0, product(scales[0], _factor(source, header)))
    size, *scales = scales
    pieces, offset = [], 0
    for header, scale in zip(headers, scales, strict=True):
        if scale.isdigit() and _is_number(header.low):
            pieces.append(product(scale, header.index))
            offset -= int(scale) * int(header.low)
        else:
            pieces.append(product(scale, _closed(difference(header.index, header.low))))
    return RequestArray(name, size, " + ".join(pieces), offset, transfers)


def _free_name(base: str, source: SourceFile, routine: Routine, taken: Collection[str]) -> str:
    name, number = base, 2
    said = source.data.lower()
    while name in routine.taken or name.encode() in said or name in taken:
        name, number = f"{base}{number}", number + 1
    return name


def _factor(source: SourceFile, header: Header) -> str:
    """The number of iterations, as it may stand in a product."""
    count = shifted(difference(header.high, header.low), 1)
    if source.language is Language.C and count.isidentifier():
        # The text of a macro may be a sum.
        plain = rb"(?m)^[ \t]*#[ \t]*define[ \t]+%s[ \t]+(\w+|\([^()\n]*\))[ \t]*(/[/*].*)?$"
        found = re.search(plain % count.encode(), source.data)
        return count if found is not None else f"({count})"
    return _closed(count)


def _closed(text: str) -> str:
    return text if text.isidentifier() or _is_number(text) else f"({text})"


def _is_number(text: str) -> bool:
    return text.strip().removeprefix("-").isdigit()
