"""The recorder's two forms, built with the user's mpicc: an archive and an object to preload."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import cache_folder, source_folder

_FLAGS = ("-std=c11", "-O2", "-fPIC", "-D_GNU_SOURCE", "-w")
# What instrumented code calls; the clean run's object has no use for it.
_HOOKS = "hooks.c"


@dataclass(frozen=True)
class RecorderLibrary:
    """`folder` holds libtsan.a, linked in the sanitizer's place; `preload` times the clean run."""

    folder: Path
    archive: Path
    preload: Path


def recorder_library(mpicc: str) -> RecorderLibrary:
    """Build both for the MPI of `mpicc`, unless they are in the cache.

    ImbrexError, with what the compiler said, where it cannot compile them.
    """
    compiler = shutil.which(mpicc)
    if compiler is None:
        raise ImbrexError(f"{mpicc}: no such MPI compiler; name the C one with --mpicc")
    source = source_folder("runtime") / "access"
    files = sorted([*source.glob("*.c"), *source.glob("*.h")])
    key = hashlib.sha256(compiler.encode())
    for file in files:
        key.update(file.name.encode() + b"\0" + file.read_bytes())
    # The library that a compiler wrapper stands for may change under it.
    shown = subprocess.run([compiler, "-show"], capture_output=True, check=False)
    key.update(shown.stdout)
    target = cache_folder() / f"recorder-{key.hexdigest()[:16]}"
    if not target.is_dir():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with (target.parent / f"{target.name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not target.is_dir():
                    _build(compiler, source, target)
        except OSError as error:
            raise ImbrexError(
                f"{target.parent}: the cache cannot be written ({error.strerror}); "
                "set XDG_CACHE_HOME"
            ) from error
    return RecorderLibrary(target, target / "libtsan.a", target / "libimbrex-clean.so")


def _build(compiler: str, source: Path, target: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".recorder-", dir=target.parent))
    try:
        sources = sorted(str(file) for file in source.glob("*.c"))
        common = [file for file in sources if not file.endswith(_HOOKS)]
        _run([compiler, *_FLAGS, "-c", *sources], scratch)
        objects = sorted(file.name for file in scratch.glob("*.o"))
        _run(["ar", "rcs", "libtsan.a", *objects], scratch)
        shared = ["-shared", "-o", "libimbrex-clean.so", *common, "-ldl"]
        _run([compiler, *_FLAGS, *shared], scratch)
        for name in objects:
            (scratch / name).unlink()
        with contextlib.suppress(FileExistsError):
            scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise ImbrexError(f"{command[0]}: cannot be started ({error.strerror})") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [""]
        raise ImbrexError(f"{command[0]} cannot build the recorder: {lines[0]}")
