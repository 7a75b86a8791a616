"""What the dynamic linker reads of an ELF file: its dynamic section and its symbols.

`imbrex run` reads some forty libraries before it starts a program. Of each it needs a few words,
for which a parser of whole files takes a hundred times as long.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\x7fELF"
_PT_LOAD, _PT_DYNAMIC = 1, 2
_SHT_SYMTAB, _SHT_DYNSYM = 2, 11
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 14, 15, 29
_SHN_UNDEF = 0
# By class, behind the byte order. ELF header behind e_ident; program header; section header;
# dynamic entry; symbol. A symbol is (name, section) only, the rest is padding.
_HEADER = {1: "HHIIIIIHHHHHH", 2: "HHIQQQIHHHHHH"}
_SEGMENT = {1: "IIIIIIII", 2: "IIQQQQQQ"}
_SECTION = {1: "IIIIIIIIII", 2: "IIQQQQIIQQ"}
_ENTRY = {1: "iI", 2: "qQ"}
_SYMBOL = {1: "I10xH", 2: "I2xH16x"}


class NotElfError(ValueError):
    """A file that is no ELF file, or a damaged one."""


@dataclass(frozen=True)
class Dynamic:
    """A dynamic section: what is needed, what the file is called, and where it looks."""

    needed: tuple[str, ...] = ()
    soname: str | None = None
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


class ElfFile:
    """One ELF file of either class and byte order. NotElfError where it is none or damaged."""

    def __init__(self, file: Path) -> None:
        """OSError where it cannot be read."""
        with file.open("rb") as stream:
            try:
                # Mapped: programs of gigabytes are read in a few places only.
                self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:
                raise NotElfError(f"{file}: empty") from None
        if self._data[:4] != MAGIC or self._data[4:6] not in (b"\1\1", b"\1\2", b"\2\1", b"\2\2"):
            raise NotElfError(f"{file}: no ELF file")
        self.bits = 32 * self._data[4]
        self._class = self._data[4]
        self._order = "<" if self._data[5] == 1 else ">"
        header = self._read(_HEADER[self._class], 16)
        self.machine = int(header[1])
        self._segments = self._table(_SEGMENT, header[4], header[8], header[9])
        self._sections = (header[5], header[10], header[11])

    def _read(self, layout: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self._order + layout, self._data, offset)
        except (struct.error, OverflowError):
            raise NotElfError("it ends within a table") from None

    def _table(
        self, layout: dict[int, str], offset: int, stride: int, count: int
    ) -> list[tuple[int, ...]]:
        return [self._read(layout[self._class], offset + n * stride) for n in range(count)]

    def _rows(self, layout: dict[int, str], offset: int, size: int) -> Iterator[tuple[int, ...]]:
        """The rows of a table that lies in the file as a whole."""
        row = struct.Struct(self._order + layout[self._class])
        data = self._data[offset : offset + size]
        return row.iter_unpack(data[: len(data) // row.size * row.size])

    def _text(self, offset: int) -> str:
        end = self._data.find(b"\0", offset) if offset < len(self._data) else -1
        if end < 0:
            raise NotElfError("a name lies outside it")
        return self._data[offset:end].decode("utf-8", "surrogateescape")

    def _offset(self, address: int) -> int:
        """Where in the file an address lies."""
        for segment in self._segments:
            _, offset, start, size = self._placed(segment)
            if segment[0] == _PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise NotElfError("an address lies outside it")

    def _placed(self, segment: tuple[int, ...]) -> tuple[int, int, int, int]:
        """Type, place in the file, address, and bytes in the file of a segment."""
        if self._class == 1:
            return segment[0], segment[1], segment[2], segment[4]
        return segment[0], segment[2], segment[3], segment[5]

    def dynamic(self) -> Dynamic:
        """Its dynamic section; an empty one where it has none."""
        for segment in self._segments:
            kind, offset, _, size = self._placed(segment)
            if kind == _PT_DYNAMIC:
                return self._dynamic(offset, size)
        return Dynamic()

    def _dynamic(self, offset: int, size: int) -> Dynamic:
        found: dict[int, list[int]] = {}
        for tag, value in self._rows(_ENTRY, offset, size):
            if tag == _DT_NULL:
                break
            found.setdefault(tag, []).append(value)
        if _DT_STRTAB not in found:
            return Dynamic()
        strings = self._offset(found[_DT_STRTAB][0])

        def texts(tag: int) -> list[str]:
            return [self._text(strings + value) for value in found.get(tag, [])]

        def folders(tag: int) -> tuple[str, ...]:
            return tuple(folder for text in texts(tag) for folder in text.split(":"))

        soname = next(iter(texts(_DT_SONAME)), None)
        return Dynamic(tuple(texts(_DT_NEEDED)), soname, folders(_DT_RPATH), folders(_DT_RUNPATH))

    def defines(self, name: str) -> bool:
        """Whether one of its symbol tables has a definition of this name."""
        sections = self._table(_SECTION, *self._sections)
        for section in sections:
            if section[1] not in (_SHT_SYMTAB, _SHT_DYNSYM) or section[6] >= len(sections):
                continue
            strings = sections[section[6]]
            places = self._places(name, strings[4], strings[5])
            if places and any(
                place in places and where != _SHN_UNDEF
                for place, where in self._rows(_SYMBOL, section[4], section[5])
            ):
                return True
        return False

    def _places(self, name: str, offset: int, size: int) -> set[int]:
        """Where in a table of strings a name can begin: also as the end of a longer one."""
        offset, end = min(offset, len(self._data)), min(offset + size, len(self._data))
        wanted = name.encode() + b"\0"
        places, place = set(), self._data.find(wanted, offset, end)
        while place >= 0:
            places.add(place - offset)
            place = self._data.find(wanted, place + 1, end)
        return places
