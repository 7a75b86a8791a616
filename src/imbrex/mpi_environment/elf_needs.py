"""The shared libraries that a program will load, as the dynamic linker would find them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

MAGIC = b"\x7fELF"


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
    """The dynamic section of an ELF file; None where it has none or cannot be read."""
    try:
        with file.open("rb") as stream:
            elf = ELFFile(stream)
            machine = f"{elf['e_machine']}/{elf.elfclass}"
            section = next(
                (s for s in elf.iter_segments() if s["p_type"] == "PT_DYNAMIC"),
                None,
            ) or elf.get_section_by_name(".dynamic")
            if section is None or not hasattr(section, "iter_tags"):
                return Needs(file, (), None, (), (), machine)
            names, soname, rpath, runpath = [], None, [], []
            for tag in section.iter_tags():
                kind = tag.entry.d_tag
                if kind == "DT_NEEDED":
                    names.append(tag.needed)
                elif kind == "DT_SONAME":
                    soname = tag.soname
                elif kind == "DT_RPATH":
                    rpath += tag.rpath.split(":")
                elif kind == "DT_RUNPATH":
                    runpath += tag.runpath.split(":")
            return Needs(file, tuple(names), soname, tuple(rpath), tuple(runpath), machine)
    except (OSError, ELFError, ValueError, UnicodeDecodeError):
        return None


def exported_names(file: Path, wanted: Iterable[str]) -> set[str]:
    """Which of the wanted symbols a file defines (dynamic symbols, or all where there are none)."""
    wanted = set(wanted)
    try:
        with file.open("rb") as stream:
            elf = ELFFile(stream)
            found: set[str] = set()
            for name in (".dynsym", ".symtab"):
                section = elf.get_section_by_name(name)
                if not isinstance(section, SymbolTableSection):
                    continue
                for symbol in section.iter_symbols():
                    if symbol.entry["st_shndx"] != "SHN_UNDEF" and symbol.name in wanted:
                        found.add(symbol.name)
            return found
    except (OSError, ELFError, ValueError):
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


def _find(name: str, asker: Needs, inherited: tuple[str, ...]) -> Path | None:
    """Where the dynamic linker finds `name` (ld.so(8): RPATH, LD_LIBRARY_PATH, RUNPATH, cache)."""
    if "/" in name:
        return Path(name) if Path(name).exists() else None
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
                return file
    return None


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
            found[name] = _find(name, asker, inherited)
            file = found[name]
            needs = read_needs(file) if file is not None else None
            if needs is not None:
                # An RPATH also serves the libraries of its libraries; a RUNPATH does not.
                queue.append((needs, (*asker.rpath, *inherited)))
    return found
