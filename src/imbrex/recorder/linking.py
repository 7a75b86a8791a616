"""The archive that instrumented programs are linked with, in the sanitizer's place."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import cache_folder, source_folder

# Every access counts in thread-local data: a call to find them would cost more than all the rest.
_FLAGS: tuple[str, ...] = ("-std=c11", "-O2", "-fPIC", "-ftls-model=initial-exec", "-w")
# Or the wrapped functions would call each other in turn.
_FLAGS += ("-D_GNU_SOURCE", "-fno-builtin", "-U_FORTIFY_SOURCE")
# What instrumented code calls, and the shadow of memory that it fills. The rest is in the runtime.
_SOURCES = ("copies.c", "gfortran.c", "hooks.c", "keep.c", "shadow.c", "strings.c")
# Of instrumented libraries instead.
_NOTES = "library_notes.c"
_REGISTERS = "registers.h"
_HEADERS = ("access.h", "gfortran.def", "hooks.h", _REGISTERS)
# Visible to the runtime, and to instrumented libraries, which share the program's own.
_EXPORTS = "{ imbrex_access_*; __tsan_*; __wrap_*; };\n"
# What the compiler finds in the assembler's place; the rest comes with each call of the compiler.
_ASSEMBLER = '#!/bin/sh\nexec "$IMBREX_PYTHON" -I -S "$IMBREX_HOOKS" "$IMBREX_ASSEMBLER" "$@"\n'


@dataclass(frozen=True)
class RecorderLibrary:
    """`folder` holds libtsan.a; `exports` lists what a program must show of it; `tools` holds `as`,
    which puts hooks in place of their calls; `registers` is included into sources in C and C++."""

    folder: Path
    archive: Path
    exports: Path
    tools: Path
    registers: Path


def wrapped_intrinsics() -> list[str]:
    """The functions of libgfortran that are led through the recorder."""
    text = (source_folder("runtime") / "access" / "gfortran.def").read_text(encoding="utf-8")
    return [f"_gfortran_{name}" for name in re.findall(r"\b[A-Z]+\((\w+)[,)]", text)]


def assembler_environment(compiler: str) -> dict[str, str]:
    """What `as` in RecorderLibrary.tools needs: the compiler's own, and how to run ours."""
    done = subprocess.run([compiler, "-print-prog-name=as"], capture_output=True, text=True)
    return {
        "IMBREX_PYTHON": sys.executable,
        "IMBREX_HOOKS": str(Path(__file__).with_name("assembler.py")),
        "IMBREX_ASSEMBLER": done.stdout.strip() or "as",
    }


def recorder_library(mpicc: str) -> RecorderLibrary:
    """Build it with `mpicc`, unless it is in the cache.

    ImbrexError, with what the compiler said, where it cannot compile them.
    """
    compiler = shutil.which(mpicc)
    if compiler is None:
        raise ImbrexError(f"{mpicc}: no such MPI compiler; name the C one with --mpicc")
    source = source_folder("runtime") / "access"
    files = [source / name for name in (*_SOURCES, _NOTES, *_HEADERS)]
    key = hashlib.sha256(compiler.encode())
    key.update(" ".join((*_FLAGS, _EXPORTS, _ASSEMBLER)).encode())
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
    return RecorderLibrary(
        target,
        target / "libtsan.a",
        target / "exports.list",
        target / "tools",
        target / _REGISTERS,
    )


def _build(compiler: str, source: Path, target: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".recorder-", dir=target.parent))
    try:
        sources = [str(source / name) for name in _SOURCES]
        _run([compiler, *_FLAGS, f"-I{source.parent}", "-c", *sources], scratch)
        objects = sorted(file.name for file in scratch.glob("*.o"))
        _run(["ar", "rcs", "libtsan.a", *objects], scratch)
        _run([compiler, *_FLAGS, "-c", str(source / _NOTES), "-o", "notes.object"], scratch)
        (scratch / "exports.list").write_text(_EXPORTS)
        shutil.copyfile(source / _REGISTERS, scratch / _REGISTERS)
        if not _takes(compiler, scratch / _REGISTERS):
            (scratch / _REGISTERS).write_text("")
        (scratch / "tools").mkdir()
        (scratch / "tools" / "as").write_text(_ASSEMBLER)
        (scratch / "tools" / "as").chmod(0o755)
        for name in objects:
            (scratch / name).unlink()
        with contextlib.suppress(FileExistsError):
            scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _takes(compiler: str, header: Path) -> bool:
    """Whether a compiler lets the header say what its hooks change."""
    words = ["-fsanitize=thread", "-w", "-include", str(header), "-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run([compiler, *words], capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode == 0


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
