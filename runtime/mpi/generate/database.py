"""The database of MPI functions: facts that no header states."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Facts:
    """What is known about one function. `known` is False for a name that nobody described."""

    kind: str
    fields: dict[str, Any]
    known: bool = True

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    @property
    def roles(self) -> list[str] | None:
        """Names of the arguments by what they mean, in order; None if the database has none."""
        args = self.fields.get("args")
        return None if args is None else args.split()


class Database:
    """Facts by function name. Names in `_c` (large counts) share those of the name without it."""

    def __init__(self, file: Path) -> None:
        content = json.loads(file.read_text())
        if content.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"{file}: schema_version is not {SCHEMA_VERSION}")
        self.functions: dict[str, dict[str, Any]] = content["functions"]
        self.patterns: list[dict[str, Any]] = content["patterns"]
        self.datatypes: list[str] = content["datatypes"]
        # Calls of other libraries, whose wrappers are linked into the program.
        self.linked: list[str] = content["linked"]

    def facts(self, name: str) -> Facts:
        """Facts for `name`; an unknown function counts as a call without transfers."""
        fields = self.functions.get(name)
        if fields is None and name.endswith("_c"):
            fields = self.functions.get(name[:-2])
        if fields is None:
            fields = next((p for p in self.patterns if re.search(p["match"], name)), None)
        if fields is None:
            return Facts("call", {"group": "unknown"}, known=False)
        return Facts(fields["kind"], fields)
