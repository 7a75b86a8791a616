"""The system's headers of a file are read once, and what is read then is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.readers import c_parsing, c_precompiled
from imbrex.transform.readers.c_first_headers import FirstHeaders

CASES = Path(__file__).parent / "cases"
SOURCE = b"""// A comment, and /* another
#include <mpi.h>
#include <cmath>  // of the C library
/* several
   lines */ #include <vector>
int main() { std::vector<double> v(3); return MPI_SUCCESS + int(v.size()); }
"""


@pytest.fixture(autouse=True)
def _nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    c_precompiled._asked.clear()


def names(
    data: bytes, flags: list[str], contents: dict[Path, bytes] | None = None, file: str = "app.cpp"
) -> set[str]:
    """The files that libclang reads for a text, after those that it has from the beginning."""
    unit = c_parsing.parsed(Path(file), flags, data, contents or {})
    return {Path(str(include.include.name)).name for include in unit.get_includes()}


def test_from_the_second_reading_on_they_are_not_read() -> None:
    first, second, third = (names(SOURCE, []) for _ in range(3))
    assert {"mpi.h", "cmath", "vector", "stl_vector.h"} <= first
    assert "mpi.h" in second and second == third
    assert not {"vector", "stl_vector.h"} & second


def test_so_it_is_for_c() -> None:
    text = b"#include <math.h>\n#include <mpi.h>\nint main(void) { return (int)sin(1.0); }\n"
    found = [names(text, [], file="app.c") for _ in range(3)]
    assert "math.h" in found[0] and found[1] == found[2]
    assert "mpi.h" in found[1] and "math.h" not in found[1]
    assert "math.h" in names(text, ["-DA"], file="app.c")


def said(outcome: Outcome) -> list[tuple[object, ...]]:
    return [
        (d.site.call.name, d.decision, d.reason.text, d.first_line, d.last_line, tuple(d.details))
        for d in outcome.decisions
    ]


@pytest.mark.parametrize("case", ["vectors.cpp", "halo.c"])
def test_what_is_decided_is_the_same(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = transform([CASES / case], Options())
    assert sum(c_precompiled._asked.values()) > 1  # and kept for that
    monkeypatch.setattr(c_parsing, "precompiled", lambda *_: None)
    plain = transform([CASES / case], Options())
    assert plain.after == kept.after != kept.before
    assert said(plain) == said(kept)


def first(data: bytes, contents: dict[Path, bytes] | None = None) -> tuple[str, ...]:
    found = FirstHeaders(contents or {})
    found.find(Path("app.cpp"), data)
    return tuple(found.names)


@pytest.mark.parametrize(
    "changed",
    [
        SOURCE.replace(b"#include <cmath>", b"#define NDEBUG\n#include <cmath>"),
        SOURCE.replace(b"#include <cmath>", b'#include "own.h"\n#include <cmath>'),
        b"#pragma GCC system_header\n" + SOURCE,
        b"int before;\n" + SOURCE,
        b"#pragma once\n" + SOURCE,
        b"#ifndef GUARD_H\n#define GUARD_H\n" + SOURCE + b"#endif\n",
    ],
)
def test_what_stands_before_them_may_change_them(changed: bytes) -> None:
    assert first(SOURCE) == ("mpi.h", "cmath", "vector")
    assert first(changed) in [(), ("mpi.h",)]


OWN = b'#include "own.h"\n#include <cmath>\nint main() { return int(own().size()); }\n'
BODY = b"#include <vector>\ninline std::vector<int> own() { return {1}; }\n"
GUARDED = b"#ifndef OWN_H\n#define OWN_H\n" + BODY + b"#endif\n"


@pytest.mark.parametrize("own", [BODY, b"#pragma once\n" + BODY, b"// Own.\n" + GUARDED])
def test_of_a_header_of_the_program_those_are_kept_that_come_first(
    own: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.h").write_bytes(own)
    found = [names(OWN, []) for _ in range(3)]
    assert "vector" in found[0] and found[1] == found[2]
    assert {"own.h", "cmath"} <= found[1] and "vector" not in found[1]


def test_in_a_folder_of_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, text in (("one", BODY), ("two", BODY.replace(b"vector", b"list"))):
        Path(folder).mkdir()
        Path(folder, "own.h").write_bytes(text)
    for flags in (["-Ione", "-Itwo"], ["-Itwo", "-iquote", "one"]):
        assert "vector" in names(OWN, flags)
        assert "vector" not in names(OWN, flags)


@pytest.mark.parametrize(
    "own",
    [
        b"#define NDEBUG\n" + BODY,
        b'#include "no_more.h"\n' + BODY,
        b"#ifdef OWN_H\n#define OWN_H\n" + BODY + b"#endif\n",
        b"#ifndef OWN_H\n#define OTHER_H\n" + BODY + b"#endif\n",
        b"#ifndef OWN_H\n#define OWN_H 1\n" + BODY + b"#endif\n",
        b"#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n" + BODY + b"#endif\n",
        b"#if 1\n" + BODY + b"#endif\n",
    ],
)
def test_what_stands_before_them_in_such_a_header(own: bytes) -> None:
    for more in ({}, {Path("no_more.h"): b"#define LATE\n"}):
        assert first(OWN, {Path("own.h"): own, **more}) == ()


def test_a_guard_that_means_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the header that it guards nothing would be read, or of the system's something else."""
    monkeypatch.chdir(tmp_path)
    own = GUARDED.replace(b"OWN_H", b"NDEBUG").replace(b"<vector>", b"<cassert>\n#include <vector>")
    Path("own.h").write_bytes(own)
    for _ in range(3):
        assert "vector" in names(OWN, [])
    text = b'#include "own.h"\nint main() { return 0; }\n'
    Path("own.h").write_bytes(GUARDED)
    for _ in range(3):
        assert "vector" not in names(text, ["-DOWN_H"])
        unit = c_parsing.parsed(Path("app.cpp"), ["-DOWN_H"], text, {})
        assert not [at for at in unit.cursor.get_children() if at.spelling == "std"]


def test_a_header_as_it_is_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an edit has put in front of the system's headers counts, not the text on disk."""
    monkeypatch.chdir(tmp_path)
    Path("own.h").write_bytes(BODY)
    edited = BODY.replace(b"#include", b"#define NDEBUG\n#include <cassert>\n#include")
    for _ in range(3):
        assert "vector" in names(OWN, [], {Path("own.h"): edited})
    names(OWN, [])
    assert "vector" not in names(OWN, [])
    assert "vector" in names(OWN, [], {Path("own.h"): edited})


def test_another_header_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where libclang takes another header than was looked into, all is read."""
    monkeypatch.chdir(tmp_path)
    Path("own.h").write_bytes(BODY)
    names(OWN, [])
    monkeypatch.setattr(c_precompiled.FirstHeaders, "_enter", _as_if_elsewhere)
    assert "vector" in names(OWN, [])


def _as_if_elsewhere(self: FirstHeaders, places: list[Path]) -> None:
    self.own.append("elsewhere/own.h")
    self.names.append("vector")


def test_flags_are_part_of_it() -> None:
    text = SOURCE.replace(b"int main", b"#ifndef NDEBUG\n#error wanted\n#endif\nint main")
    for _ in range(3):
        names(text, ["-DNDEBUG"])
        with pytest.raises(ImbrexError, match="wanted"):
            names(text, [])


def test_a_header_of_the_program_s_own_by_such_a_name(tmp_path: Path) -> None:
    (tmp_path / "cmath").write_text("static int own_one;\n")
    (tmp_path / "vector").write_text("static int own_two;\n")
    text = SOURCE.replace(b"std::vector<double> v(3)", b"int v = own_one + own_two")
    text = text.replace(b"int(v.size())", b"v")
    for _ in range(3):
        assert "stl_vector.h" not in names(text, [f"-I{tmp_path}"])


def test_a_header_of_such_a_folder_behind_one_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the program names a folder of is read, wherever that is."""
    (tmp_path / "features.h").write_text("#include_next <features.h>\nint own(void);\n")
    monkeypatch.setattr(c_precompiled, "is_of_the_system", lambda name: True)
    text = b"#include <stdio.h>\nint main(void) { return own(); }\n"
    for _ in range(3):
        assert "features.h" in names(text, [f"-I{tmp_path}"], file="app.c")


def test_an_mpi_s_own_header_is_read_in_its_place(tmp_path: Path) -> None:
    """It may depend on what is included before it."""
    (tmp_path / "mpi.h").write_text(
        "#if defined _GLIBCXX_CMATH || defined _GLIBCXX_VECTOR\n#error too late\n#endif\n"
        "enum { MPI_SUCCESS };\n"
    )
    for flags in ([f"-I{tmp_path}"], ["-isystem", str(tmp_path)]):
        for _ in range(3):
            assert "stl_vector.h" in names(SOURCE, flags)


def test_headers_that_there_are_not_are_said_as_without() -> None:
    text = SOURCE.replace(b"<cmath>", b"<no_such_header>")
    said = set()
    for _ in range(3):
        with pytest.raises(ImbrexError) as raised:
            names(text, [])
        said.add(str(raised.value))
    assert len(said) == 1 and "no_such_header" in said.pop()
