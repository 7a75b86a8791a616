"""Which folder of the runtime may include which: dependencies one way, so that no two folders need
each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"
# A folder may include itself and what stands before it here. "generated" is made from mpi.h for
# mpi/, and the public headers (imbrex/...) include nothing of ours.
BELOW = {
    "base": (),
    "core": ("base",),
    "analysis": ("base", "core"),
    "mpi": ("base", "core", "analysis", "generated"),
    "transport": ("base", "core", "mpi", "generated", "imbrex"),
    "access": ("base", "core", "mpi", "generated"),
    "progress": ("base", "core", "mpi", "generated"),
    "job": ("base", "core", "analysis", "mpi", "generated", "transport", "access", "progress"),
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
# Compiled alone by users, who name no include path for it.
BESIDE = {"armci.def", "armci_wrap.h"}


def sources(runtime: Path) -> list[Path]:
    """The C files and headers of the folders, also the C that a generator writes from a script."""
    found = (f for folder in BELOW for f in (runtime / folder).rglob("*"))
    return sorted(f for f in found if f.suffix in {".c", ".h", ".py", ".def"})


def faults(runtime: Path) -> list[str]:
    """One line for each include that the layout does not allow."""
    lines = []
    for file in sources(runtime):
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".py":  # lines of C in strings
            text = re.sub(r"""['"]#include ("[^"]+")""", r"\n#include \1", text)
        folder = file.relative_to(runtime).parts[0]
        for name in INCLUDE.findall(text):
            if name in BESIDE:
                continue
            top, _, rest = name.partition("/")
            where = f"{file.relative_to(runtime)} includes {name}"
            if not rest:
                lines.append(f"{where}: name its folder")
            elif top != folder and top not in BELOW[folder]:
                lines.append(f"{where}: {folder}/ may not need {top}/")
            elif top in BELOW and not (runtime / name).is_file():
                lines.append(f"{where}: there is no such file")
    return lines


def test_every_include_follows_the_layout() -> None:
    assert len(sources(RUNTIME)) > 100
    assert faults(RUNTIME) == []


def test_every_folder_with_sources_has_its_place() -> None:
    folders = {f.relative_to(RUNTIME).parts[0] for f in RUNTIME.rglob("*.c")}
    assert folders <= set(BELOW)


def test_no_two_folders_need_each_other() -> None:
    placed: set[str] = {"generated", "imbrex"}
    waiting = dict(BELOW)
    while ready := [f for f, below in waiting.items() if set(below) <= placed]:
        placed |= set(ready)
        for folder in ready:
            del waiting[folder]
    assert not waiting


def test_no_two_headers_have_the_same_name() -> None:
    headers = [f for f in sources(RUNTIME) if f.suffix == ".h"]
    names = [f.name for f in headers]
    assert sorted(names) == sorted(set(names))


def test_the_core_does_not_know_mpi() -> None:
    for file in sources(RUNTIME):
        if file.relative_to(RUNTIME).parts[0] in {"base", "core"}:
            assert "mpi.h" not in "".join(
                re.findall(r"#\s*include.*", file.read_text(encoding="utf-8"))
            ), file


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("mpi/wrap.h", '#include "access/observer.h"', "mpi/ may not need access/"),
        ("core/engine.h", '  # include "mpi/comms.h"', "core/ may not need mpi/"),
        ("transport/ucx.c", '#include "job/merge.h"', "transport/ may not need job/"),
        ("access/guard.c", '#include "transport/ucx.h"', "access/ may not need transport/"),
        ("base/clock.c", '#include "clock.h"', "name its folder"),
        ("base/clock.c", '#include "base/gone.h"', "there is no such file"),
        ("mpi/generate/generate.py", "out = ['#include \"job/merge.h\"']", "may not need job/"),
    ],
)
def test_an_include_against_the_layout_is_found(
    tmp_path: Path, file: str, text: str, fault: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text + "\n")
    (line,) = faults(tmp_path)
    assert line.startswith(f"{file} includes") and fault in line
