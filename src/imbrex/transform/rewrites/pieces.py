"""What calls of nonblocking code are moved as: each as a whole, or a Waitall request by request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from imbrex.transform.analysis.request_states import Started
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Statement
from imbrex.transform.rewrites.base import Places, Site


def places_of(starts: Iterable[Started]) -> Places:
    """File and line of each; of persistent requests where they are started, not made."""
    return frozenset(
        place
        for start in starts
        for place in start.begun or ((start.routine.file, start.transfer.call.line),)
    )


@dataclass(slots=True, eq=False)
class Piece:
    """What one call, or one element of a Waitall, is moved as."""

    transfer: Transfer
    accesses: list[Access]
    element: int | None = None  # of the request array, where a Waitall is taken apart
    completes: list[Transfer] = field(default_factory=list)
    begun: Places = frozenset()  # where what it completes is started
    inserted: Statement | None = None


@dataclass(slots=True, eq=False)
class Lowered:
    """A call whose pieces stand in the model in its place."""

    site: Site
    pieces: list[Piece]
