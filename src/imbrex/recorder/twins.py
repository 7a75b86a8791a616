"""The plain twin of a recorded program: the same source without recording, built beside it.

Times must come from a program that nothing slows down. `imbrex cc -c` puts the plain object into a
section of the instrumented one, so that it goes wherever the object goes, archives included;
`imbrex cc` linking PROGRAM takes those out and links PROGRAM.plain.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from imbrex.recorder.archives import archive_members

SECTION = ".imbrex.plain"
SUFFIX = ".plain"
SOURCES = {".c", ".i", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".ii", ".s", ".S"}
SOURCES |= {".f", ".F", ".for", ".FOR", ".fpp", ".FPP", ".ftn", ".FTN", ".f90", ".F90"}
SOURCES |= {".f95", ".F95", ".f03", ".F03", ".f08", ".F08"}
# What would be written a second time, under another name.
_DEPENDENCIES = {"-MD", "-MMD", "-MP"}
_DEPENDENCIES_ONE = {"-MF", "-MT", "-MQ"}


def twin_of(program: Path) -> Path:
    """Where the plain twin of a program lies."""
    return program.with_name(program.name + SUFFIX)


def compile_twins(compiler: str, arguments: Sequence[str]) -> bool:
    """After `-c`: compile every source once more, plainly, and put it into its object.

    False where that failed: then the program has no twin and needs --plain.
    """
    plain = without_dependencies(arguments)
    output = _output(arguments)
    sources = [a for a in plain if Path(a).suffix in SOURCES and Path(a).is_file()]
    # Standard input is gone, and what -x names has any ending.
    if not sources:
        return False
    with tempfile.TemporaryDirectory(prefix="imbrex-") as scratch:
        for source in sources:
            target = Path(output) if output else Path(Path(source).stem + ".o")
            twin = Path(scratch) / "twin.o"
            other_sources = {file for file in sources if file != source}
            kept = [a for a in without_output(plain) if a not in other_sources]
            if not _run([compiler, *kept, "-o", str(twin)]) or not target.exists():
                return False
            added = f"{SECTION}={twin}"
            flags = f"{SECTION}=noload,readonly,exclude"
            if not _run(["objcopy", "--add-section", added, "--set-section-flags", flags,
                         str(target)]):  # fmt: skip
                return False
    return True


def compile_text(compiler: str, arguments: Sequence[str], output: Path) -> bool:
    """The assembler text of the plain source of a `-c`, with its lines."""
    kept = [a for a in without_output(without_dependencies(arguments)) if a != "-c"]
    return _run([compiler, *kept, "-g", "-S", "-o", str(output)])


def one_by_one(arguments: Sequence[str], scratch: Path) -> list[list[str]]:
    """A call of the compiler as calls with one source each, and one that links them."""
    sources = [a for a in arguments if Path(a).suffix in SOURCES and Path(a).is_file()]
    links = not {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}.intersection(arguments)
    if not sources or (not links and ("-c" not in arguments or len(sources) == 1)):
        return [list(arguments)]
    for_linker = ("-l", "-L", "-Wl,")
    flags = [
        a
        for a in (without_output(arguments) if links else arguments)
        if a not in sources and not a.startswith(for_linker) and not a.endswith((".o", ".a", ".so"))
    ]
    objects = {source: str(scratch / f"{i}.o") for i, source in enumerate(sources)}
    own = ["-c"] if links else []
    calls = [
        [*flags, *own, source, *(["-o", objects[source]] if links else [])] for source in sources
    ]
    return [*calls, [objects.get(a, a) for a in arguments]] if links else calls


def link_twin(compiler: str, arguments: Sequence[str]) -> str | None:
    """After linking: link the twin; None, or why there is none."""
    program = Path(_output(arguments) or "a.out")
    twin_of(program).unlink(missing_ok=True)
    if "-shared" in arguments or not program.exists():
        return None
    kept = without_output(without_dependencies(arguments))
    folders = _folders(kept)
    with tempfile.TemporaryDirectory(prefix="imbrex-") as scratch:
        found = [_plain_input(a, folders, Path(scratch), i) for i, a in enumerate(kept)]
        done = subprocess.run(
            [compiler, *found, "-o", str(twin_of(program))],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if "__tsan" in line]
    if lines:
        return "an object or library was compiled with the wrapper, but without its plain twin"
    # The place ("in function `main':") comes before what is wrong there.
    said = [line for line in done.stderr.splitlines() if not line.endswith(":")]
    return next(iter(said), "the linker failed")


def _plain_input(argument: str, folders: Sequence[Path], scratch: Path, number: int) -> str:
    """An argument of the linker, with plain code in place of instrumented."""
    path = Path(argument)
    if argument.startswith("-l"):
        name = argument[3:] if argument.startswith("-l:") else f"lib{argument[2:]}.a"
        path = next((file for folder in folders if (file := folder / name).is_file()), path)
    if path.suffix == ".o" and path.is_file():
        twin = scratch / f"{number}.o"
        return str(twin) if _take_out(path, twin) else argument
    if path.suffix == ".a" and path.is_file():
        twin = scratch / f"{number}.a"
        return str(twin) if _plain_archive(path, twin, scratch / f"{number}") else argument
    return argument


def _folders(arguments: Sequence[str]) -> list[Path]:
    """Where the linker looks for libraries, as -LDIR or -L DIR says."""
    found = []
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument.startswith("-L") and (folder := argument[2:] or following):
            found.append(Path(folder))
    return found


def _take_out(file: Path, twin: Path) -> bool:
    return _run(["objcopy", "--dump-section", f"{SECTION}={twin}", str(file), os.devnull]) and (
        twin.exists()
    )


def _plain_archive(archive: Path, twin: Path, folder: Path) -> bool:
    """An archive of the twins of its members; False where none has one."""
    folder.mkdir()
    members = []
    taken = 0
    try:
        for number, content in enumerate(archive_members(archive)):
            member = folder / f"{number}.o"
            member.write_bytes(content)
            plain = folder / f"{number}.plain.o"
            has_one = _take_out(member, plain)
            members.append(plain if has_one else member)
            taken += has_one
    except (OSError, ValueError):
        return False
    return taken > 0 and _run(["ar", "rcs", str(twin), *map(str, members)])


def _run(command: Sequence[str], folder: Path | None = None) -> bool:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def _output(arguments: Sequence[str]) -> str | None:
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == "-o" and following:
            return following
        if argument.startswith("-o") and len(argument) > 2 and not argument.startswith("-openmp"):
            return argument[2:]
    return None


def without_output(arguments: Sequence[str]) -> list[str]:
    return _without(arguments, set(), {"-o"}, "-o")


def without_dependencies(arguments: Sequence[str]) -> list[str]:
    return _without(arguments, _DEPENDENCIES, _DEPENDENCIES_ONE, "-Wp,-M")


def _without(
    arguments: Sequence[str], alone: set[str], with_value: set[str], start: str
) -> list[str]:
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in with_value:
            skip = True
        elif argument not in alone and not argument.startswith(start):
            kept.append(argument)
    return kept
