"""TOML input files whose errors name the file, the line and the key.

`tomllib` keeps no positions, so a small scan over the text finds the line of every key.
The scan needs to understand only where values begin and end; the grammar is `tomllib`'s.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from imbrex.errors import ImbrexError

# The standard library has it from Python 3.11 on.
tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

KeyPath = tuple[str | int, ...]

_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
_TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def _split_key(text: str) -> list[str]:
    """The parts of a dotted key; an empty list if `text` is not one."""
    parts: list[str] = []
    position = 0
    while True:
        match = _KEY_PART.match(text, position)
        if match is None:
            return []
        part = match.group(1)
        parts.append(part[1:-1] if part[0] in "\"'" else part)
        position = match.end()
        if position == len(text):
            return parts
        if text[position] != ".":
            return []
        position += 1


def _skip_string(text: str, position: int) -> int:
    """The index after the string that starts at `position` (any of TOML's four kinds)."""
    quote = text[position]
    if text.startswith(quote * 3, position):
        position += 3
        while position < len(text) and not text.startswith(quote * 3, position):
            position += 2 if quote == '"' and text[position] == "\\" else 1
        return position + 3
    position += 1
    while position < len(text) and text[position] not in (quote, "\n"):
        position += 2 if quote == '"' and text[position] == "\\" else 1
    return position + 1


def _skip_value(text: str, position: int) -> int:
    """The index of the line end after the value that starts at `position`."""
    depth = 0
    while position < len(text):
        character = text[position]
        if character in "\"'":
            position = _skip_string(text, position)
            continue
        if character == "#":
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        if character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "\n" and depth <= 0:
            return position
        position += 1
    return position


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of every table header and every key of a valid TOML text.

    Elements of an array of tables have their index in the path: ("application", 0, "name").
    """
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()

    def resolve(parts: list[str], is_array: bool) -> KeyPath:
        path: KeyPath = ()
        for index, part in enumerate(parts):
            path += (part,)
            if is_array and index == len(parts) - 1:
                counts[path] = counts.get(path, -1) + 1
            if path in counts:
                path += (counts[path],)
        return path

    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        stripped = text[position:end].strip()
        next_position = end
        if stripped.startswith("["):
            is_array = stripped.startswith("[[")
            inner = stripped[2:] if is_array else stripped[1:]
            parts = _split_key(inner[: inner.find("]")])
            if parts:
                table = resolve(parts, is_array)
                lines[table] = line
        elif stripped and not stripped.startswith("#"):
            equals = text.find("=", position, end)
            parts = _split_key(text[position:equals].strip()) if equals >= 0 else []
            if parts:
                key: KeyPath = (*table, *parts)
                lines[key] = line
                next_position = _skip_value(text, equals + 1)
        line += text.count("\n", position, next_position + 1)
        position = next_position + 1
    return lines


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
        return cls(name, root, key_lines(text))

    def fail(self, path: KeyPath, message: str) -> NoReturn:
        """Raise an ImbrexError that names file, line and key of `path`."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known, 1)
        raise ImbrexError(f"{self.name}:{line}: {message}")

    def table(self) -> Table:
        """The whole file as a table."""
        return Table(self, (), self.root)


class Table:
    """One table of a TOML file: typed access to its keys, and a check that all were known."""

    def __init__(self, file: TomlFile, path: KeyPath, values: Mapping[str, Any]) -> None:
        self.file = file
        self.path = path
        self.values = values
        self._used: set[str] = set()

    def fail(self, key: str | None, message: str) -> NoReturn:
        """Raise an ImbrexError at `key` of this table, or at the table itself."""
        self.file.fail(self.path if key is None else (*self.path, key), message)

    def has(self, key: str) -> bool:
        return key in self.values

    def raw(self, key: str) -> Any:
        """The value of `key` as parsed, None if absent."""
        self._used.add(key)
        return self.values.get(key)

    def require(self, key: str, what: str) -> None:
        if key not in self.values:
            self.fail(None, f"{what} has no key '{key}'")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.raw(key)
        if value is None:
            if default is None:
                self.fail(None, f"the key '{key}' is missing")
            return default
        if not isinstance(value, str) or not value.strip():
            self.fail(key, f"'{key}' must be a text that is not empty")
        return value

    def choice(self, key: str, choices: Iterable[str], default: str) -> str:
        value = self.text(key, default)
        allowed = list(choices)
        if value not in allowed:
            self.fail(key, f"'{key}' is '{value}'; it must be one of: {', '.join(allowed)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fail(key, f"'{key}' must be true or false")
        return value

    def number(
        self, key: str, default: float | None = None, *, minimum: float = 0.0, above: bool = False
    ) -> float:
        """A finite number, at least (or, with `above`, greater than) `minimum`."""
        value = self.raw(key)
        if value is None:
            if default is None:
                self.fail(None, f"the key '{key}' is missing")
            return default
        return self.check_number(key, value, minimum=minimum, above=above)

    def check_number(self, key: str, value: Any, *, minimum: float, above: bool = False) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(key, f"'{key}' must be a number")
        if value != value or abs(value) == float("inf"):
            self.fail(key, f"'{key}' must be finite")
        if value < minimum or (above and value == minimum):
            relation = "greater than" if above else "at least"
            self.fail(key, f"'{key}' is {value:g}; it must be {relation} {minimum:g}")
        return float(value)

    def count(self, key: str, default: int | None = None, *, minimum: int = 0) -> int:
        value = self.raw(key)
        if value is None:
            if default is None:
                self.fail(None, f"the key '{key}' is missing")
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"'{key}' must be a whole number")
        if value < minimum:
            self.fail(key, f"'{key}' is {value}; it must be at least {minimum}")
        return value

    def numbers(self, key: str) -> list[float] | None:
        """A non-empty list of positive numbers, None if absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value:
            self.fail(key, f"'{key}' must be a list of numbers that is not empty")
        return [self.check_number(key, item, minimum=0.0, above=True) for item in value]

    def unit_key(self, stem: str, units: Mapping[str, float] = _TIME_UNITS) -> str | None:
        """The one key `stem_UNIT` that is present, None if none is; two contradict each other."""
        possible = {f"{stem}_{unit}" for unit in units}
        present = [key for key in self.values if key in possible]
        if len(present) > 1:
            self.fail(present[1], f"'{present[0]}' and '{present[1]}' give the same value twice")
        return present[0] if present else None

    def scale(self, key: str, stem: str, units: Mapping[str, float] = _TIME_UNITS) -> float:
        return units[key[len(stem) + 1 :]]

    def time_s(self, stem: str, default: float | None = None, *, above: bool = False) -> float:
        """The time `stem_s`, `stem_ms`, `stem_us` or `stem_ns`, in seconds."""
        key = self.unit_key(stem)
        if key is None:
            if default is None:
                self.fail(None, f"the key '{stem}_us' (or _s, _ms, _ns) is missing")
            return default
        return self.number(key, above=above) * self.scale(key, stem)

    def tables(self, key: str) -> list[Table]:
        """The array of tables `key`, empty if absent."""
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, f"'{key}' must be an array of tables ([[{key}]])")
        return [Table(self.file, (*self.path, key, i), item) for i, item in enumerate(value)]

    def subtable(self, key: str) -> Table | None:
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(key, f"'{key}' must be a table ([{key}])")
        return Table(self.file, (*self.path, key), value)

    def done(self, what: str) -> None:
        """Fail at the first key that nothing asked for."""
        for key in self.values:
            if key not in self._used:
                self.fail(key, f"unknown key '{key}' in {what}")
