"""Source lines, functions and inlines from DWARF 2 to 5.

Only the compile units that cover an address are read, and of their trees only the branches
whose ranges cover it.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from imbrex.profile.symbols import demangle

_FUNCTION_TAGS = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")
_OPEN_TAGS = (
    *_FUNCTION_TAGS,
    "DW_TAG_lexical_block",
    "DW_TAG_namespace",
    "DW_TAG_module",
    "DW_TAG_try_block",
    "DW_TAG_catch_block",
    "DW_TAG_class_type",
    "DW_TAG_structure_type",
)


@dataclass(frozen=True)
class Place:
    """A place in the source. `inlined_into`: `function (file:line)`, the innermost first."""

    file: str | None
    line: int | None
    function: str | None
    inlined_into: tuple[str, ...] = ()


def lookup_lines(elf: ELFFile, addresses: Sequence[int]) -> dict[int, Place]:
    """The places of addresses (as linked); those without debug information are absent."""
    if not elf.has_dwarf_info(strict=True):
        return {}
    dwarf = elf.get_dwarf_info()
    by_unit: dict[int, list[int]] = defaultdict(list)
    units: dict[int, Any] = {}
    for address, unit in _units(dwarf, addresses):
        units[unit.cu_offset] = unit
        by_unit[unit.cu_offset].append(address)
    places: dict[int, Place] = {}
    for offset, members in by_unit.items():
        places.update(_Unit(dwarf, units[offset]).lookup(members))
    return places


def _units(dwarf: Any, addresses: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """The compile unit of each address: by .debug_aranges, else by the units' own ranges."""
    left = []
    aranges = dwarf.get_aranges()
    for address in addresses:
        offset = aranges.cu_offset_at_addr(address) if aranges is not None else None
        if offset is None:
            left.append(address)
        else:
            yield address, dwarf.get_CU_at(offset)
    if not left:
        return
    for unit in dwarf.iter_CUs():
        top = unit.get_top_DIE()
        if top.tag != "DW_TAG_compile_unit":
            continue
        ranges = list(_ranges(dwarf, unit, top))
        covered = [a for a in left if any(low <= a < high for low, high in ranges)]
        for address in covered:
            left.remove(address)
            yield address, unit
        if not left:
            return


def _ranges(dwarf: Any, unit: Any, die: Any) -> Iterator[tuple[int, int]]:
    """The address ranges of a tree entry, as half-open pairs."""
    low = die.attributes.get("DW_AT_low_pc")
    high = die.attributes.get("DW_AT_high_pc")
    if low is not None and high is not None:
        end = high.value
        if describe_form_class(high.form) == "constant":
            end += low.value
        yield low.value, end
        return
    attribute = die.attributes.get("DW_AT_ranges")
    lists = dwarf.range_lists()
    if attribute is None or lists is None:
        return
    top_low = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    base = top_low.value if top_low is not None else 0
    for entry in lists.get_range_list_at_offset(attribute.value, unit):
        if isinstance(entry, BaseAddressEntry):
            base = entry.base_address
        elif entry.is_absolute:
            yield entry.begin_offset, entry.end_offset
        else:
            yield base + entry.begin_offset, base + entry.end_offset


class _Unit:
    """One compile unit: its line table and the chain of functions around an address."""

    def __init__(self, dwarf: Any, unit: Any) -> None:
        self._dwarf = dwarf
        self._unit = unit
        self._top = unit.get_top_DIE()
        self._program = dwarf.line_program_for_CU(unit)
        self._folder = _string(self._top, "DW_AT_comp_dir") or ""
        self._one_based = self._program is not None and self._program["version"] < 5

    def lookup(self, addresses: Iterable[int]) -> dict[int, Place]:
        addresses = sorted(addresses)
        lines = self._lines(addresses)
        places = {}
        for address in addresses:
            file, line = lines.get(address, (None, None))
            chain = self._chain(address)
            function = self._name(chain[-1]) if chain else None
            callers = []
            for inner, outer in zip(reversed(chain[1:]), reversed(chain[:-1]), strict=True):
                if inner.tag != "DW_TAG_inlined_subroutine":
                    break
                callers.append(self._caller(inner, outer))
            if file is not None or function is not None:
                places[address] = Place(file, line, function, tuple(callers))
        return places

    def _lines(self, addresses: Sequence[int]) -> dict[int, tuple[str | None, int | None]]:
        """File and line of each address: the last row of its sequence that is not behind it."""
        if self._program is None:
            return {}
        found: dict[int, tuple[str | None, int | None]] = {}
        sequence: list[Any] = []
        for entry in self._program.get_entries():
            state = entry.state
            if state is None:
                continue
            sequence.append(state)
            if not state.end_sequence:
                continue
            starts = [row.address for row in sequence]
            if starts != sorted(starts):
                sequence.sort(key=lambda row: row.address)
                starts = [row.address for row in sequence]
            for address in addresses:
                if address not in found and starts[0] <= address < starts[-1]:
                    row = sequence[bisect_right(starts, address) - 1]
                    found[address] = (self._file(row.file), row.line or None)
            sequence = []
        return found

    def _file(self, number: int) -> str | None:
        header = self._program.header
        index = number - 1 if self._one_based else number
        if not 0 <= index < len(header["file_entry"]):
            return None
        entry = header["file_entry"][index]
        name = _decode(entry.name)
        folders = header["include_directory"]
        folder_index = entry.dir_index
        if self._one_based:
            folder = _decode(folders[folder_index - 1]) if folder_index else self._folder
        else:
            folder = _decode(folders[folder_index]) if folder_index < len(folders) else ""
        return posixpath.normpath(posixpath.join(self._folder, folder, name))

    def _chain(self, address: int) -> list[Any]:
        """The functions around an address, the outermost first: a subprogram, then inlines."""
        chain: list[Any] = []
        children = self._top.iter_children()
        while True:
            inner = self._covering(children, address)
            if inner is None:
                return chain
            if inner.tag in _FUNCTION_TAGS:
                chain.append(inner)
            children = inner.iter_children()

    def _covering(self, children: Iterable[Any], address: int) -> Any:
        for die in children:
            if die.tag not in _OPEN_TAGS:
                continue
            ranges = list(_ranges(self._dwarf, self._unit, die))
            if any(low <= address < high for low, high in ranges):
                return die
            if not ranges and die.has_children and die.tag not in _FUNCTION_TAGS:
                # A namespace, module or class has no ranges of its own: look inside.
                inner = self._covering(die.iter_children(), address)
                if inner is not None:
                    return inner
        return None

    def _name(self, die: Any) -> str | None:
        """The source name of a function, through its abstract origin or declaration."""
        for _ in range(8):
            name = _string(die, "DW_AT_linkage_name") or _string(die, "DW_AT_MIPS_linkage_name")
            if name is not None and name.startswith("_Z"):
                return demangle(name)
            plain = _string(die, "DW_AT_name")
            origin = next(
                (
                    a
                    for a in ("DW_AT_abstract_origin", "DW_AT_specification")
                    if a in die.attributes
                ),
                None,
            )
            if origin is None:
                return plain
            die = die.get_DIE_from_attribute(origin)
        return None

    def _caller(self, inlined: Any, outer: Any) -> str:
        """Where an inlined function was called: `function (file:line)`."""
        name = self._name(outer) or "?"
        number = inlined.attributes.get("DW_AT_call_file")
        line = inlined.attributes.get("DW_AT_call_line")
        file = self._file(number.value) if number is not None and self._program else None
        if file is None or line is None:
            return name
        return f"{name} ({file}:{line.value})"


def _decode(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _string(die: Any, name: str) -> str | None:
    attribute = die.attributes.get(name)
    return None if attribute is None else _decode(attribute.value)
