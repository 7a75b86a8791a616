"""Build a program in a copy of its sources: the user's own files are never touched."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path

from imbrex.mpi_environment.elf_needs import is_elf
from imbrex.process_group import end_group
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.sources import Sources
from imbrex.tune.timed_run import shown_line

_GRACE_S = 1.0
_WRAPPERS = ("mpicc", "mpicxx", "mpic++", "mpifort", "mpif90", "mpif77")


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
    `mpicc` would build for another one where several are installed. Each is called by its own path,
    as some find their headers from that (MPICH's wheel)."""
    mpicc = sources.mpicc
    if mpicc is None or "mpicc" not in mpicc.name:
        return dict(os.environ)
    folder = tree.with_name("wrappers")
    folder.mkdir(exist_ok=True)
    for name in _WRAPPERS:
        wrapper, script = mpicc.with_name(mpicc.name.replace("mpicc", name)), folder / name
        if wrapper.exists() and not script.exists():
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(wrapper.absolute()))} "$@"\n')
            script.chmod(0o755)
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
