"""The system's headers of a C++ file are read once, and what is read then is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Options, Outcome, transform
from imbrex.transform.readers import c, c_precompiled

CASE = Path(__file__).parent / "cases" / "vectors.cpp"
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


def names(data: bytes, flags: list[str]) -> set[str]:
    """The files of the system that libclang reads for a text."""
    unit = c._parsed(Path("app.cpp"), flags, data, {})
    return {Path(str(include.include.name)).name for include in unit.get_includes()}


def test_from_the_second_reading_on_they_are_not_read() -> None:
    first, second, third = (names(SOURCE, []) for _ in range(3))
    assert {"mpi.h", "cmath", "vector", "stl_vector.h"} <= first
    assert "mpi.h" in second and second == third
    assert not {"vector", "stl_vector.h"} & second


def said(outcome: Outcome) -> list[tuple[object, ...]]:
    return [
        (d.site.call.name, d.decision, d.reason.text, d.first_line, d.last_line, tuple(d.details))
        for d in outcome.decisions
    ]


def test_what_is_decided_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = transform([CASE], Options())
    assert sum(c_precompiled._asked.values()) > 1  # and kept for that
    monkeypatch.setattr(c, "precompiled", lambda *_: [])
    plain = transform([CASE], Options())
    assert plain.after == kept.after != kept.before
    assert said(plain) == said(kept)


@pytest.mark.parametrize(
    "changed",
    [
        SOURCE.replace(b"#include <cmath>", b"#define NDEBUG\n#include <cmath>"),
        SOURCE.replace(b"#include <cmath>", b'#include "own.h"\n#include <cmath>'),
        b"#pragma GCC system_header\n" + SOURCE,
        b"int before;\n" + SOURCE,
    ],
)
def test_what_stands_before_them_may_change_them(changed: bytes) -> None:
    assert c_precompiled._first_headers(SOURCE) == ("cmath", "vector")
    assert c_precompiled._first_headers(changed) == ()


def test_flags_are_part_of_it() -> None:
    text = SOURCE.replace(b"int main", b"#ifndef NDEBUG\n#error wanted\n#endif\nint main")
    for _ in range(3):
        names(text, ["-DNDEBUG"])
        with pytest.raises(c.ImbrexError, match="wanted"):
            names(text, [])


def test_a_header_of_the_program_s_own_by_such_a_name(tmp_path: Path) -> None:
    (tmp_path / "cmath").write_text("static int own_one;\n")
    (tmp_path / "vector").write_text("static int own_two;\n")
    text = SOURCE.replace(b"std::vector<double> v(3)", b"int v = own_one + own_two")
    text = text.replace(b"int(v.size())", b"v")
    for _ in range(3):
        assert "stl_vector.h" not in names(text, [f"-I{tmp_path}"])


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
        with pytest.raises(c.ImbrexError) as raised:
            names(text, [])
        said.add(str(raised.value))
    assert len(said) == 1 and "no_such_header" in said.pop()
