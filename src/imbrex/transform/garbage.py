"""When Python searches for cyclic garbage: program models are large and have hardly any."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Iterator

_MODELS_KEPT = 8
_OBJECTS_LEFT = 400_000  # some tens of megabytes
_MODELS_BESIDE = 2  # of one program beside the first, in use or not
_models_left = itertools.count(1)
_left_out = False
_lets_go = False  # whether the call under way searches again at its end what it leaves out


def leave_out() -> None:
    """Have no further search go over what there is by now, in a process where that lives on.

    What comes later is little, and Python searches it as it always does.
    """
    global _left_out
    gc.collect()
    gc.freeze()
    _left_out = True


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without searches, but for those asked for; and these leave out what was there before.

    A model and its translation units refer to each other. Nothing here is counted as new, so that
    Python would never search for those of earlier calls: every eighth call does.
    """
    global _lets_go
    # Counting takes as long as there are objects.
    enabled, frozen = gc.isenabled(), _left_out or gc.get_freeze_count() > 0
    if not frozen and next(_models_left) % _MODELS_KEPT == 0:
        gc.collect()
    gc.disable()
    outer, _lets_go = _lets_go, not frozen
    if not frozen:
        gc.freeze()
    try:
        yield
    finally:
        _lets_go = outer
        if not frozen:
            gc.freeze()  # and at once back: a program model counts as old from now on,
            gc.unfreeze()  # or the next few allocations would have all of it searched
        if enabled:
            gc.enable()


def keep() -> None:
    """Have searches leave out what there is by now, until the program is done.

    It is the model of the program as it was, which stays in use. Not where what is left out stays
    so for good: no search would ever find that model.
    """
    if _lets_go:
        gc.freeze()


def objects() -> int:
    """How many objects came since the last search, less those that are gone."""
    return gc.get_count()[0]


def collect(of_a_model: int) -> None:
    """Let go of models that nobody uses any more, where there are many objects by now.

    A search goes over the models that are in use too, which takes long where they are large: of a
    program and of what came of it there may be one more before it is worth it. `of_a_model`: the
    objects of one.
    """
    if objects() > max(_OBJECTS_LEFT, _MODELS_BESIDE * of_a_model):
        gc.collect()
