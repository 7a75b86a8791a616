"""The lines on which the keys of a TOML text stand.

`tomllib` keeps no positions, so a small scan over the text finds the line of every key.
The scan needs to understand only where values begin and end; the grammar is `tomllib`'s.
"""

from __future__ import annotations

import re

KeyPath = tuple[str | int, ...]

_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")


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
