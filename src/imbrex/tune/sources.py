"""The sources of a program, and how it is built: from its debug information and its folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from imbrex.mpi_environment.elf_needs import is_elf
from imbrex.profile.compile_units import CompileUnit, compile_units
from imbrex.transform.program_sources import flags_of_units, own_units
from imbrex.tune.copied import copied_files, copy
from imbrex.tune.obstacle import NotPossibleError

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_KEPT_OPTION = re.compile(
    r"-(O\w*|std=.+|march=.+|f(?!pre-include|intrinsic|asynchronous)\S+|g\d?)"
)
_CMAKE = "cmake -S . -B imbrex-build"
_WRAPPERS = {"C": "mpicc", "C++": "mpicxx", "Fortran": "mpifort"}


@dataclass(frozen=True)
class Sources:
    """What makes a program. `root` holds all that a build needs; `folder` is where `build` is run,
    in `root`; `copied` what a build needs, relative to `root`; `flags_of` the compiler's flags of
    each file, for reading it; `mpicc` that of the program's MPI, where the user has not told how to
    build; `again` the line that builds the user's own program, from where the user is, empty where
    it is not known."""

    program: Path
    root: Path
    folder: Path
    files: tuple[Path, ...]
    copied: tuple[Path, ...]
    flags_of: dict[Path, list[str]]
    build: str
    mpicc: Path | None = None
    again: str = ""


@dataclass(frozen=True)
class Told:
    """What the user says of the sources: their folder, the build command, a compile database; and
    whether patches are wanted of what could be rewritten if more were known."""

    root: Path | None = None
    build: str | None = None
    database: Path | None = None
    suggest: bool = False


NOTHING_TOLD = Told()


def find_sources(program: Path, told: Told, mpicc: Path | None, output: Path) -> Sources:
    """The sources of a program on this machine; NotPossibleError where they are not known, or are
    newer than it. `mpicc` belongs to the program's MPI; `output` is the folder of the search."""
    if re.fullmatch(r"python[\d.]*", program.name):
        raise NotPossibleError("programs in Python are not rewritten")
    if not is_elf(program):
        raise NotPossibleError(f"{program.name} is a script: only compiled programs are rewritten")
    units = compile_units(program)
    if not units:
        raise NotPossibleError(f"{program.name} has no debug information: compile it with -g")
    mine = own_units(units)
    files = tuple(dict.fromkeys(unit.source for unit in mine if unit.source.is_file()))
    if not files:
        raise NotPossibleError(f"the sources of {program.name} are not here ({units[0].source})")
    root = told.root.resolve() if told.root is not None else _root(files)
    outside = next((file for file in files if not file.is_relative_to(root)), None)
    if outside is not None:
        raise NotPossibleError(f"{outside} is not in {root}: name a folder with all (--sources)")
    if root in (Path("/"), Path.home(), Path("/tmp")):
        raise NotPossibleError(f"the sources are all over {root}: name their folder (--sources)")
    copied = tuple(copied_files(root, program, output))
    if told.build is not None:
        here = Path.cwd().resolve()
        folder, build = (here if here.is_relative_to(root) else root), told.build
    else:
        folder, build = _build(program, root, mine, copied, mpicc, output)
    wrapper = mpicc if told.build is None else None
    again = _again(program, folder, build, wrapper)
    for file in files:
        if file.stat().st_mtime > program.stat().st_mtime:
            how = f": {again}" if again else ""
            raise NotPossibleError(f"{file} is newer than {program.name}: build that first{how}")
    flags = flags_of_units(root, mine, told.database)
    return Sources(program, root, folder, files, copied, flags, build, wrapper, again)


def _root(files: tuple[Path, ...]) -> Path:
    """The repository of the sources, else the folder that holds them all, or the build above it."""
    common = Path(os.path.commonpath([str(file.parent) for file in files]))
    try:
        words = ["git", "-C", str(common), "rev-parse", "--show-toplevel"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return Path(done.stdout.strip()).resolve()
    except OSError:  # no git here
        pass
    for above in (common, *list(common.parents)[:2]):
        if _made_in(above):
            return above
    return common


def _made_in(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (*_MAKEFILES, "CMakeLists.txt"))


def _build(
    program: Path,
    root: Path,
    units: list[CompileUnit],
    copied: tuple[Path, ...],
    mpicc: Path | None,
    output: Path,
) -> tuple[Path, str]:
    """Where and how to build: by make, CMake, or the compiler alone."""
    here = Path.cwd().resolve()
    common = Path(os.path.commonpath([str(unit.source.parent) for unit in units]))
    places = (here, program.parent, common, *common.parents)
    inside = [folder for folder in dict.fromkeys(places) if folder.is_relative_to(root)]
    makefiles = {(root / name).parent for name in copied if name.name in _MAKEFILES}
    made = [folder for folder in inside if folder in makefiles]
    if made:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="make-", dir=output) as scratch:
            copy(root, copied, Path(scratch))
            for folder in made:
                if target := _target(Path(scratch) / folder.relative_to(root), folder, program):
                    return folder, shlex.join(["make", target])
        return made[0], "make"
    if (root / "CMakeLists.txt").is_file():
        kind = "RelWithDebInfo"
        cache = program.parent / "CMakeCache.txt"
        if cache.is_file():
            text = cache.read_text(errors="replace")
            found = re.search(r"^CMAKE_BUILD_TYPE:\w+=(\w+)", text, re.MULTILINE)
            kind = found[1] if found else kind
        return root, f"{_CMAKE} -DCMAKE_BUILD_TYPE={kind} && cmake --build imbrex-build"
    languages = {unit.language for unit in units}
    compiler = _compiler(mpicc, languages)
    if compiler is None:
        raise NotPossibleError(f"how {program.name} is built is not known: tell it (--build CMD)")
    options = list(dict.fromkeys(o for o in units[0].options if _KEPT_OPTION.fullmatch(o)))
    folders = {i for u in units for i in u.includes if i.is_relative_to(root) and i != root}
    includes = [f"-I{folder.relative_to(root)}" for folder in sorted(folders)]
    names = [str(unit.source.relative_to(root)) for unit in units]
    return root, shlex.join(
        [compiler, *options, *includes, "-o", program.name, *dict.fromkeys(names), "-lm"]
    )


def _again(program: Path, folder: Path, build: str, mpicc: Path | None) -> str:
    """The line that builds the user's own program again, from where the user is; empty where it is
    not known: a build with CMake elsewhere, a compiler that would leave the program elsewhere, or a
    `make` that would take another MPI than `mpicc`, that of the program."""
    if (program.parent / "CMakeCache.txt").is_file():
        return shlex.join(["cmake", "--build", os.path.relpath(program.parent)])
    words = shlex.split(build)
    elsewhere = "-o" in words and program.parent != folder
    if elsewhere or build.startswith(_CMAKE):
        return ""
    first = shutil.which("mpicc")
    if words[0] == "make" and mpicc and first and not mpicc.samefile(first):
        return ""
    return build if folder == Path.cwd() else f"(cd {shlex.quote(str(folder))} && {build})"


def _target(tree: Path, folder: Path, program: Path) -> str | None:
    """The target of a Makefile that is the program; None where there is no such name. `tree` is the
    copy of `folder`, in which the program is missing: even `make -n` makes what Makefiles include.
    """
    names = [program.name]
    if program.is_relative_to(folder):
        names.insert(0, str(program.relative_to(folder)))
    for name in names:
        try:
            done = subprocess.run(
                ["make", "-r", "-n", name],
                cwd=tree,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError:  # no make here, as the build will say
            return None
        if done.returncode == 0 and "Nothing to be done" not in done.stdout:
            return name
    return None


def _compiler(mpicc: Path | None, languages: set[str]) -> str | None:
    """The wrapper that compiles one language alone."""
    if mpicc is None:
        return None
    wrapper = _WRAPPERS.get("".join(languages) if len(languages) == 1 else "")
    if wrapper is None or (wrapper != "mpicc" and "mpicc" not in mpicc.name):
        return None
    compiler = mpicc.with_name(mpicc.name.replace("mpicc", wrapper))
    return str(compiler) if compiler.exists() else None
