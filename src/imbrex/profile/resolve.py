"""From addresses to source lines, for executables and shared libraries.

A call site's offset is a return address relative to the image's load address; the call lies
before it, so `offset - 1` is looked up. Debug information is read by `imbrex.profile.dwarf`;
without any, the symbol table gives function+offset. Call sites in Python carry their line already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elftools.elf.elffile import ELFFile

from imbrex.profile.dwarf import Place, lookup_lines
from imbrex.profile.python_source import PYTHON_SOURCE, python_line
from imbrex.profile.sites import Site
from imbrex.profile.symbols import Symbols, build_id, demangle

DEBUG_ROOT = Path("/usr/lib/debug")
# A damaged or unusual image costs the names, not the measurement, and what its reader raises is
# not only its own errors: zlib's and those of a wrong number at the wrong place too.
_UNREADABLE = Exception


@dataclass(frozen=True)
class _Image:
    path: str
    build_id: str | None


def resolve_sites(sites: Sequence[Site]) -> list[Site]:
    """Fill in file, line, function and inlines of the sites that have none.

    Sites whose image is gone, is not ELF, or has been rebuilt since (another build-id) stay as
    they are.
    """
    by_image: dict[_Image, list[Site]] = defaultdict(list)
    for site in sites:
        if site.id and site.image and not site.resolved:
            by_image[_Image(site.image, site.build_id)].append(site)
    found: dict[int, Site] = {}
    for image, members in by_image.items():
        if image.build_id == PYTHON_SOURCE:
            found.update((site.id, python_line(site)) for site in members)
            continue
        places = lookup(Path(image.path), (site.offset for site in members), image.build_id)
        for site in members:
            place = places.get(site.offset)
            if place is not None:
                found[site.id] = replace(
                    site,
                    file=place.file,
                    line=place.line,
                    function=place.function,
                    inlined_into=place.inlined_into,
                )
    return [found.get(site.id, site) for site in sites]


def lookup(image: Path, offsets: Iterable[int], wanted_id: str | None = None) -> dict[int, Place]:
    """The places of return-address offsets in one image; offsets that nothing covers are absent."""
    offsets = sorted(set(offsets))
    try:
        with image.open("rb") as stream:
            elf = ELFFile(stream)
            if wanted_id and build_id(elf) not in (None, wanted_id):
                return {}
            base = _lowest_address(elf)
            # Load addresses are biases (0 for a fixed-position executable); a runtime that gave
            # the address of the first segment instead is corrected here.
            shift = base if base and all(offset < base for offset in offsets) else 0
            addresses = {offset: offset + shift - 1 for offset in offsets}
            wanted = sorted(set(addresses.values()))
            places = _lookup_lines(elf, wanted)
            if len(places) < len(wanted):
                places = {**_lookup_separate(elf, image, wanted), **places}
            unnamed = [a for a in wanted if a not in places or places[a].function is None]
            if unnamed:
                symbols = Symbols(elf)
                for address in unnamed:
                    name = symbols.name(address)
                    if name is None:
                        continue
                    if address in places:
                        places[address] = replace(places[address], function=demangle(name.name))
                    else:
                        places[address] = Place(
                            None, None, f"{demangle(name.name)}+{name.offset + 1:#x}"
                        )
            return {o: places[address] for o, address in addresses.items() if address in places}
    except _UNREADABLE:
        return {}


def _lookup_lines(elf: ELFFile, addresses: Sequence[int]) -> dict[int, Place]:
    """Debug information that cannot be read leaves the symbols."""
    try:
        return lookup_lines(elf, addresses)
    except _UNREADABLE:
        return {}


def _lookup_separate(elf: ELFFile, image: Path, addresses: Sequence[int]) -> dict[int, Place]:
    for file in _debug_files(elf, image):
        try:
            with file.open("rb") as stream:
                places = lookup_lines(ELFFile(stream), addresses)
        except _UNREADABLE:
            continue
        if places:
            return places
    return {}


def _debug_files(elf: ELFFile, image: Path) -> list[Path]:
    """Where a separate debug file of an image may be: by build-id, then by .gnu_debuglink."""
    candidates = []
    identity = build_id(elf)
    if identity:
        candidates.append(DEBUG_ROOT / ".build-id" / identity[:2] / f"{identity[2:]}.debug")
    link = elf.get_section_by_name(".gnu_debuglink")
    if link is not None:
        name = link.data().split(b"\0", 1)[0].decode("utf-8", "replace")
        folder = image.resolve().parent
        candidates += [folder / name, folder / ".debug" / name]
        candidates.append(DEBUG_ROOT / str(folder).lstrip("/") / name)
    return [file for file in candidates if file.is_file() and file != image]


def _lowest_address(elf: ELFFile) -> int:
    loads = [s["p_vaddr"] for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    return min(loads, default=0) & ~0xFFF
