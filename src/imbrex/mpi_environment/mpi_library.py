"""Which MPI library a program uses, and the mpicc that belongs to it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.elf_needs import exported_names, is_elf, loaded_libraries
from imbrex.mpi_environment.launcher_line import LauncherLine, program_file

Kind = Literal["openmpi", "mpich", "intel", "abi"]

NAMES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "intel": "Intel MPI",
    "abi": "MPI standard ABI",
}
_MPI_SONAME = re.compile(
    r"^lib(?:mpi|mpich|mpi_abi|mpi_cray|mpi_gnu_\d+|mpi_intel|mvapich2?)\.so(?:\.\d+)*$"
)
_COMPILERS = ("mpicc", "mpicc.openmpi", "mpicc.mpich", "mpiicx", "mpiicc", "mpigcc")
_COMPILE_TIMEOUT_S = 120


@dataclass(frozen=True)
class MpiLibrary:
    """An MPI library: its file, soname and kind, and its C compiler wrapper once that is known."""

    file: Path
    soname: str
    kind: Kind
    mpicc: Path | None = None

    @property
    def name(self) -> str:
        return NAMES[self.kind]

    @property
    def identity(self) -> str:
        """A short key that changes when the library is replaced by another."""
        status = self.file.stat()
        text = f"{self.file.resolve()} {status.st_size} {status.st_mtime_ns}"
        return f"{self.kind}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def library_of_binary(program: Path) -> MpiLibrary | None:
    """The MPI library that a program or shared object loads; None where it loads none.

    ImbrexError where it loads two, or where its library is not on this machine.
    """
    if not is_elf(program):
        return None
    found: dict[Path, MpiLibrary] = {}
    for soname, file in loaded_libraries(program).items():
        if not _MPI_SONAME.match(soname):
            continue
        if file is None:
            raise ImbrexError(
                f"{program}: its MPI library {soname} is not found; load its module or set "
                f"LD_LIBRARY_PATH"
            )
        found[file.resolve()] = MpiLibrary(file, soname, _kind(file, soname))
    if len({library.kind for library in found.values()}) > 1:
        names = " and ".join(sorted(str(library.file) for library in found.values()))
        raise ImbrexError(f"{program}: loads two MPI libraries, {names}; link it with one only")
    # libmpi.so.12 of MPICH may itself load libmpi_abi or the reverse: the first is the program's.
    return next(iter(found.values()), None)


def _kind(file: Path, soname: str) -> Kind:
    if soname.startswith("libmpi_abi"):
        return "abi"
    if exported_names(file, ["ompi_mpi_comm_world", "ompi_mpi_init"]):
        return "openmpi"
    # Intel MPI has the soname of MPICH 3 and later, on purpose: one program runs with either.
    if exported_names(file, ["I_MPI_Check_image_status", "__I_MPI__LIB_VERSIONIMF"]):
        return "intel"
    return "mpich"


def library_of_line(line: LauncherLine, mpicc: Path | None = None) -> MpiLibrary:
    """The MPI library of the programs of a launcher line, with its mpicc.

    Programs are checked first (found, executable, readable). A script or an interpreter says
    nothing of its library: then it is the launcher's own, or that of the given mpicc, or of the
    mpicc on PATH. ImbrexError for two libraries in one line, and for a wrong or missing mpicc.
    """
    found: MpiLibrary | None = None
    owner = ""
    for words, segment in zip(line.programs(), line.segments, strict=True):
        file = program_file(words, segment.folder)
        library = library_of_binary(file) or _library_of_arguments(words[1:])
        if library is None:
            continue
        if found is not None and library.file.resolve() != found.file.resolve():
            raise ImbrexError(
                f"{owner} uses {found.file} and {words[0]} uses {library.file}: "
                f"one run cannot mix two MPI libraries"
            )
        found, owner = library, words[0]
    _check_launcher(line, found, owner)
    if found is not None:
        return with_compiler(found, line, mpicc)
    return library_of_launcher(line, mpicc)


def library_of_launcher(line: LauncherLine, mpicc: Path | None = None) -> MpiLibrary:
    """The MPI library of a launcher alone (no program yet), with its mpicc."""
    if mpicc is not None:
        library = _library_of_given(mpicc)
        if not _fits(line, library):
            raise ImbrexError(
                f"--mpicc {mpicc}: belongs to {library.file}, but {line.words[0]} is the launcher "
                f"of {_launcher_of(line)}"
            )
        return replace(library, mpicc=mpicc)
    broken: list[Path] = []
    for compiler in _compilers(None, line):
        found = library_of_compiler(compiler)
        if found is not None and _fits(line, found):
            return replace(found, mpicc=compiler)
        broken += [compiler] if found is None else []
    raise ImbrexError(
        _broken(broken)
        or "no mpicc was found for this launcher's MPI: name the one that belongs to it with "
        "--mpicc"
    )


def _broken(compilers: list[Path]) -> str:
    """What is said where compiler wrappers were found that do not work; empty where none was."""
    if not compilers:
        return ""
    return (
        f"{compilers[0]} cannot compile an MPI program, and no other mpicc of this MPI was found: "
        "install the C compiler that it starts (on Debian gcc and libc6-dev), or name a mpicc that "
        "works with --mpicc"
    )


def _library_of_given(mpicc: Path) -> MpiLibrary:
    """The library of the compiler that the user named; ImbrexError where it is none."""
    if shutil.which(mpicc) is None:
        raise ImbrexError(f"--mpicc {mpicc}: not found, or not executable")
    library = library_of_compiler(mpicc)
    if library is None:
        raise ImbrexError(f"--mpicc {mpicc}: cannot compile an MPI program")
    return library


def _library_of_arguments(words: list[str]) -> MpiLibrary | None:
    """The library of a program behind a wrapper, as in `numactl -N 0 ./app` or `env X=1 ./app`."""
    for argument in words:
        file = Path(argument) if "/" in argument else None
        if file is not None and file.is_file() and os.access(file, os.X_OK) and is_elf(file):
            library = library_of_binary(file)
            if library is not None:
                return library
    return None


def _fits(line: LauncherLine, library: MpiLibrary) -> bool:
    if line.family == "openmpi":
        return library.kind in ("openmpi", "abi")
    if line.family == "hydra":
        return library.kind in ("mpich", "intel", "abi")
    return True


def _launcher_of(line: LauncherLine) -> str:
    return "Open MPI" if line.family == "openmpi" else "MPICH (Hydra)"


def _check_launcher(line: LauncherLine, library: MpiLibrary | None, program: str) -> None:
    if library is None or _fits(line, library):
        return
    raise ImbrexError(
        f"{line.words[0]} is the launcher of {_launcher_of(line)}, but {program} is linked with "
        f"{library.name} ({library.file}): start it with the launcher of its own library"
    )


def with_compiler(
    library: MpiLibrary, line: LauncherLine | None = None, mpicc: Path | None = None
) -> MpiLibrary:
    """The library with the mpicc that links the very same file; ImbrexError where none does."""
    if mpicc is not None:
        given = _library_of_given(mpicc)
        if not _same(given, library) and not _exchangeable(given, library):
            raise ImbrexError(
                f"--mpicc {mpicc}: belongs to {given.file}, but the program uses {library.file}"
            )
        return replace(library, mpicc=mpicc)
    broken: list[Path] = []
    for compiler in _compilers(library, line):
        other = library_of_compiler(compiler)
        if other is not None and _same(other, library):
            return replace(library, mpicc=compiler)
        broken += [compiler] if other is None else []
    raise ImbrexError(
        _broken(broken)
        or f"no mpicc was found that belongs to {library.file}: name it with --mpicc "
        f"(on Debian it is in libopenmpi-dev or libmpich-dev)"
    )


def _same(one: MpiLibrary, other: MpiLibrary) -> bool:
    return one.file.resolve() == other.file.resolve()


def _exchangeable(one: MpiLibrary, other: MpiLibrary) -> bool:
    """Whether both have the binary interface that MPICH and Intel MPI agreed on.

    Then the mpicc of one serves the other, which may come without (Intel's `impi-rt`).
    """
    return one.soname == other.soname == "libmpi.so.12"


def _compilers(library: MpiLibrary | None, line: LauncherLine | None) -> Iterator[Path]:
    """Compiler wrappers to try, the likeliest first, each once."""
    seen: set[Path] = set()
    for candidate in _compiler_places(library, line):
        if candidate not in seen and candidate.is_file() and os.access(candidate, os.X_OK):
            seen.add(candidate)
            yield candidate


def _compiler_places(library: MpiLibrary | None, line: LauncherLine | None) -> Iterator[Path]:
    if line is not None and line.launcher is not None:
        suffix = "".join(line.launcher.suffixes)
        for folder in (line.launcher.parent, line.launcher.resolve().parent):
            yield folder / f"mpicc{suffix}"
            yield from (folder / name for name in _COMPILERS)
    if library is not None:
        for folder in (library.file.parent, library.file.resolve().parent):
            for parent in [folder, *folder.parents][:5]:
                yield from (parent / "bin" / name for name in _COMPILERS)
    for name in _COMPILERS:
        on_path = shutil.which(name)
        if on_path:
            yield Path(on_path)


def compiler_environment(mpicc: Path, scratch: Path | None = None) -> dict[str, str]:
    """The environment to run a compiler wrapper in, with its temporary files in `scratch`.

    Without our preloaded objects; and Intel's wrappers find their headers by I_MPI_ROOT alone,
    which its PyPI wheel does not set.
    """
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "MAKEFLAGS")}
    if (mpicc.parent / "mpigcc").exists():
        environment.setdefault("I_MPI_ROOT", str(mpicc.absolute().parent.parent))
    if scratch is not None:
        # Known to be writable, where the user's TMPDIR may be full.
        environment["TMPDIR"] = str(scratch)
    return environment


def library_of_compiler(mpicc: Path) -> MpiLibrary | None:
    """The MPI library that a compiler wrapper links, found by linking a program; None: it fails."""
    with tempfile.TemporaryDirectory(prefix="imbrex-") as scratch:
        source, program = Path(scratch) / "try.c", Path(scratch) / "try"
        source.write_text(
            "#include <mpi.h>\nint main(int n, char **v) { return MPI_Init(&n, &v); }\n"
        )
        environment = compiler_environment(mpicc, Path(scratch))
        try:
            done = subprocess.run(
                [str(mpicc), "-o", str(program), str(source)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env=environment,
                timeout=_COMPILE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        try:
            return library_of_binary(program)
        except ImbrexError:
            return None
