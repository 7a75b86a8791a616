"""Work on deeply nested sources: long `else if` chains and sums take one call per level."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from imbrex.errors import ImbrexError

_STACK_BYTES = 512 << 20  # address space; pages are taken as they are used
_LEVELS = 100_000
_running = threading.local()
T = TypeVar("T")


def with_deep_stack(work: Callable[[], T]) -> T:
    """The result of `work`, done on a stack of its own that holds many levels of calls.

    Raises ImbrexError where the source is nested too deeply even for that.
    """
    if getattr(_running, "inside", False):
        return work()
    found: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        _running.inside = True
        try:
            found.append(work())
        except RecursionError:
            errors.append(ImbrexError("a source is nested too deeply to be read"))
        except BaseException as error:
            errors.append(error)

    levels, size = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    try:
        sys.setrecursionlimit(max(levels, _LEVELS))
        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no room for such a stack
            sys.setrecursionlimit(levels)
            run()
        else:
            thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(levels)
    if errors:
        raise errors[0]
    return found[0]
