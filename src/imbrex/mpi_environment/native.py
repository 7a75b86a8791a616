"""Build our C sources with the user's mpicc, once per MPI library, into a cache."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import imbrex
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.mpi_library import MpiLibrary, compiler_environment
from imbrex.steps import step

Tree = Literal["runtime", "probes"]
_PROCESSORS = min(8, len(os.sched_getaffinity(0)))
_SOURCES = {
    "",  # imbrex-exec
    ".c",
    ".h",
    ".def",
    ".in",
    ".txt",
    ".cmake",
    ".py",
    ".json",
    ".toml",
    ".f90",
    ".F90",
    ".map",
}


def source_folder(tree: Tree) -> Path:
    """Where a source tree is: beside the package in a checkout, inside it in a wheel."""
    package = Path(imbrex.__file__).parent
    for folder in (package.parent.parent / tree, package / "_native" / tree):
        if (folder / "CMakeLists.txt").is_file():
            return folder
    raise ImbrexError(f"the sources of Imbrex's {tree} are missing: reinstall Imbrex")


def read_table(tree: Tree, name: str, line: str) -> list[tuple[str, ...]]:
    """The lines of a table for C and Python in a source tree, as the groups of `line` (one at
    least), a regular expression.

    ImbrexError where the table is missing.
    """
    file = source_folder(tree) / name
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"{file}: {error.strerror}: reinstall Imbrex") from None
    return [found.groups() for found in re.finditer(line, text, re.MULTILINE)]


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of what is kept between runs ($XDG_CACHE_HOME/imbrex), absolute.

    ImbrexError where neither that variable nor a home directory says where it is.
    """
    base = environment.get("XDG_CACHE_HOME")
    try:
        # Absolute: a launcher may start the program in another directory.
        return (Path(base).absolute() if base else Path.home() / ".cache") / "imbrex"
    except RuntimeError as error:
        raise ImbrexError("there is no home directory for the cache: set XDG_CACHE_HOME") from error


def build(tree: Tree, library: MpiLibrary) -> Path:
    """The folder where a tree is installed for this library; builds it when it is not there yet.

    Builds at once are safe: one builds, the others wait. ImbrexError (with the log's path) where
    the build fails, the cache cannot be written or what is in it could not be preloaded.
    """
    if library.mpicc is None:
        raise ImbrexError(f"no mpicc is known for {library.file}: name it with --mpicc")
    source, build_type = source_folder(tree), _build_type(os.environ)
    tag = f"{tree}-{library.identity}-{_digest(source, library.mpicc, build_type)}"
    target = cache_folder() / tag
    if tree == "runtime" and (" " in str(target) or ":" in str(target)):
        raise ImbrexError(
            f"{target.parent}: LD_PRELOAD takes no path with a blank or a colon; "
            "set XDG_CACHE_HOME to another"
        )
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent / f"{tag}.lock"):
            if not target.is_dir():
                with step(f"building Imbrex's {tree} for {library.name} (once)"):
                    _build(tree, source, library.mpicc, build_type, target)
    except OSError as error:
        raise ImbrexError(
            f"{target.parent}: the cache cannot be written ({error.strerror}); set XDG_CACHE_HOME"
        ) from error
    return target


def _build_type(environment: Mapping[str, str]) -> str:
    """CMake's build type: Release, unless IMBREX_BUILD_TYPE says Debug."""
    wanted = environment.get("IMBREX_BUILD_TYPE") or "Release"
    if wanted not in ("Release", "Debug"):
        raise ImbrexError(f"IMBREX_BUILD_TYPE={wanted}: it is Release or Debug")
    return wanted


def _digest(source: Path, mpicc: Path, build_type: str) -> str:
    """A key of the sources' content, of the compiler that builds them, and of how it does."""
    key = hashlib.sha256(f"{platform.machine()} {mpicc.resolve()} {build_type}".encode())
    for file in sorted(source.rglob("*")):
        if file.is_file() and file.suffix in _SOURCES and "__pycache__" not in file.parts:
            key.update(str(file.relative_to(source)).encode() + b"\0" + file.read_bytes())
    return key.hexdigest()[:12]


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _cmake() -> str:
    """CMake from PATH, else the one that pip installed beside this interpreter."""
    beside = Path(sysconfig.get_path("scripts")) / "cmake"
    found = shutil.which("cmake") or (str(beside) if beside.exists() else None)
    if found is None:
        raise ImbrexError("cmake is needed to build the runtime: pip install cmake")
    return found


def _build(tree: Tree, source: Path, mpicc: Path, build_type: str, target: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f".{tree}-", dir=target.parent))
    log = target.parent / f"{target.name}.log"
    tree_folder, prefix = scratch / "build", scratch / "prefix"
    cmake = _cmake()
    environment = compiler_environment(mpicc, scratch)
    steps = [
        [
            *(cmake, "-S", str(source), "-B", str(tree_folder)),
            *(f"-DCMAKE_BUILD_TYPE={build_type}", f"-DMPI_C_COMPILER={mpicc}"),
            *(f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib"),
            # What is preloaded is enough, and takes half as long.
            *(["-DIMBREX_STATIC=OFF", "-DIMBREX_PRODUCTION=OFF"] if tree == "runtime" else []),
        ],
        [cmake, "--build", str(tree_folder), "--parallel", str(_PROCESSORS)],
        [cmake, "--install", str(tree_folder)],
    ]
    try:
        with log.open("w") as stream:
            for step in steps:
                stream.write(f"$ {' '.join(step)}\n")
                stream.flush()
                done = subprocess.run(
                    step,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    env=environment,
                    check=False,
                )
                if done.returncode:
                    raise ImbrexError(f"Imbrex's {tree} could not be built with {mpicc}: see {log}")
        prefix.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
