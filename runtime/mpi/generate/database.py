"""The table of MPI functions: facts that no header states, one entry a function.

This file is read by the generator, which has nothing but Python's standard library, and by the
Imbrex package, where it is `imbrex.mpi_facts.database`: both must know the same.

An entry of functions.json says only what its kind, or the function that it is `like`, does not:

* `defaults_by_kind` has what all functions of a kind share;
* `variants` has how a kind's nonblocking, persistent and request-based forms follow from the
  blocking one: the beginning or end that the name gets, the arguments that go and come;
* `large_count` says whether there is a form whose name ends in _c, which has the same facts.

Further fields of an entry: `since`, the version of MPI; `args`, the role of each argument in order,
and `access`, what is done with the memory that those of a role point to (r, w, rw), where that is
not the usual; `data`, how many elements of what count and datatype each process has of a
collective (`root` and `other`, or `contributes` and `obtains`; `_RULES` of bodies.py) or of a
one-sided call; `dependence`, whose data a process needs; `calibration`, whose transfer times hold;
`timing_dependent`, that it matters when processes call it; `reason`, why it has no wrapper; `mode`
of a send, `direction` of a one-sided call, `which` requests, which `side` of a partitioned message,
which `scope` of a window a synchronization `closes`, and of those with a group which `group_epoch`
(access or exposure) they begin or end; `group` of calls that are only timed;
`note`, the variable that a `noted` call sets; `fortran_forms`, further symbols that it has in
Fortran.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 2
LARGE = "_c"
LARGE_SINCE = "4.0"


@dataclass(frozen=True)
class Facts:
    """What is known about one function. `known` is False for a name that nobody described.

    `base` is the function of which this one is a form: MPI_Allreduce of MPI_Iallreduce.
    """

    kind: str
    fields: Mapping[str, Any]
    known: bool = True
    base: str = ""

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]

    @property
    def form(self) -> str:
        """`blocking`, `nonblocking`, `persistent`, `plain`, `request`, `wait`, `test`, or ""."""
        return str(self.fields.get("form", ""))

    @property
    def rooted(self) -> bool:
        """Whether it is a collective call with a root."""
        return "root" in (self.roles or ())

    @property
    def roles(self) -> list[str] | None:
        """Names of the arguments by what they mean, in order; None if the table has none."""
        args = self.fields.get("args")
        return None if args is None else args.split()


class Database:
    """Facts by function name. Names in `_c` (large counts) share those of the name without it."""

    def __init__(self, file: Path) -> None:
        """Raises OSError or ValueError where the file is missing or none of a known version."""
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f"{file}: schema_version is not {SCHEMA_VERSION}")
        self.functions: dict[str, Facts] = _expanded(content)
        self.patterns = [_with_reason(p, content["reasons"]) for p in content["patterns"]]
        self.datatypes: dict[str, dict[str, Any]] = content["datatypes"]
        self.operations: dict[str, dict[str, Any]] = content["operations"]
        # Calls of other libraries, whose wrappers are linked into the program.
        self.linked: list[str] = content["linked"]
        # What a function does with the memory of an argument: r, w or rw, by the argument's role.
        self.access: dict[str, str] = content["access"]

    def facts(self, name: str) -> Facts:
        """Facts for `name`; an unknown function counts as a call without transfers."""
        found = self.functions.get(name) or self.functions.get(name.removesuffix(LARGE))
        if found is not None:
            return found
        pattern = next((p for p in self.patterns if re.search(p["match"], name)), None)
        if pattern is not None:
            return Facts(pattern["kind"], pattern, base=name)
        return Facts("call", {"group": "unknown"}, known=False, base=name)


def _expanded(content: Mapping[str, Any]) -> dict[str, Facts]:
    """All functions with all fields, in the order of their names."""
    entries: dict[str, dict[str, Any]] = content["functions"]
    found: dict[str, Facts] = {}
    for name in entries:
        fields = _fields(name, content)
        found[name] = Facts(fields["kind"], fields, base=name)
        for form, rule in _variants(fields, content).items():
            variant = _variant(name, fields, form, rule)
            # What has an entry of its own needs no rule.
            if variant[0] not in entries:
                found[variant[0]] = Facts(fields["kind"], variant[1], base=name)
    return dict(sorted(found.items()))


def _fields(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an entry: its own, else those of the entry it is like, else of its kind."""
    own: dict[str, Any] = content["functions"][name]
    model = _fields(own["like"], content) if "like" in own else {}
    kind = own.get("kind", model.get("kind", "none"))
    fields = {**content["defaults_by_kind"].get(kind, {}), **model, **own, "kind": kind}
    if fields.get("calibration") is not None:
        # Calibrated by itself, unless the entry names another function.
        fields["calibration"] = own.get("calibration", name)
    return _with_reason({k: v for k, v in fields.items() if k != "like"}, content["reasons"])


def _with_reason(fields: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """The same, with the sentence that a reason's name stands for."""
    return {**fields, "reason": reasons[fields["reason"]]} if "reason" in fields else fields


def _variants(fields: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """By form, the rule that makes it: that of all kinds, and what this kind has of its own."""
    own: dict[str, dict[str, str]] = fields.get("variants", {})
    return {form: {**content["variants"][form], **changes} for form, changes in own.items()}


def _variant(
    name: str, fields: dict[str, Any], form: str, rule: dict[str, str]
) -> tuple[str, dict[str, Any]]:
    """Name and fields of a form of `name`."""
    stem = name.removeprefix("MPI_")
    before, after = rule.get("before", ""), rule.get("after", "")
    if before:
        stem = stem[0].lower() + stem[1:]
    less = rule.get("less", "").split()
    kept = [role for role in fields["args"].split() if role not in less]
    arguments = " ".join([*kept, *rule.get("more", "").split()])
    changed = {**fields, "form": form, "since": rule["since"], "args": arguments}
    return f"MPI_{before}{stem}{after}", changed
