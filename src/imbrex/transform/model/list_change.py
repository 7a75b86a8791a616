"""What a statement of C++ does to a list of requests, a `std::vector<MPI_Request>`."""

from __future__ import annotations

from dataclasses import dataclass

_EMPTIES = frozenset({"clear", "assign"})


@dataclass(frozen=True, slots=True)
class ListChange:
    """A method that gives a list other elements: what they were, requests of none, or one more."""

    key: str  # the list
    place: str  # as it is written
    method: str
    taken: str = ""  # the request variable whose handle the list takes in

    @property
    def empties(self) -> bool:
        """Whether no handle that the list has held is in it any more."""
        return self.method in _EMPTIES
