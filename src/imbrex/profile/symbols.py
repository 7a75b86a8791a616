"""Function names from an image's symbol tables."""

from __future__ import annotations

import ctypes
import ctypes.util
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection


@dataclass(frozen=True)
class SymbolPlace:
    """A symbol and how far behind its start an address lies (bytes)."""

    name: str
    offset: int


class Symbols:
    """The functions of .symtab and .dynsym, ordered by address."""

    def __init__(self, elf: ELFFile) -> None:
        functions: dict[int, tuple[int, str]] = {}
        for section_name in (".dynsym", ".symtab"):
            section = elf.get_section_by_name(section_name)
            if not isinstance(section, SymbolTableSection):
                continue
            for symbol in section.iter_symbols():
                entry = symbol.entry
                if entry["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC") and entry["st_value"]:
                    functions[entry["st_value"]] = (entry["st_size"], symbol.name)
        self._starts = sorted(functions)
        self._functions = functions

    def name(self, address: int) -> SymbolPlace | None:
        """The function that covers an address; None where a symbol's size excludes it."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start = self._starts[index]
        size, name = self._functions[start]
        if size and address >= start + size:
            return None
        return SymbolPlace(name, address - start)


def build_id(elf: ELFFile) -> str | None:
    """The image's build-id in hex, or None."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    if not isinstance(section, NoteSection):
        return None
    for note in section.iter_notes():
        if note["n_type"] == "NT_GNU_BUILD_ID":
            return str(note["n_desc"])
    return None


@lru_cache(maxsize=1)
def _demangler() -> ctypes.CDLL | None:
    """libstdc++, which carries the C++ ABI's demangler; None where there is none."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
    except (OSError, AttributeError):
        return None
    return library


def demangle(name: str) -> str:
    """A C++ or Cython name as in the source; other names unchanged."""
    name = name.split("@", 1)[0]
    if name.startswith(_CYTHON):
        return _python_name(name)
    library = _demangler() if name.startswith("_Z") else None
    if library is None:
        return name
    status = ctypes.c_int()
    pointer = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not pointer:
        return name
    text = ctypes.cast(pointer, ctypes.c_char_p).value or b""
    libc = ctypes.CDLL(None)
    libc.free(ctypes.c_void_p(pointer))
    return text.decode("utf-8", "replace")


_CYTHON = ("__pyx_pw_", "__pyx_pf_", "__pyx_f_")
"""What Cython puts before the functions that it makes of Python's."""


def _python_name(name: str) -> str:
    """`mpi4py.MPI.Comm.Isend` of `__pyx_pw_6mpi4py_3MPI_4Comm_77Isend`.

    Each scope has its length before it; before the function's own name there may be a counter.
    """
    rest = name.removeprefix(next(prefix for prefix in _CYTHON if name.startswith(prefix)))
    scopes = []
    while True:
        text = rest.lstrip("0123456789")
        digits = rest[: len(rest) - len(text)]
        length = int(digits) if digits else 0
        end = text[length : length + 2]
        if not length or end[:1] != "_" or not end[1:].isdigit():  # `3Get_size` is no scope
            break
        scopes.append(text[:length])
        rest = text[length + 1 :]
    return ".".join([*scopes, text]) if scopes and text else name
