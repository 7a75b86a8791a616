"""When Python searches for cyclic garbage: program models are large and have hardly any."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without searches, but for those asked for; and these leave out what was there before."""
    enabled, frozen = gc.isenabled(), gc.get_freeze_count()
    gc.disable()
    if not frozen:
        gc.freeze()
    try:
        yield
    finally:
        if not frozen:
            gc.freeze()  # and at once back: a program model counts as old from now on,
            gc.unfreeze()  # or the next few allocations would have all of it searched
        if enabled:
            gc.enable()


def collect() -> None:
    """Let go of models that nobody uses any more."""
    gc.collect()
