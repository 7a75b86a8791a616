"""Steps that take long: whoever works says so here, and whoever listens shows it.

The work knows nothing of terminals, and nobody has to listen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Tell = Callable[[float], None]
"""Hears which share of a step, from 0 to 1, is done."""
Listener = Callable[[str], AbstractContextManager[Tell]]
"""Shows a step while its context is open, by what is being done."""


def _untold(share: float) -> None:
    """Nobody listens."""


_listener: ContextVar[Listener] = ContextVar(
    "listener", default=lambda activity: nullcontext(_untold)
)


@contextmanager
def step(activity: str) -> Iterator[Tell]:
    """Do a step: `with step("calibrating this MPI") as tell: ... tell(0.5)`."""
    with _listener.get()(activity) as tell:
        yield tell


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let `listener` show the steps that are done meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
