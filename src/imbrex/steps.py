"""Steps that take long: whoever works says so here, and whoever listens shows it.

The work knows nothing of terminals, and nobody has to listen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol


class Tell(Protocol):
    """Hears how far a step has come."""

    def __call__(self, share: float, part: str = "", /) -> None:
        """`share`: how much of the step is done, from 0 to 1. `part`: what is being done now, for
        a step that has parts, as in "pingpong (2 of 8)"."""


Listener = Callable[[str, str], AbstractContextManager[Tell]]
"""Shows a step while its context is open, by what is being done and about how long it takes."""


def _untold(share: float, part: str = "", /) -> None:
    """Nobody listens."""


_listener: ContextVar[Listener] = ContextVar(
    "listener", default=lambda activity, duration: nullcontext(_untold)
)


@contextmanager
def step(activity: str, duration: str = "") -> Iterator[Tell]:
    """Do a step: `with step("calibrating this MPI", "at most 60 s") as tell: ... tell(0.5)`."""
    with _listener.get()(activity, duration) as tell:
        yield tell


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let `listener` show the steps that are done meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
