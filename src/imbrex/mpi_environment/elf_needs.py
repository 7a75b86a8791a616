"""The shared libraries that a program will load, as the dynamic linker would find them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from imbrex.mpi_environment.elf_file import MAGIC, ElfFile, NotElfError


@dataclass(frozen=True)
class Needs:
    """What one ELF file asks for: sonames, and where it says to look for them."""

    file: Path
    names: tuple[str, ...]
    soname: str | None
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    machine: str


def is_elf(file: Path) -> bool:
    """Whether a file begins as ELF files do."""
    try:
        with file.open("rb") as stream:
            return stream.read(4) == MAGIC
    except OSError:
        return False


def read_needs(file: Path) -> Needs | None:
    """The dynamic section of an ELF file; None where it cannot be read."""
    try:
        elf = ElfFile(file)
        found = elf.dynamic()
    except (OSError, NotElfError):
        return None
    machine = f"{elf.machine}/{elf.bits}"
    return Needs(file, found.needed, found.soname, found.rpath, found.runpath, machine)


def exported_names(file: Path, wanted: Iterable[str]) -> set[str]:
    """Which of the wanted symbols a file defines, in its dynamic symbols or in all of them."""
    try:
        elf = ElfFile(file)
        return {name for name in wanted if elf.defines(name)}
    except (OSError, NotElfError):
        return set()


@lru_cache(maxsize=1)
def _cache() -> dict[str, list[str]]:
    """The dynamic linker's cache: soname to files."""
    found: dict[str, list[str]] = {}
    for ldconfig in ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"):
        try:
            text = subprocess.run(
                [ldconfig, "-p"], capture_output=True, text=True, check=False, timeout=20
            ).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        for name, file in re.findall(r"^\s+(\S+) \(.*\) => (\S+)$", text, re.MULTILINE):
            found.setdefault(name, []).append(file)
        break
    return found


def _default_folders() -> list[str]:
    machine = os.uname().machine
    multiarch = f"{machine}-linux-gnu"
    return [
        f"/lib/{multiarch}",
        f"/usr/lib/{multiarch}",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
    ]


def _find(name: str, asker: Needs, inherited: tuple[str, ...]) -> tuple[Path | None, Needs | None]:
    """Where the dynamic linker finds `name` (ld.so(8): RPATH, LD_LIBRARY_PATH, RUNPATH, cache),
    and what that file needs."""
    if "/" in name:
        return (Path(name), read_needs(Path(name))) if Path(name).exists() else (None, None)
    folders: list[str] = []
    if not asker.runpath:
        folders += [*asker.rpath, *inherited]
    folders += os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    folders += asker.runpath
    origin = str(asker.file.resolve().parent)
    candidates = [
        folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) + "/" + name
        for folder in folders
        if folder
    ]
    candidates += _cache().get(name, [])
    candidates += [f"{folder}/{name}" for folder in _default_folders()]
    for candidate in candidates:
        file = Path(candidate)
        if file.exists():
            needs = read_needs(file)
            if needs is not None and needs.machine == asker.machine:
                return file, needs
    return None, None


def loaded_libraries(program: Path) -> dict[str, Path | None]:
    """Soname to file (None: not found) of everything a program loads at its start."""
    first = read_needs(program)
    found: dict[str, Path | None] = {}
    if first is None:
        return found
    queue: list[tuple[Needs, tuple[str, ...]]] = [(first, ())]
    while queue:
        asker, inherited = queue.pop(0)
        for name in asker.names:
            if name in found:
                continue
            found[name], needs = _find(name, asker, inherited)
            if needs is not None:
                # An RPATH also serves the libraries of its libraries; a RUNPATH does not.
                queue.append((needs, (*asker.rpath, *inherited)))
    return found
