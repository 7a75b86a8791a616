"""What a preparing rewrite proposes: edits that may make room for communication to move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.edits import Edit
from imbrex.transform.model.program import Program, Reason, Routine


@dataclass(slots=True)
class Proposal:
    """Edits of one preparing rewrite; without edits a refusal, whose reason it carries."""

    rewrite: str
    routine: Routine
    line: int
    reason: Reason
    edits: dict[str, list[Edit]] = field(default_factory=dict)
    # Of a refusal: told only at sites without a window that this variable stands in the way of.
    about: str = ""
    without_window: bool = False  # of a refusal: told only at sites that have no window
    for_work: bool = False  # only for windows in which more is done than messages are packed
    opens: int = 0  # line of a call that must have no window without it
    worth: int = 0  # computing statements that communication passes by the edits themselves
    # Of a routine that is replaced by others: their names, and the calls that now only start.
    replaces: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # further routines that are replaced
    starts: frozenset[int] = frozenset()


class Preparing(ABC):
    """A rewrite that makes room for others: each proposal is tried, and stays where it helped."""

    name: ClassVar[str]

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints

    @abstractmethod
    def proposals(self) -> list[Proposal]:
        """What may be done, and refusals with their reasons."""
