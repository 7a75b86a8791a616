"""Passes of `transform` over one text, made once.

`transform` ends with a pass that finds nothing more to do, and a second run begins with the same
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from imbrex.transform import engine
from imbrex.transform.engine import Outcome
from imbrex.transform.options import Options
from imbrex.transform.search import Rejected

Made = dict[tuple[object, ...], Outcome]


@contextmanager
def passes_made_once(made: Made | None = None) -> Iterator[None]:
    """In here no file changes. `made`: the passes of before, if any; those in here are added."""
    known: Made = {} if made is None else made
    make = engine._prepared

    def once(
        paths: list[Path],
        options: Options,
        rejected: Rejected,
        ahead: engine._Ahead | None = None,
    ) -> Outcome:
        # A second run reads anew what the first did not, and tries what this did not try again.
        if rejected or (ahead is not None and ahead.contents == options.contents):
            return make(paths, options, rejected, ahead)
        key = (*paths, *sorted(options.contents.items()), options.rewrites)
        if key not in known:
            known[key] = make(paths, options, rejected, ahead)
        return known[key]

    with patch.object(engine, "_prepared", once):
        yield
