"""Make the run directory, or refuse before anything was started."""

from __future__ import annotations

import shutil
from pathlib import Path

from imbrex.errors import ImbrexError

DEFAULT = "imbrex-run"
_MARKS = ("run.json", "job.json", "measures.npy", "parts", "imbrex-exec")


def choose(output: Path | None) -> Path:
    """The directory asked for, else `imbrex-run`, or `imbrex-run-2`, ... where that exists."""
    if output is not None:
        return output.absolute()
    folder = Path.cwd() / DEFAULT
    number = 2
    while folder.exists():
        folder = Path.cwd() / f"{DEFAULT}-{number}"
        number += 1
    return folder


def check(folder: Path, *, force: bool) -> None:
    """Refuse a directory that exists (without `force`) or that is not a run (with it)."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise ImbrexError(f"{folder}: exists and is not a directory")
    content = list(folder.iterdir())
    if not force:
        raise ImbrexError(f"{folder}: exists; choose another with -o, or give --force")
    if content and not any((folder / mark).exists() for mark in _MARKS):
        raise ImbrexError(f"{folder}: is not a run of Imbrex, so --force does not replace it")


def create(folder: Path, *, force: bool) -> None:
    """Make the directory, with an empty `parts` in it; ImbrexError where it cannot be written."""
    check(folder, force=force)
    made = not folder.exists()
    try:
        if not made:
            # rmtree takes no link: what it leads to is replaced, and the link stays
            target = folder.resolve()
            shutil.rmtree(target)
            target.mkdir()
        (folder / "parts").mkdir(parents=True)
        probe = folder / ".probe"
        probe.write_bytes(b"\0")
        probe.unlink()
    except OSError as error:
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise ImbrexError(f"{folder}: cannot be written ({error.strerror})") from error
