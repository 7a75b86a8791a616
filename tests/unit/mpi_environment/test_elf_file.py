"""What the dynamic linker would read of an ELF file, against pyelftools and against damage."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from imbrex.mpi_environment.elf_file import Dynamic, ElfFile, NotElfError
from imbrex.mpi_environment.elf_needs import exported_names, loaded_libraries, read_needs


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that says all that is read, and defines names that end in each other."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "one.c").write_text(
        "int here; int not_here_at_all(void);\n"
        "int ask(void) { return not_here_at_all(); }\n"
        "int task(void) { return here; }\n"
    )
    words = ["gcc", "-shared", "-fPIC", "-o", "libone.so", "one.c", "-lm", "-Wl,--no-as-needed"]
    words += ["-Wl,-soname,libone.so.3", "-Wl,-rpath,/one:$ORIGIN/two"]
    subprocess.run([*words, "-lpthread", "-lm"], cwd=folder, check=True)
    return folder / "libone.so"


def test_a_library(library: Path) -> None:
    found = ElfFile(library).dynamic()
    assert found.soname == "libone.so.3"
    assert "libm.so.6" in found.needed
    assert (found.rpath or found.runpath) == ("/one", "$ORIGIN/two")
    wanted = ["ask", "task", "sk", "here", "not_here_at_all", "nothing"]
    assert exported_names(library, wanted) == {"ask", "task", "here"}


def test_pyelftools_reads_the_same(library: Path) -> None:
    files = [library, Path(sys.executable).resolve(), Path(shutil.which("gcc") or "gcc").resolve()]
    for file in files:
        with file.open("rb") as stream:
            elf = ELFFile(stream)
            tags = list(elf.get_section_by_name(".dynamic").iter_tags())
            needed = tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED")
            symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
        assert ElfFile(file).dynamic().needed == needed
        needs = read_needs(file)
        assert needs is not None and needs.names == needed
        names = {symbol.name for symbol in symbols[1:80]}
        defined = {s.name for s in symbols if s.entry["st_shndx"] != "SHN_UNDEF"}
        assert exported_names(file, names) >= names & defined


@pytest.mark.parametrize(("bits", "order"), [(32, "<"), (32, ">"), (64, ">")])
def test_other_machines(bits: int, order: str, tmp_path: Path) -> None:
    """Written by hand: one segment that is loaded at 0x1000, and the dynamic section in it."""
    strings = b"\0libfar.so.1\0libself.so\0/a:/b\0"
    address_format = "Q" if bits == 64 else "I"
    tags = [(5, 0x1000 + 400), (1, 1), (14, 13), (29, 24), (0, 0)]
    dynamic = b"".join(
        struct.pack(f"{order}{address_format}{address_format}", *tag) for tag in tags
    )
    start, segment_bytes = (64, 56) if bits == 64 else (52, 32)
    ident = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    header = struct.pack(
        f"{order}HHI{address_format}{address_format}{address_format}IHHHHHH",
        *(3, 20, 1, 0, start, 0, 0, start, segment_bytes, 2, 0, 0, 0),
    )

    def segment(kind: int, offset: int, address: int, size: int) -> bytes:
        if bits == 64:
            return struct.pack(f"{order}IIQQQQQQ", kind, 4, offset, address, 0, size, size, 8)
        return struct.pack(f"{order}8I", kind, offset, address, 0, size, size, 4, 4)

    text = ident + header + segment(1, 0, 0x1000, 500) + segment(2, 200, 0x1000 + 200, len(dynamic))
    file = tmp_path / "far"
    file.write_bytes((text.ljust(200, b"\0") + dynamic).ljust(400, b"\0") + strings)
    elf = ElfFile(file)
    assert (elf.machine, elf.bits) == (20, bits)
    assert elf.dynamic() == Dynamic(("libfar.so.1",), "libself.so", (), ("/a", "/b"))
    assert not elf.defines("main")


def test_what_is_none(tmp_path: Path, library: Path) -> None:
    for name, text in (("empty", b""), ("script", b"#!/bin/sh\n"), ("short", b"\x7fELF\2\1")):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(NotElfError):
            ElfFile(tmp_path / name)
        assert read_needs(tmp_path / name) is None
        assert loaded_libraries(tmp_path / name) == {}
    assert read_needs(tmp_path / "nowhere") is None
    assert exported_names(tmp_path / "nowhere", ["main"]) == set()
    subprocess.run(["gcc", "-c", "-o", "one.o", str(library.with_name("one.c"))], cwd=tmp_path)
    needs = read_needs(tmp_path / "one.o")
    assert needs is not None and needs.names == ()
    assert exported_names(tmp_path / "one.o", ["ask", "not_here_at_all"]) == {"ask"}


def test_damage_is_no_crash(library: Path, tmp_path: Path) -> None:
    """Cut short, or with bytes changed where the tables are said to lie."""
    data = library.read_bytes()
    chance = random.Random(7)
    file = tmp_path / "damaged"
    for number in range(1000):
        text = bytearray(data if number % 3 else data[: chance.randrange(len(data))])
        for _ in range(chance.randrange(1, 6) if text else 0):
            place = chance.randrange(min(len(text), 900))
            # The tables of segments and of the dynamic section come first, of sections last.
            text[chance.choice((place, -1 - place))] = chance.choice((0, 1, 127, 255))
        file.write_bytes(text)
        read_needs(file)
        exported_names(file, ["ask", "main"])
