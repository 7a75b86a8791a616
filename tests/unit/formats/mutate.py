"""Seeded damage to valid files: values of JSON and TOML, bytes of tables, and the files' ends."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

NUMBERS = (
    "0", "-1", "1", "-0.0", "1e308", "-1e308", "1e-320", "1e18", "3.5", "-7.25e-9", "4294967296",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "100000000",
    "1" * 400, "-" + "9" * 400, "9" * 5000,
)  # fmt: skip
JSON_VALUES = (*NUMBERS, "NaN", "Infinity", "-Infinity", "null", "true", "false", '""', '"x"',
    '"\\ud800"', '"' + "long" * 2000 + '"', "[]", "{}", "[[[]]]", '{"a": 1}', '"1e5"', "[null]",
    '"\\u0000\\u001b[31m"', "[" * 2000)  # fmt: skip
TOML_VALUES = (*NUMBERS, "nan", "inf", "-inf", "true", '""', '"forward"', "[]", "[1, 2]", "{}",
    "[1e308]", '"x"', "1979-05-27", "[[]]", '["a"]', "0x7fffffffffffffff")  # fmt: skip
INTEGERS = (0, 1, 255, 65535, 2**40, *(2**n - 1 for n in (31, 32, 63, 64)), 2**31, 2**62, 2**63)


class Raw:
    """A value that stands in the text as it is."""

    def __init__(self, text: str) -> None:
        self.text = text


def damage_json(file: Path, rng: random.Random) -> str:
    """Change one value, one key or one list of a JSON file; what was done, in words."""
    document = json.loads(file.read_text())
    holder, key = rng.choice(list(_places(document)))
    action = rng.randrange(8)
    if action == 0:
        del holder[key]
        mutation = f"without {key!r}"
    elif action == 1 and isinstance(holder, list):
        holder.append(holder[key])
        mutation = f"{key!r} twice"
    else:
        value = rng.choice(JSON_VALUES)
        holder[key] = Raw(value)
        mutation = f"{key!r} is {value[:40]}"
    file.write_text(_dump(document))
    return mutation


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        # Of a long list the first entries say all.
        for i, inner in enumerate(value[:8]):
            yield value, i
            yield from _places(inner)


def _dump(value: Any) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_dump, value)) + "]"
    return json.dumps(value)


def damage_toml(file: Path, rng: random.Random) -> str:
    """Change one value, or drop or repeat one line, of a TOML file."""
    lines = file.read_text().splitlines()
    row = rng.choice([i for i, line in enumerate(lines) if line.strip()])
    action = rng.randrange(8)
    if action == 0:
        mutation = f"without line {row + 1}"
        del lines[row]
    elif action == 1:
        mutation = f"line {row + 1} twice"
        lines.insert(row, lines[row])
    else:
        value = rng.choice(TOML_VALUES)
        mutation = f"line {row + 1}: {value[:40]}"
        lines[row] = re.sub(r"=.*", lambda _: f"= {value}", lines[row])
    file.write_text("\n".join(lines) + "\n")
    return mutation


def damage_bytes(file: Path, rng: random.Random) -> str:
    """Overwrite, cut or lengthen the bytes of any file."""
    data = bytearray(file.read_bytes())
    action = rng.randrange(6)
    if action == 0:
        size = rng.randrange(len(data) + 1)
        del data[size:]
        mutation = f"cut at {size}"
    elif action == 1:
        data += rng.randbytes(rng.randrange(1, 200))
        mutation = "lengthened"
    elif action in (2, 3):
        # An integer of a header or a table, in its place.
        width = rng.choice((1, 2, 4, 8))
        at = rng.randrange(0, max(len(data) // width, 1)) * width
        value = rng.choice(INTEGERS) & ((1 << 8 * width) - 1)
        data[at : at + width] = value.to_bytes(width, "little")
        mutation = f"{value} in {width} bytes at {at}"
    else:
        for _ in range(rng.randrange(1, 9)):
            at = rng.randrange(len(data))
            data[at] = rng.randrange(256)
        mutation = "bytes changed"
    file.write_bytes(bytes(data))
    return mutation


def ways(file: Path) -> tuple[Callable[[Path, random.Random], str], ...]:
    """How a file of this kind is damaged, the likeliest first and more than once."""
    if file.suffix == ".json":
        return (damage_json, damage_json, damage_json, damage_bytes)
    if file.suffix == ".toml":
        return (damage_toml, damage_toml, damage_toml, damage_bytes)
    return (damage_bytes,)
