"""The engine (runtime/core) for C programs of the tests: compiled once, linked by all of them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.driver import RUNTIME

ENGINE = [*sorted((RUNTIME / "core").glob("*.c")), RUNTIME / "base" / "clock.c"]
WARNINGS = ["-std=c11", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Werror"]
_AT_ONCE = 2


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def link_engine(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Compile C files and link them with the engine, all with the same flags; `own`: theirs alone.

    The engine's objects are made once for each compiler and flags, for all workers of this run.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def objects(words: list[str]) -> list[str]:
        folder = shared / f"engine-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:12]}"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.is_dir():
                scratch = folder.with_suffix(f".{os.getpid()}")
                scratch.mkdir()
                parts = [[*words, "-c", *map(str, ENGINE[n::_AT_ONCE])] for n in range(_AT_ONCE)]
                with ThreadPoolExecutor(_AT_ONCE) as pool:
                    list(pool.map(lambda part: _run(part, scratch), parts))
                scratch.rename(folder)
        return [str(folder / file.with_suffix(".o").name) for file in ENGINE]

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
        files = [*map(str, sources), *objects(words)]
        _run([*words, *own, *files, "-o", str(binary), "-pthread"], shared)

    return link
