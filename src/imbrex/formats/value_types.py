"""The kinds of value that a field of a file may have: each checks a value and describes itself."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from imbrex.errors import ImbrexError

if TYPE_CHECKING:
    from imbrex.formats.schema import Fields

LARGEST_COUNT = (1 << 63) - 1
LONGEST_S = 1e9
"""No time in a file is longer than this (31 years), so that sums and products stay finite."""

_SHOWN = 40


def wrong(where: str, problem: str) -> NoReturn:
    """Raise the ImbrexError of one value; who reads the file puts the file's name before it."""
    raise ImbrexError(f"{where} {problem}")


def shown(value: object) -> str:
    """A wrong value as an error message shows it: short, in one line."""
    if isinstance(value, int) and value.bit_length() > 128:
        return "a number of very many digits"
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def limits(low: float, high: float, *, above: bool = False) -> str:
    """A range as pages and messages give it."""
    start = f"> {low:g}" if above else f"≥ {low:g}"
    return start if high in (math.inf, LARGEST_COUNT) else f"{start}, ≤ {high:g}"


class Kind(ABC):
    """What a field may hold. `name` and `range` describe it in the page of the format."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The type, as the page calls it."""

    @property
    def range(self) -> str:
        """The values allowed, as the page gives them; empty where the type says all."""
        return ""

    @abstractmethod
    def read(self, value: Any, where: str) -> Any:
        """The value as Python holds it; ImbrexError `where problem` where it is not allowed."""


@dataclass(frozen=True)
class Number(Kind):
    """A finite number from `low` (with `above`, more than that) to `high`."""

    low: float = 0.0
    high: float = LONGEST_S
    above: bool = False

    @property
    def name(self) -> str:
        return "number"

    @property
    def range(self) -> str:
        return limits(self.low, self.high, above=self.above)

    def read(self, value: Any, where: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            wrong(where, f"is not a number but {shown(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            wrong(where, "is not finite")
        if number < self.low or number > self.high or (self.above and number == self.low):
            fault = "is negative" if number < 0 <= self.low else f"is {number:g}"
            wrong(where, f"{fault}; it must be {self.range.replace('≥', '>=').replace('≤', '<=')}")
        return number


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from `low` to `high`."""

    low: int = 0
    high: int = LARGEST_COUNT

    @property
    def name(self) -> str:
        return "integer"

    @property
    def range(self) -> str:
        return limits(self.low, self.high)

    def read(self, value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            wrong(where, f"is not a whole number but {shown(value)}")
        if not self.low <= value <= self.high:
            wrong(where, f"is {shown(value)}; it must be from {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class Flag(Kind):
    """true or false."""

    @property
    def name(self) -> str:
        return "boolean"

    def read(self, value: Any, where: str) -> bool:
        if not isinstance(value, bool):
            wrong(where, f"is not true or false but {shown(value)}")
        return value


@dataclass(frozen=True)
class Text(Kind):
    """A text; with `pattern` one that it matches as a whole, which `called` describes."""

    pattern: str | None = None
    called: str = ""

    @property
    def name(self) -> str:
        return "text"

    @property
    def range(self) -> str:
        return self.called

    def read(self, value: Any, where: str) -> str:
        if not isinstance(value, str):
            wrong(where, f"is not a text but {shown(value)}")
        if self.pattern is not None and re.fullmatch(self.pattern, value) is None:
            wrong(where, f"is {shown(value)}, which is not {self.called}")
        return value


MPI_NAME = Text(r"(?a:[A-Za-z_]\w*)", "the name of an MPI operation")


@dataclass(frozen=True)
class Choice(Kind):
    """One of some names."""

    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return "text"

    @property
    def range(self) -> str:
        return ", ".join(f"`{name}`" for name in self.names)

    def read(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in self.names:
            wrong(where, f"is {shown(value)}, none of {', '.join(self.names)}")
        return value


@dataclass(frozen=True)
class Hexadecimal(Kind):
    """A text that is a hexadecimal number below 2^63; null and empty mean 0."""

    @property
    def name(self) -> str:
        return "text"

    @property
    def range(self) -> str:
        return "hexadecimal"

    def read(self, value: Any, where: str) -> int:
        if not isinstance(value, str) or re.fullmatch(r"(0[xX])?[0-9a-fA-F]{1,16}", value) is None:
            wrong(where, f"is {shown(value)}, which is not a hexadecimal number")
        return int(value, 16)


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of values of one kind; read as a tuple."""

    item: Kind
    least: int = 0
    most: int = LARGEST_COUNT

    @property
    def name(self) -> str:
        return f"list of {self.item.name}"

    @property
    def range(self) -> str:
        return self.item.range

    def read(self, value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            wrong(where, f"is not a list but {shown(value)}")
        if len(value) < self.least:
            wrong(where, "is empty" if self.least == 1 else f"has less than {self.least} entries")
        if len(value) > self.most:
            wrong(where, f"has {len(value)} entries, more than {self.most}")
        read = self.item.read
        return tuple(read(entry, f"{where}[{i}]") for i, entry in enumerate(value))


@dataclass(frozen=True)
class MapOf(Kind):
    """An object whose keys are the user's or among `keys`, and whose values are of one kind."""

    item: Kind
    keys: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        return f"object of {self.item.name}"

    @property
    def range(self) -> str:
        return self.item.range

    def read(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            wrong(where, f"is not an object but {shown(value)}")
        for key in value:
            if self.keys is not None and key not in self.keys:
                wrong(f"{where}.{key}", f"is none of {', '.join(self.keys)}")
        return {key: self.item.read(entry, f"{where}.{key}") for key, entry in value.items()}


@dataclass(frozen=True)
class Object(Kind):
    """An object with fields of its own, read as a dict of all of them.

    `check` says what is wrong with values that are right one by one, as ".field is ...", or None.
    `listed_in` names the page's part that has the fields, where they are not to be listed again.
    """

    fields: Fields
    check: Callable[[dict[str, Any]], str | None] | None = None
    listed_in: str = ""

    @property
    def name(self) -> str:
        return "object"

    def read(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            wrong(where, f"is not an object but {shown(value)}")
        found = {field.name: field.read(value, where) for field in self.fields}
        if self.check is not None and (problem := self.check(found)) is not None:
            wrong(f"{where}{problem.split()[0]}", problem.split(maxsplit=1)[1])
        return found
