"""What the user asked of the rewriter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from imbrex.transform.model.row_pointers import RowLengths
from imbrex.transform.readers.c_kept import KeptFiles
from imbrex.transform.rewrites.registry import REWRITES

MessageTime = Callable[[str, int, int], float | None]
"""What a message started in these lines of a file takes at most: s; None where not measured."""


@dataclass(slots=True)
class Options:
    """What the user asked for."""

    flags: list[str] = field(default_factory=list)
    flags_of: dict[Path, list[str]] = field(default_factory=dict)
    rewrites: frozenset[str] = frozenset(REWRITES)
    only: frozenset[tuple[str, int]] = frozenset()  # (file name, line)
    progress_interval_s: float | None = None  # between progress calls; None: no such calls
    # What a message started at a call takes at most, where it was measured.
    message_s: MessageTime | None = None
    single_thread: bool = False  # one thread calls MPI, whatever the program asks MPI for
    errors_are_fatal: bool = False  # no file sets an error handler that returns
    reassociation: bool = False  # floating-point reductions may be rounded in another order
    checks: bool = True  # calls are read without macros that check their error codes
    not_codes: frozenset[str] = frozenset()  # names of variables that hold no such codes
    aborts: bool = True  # of C++: `at` of a vector counts as `[]`, which may end the program
    # Of C: pointers to rows that are read as one array; None: they are still to be found.
    row_lengths: RowLengths | None = None
    root: Path | None = None  # headers elsewhere stay as they are
    # Of Fortran: names that several procedures had in what was read so far. A procedure keeps its
    # key where a rewrite has put others in the place of the rest.
    shared_names: set[str] = field(default_factory=set)
    # Of C: what files said that were read before.
    kept: KeptFiles = field(default_factory=KeptFiles)
    # File contents to read instead of those on disk.
    contents: dict[Path, bytes] = field(default_factory=dict)

    def flags_for(self, path: Path) -> list[str]:
        """The flags that a file is compiled with."""
        return self.flags_of.get(path.resolve(), self.flags)
