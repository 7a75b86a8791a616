"""Fields and formats of JSON files: reading a file means checking it against its format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from imbrex.errors import ImbrexError
from imbrex.formats.value_types import Kind, Object, wrong

REQUIRED = object()


@dataclass(frozen=True)
class Field:
    """One field: `meaning` and `unit` as the page gives them.

    `default` is what an absent field holds; without one the field must be there. With `null` it
    may be null, which is read as None.
    """

    name: str
    kind: Kind
    meaning: str = ""
    unit: str = ""
    default: Any = REQUIRED
    null: bool = False

    def read(self, entry: dict[str, Any], where: str) -> Any:
        """The checked value of this field in an object that stands at `where`."""
        place = f"{where}.{self.name}" if where else self.name
        value = entry.get(self.name, REQUIRED)
        if value is REQUIRED:
            if self.default is REQUIRED:
                wrong(place, "is missing")
            return self.default
        if value is None and self.null:
            return None if self.default is REQUIRED else self.default
        return self.kind.read(value, place)


Fields = tuple[Field, ...]


def optional(
    name: str, kind: Kind, meaning: str = "", unit: str = "", default: Any = None
) -> Field:
    """A field that may be absent or null, and then holds `default`."""
    return Field(name, kind, meaning, unit, default, null=True)


@dataclass(frozen=True)
class JsonFormat:
    """The JSON files of one format.

    `called` names the file in messages, `remedy` says what to do about a damaged one. `identity`
    is the value of the field "format", None where the files have no such field; a
    `schema_version` above `version` is of a newer Imbrex.
    """

    called: str
    remedy: str
    content: Object
    identity: str | None = None
    version: int = 1
    needs_version: bool = field(default=False)

    def load(self, file: Path) -> dict[str, Any]:
        """Read a file; ImbrexError with one line where it is not as the format says."""
        return self.read(self.parse(file), file)

    def parse(self, file: Path) -> dict[str, Any]:
        """The object in a file, of a version that is known; its fields are not checked yet."""
        return self.of_this_format(read_json(file, self.called, self.remedy), file)

    def read(self, entry: dict[str, Any], file: Path | str) -> dict[str, Any]:
        """Check the fields of an object; `file` is what errors name."""
        try:
            return dict(self.content.read(entry, ""))
        except ImbrexError as error:
            raise ImbrexError(f"{file}: damaged: {str(error).strip()}; {self.remedy}") from None

    def of_this_format(self, entry: object, file: Path | str) -> dict[str, Any]:
        """The object itself; ImbrexError where it is of another format or a newer version."""
        if not isinstance(entry, dict):
            raise ImbrexError(f"{file}: is not {self.called}; {self.remedy}")
        if self.identity is not None and entry.get("format") != self.identity:
            raise ImbrexError(
                f'{file}: is not {self.called} (no "format": "{self.identity}"); {self.remedy}'
            )
        version = entry.get("schema_version")
        if isinstance(version, bool) or not isinstance(version, int):
            if self.needs_version or version is not None:
                raise ImbrexError(f"{file}: schema_version is missing; {self.remedy}")
        elif version > self.version:
            newer = version if version.bit_length() < 64 else "of many digits"
            raise ImbrexError(
                f"{file}: written by a newer Imbrex (schema version {newer}, "
                f"this one reads up to {self.version}); update Imbrex"
            )
        return entry


def read_json(file: Path, called: str, remedy: str) -> Any:
    """The value in a JSON file; ImbrexError where it cannot be read or is no JSON.

    Names and paths are the user's bytes, in whatever encoding: what is not UTF-8 is replaced.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ImbrexError(f"{file}: {called} cannot be read: {error.strerror}") from error
    if not data.strip():
        raise ImbrexError(f"{file}: {called} is empty; {remedy}")
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ImbrexError(
            f"{file}: truncated or damaged: it is not JSON (line {error.lineno}); {remedy}"
        ) from None
    except _NoNumberError as error:
        raise ImbrexError(
            f"{file}: truncated or damaged: {error} is no number of JSON; {remedy}"
        ) from None
    except RecursionError:
        raise ImbrexError(f"{file}: truncated or damaged: nested too deeply; {remedy}") from None
    except ValueError:  # Python refuses numbers of thousands of digits
        raise ImbrexError(
            f"{file}: truncated or damaged: a number has too many digits; {remedy}"
        ) from None


def _no_number(text: str) -> NoReturn:
    raise _NoNumberError(text)


class _NoNumberError(Exception):
    """NaN or Infinity, which JSON does not have."""
