"""What debug information says of how a program was compiled: sources, folders, compiler."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_FORTRAN = frozenset({0x7, 0x8, 0xE, 0x22, 0x23, 0x2D})
_C = frozenset({0x1, 0x2, 0xC, 0x1D, 0x2C})
_CXX = frozenset({0x4, 0x1A, 0x21, 0x2B, 0x3A})
_LANGUAGES = {"Fortran": _FORTRAN, "C": _C, "C++": _CXX}


@dataclass(frozen=True)
class CompileUnit:
    """A source file as it was compiled. `language` is C, C++, Fortran or other; `options` are
    those that the compiler noted, which are neither -I nor -D; `includes` the folders of the files
    of which it took more than macros and prototypes; `folder` is where it was started.
    """

    source: Path
    language: str
    options: tuple[str, ...]
    includes: tuple[Path, ...]
    folder: Path = Path("/")


def compile_units(program: Path) -> tuple[CompileUnit, ...]:
    """The compile units of a program; none where it has no debug information."""
    try:
        with program.open("rb") as stream:
            elf = ELFFile(stream)
            if not elf.has_dwarf_info(strict=True):
                return ()
            dwarf = elf.get_dwarf_info()
            return tuple(
                found for unit in dwarf.iter_CUs() if (found := _unit(dwarf, unit)) is not None
            )
    except (OSError, ELFError, ValueError, KeyError):
        return ()


def _unit(dwarf: Any, unit: Any) -> CompileUnit | None:
    top = unit.get_top_DIE()
    if top.tag != "DW_TAG_compile_unit" or "DW_AT_name" not in top.attributes:
        return None
    folder = Path(_text(top, "DW_AT_comp_dir") or "/")
    language = top.attributes.get("DW_AT_language")
    number = language.value if language is not None else 0
    kind = next((name for name, codes in _LANGUAGES.items() if number in codes), "other")
    words = _text(top, "DW_AT_producer").split()
    lines = dwarf.line_program_for_CU(unit)
    names = lines.header.get("include_directory", ()) if lines is not None else ()
    return CompileUnit(
        source=(folder / _text(top, "DW_AT_name")).resolve(),
        language=kind,
        options=tuple(argument for argument in words if argument.startswith("-")),
        includes=tuple((folder / _decoded(name)).resolve() for name in names),
        folder=folder,
    )


def _text(entry: Any, name: str) -> str:
    attribute = entry.attributes.get(name)
    return _decoded(attribute.value) if attribute is not None else ""


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
