"""What a format for other tools is, and how its files come to be whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from imbrex.errors import ImbrexError
from imbrex.profile.run import Run
from imbrex.steps import Tell


@dataclass(frozen=True)
class Format:
    """One format: `write` puts a run at a path that does not exist yet, or replaces a file.

    It returns a line about what the file lacks, or None. `suffix` is that of its files, `content`
    says for whom they are in a line of help.
    """

    name: str
    suffix: str
    content: str
    write: Callable[[Run, Path, Tell], str | None]


def optional_package(name: str, called: str) -> ModuleType:
    """A package that not every installation has; ImbrexError that says how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImbrexError(
            f"{called} needs the Python package {name.partition('.')[0]}: "
            "pip install 'imbrex[export]'"
        ) from error


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside `path` to write a file or folder to, which takes its place at the end.

    ImbrexError where it cannot be written; then nothing is left.
    """
    partial = path.with_name(f".{path.name[:200]}.{uuid.uuid4().hex[:12]}")
    if not path.parent.is_dir():
        raise ImbrexError(f"{path}: cannot be written (no such folder)")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise ImbrexError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
