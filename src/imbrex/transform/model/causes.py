"""Why something may not be done, or what was done: a kind, its parameters and a place.

A reason is never free text: who gives one names its kind and the things that it is about, and the
sentence is made here, in one place, so that it cannot be about something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from string import Formatter
from typing import Any, TypeAlias

from imbrex.transform.model.location import Location


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of reason with the things that it is about, without a place."""

    kind: Sentence
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @property
    def name(self) -> str:
        """The kind as JSON has it."""
        return self.kind.name.lower().replace("_", "-")

    @property
    def text(self) -> str:
        """The sentence, in which `plural` stands for the ending of what is counted."""
        values = dict(self.parameters)
        count = values.get("count")
        sentence: str = self.kind.value
        return sentence.format(**values, plural="" if count == 1 else "s")

    def __str__(self) -> str:
        return self.text

    def relocated(self, place: Callable[[Location], Location]) -> Cause:
        """The same where the lines of files are numbered otherwise."""
        changed: list[tuple[str, Parameter]] = []
        for name, value in self.parameters:
            moved = value.relocated(place) if isinstance(value, Cause | Reason) else value
            changed.append((name, moved))
        return Cause(self.kind, tuple(changed))

    def renumbered(self, line: Callable[[int], int]) -> Cause:
        """The same where the lines of the file that its `line` counts in are numbered otherwise."""
        changed = [
            (name, line(value) if name == "line" and isinstance(value, int) else value)
            for name, value in self.parameters
        ]
        return Cause(self.kind, tuple(changed))

    def as_json(self) -> dict[str, Any]:
        """The kind and its parameters; a parameter that is a cause itself is an object too."""
        values = {
            name: value.as_json() if isinstance(value, Cause | Reason) else value
            for name, value in self.parameters
        }
        return {"kind": self.name, "parameters": values}


def located(text: str, place: str) -> str:
    """A sentence with its place behind it, unless it ends with a reason at that very place."""
    ending = f" ({place})"
    return text if text.endswith(ending) else text + ending


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something may not be done, and where the cause stands."""

    cause: Cause
    location: Location

    @property
    def kind(self) -> Sentence:
        return self.cause.kind

    @property
    def text(self) -> str:
        return self.cause.text

    def __str__(self) -> str:
        return located(self.text, str(self.location))

    def relocated(self, place: Callable[[Location], Location]) -> Reason:
        return Reason(self.cause.relocated(place), place(self.location))

    def as_json(self) -> dict[str, Any]:
        where = {"file": self.location.file, "line": self.location.line}
        return {**self.cause.as_json(), **where}


Parameter: TypeAlias = str | int | Cause | Reason
_TYPES: dict[str, type | tuple[type, ...]] = {
    "cause": Cause,
    "because": Reason,
    "before": Reason,
    "behind": Reason,
    "count": int,
    "iterations": int,
    "line": (int, str),
    "most": int,
}
"""Of the fields whose value is not a text of the user's or a name."""


class Sentence(Enum):
    """A set of sentences; what stands in braces are parameters. See `reasons.ReasonKind`."""

    def __call__(self, **parameters: Parameter) -> Cause:
        """The cause of this kind about these things.

        Raises TypeError where the parameters are not those of the sentence, or not of their type.
        """
        fields = _fields(self)
        if parameters.keys() != fields:
            raise TypeError(f"{self.name} takes {sorted(fields)}, not {sorted(parameters)}")
        for name, value in parameters.items():
            if not isinstance(value, _TYPES.get(name, str)):
                raise TypeError(f"{self.name}: {name} is a {type(value).__name__}")
        return Cause(self, tuple(parameters.items()))


@cache
def _fields(kind: Sentence) -> frozenset[str]:
    """The parameters that a kind's sentence has."""
    names = (name for _, name, _, _ in Formatter().parse(kind.value) if name)
    return frozenset(names) - {"plural"}
