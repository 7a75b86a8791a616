"""`imbrex cc`, `imbrex cxx` and `imbrex fc`: the MPI compilers, with every access recorded.

The stock compiler instruments for its thread sanitizer; our archive stands where it looks for
the sanitizer's runtime. Everything is compiled a second time, plainly (twins.py).
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.recorder.dependencies import asks_only_for_them, forget_dependency
from imbrex.recorder.duplicates import SAME_FUNCTIONS
from imbrex.recorder.linking import (
    RecorderLibrary,
    assembler_environment,
    recorder_library,
    wrapped_intrinsics,
)
from imbrex.recorder.twins import compile_text, compile_twins, link_twin, one_by_one
from imbrex.recorder.uninstrumented import clang_notes

_DEFAULTS = {"cc": "mpicc", "cxx": "mpicxx", "fc": "mpifort"}
_NO_LINK = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}
_LIBRARY = {"-shared", "-r"}
_DUPLICATE = "--duplicate"
"""Of our own options this one stands in front of the others."""
_ASKING: tuple[str, ...] = (
    "--version",
    "-V",
    "-dumpversion",
    "-dumpmachine",
    "--help",
    "-show",
    "--showme",
)
# Of the MPI compilers: -showme:compile, -compile_info, -link-info, ...
_ASKING += ("-showme", "-compile_info", "-compile-info", "-link_info", "-link-info")
_COPIES: tuple[str, ...] = ("memcpy", "memmove", "memset", "mempcpy", "bcopy", "bzero", "memcmp")
_COPIES += ("strcpy", "strncpy", "stpcpy", "strcat")
# What _FORTIFY_SOURCE makes of some.
_CHECKED = tuple(f"__{name}_chk" for name in ("memcpy", "memmove", "memset", "strcpy", "strncpy"))

# gcc inlines these copies after instrumenting: nobody would see them.
_GNU_COPIES = tuple(f"-fno-builtin-{name}" for name in _COPIES)
_GNU_COPIES_X86 = ("-mmemset-strategy=libcall:-1:align", "-mmemcpy-strategy=libcall:-1:align")
_CLANG = (
    # Vectorized loops are not instrumented.
    *("-fno-vectorize", "-fno-slp-vectorize"),
    # A read that a write follows is left out by default.
    *("-mllvm", "-tsan-instrument-read-before-write=1"),
    # Local arrays that only MPI is given count as private to the function otherwise.
    *("-mllvm", "-capture-tracking-max-uses-to-explore=0"),
    *(f"-fno-builtin-{name}" for name in _COPIES),
)
# gfortran takes arrays that only MPI is given for private to the routine.
_GFORTRAN = ("-fno-tree-pta",)


# Without registers.h: text that is not for our assembler, or in which calls remain; and two codes
# of a function (--duplicate) change different registers.
_WITHOUT_REGISTERS: tuple[str, ...] = ("-E", "-flto", "-masm=intel", "-fno-ipa-ra", "-m32", "-mx32")
_WITHOUT_REGISTERS += ("-fno-asynchronous-unwind-tables", "-fno-dwarf2-cfi-asm")


def c_compiler_beside(compiler: str) -> str:
    """The mpicc that belongs to an MPI compiler of another language, by its name."""
    path = Path(compiler)
    for name in ("mpifort", "mpif90", "mpif77", "mpicxx", "mpic++", "mpiCC"):
        if path.name.startswith(name):
            return str(path.with_name("mpicc" + path.name[len(name) :]))
    return compiler


def is_clang(compiler: str) -> bool:
    """Whether a compiler command is clang behind its name; ImbrexError if it cannot be run."""
    try:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ImbrexError(f"{compiler}: cannot be started ({error.strerror})") from error
    return "clang" in done.stdout


def instrumented(
    language: str,
    arguments: Sequence[str],
    clang: bool,
    library: RecorderLibrary,
    *,
    duplicate: bool = False,
) -> list[str]:
    """The arguments of a compiler call, with those that instrument and link the recorder."""
    # They stand behind the user's: -O3 would switch vectorizing on again.
    # Checked copies are inlined from headers: their line would be the header's.
    flags = ["-fsanitize=thread", "-g", "-U_FORTIFY_SOURCE"]
    if clang:
        flags += _CLANG
    elif language == "fc":
        flags += _GFORTRAN
        flags += _GNU_COPIES_X86 if platform.machine() == "x86_64" else ()
    else:
        flags += _GNU_COPIES
        without = duplicate or asks_only_for_them(arguments)
        if not without and not any(a.startswith(_WITHOUT_REGISTERS) for a in arguments):
            arguments = ["-include", str(library.registers), *arguments]
    if not clang:
        arguments = [f"-B{library.tools}/", *arguments]
    if _NO_LINK.intersection(arguments):
        return [*arguments, *flags]
    wraps = ["-Wl," + ",".join(f"--wrap={name}" for name in (*_COPIES, *_CHECKED))]
    if not _LIBRARY.intersection(arguments):
        wraps.append("-Wl," + ",".join(f"--wrap={name}" for name in wrapped_intrinsics()))
        wraps.append(f"-Wl,--dynamic-list={library.exports}")
    if clang:
        whole = f"-Wl,--whole-archive,{library.archive},--no-whole-archive"
        return [*arguments, *flags, "-fno-sanitize-link-runtime", *wraps, whole, "-ldl"]
    notes = [str(library.folder / "notes.object")] if "-shared" in arguments else []
    return [f"-L{library.folder}", *arguments, *flags, "-static-libtsan", *wraps, *notes]


def _only_asks(arguments: Sequence[str]) -> bool:
    """Whether a call compiles and links nothing; -v says what is done beside doing it."""
    if not arguments or arguments[0].startswith(_ASKING):
        return True
    return arguments[0] == "-v" and all(a.startswith("-") and a != "-" for a in arguments)


def _refuse_sanitizers(arguments: Sequence[str]) -> None:
    """Compilers would complain of an option that the user did not give."""
    for argument in arguments:
        asked = argument.removeprefix("-fsanitize=").split(",") if "-fsanitize=" in argument else []
        if found := {"address", "memory", "hwaddress", "leak"}.intersection(asked):
            raise ImbrexError(
                f"-fsanitize={min(found)} cannot be combined with the recording of accesses"
            )


def _take_option(arguments: list[str], name: str) -> str | None:
    """An option of our own, which stands before the compiler's arguments."""
    if arguments and arguments[0].startswith(f"{name}="):
        return arguments.pop(0).partition("=")[2]
    if len(arguments) > 1 and arguments[0] == name:
        arguments.pop(0)
        return arguments.pop(0)
    return None


def with_files(arguments: Sequence[str]) -> list[str]:
    """A command line with @FILE replaced by the arguments in it, as the compilers read it."""
    found: list[str] = []
    for argument in arguments:
        file = Path(argument[1:]) if argument.startswith("@") else None
        try:
            text = None if file is None else file.read_text(encoding="utf-8")
            inside = None if text is None else shlex.split(text)
        except (OSError, ValueError):
            inside = None
        found += [argument] if inside is None else with_files(inside)
    return found


def compile_recorded(language: str, given: Sequence[str], warn: Callable[[str], None]) -> int:
    """Call the MPI compiler of `language` ("cc", "cxx", "fc") with the arguments `given`, so that
    accesses are recorded; its exit code. What becomes of the plain twin is told to `warn`.

    What only asks the compiler something becomes that compiler: then this does not return.
    ImbrexError where there is no compiler or its arguments cannot be had with recording.
    """
    arguments = with_files(given)
    duplicate = _DUPLICATE in arguments[:1]
    arguments = arguments[duplicate:]
    compiler = _take_option(arguments, "--compiler") or os.environ.get(
        f"IMBREX_{language.upper()}", _DEFAULTS[language]
    )
    mpicc = _take_option(arguments, "--mpicc") or os.environ.get("IMBREX_MPICC")
    if shutil.which(compiler) is None:
        raise ImbrexError(f"{compiler}: no such compiler; name it with --compiler")
    if _only_asks(arguments):
        sys.stdout.flush()
        os.execvp(compiler, [compiler, *arguments])
    _refuse_sanitizers(arguments)
    library = recorder_library(mpicc or c_compiler_beside(compiler))
    clang = is_clang(compiler)
    if duplicate and (clang or language == "cxx" or platform.machine() != "x86_64"):
        raise ImbrexError("--duplicate needs gcc or gfortran on x86-64, and C or Fortran")
    if not duplicate:
        return _compile(language, compiler, arguments, library, clang, warn)
    with tempfile.TemporaryDirectory(prefix="imbrex-") as scratch:
        for one in one_by_one(arguments, Path(scratch)):
            if code := _compile(language, compiler, one, library, clang, warn, duplicate=True):
                return code
    return 0


def _compile(
    language: str,
    compiler: str,
    arguments: Sequence[str],
    library: RecorderLibrary,
    clang: bool,
    warn: Callable[[str], None],
    *,
    duplicate: bool = False,
) -> int:
    """One call of the compiler and what belongs to it; its exit code."""
    environment = {**os.environ, **assembler_environment(compiler)}
    with tempfile.TemporaryDirectory(prefix="imbrex-") as scratch:
        words = instrumented(language, arguments, clang, library, duplicate=duplicate)
        command = [compiler, *words]
        if clang:
            command += clang_notes(command, Path(scratch))
        else:
            dump = Path(scratch) / "dump"
            command.append(f"-fdump-tree-optimized-lineno={dump}")
            environment["IMBREX_DUMP"] = str(dump)
        if duplicate and "-c" in arguments:
            command += SAME_FUNCTIONS
            text = Path(scratch) / "plain.s"
            if compile_text(compiler, [*arguments, *SAME_FUNCTIONS], text):
                environment["IMBREX_PLAIN_TEXT"] = str(text)
        code = subprocess.run(command, check=False, env=environment).returncode
        forget_dependency(arguments, library.registers)
    if code == 0:
        _make_twin(compiler, arguments, warn)
    return code if code >= 0 else 128 - code


def _make_twin(compiler: str, arguments: Sequence[str], warn: Callable[[str], None]) -> None:
    """The same without recording; a failure costs the twin, not the build."""
    asked = _NO_LINK.intersection(arguments)
    if asked == {"-c"} and not compile_twins(compiler, arguments):
        warn("no plain twin could be put into the object")
    if not asked and (reason := link_twin(compiler, arguments)):
        warn(f"no plain twin was linked ({reason}); recording will need --plain PROGRAM")
