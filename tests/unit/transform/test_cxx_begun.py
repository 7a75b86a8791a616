"""Exchanges that objects of C++ begin and end, and the sweeps that may go between."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASE = (Path(__file__).parent / "cases" / "begun.cpp").read_text()
CALLS = """        halo.begin(f.data(), f.nx(), f.ny());
        halo.end();
        f.relax();
        halo.exchange(f);
        f.back();
"""
BEGIN = "halo.begin(f.data(), f.nx(), f.ny());"
END = "void end() { MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE); }"
ARRAY = "MPI_Request requests_[4];"
# What is changed of the case (from, to); then no loop is divided.
REFUSED: dict[str, list[tuple[str, str]]] = {
    "two objects": [
        ("Halo halo(MPI_COMM_WORLD);", "Halo halo(MPI_COMM_WORLD), other(MPI_COMM_WORLD);"),
        (CALLS, f"{BEGIN} other.end(); f.relax();\n"),
    ],
    "a reference to the object": [
        (CALLS, f"Halo &other = halo; {BEGIN} other.end(); f.relax();\n"),
    ],
    "a copy of the object": [
        (CALLS, f"{BEGIN} Halo other = halo; other.end(); halo.end(); f.relax();\n"),
    ],
    "an object that is assigned": [
        ("Halo halo(MPI_COMM_WORLD);", "Halo halo(MPI_COMM_WORLD), other(MPI_COMM_WORLD);"),
        (CALLS, f"{BEGIN} halo = other; halo.end(); f.relax();\n"),
    ],
    "objects that are exchanged": [
        ("#include <cstdio>", "#include <cstdio>\n#include <utility>"),
        ("Halo halo(MPI_COMM_WORLD);", "Halo halo(MPI_COMM_WORLD), other(MPI_COMM_WORLD);"),
        (CALLS, f"{BEGIN} std::swap(halo, other); halo.end(); f.relax();\n"),
    ],
    "objects that are exchanged with what they point to": [
        ("#include <cstdio>", "#include <cstdio>\n#include <utility>"),
        (ARRAY, "MPI_Request *requests_ = new MPI_Request[4];"),
        ("Halo halo(MPI_COMM_WORLD);", "Halo halo(MPI_COMM_WORLD), other(MPI_COMM_WORLD);"),
        (CALLS, f"{BEGIN} std::swap(halo, other); halo.end(); f.relax();\n"),
    ],
    "a virtual end": [
        (END, f"virtual {END}"),
        (
            "int main(",
            "struct Late : Halo { using Halo::Halo; void end() override {} };\nint main(",
        ),
        (
            CALLS,
            f"Late late(MPI_COMM_WORLD); Halo &h = late; {BEGIN.replace('halo', 'h')} h.end(); "
            "f.relax();\n",
        ),
    ],
    "an end that may throw": [
        ("#include <cstdio>", "#include <cstdio>\n#include <stdexcept>"),
        (END, END.replace("; }", '; if (size_ > 9) throw std::runtime_error("late"); }')),
    ],
    "an exception that is caught": [
        (CALLS, f"try {{ {BEGIN} }} catch (...) {{}} halo.end(); f.relax();\n"),
    ],
    "a vector that gets other memory": [
        (ARRAY, "std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(4);"),
        (
            END,
            "void end() { MPI_Waitall(4, requests_.data(), MPI_STATUSES_IGNORE); }"
            "\n    void anew() { requests_ = std::vector<MPI_Request>(4); }",
        ),
        (CALLS, f"{BEGIN} halo.anew(); halo.end(); f.relax();\n"),
    ],
    "a handle that is kept": [
        (ARRAY, f"{ARRAY}\n    MPI_Request kept_;"),
        (END, END.replace("{ MPI", "{ kept_ = requests_[0]; MPI")),
    ],
    "requests of the base class": [
        (ARRAY, "MPI_Request more_[4];"),
        ("class Halo {", "struct Base { MPI_Request requests_[4]; };\nclass Halo : public Base {"),
        (END, END.replace("requests_", "more_")),
    ],
    "a loop that begins": [
        (CALLS, f"for (int k = 0; k < step; k++) {{ {BEGIN} }} halo.end(); f.relax();\n"),
    ],
    "the new value": [
        ("v_[i * ny_ + j] = 0.25 * (u_[(i - 1)", "u_[i * ny_ + j] = 0.25 * (u_[(i - 1)"),
        (CALLS, f"{BEGIN} halo.end(); f.relax();\n"),
    ],
}


def after(folder: Path, changes: list[tuple[str, str]]) -> str:
    text = CASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    source = folder / "p.cpp"
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", REFUSED)
def test_the_sweep_stays_behind_the_end(name: str, tmp_path: Path) -> None:
    assert "_interior" not in after(tmp_path, REFUSED[name])


def test_requests_in_an_array_of_the_library(tmp_path: Path) -> None:
    text = after(
        tmp_path,
        [
            ("#include <cstdio>", "#include <array>\n#include <cstdio>"),
            (ARRAY, "std::array<MPI_Request, 4> requests_;"),
            (END, "void end() { MPI_Waitall(4, requests_.data(), MPI_STATUSES_IGNORE); }"),
        ],
    )
    assert "f.relax_interior();\n        halo.end();\n        f.relax_boundary();" in text
    assert "f.back_interior();\n        halo.exchange_finish();" in text
