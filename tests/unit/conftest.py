"""The engine (runtime/core) for C programs of the tests: built once and kept in build/tests, by the
content of all that it is made of."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.driver import RUNTIME

ENGINE = [*sorted((RUNTIME / "core").glob("*.c")), RUNTIME / "base" / "clock.c"]
WARNINGS = ["-std=c11", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Werror"]
KEPT = RUNTIME.parent / "build" / "tests" / "unit"
_UNUSED_S = 2 * 86400
_AT_ONCE = 2


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@functools.cache
def _content(folder: Path) -> bytes:
    """A digest of the C files of a folder and of those below it."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".c", ".h", ".def"))
    return hashlib.sha256(b"\0".join(bytes(path) + path.read_bytes() for path in files)).digest()


@functools.cache
def _version(compiler: str) -> bytes:
    return subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout


def _kept(key: Sequence[bytes], make: Callable[[Path], None]) -> Path:
    """The folder that `make` filled for this key; what none asked for in two days goes."""
    folder = KEPT / hashlib.sha256(b"\0".join(key)).hexdigest()[:16]
    KEPT.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for old in KEPT.iterdir():
                if time.time() - old.stat().st_mtime > _UNUSED_S:
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
            scratch = folder.with_suffix(".new")
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            make(scratch)
            scratch.rename(folder)
        os.utime(folder)
    return folder


def _objects(words: list[str]) -> list[str]:
    """The engine's object files, of this compiler with these flags."""

    def make(folder: Path) -> None:
        parts = [[*words, "-c", *map(str, ENGINE[n::_AT_ONCE])] for n in range(_AT_ONCE)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda part: _run(part, folder), parts))

    folder = _kept([" ".join(words).encode(), _version(words[0]), _content(RUNTIME)], make)
    return [str(folder / file.with_suffix(".o").name) for file in ENGINE]


@pytest.fixture(scope="session")
def link_engine() -> Callable[..., None]:
    """Compile C files and link them with the engine, with the same flags; `own`: theirs alone."""

    def link(
        binary: Path,
        sources: Sequence[Path],
        flags: Sequence[str],
        compiler: str = "gcc",
        own: Sequence[str] = (),
    ) -> None:
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        words = [compiler, *WARNINGS, *flags, f"-I{RUNTIME}"]

        def make(folder: Path) -> None:
            files = [*map(str, sources), *_objects(words)]
            _run([*words, *own, *files, "-o", "program", "-pthread"], folder)

        line = " ".join([*words, *own, *map(str, sources)]).encode()
        folders = [_content(folder) for folder in sorted({file.parent for file in sources})]
        shutil.copy(
            _kept([line, _version(compiler), _content(RUNTIME), *folders], make) / "program", binary
        )

    return link
