"""Copy what a program is built of, so that nothing happens in the user's own folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from imbrex.tune.obstacle import NotPossibleError

_MOST_FILES, _MOST_BYTES = 20_000, 500 << 20
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
_MADE = frozenset({".o", ".mod", ".smod"})
_OURS = ("run.json", "answer.json", "job.json", "CMakeCache.txt")
"""Folders with one of these are runs of Imbrex, or builds that name the original's folder."""


def copied_files(root: Path, program: Path, output: Path) -> list[Path]:
    """What a build needs, relative to the root: what git knows or would add, else all files but
    what compilers made. NotPossibleError where that is more than anybody wants to copy."""
    listed = _listed_by_git(root)
    names = listed if listed is not None else _walked(root, output.resolve())
    found, size_bytes = [], 0
    for name in names:
        file = root / name
        if file.suffix in _MADE or file == program or output.resolve() in file.parents:
            continue
        if not file.is_file():
            continue
        found.append(name)
        size_bytes += file.stat().st_size
        if len(found) > _MOST_FILES or size_bytes > _MOST_BYTES:
            raise NotPossibleError(
                f"{root} is too large to be copied for a build: name the sources' own folder "
                "(--sources)"
            )
    return found


def copy(root: Path, files: Iterable[Path], target: Path) -> None:
    """A fresh copy of the files in `target`."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        for name in files:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place)
    except OSError as error:
        raise NotPossibleError(f"{target}: cannot be copied ({error.strerror})") from error


def _listed_by_git(root: Path) -> list[Path] | None:
    words = ["git", "-C", str(root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except OSError:
        return None
    if done.returncode != 0 or not done.stdout:
        return None
    return [Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name]


def _walked(root: Path, output: Path) -> Iterable[Path]:
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = [
            name
            for name in folders
            if name not in _LEFT_OUT
            and here / name != output
            and not any((here / name / mark).exists() for mark in _OURS)
        ]
        yield from (here.relative_to(root) / name for name in files)
