"""Build a program in a copy of its sources: the user's own files are never touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from imbrex.mpi_environment.elf_needs import is_elf
from imbrex.process_group import end_group
from imbrex.tune.sources import NotPossibleError, Sources
from imbrex.tune.timed_run import shown_line

_MOST_FILES, _MOST_BYTES = 20_000, 500 << 20
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
_MADE = frozenset({".o", ".mod", ".smod"})
_OURS = ("run.json", "answer.json", "job.json", "CMakeCache.txt")
"""Folders with one of these are runs of Imbrex, or builds that name the original's folder."""
_GRACE_S = 1.0
_WRAPPERS = ("mpicc", "mpicxx", "mpic++", "mpifort", "mpif90", "mpif77")


def copied_files(sources: Sources, output: Path) -> list[Path]:
    """What a build needs, relative to the root: what git knows or would add, else all files but
    what compilers made. NotPossibleError where that is more than anybody wants to copy."""
    root = sources.root
    listed = _listed_by_git(root)
    names = listed if listed is not None else _walked(root, output.resolve())
    found, size_bytes = [], 0
    for name in names:
        file = root / name
        if file.suffix in _MADE or file == sources.program or output.resolve() in file.parents:
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


def copy(sources: Sources, files: Iterable[Path], target: Path) -> None:
    """A fresh copy of the files in `target`."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        for name in files:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(sources.root / name, place)
    except OSError as error:
        raise NotPossibleError(f"{target}: cannot be copied ({error.strerror})") from error


def build(sources: Sources, tree: Path, most_s: float) -> Path:
    """Build in a copy; the program there. NotPossibleError with the build's last line."""
    began = time.time() - 1
    folder = tree / sources.folder.relative_to(sources.root)
    log = tree.with_name(f"{tree.name}.log")
    folder.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            ["sh", "-c", sources.build],
            cwd=folder,
            env=_environment(sources, tree),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(max(most_s, 1.0))
        except BaseException as error:  # compilers go on unless they are ended too
            end_group(process, _GRACE_S)
            if isinstance(error, subprocess.TimeoutExpired):
                raise NotPossibleError(f"`{sources.build}` did not end in time") from None
            raise
    if code:
        raise NotPossibleError(
            f"`{sources.build}` ended with exit code {code} in a copy of {sources.root} "
            f"({_reason(log)}); tell how to build with --build"
        )
    return _built(sources, tree, began)


def _environment(sources: Sources, tree: Path) -> dict[str, str]:
    """The user's, in which mpicc and its like are those of the program's MPI: a Makefile that names
    `mpicc` would build for another one where several are installed."""
    mpicc = sources.mpicc
    if mpicc is None or "mpicc" not in mpicc.name:
        return dict(os.environ)
    folder = tree.with_name("wrappers")
    folder.mkdir(exist_ok=True)
    for name in _WRAPPERS:
        wrapper, link = mpicc.with_name(mpicc.name.replace("mpicc", name)), folder / name
        if wrapper.exists() and not link.is_symlink():
            link.symlink_to(wrapper.absolute())
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def _built(sources: Sources, tree: Path, began: float) -> Path:
    """The program that a build made: at the same place in the copy, or the one of its name."""
    places = []
    if sources.program.is_relative_to(sources.root):
        places.append(tree / sources.program.relative_to(sources.root))
    places += sorted(tree.rglob(sources.program.name))
    for place in places:
        if place.is_file() and is_elf(place) and place.stat().st_mtime >= began:
            return place.resolve()
    raise NotPossibleError(f"`{sources.build}` made no {sources.program.name}: give --build")


def _reason(log: Path) -> str:
    """The first line that tells of an error, else the last."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    worst = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
    return shown_line(worst)


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
