"""Call sites in real executables and shared libraries, against what the program itself prints."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from imbrex.profile.resolve import lookup, resolve_sites
from imbrex.profile.sites import Site
from imbrex.profile.symbols import demangle

SOURCE = """\
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
static void *place;
__attribute__((noinline)) void probe(void) { place = __builtin_return_address(0); }
static inline __attribute__((always_inline)) void inner(void) {
    probe();
    __asm__ volatile("");
}
static inline __attribute__((always_inline)) void middle(void) {
    inner();
}
__attribute__((noinline)) void outer(void) {
    middle();
    __asm__ volatile("");
}
long offset(void) {
    struct link_map *map;
    Dl_info info;
    outer();
    dladdr1(place, &info, (void **)&map, RTLD_DL_LINKMAP);
    return (char *)place - (char *)map->l_addr;
}
"""
MAIN = '#include <stdio.h>\nlong offset(void);\nint main(void) { printf("%ld", offset()); }\n'


def build(folder: Path, compiler: str, *flags: str, shared: bool = False) -> tuple[Path, int]:
    """Compile the program (or a library and a program); its image and the offset it printed."""
    (folder / "where.c").write_text("#define _GNU_SOURCE\n#line 1\n" + SOURCE)
    (folder / "main.c").write_text(MAIN)
    image = folder / ("libwhere.so" if shared else "where")
    common = [compiler, "-O2", *flags]
    if shared:
        command = [*common, "-fPIC", "-shared", "where.c", "-o", image.name, "-ldl"]
        subprocess.run(command, cwd=folder, check=True)
        link = ["main.c", "./libwhere.so", "-o", "where", "-ldl"]
        subprocess.run([*common, *link], cwd=folder, check=True)
    else:
        files = ["where.c", "main.c", "-o", "where", "-ldl"]
        subprocess.run([*common, *files], cwd=folder, check=True)
    out = subprocess.run(["./where"], cwd=folder, check=True, capture_output=True, text=True)
    return image, int(out.stdout)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("kind", ["pie", "no-pie", "shared"])
def test_line_function_and_inlines(tmp_path, compiler, version, kind):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    flags = {"pie": ("-fPIE", "-pie"), "no-pie": ("-fno-pie", "-no-pie"), "shared": ()}[kind]
    image, offset = build(
        tmp_path, compiler, "-g", f"-gdwarf-{version}", *flags, shared=kind == "shared"
    )
    place = lookup(image, [offset])[offset]
    assert place.file == str(tmp_path / "where.c")
    assert (place.line, place.function) == (7, "inner")
    names = [f"middle ({tmp_path}/where.c:11)", f"outer ({tmp_path}/where.c:14)"]
    assert list(place.inlined_into) == names


def test_separate_debug_file(tmp_path):
    image, offset = build(tmp_path, "gcc", "-g")
    debug = tmp_path / "where.debug"
    subprocess.run(["objcopy", "--only-keep-debug", image, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", image], check=True)
    place = lookup(image, [offset])[offset]
    assert (place.line, place.function) == (7, "inner")


def test_without_debug_information(tmp_path):
    image, offset = build(tmp_path, "gcc")
    place = lookup(image, [offset])[offset]
    assert place.file is None
    assert place.function is not None
    assert place.function.startswith("outer+0x")


@pytest.mark.parametrize("flags", [["-gz=none"], ["-gz=zlib"]])
@pytest.mark.parametrize("section", [".debug_info", ".debug_line", ".debug_abbrev"])
def test_damaged_debug_information_leaves_the_symbols(tmp_path, section, flags):
    image, offset = build(tmp_path, "gcc", "-g", *flags)
    with image.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(section)
        begin, size = found["sh_offset"], found["sh_size"]
    content = bytearray(image.read_bytes())
    content[begin + 24 : begin + size] = b"\xa5" * (size - 24)
    image.write_bytes(content)
    function = lookup(image, [offset])[offset].function
    assert function is not None
    assert function.startswith("outer") or function == "inner"


def test_stripped_shared_library_keeps_its_dynamic_symbols(tmp_path):
    image, offset = build(tmp_path, "gcc", shared=True)
    subprocess.run(["strip", image], check=True)
    function = lookup(image, [offset])[offset].function
    assert function is not None
    assert function.startswith("outer+0x")


def test_rebuilt_or_missing_images_stay_unknown(tmp_path):
    image, offset = build(tmp_path, "gcc", "-g", "-Wl,--build-id")
    other = Site(1, str(image), "00" * 20, offset)
    gone = Site(2, str(tmp_path / "gone"), None, 5)
    text = Site(3, str(tmp_path / "main.c"), None, 5)
    assert [site.resolved for site in resolve_sites([other, gone, text])] == [False] * 3


def test_demangle():
    assert demangle("_ZN3foo3barEi") == "foo::bar(int)"
    assert demangle("_Znonsense") == "_Znonsense"
    comm = "__pyx_pw_6mpi4py_3MPI_4Comm"
    assert demangle(f"{comm}_77Isend") == "mpi4py.MPI.Comm.Isend"
    assert demangle(f"{comm}_3Get_size") == "mpi4py.MPI.Comm.Get_size"
    assert demangle("__pyx_pw_9Get") == "__pyx_pw_9Get"
    assert demangle("MPI_Send@VERS_1") == "MPI_Send"
