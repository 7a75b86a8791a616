"""What an expression of C names in memory, and what is collected while a statement is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.list_change import ListChange
from imbrex.transform.model.memory import Access


@dataclass(frozen=True, slots=True)
class Inside:
    """Of a field: the element of an array of structures that it is in, and which of its fields."""

    element: Memory
    field: str


@dataclass(slots=True)
class Memory:
    """What an lvalue or a pointer value refers to."""

    key: str
    through: bool
    indices: list[Affine | None] = field(default_factory=list)  # source order
    offset: Affine | None = None  # elements still to be added to the next index
    exact: bool = True  # False: its section is not known
    # A linear index that is one of several dimensions: its indices and strides, source order.
    parts: tuple[Affine, ...] = ()
    strides: tuple[Affine, ...] = ()
    owner: str = ""  # the variable that the field belongs to, which holds or is the memory
    slot: tuple[Affine, ...] = ()  # of an array of pointers: which of them names it
    inside: Inside | None = None
    fixed: bool = False  # a pointer to a row of an array, which keeps its value
    # Of indices that are not known exactly: what they are within, by their position.
    spans: dict[int, Range] = field(default_factory=dict)

    @property
    def begins(self) -> bool:
        """Whether it is the beginning of what the variable is, or points to."""
        known = self.exact or self.key.startswith(("heap:", "return:"))
        offset = self.offset is None or self.offset == Affine(0)
        return known and offset and all(index == Affine(0) for index in self.indices)

    def section(self, rank: int) -> Section | None:
        if not self.exact or not rank or len(self.indices) != rank:
            return None
        if self.parts and rank == 1:
            return tuple(Range.point(index) for index in reversed(self.parts))
        found = [self.spans.get(n, Range.point(index)) for n, index in enumerate(self.indices)]
        return tuple(reversed(found))


@dataclass(slots=True)
class Effects:
    """Collected while one statement is read."""

    accesses: list[Access] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    stop: Cause | None = None
    swaps: tuple[str, str] | None = None  # the pointers that `std::swap` exchanges
    exchanges: tuple[str, str] | None = None  # the objects that it exchanges
    alone: Any | None = None  # the expression that is a whole statement
    list_change: ListChange | None = None  # what that does to a list of requests
    computes: bool = False  # it goes through all elements of something

    def take(self, inner: Effects) -> None:
        """Add what evaluating an argument, or the object of a call, does."""
        self.accesses.extend(inner.accesses)
        self.calls.extend(inner.calls)
        self.stop = self.stop or inner.stop


def move(memory: Memory, amount: Affine) -> None:
    """Have memory begin so many elements further on."""
    if memory.parts:
        memory.parts = (*memory.parts[:-1], memory.parts[-1].plus(amount))
    if memory.indices:
        last = memory.indices[-1]
        memory.indices[-1] = None if last is None else last.plus(amount)
    else:
        memory.offset = amount if memory.offset is None else memory.offset.plus(amount)
