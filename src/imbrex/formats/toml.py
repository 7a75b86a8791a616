"""TOML input files whose errors name the file, the line and the key.

A table is read through the list of its keys, which says what each may hold.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from imbrex.errors import ImbrexError
from imbrex.formats.toml_lines import KeyPath, key_lines
from imbrex.formats.value_types import Choice, Flag, Kind, Number, Text, Whole, limits, shown

# The standard library has it from Python 3.11 on.
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
BANDWIDTH_UNITS = {"mb_per_s": 1e6, "gb_per_s": 1e9, "gbit_per_s": 1e9 / 8}
LEAST_TIME_S = 1e-12


@dataclass(frozen=True)
class Quantity(Kind):
    """A number whose unit ends its key, as in `latency_us`. `low` and `high` are in the base unit.

    `stem` is how the page writes the key: `computation_T` for any unit of time.
    """

    low: float = 0.0
    high: float = 1e9
    units: Mapping[str, float] = field(default_factory=lambda: TIME_UNITS)
    base: str = "s"

    @property
    def name(self) -> str:
        return "number"

    @property
    def range(self) -> str:
        return f"{limits(self.low, self.high)} {self.base}"

    def read(self, value: Any, where: str) -> float:
        """The value in the unit of the key; its range is checked where that is known."""
        return Number(-math.inf, math.inf).read(value, where)


BANDWIDTH = Quantity(1.0, 1e18, BANDWIDTH_UNITS, "bytes/s")


@dataclass(frozen=True)
class AnyOf(Kind):
    """A value that is checked by the code that reads it; `name` as the page gives it."""

    called: str

    @property
    def name(self) -> str:
        return self.called

    def read(self, value: Any, where: str) -> Any:
        return value


@dataclass(frozen=True)
class Key:
    """One key of a table; `default` is what the page says of its absence."""

    name: str
    kind: Kind
    meaning: str = ""
    default: str = ""


@dataclass(frozen=True)
class Keys:
    """The keys of one kind of table; `called` names it in messages."""

    called: str
    keys: tuple[Key, ...]

    def kind(self, name: str) -> Kind:
        """What a key may hold; KeyError for a key that the list does not have."""
        for key in self.keys:
            if isinstance(key.kind, Quantity):
                if name in _spellings(key.name, key.kind.units):
                    return key.kind
            elif key.name == name:
                return key.kind
        raise KeyError(name)

    def quantity(self, stem: str) -> Quantity:
        """What a key `stem_UNIT` may hold; KeyError for one that the list does not have."""
        for key in self.keys:
            if isinstance(key.kind, Quantity) and key.name == stem:
                return key.kind
        raise KeyError(stem)

    def __contains__(self, name: str) -> bool:
        try:
            self.kind(name)
        except KeyError:
            return False
        return True


def _spellings(stem: str, units: Mapping[str, float]) -> dict[str, float]:
    return {f"{stem}_{unit}": scale for unit, scale in units.items()}


@dataclass(frozen=True)
class TomlFile:
    """A parsed TOML file and the lines of its keys."""

    name: str
    root: dict[str, Any]
    lines: Mapping[KeyPath, int]

    @classmethod
    def read(cls, path: Path) -> TomlFile:
        """Read `path`; ImbrexError if it cannot be read or is no TOML."""
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ImbrexError(f"{path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ImbrexError(f"{path}: is no UTF-8 text, so it is no TOML file") from error
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, name: str) -> TomlFile:
        """Parse `text`; `name` is what errors call it."""
        text = text.replace("\r\n", "\n")
        try:
            root = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ImbrexError(f"{name}: is not valid TOML: {error}") from error
        except RecursionError:
            raise ImbrexError(f"{name}: is not valid TOML: nested too deeply") from None
        except Exception as error:
            # A number of thousands of digits, or a date that there is not.
            fault = str(error).split(";")[0].split(":")[0]
            raise ImbrexError(f"{name}: is not valid TOML: {fault}") from error
        return cls(name, root, key_lines(text))

    def fail(self, path: KeyPath, message: str) -> NoReturn:
        """Raise an ImbrexError that names file, line and key of `path`."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known, 1)
        raise ImbrexError(f"{self.name}:{line}: {message}")

    def table(self, keys: Keys) -> Table:
        """The whole file as a table."""
        return Table(self, (), self.root, keys)


class Table:
    """One table of a TOML file: typed access to its keys, each checked as the list of keys says."""

    def __init__(
        self, file: TomlFile, path: KeyPath, values: Mapping[str, Any], keys: Keys
    ) -> None:
        self.file = file
        self.path = path
        self.values = values
        self.keys = keys

    def fail(self, key: str | None, message: str) -> NoReturn:
        """Raise an ImbrexError at `key` of this table, or at the table itself."""
        self.file.fail(self.path if key is None else (*self.path, key), message)

    def has(self, key: str) -> bool:
        return key in self.values

    def raw(self, key: str) -> Any:
        """The value of `key` as parsed, None if absent."""
        self.keys.kind(key)
        return self.values.get(key)

    def _checked(self, key: str, missing: str = "the key '{}' is missing") -> Any:
        value = self.raw(key)
        if value is None:
            self.fail(None, missing.format(key))
        return self.check(key, value)

    def check(self, key: str, value: Any) -> Any:
        """A value of `key` (one of several of a list) as its kind says."""
        kind = self.keys.kind(key)
        if isinstance(kind, (Number, Quantity)):
            return self._number(key, value, kind)
        if isinstance(kind, Whole):
            return self._whole(key, value, kind)
        if isinstance(kind, Choice):
            if value not in kind.names:
                allowed = ", ".join(kind.names)
                self.fail(key, f"'{key}' is {_quoted(value)}; it must be one of: {allowed}")
        elif isinstance(kind, Flag):
            if not isinstance(value, bool):
                self.fail(key, f"'{key}' must be true or false")
        elif isinstance(kind, Text) and (not isinstance(value, str) or not value.strip()):
            self.fail(key, f"'{key}' must be a text that is not empty")
        return value

    def _number(self, key: str, value: Any, kind: Number | Quantity) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(key, f"'{key}' must be a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(key, f"'{key}' must be finite")
        scale = 1.0
        if isinstance(kind, Quantity):
            scale = next(s for unit, s in kind.units.items() if key.endswith(f"_{unit}"))
        if not kind.low <= number * scale <= kind.high:
            if number <= 0:
                wanted = f"{'greater than' if kind.low > 0 else 'at least'} 0"
            else:
                wanted = f"from {kind.low / scale:g} to {kind.high / scale:g}"
            self.fail(key, f"'{key}' is {number:g}; it must be {wanted}")
        return number

    def _whole(self, key: str, value: Any, kind: Whole) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"'{key}' must be a whole number")
        if value < kind.low:
            self.fail(key, f"'{key}' is {shown(value)}; it must be at least {kind.low}")
        if value > kind.high:
            self.fail(key, f"'{key}' is {shown(value)}; it must be at most {kind.high}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """The text of `key`, or one of its choices."""
        if default is not None and not self.has(key):
            self.keys.kind(key)
            return default
        return str(self._checked(key))

    def flag(self, key: str, default: bool) -> bool:
        return bool(self._checked(key)) if self.has(key) else default

    def number(self, key: str, default: float | None = None) -> float:
        """The number of `key`, in the unit of the key."""
        if default is not None and not self.has(key):
            self.keys.kind(key)
            return default
        return float(self._checked(key))

    def count(self, key: str, default: int | None = None) -> int:
        if default is not None and not self.has(key):
            self.keys.kind(key)
            return default
        return int(self._checked(key))

    def numbers(self, key: str) -> list[float] | None:
        """A list of numbers that is not empty, None if absent; the kind of `key` is of one."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            self.fail(key, f"'{key}' must be a list of numbers that is not empty")
        return [float(self.check(key, item)) for item in value]

    def unit_key(self, stem: str) -> str | None:
        """The one key `stem_UNIT` that is present, None if none is; two contradict each other."""
        possible = _spellings(stem, self.keys.quantity(stem).units)
        present = [key for key in self.values if key in possible]
        if len(present) > 1:
            self.fail(present[1], f"'{present[0]}' and '{present[1]}' give the same value twice")
        return present[0] if present else None

    def scale(self, key: str, stem: str) -> float:
        """What makes base units (s, bytes/s) of a value of `stem_UNIT`."""
        return _spellings(stem, self.keys.quantity(stem).units)[key]

    def quantity(self, stem: str, default: float | None = None) -> float:
        """The value of `stem_UNIT` in base units: seconds, or bytes per second."""
        key = self.unit_key(stem)
        if key is not None:
            return self.number(key) * self.scale(key, stem)
        if default is None:
            units = list(self.keys.quantity(stem).units)
            first = "us" if "us" in units else units[0]
            alternatives = ", ".join(f"_{unit}" for unit in units if unit != first)
            self.fail(None, f"the key '{stem}_{first}' (or {alternatives}) is missing")
        return default

    def tables(self, key: str, keys: Keys) -> list[Table]:
        """The array of tables `key`, empty if absent."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, f"'{key}' must be an array of tables ([[{key}]])")
        return [Table(self.file, (*self.path, key, i), item, keys) for i, item in enumerate(value)]

    def subtable(self, key: str, keys: Keys) -> Table | None:
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(key, f"'{key}' must be a table ([{key}])")
        return Table(self.file, (*self.path, key), value, keys)

    def done(self, name: str = "") -> None:
        """Fail at the first key that the list does not have; `name` is the table's own."""
        for key in self.values:
            if key not in self.keys:
                where = f"{self.keys.called} '{name}'" if name else self.keys.called
                self.fail(key, f"unknown key '{key}' in {where}")


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) and len(value) < 40 else shown(value)
