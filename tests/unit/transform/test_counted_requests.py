"""Requests that a member counts, posted where there are neighbours: what an end waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASE = (Path(__file__).parent / "cases" / "posted.cpp").read_text()
BEGIN = "halo.begin(a);\n        halo.end();"
RESET = "        n_ = 0;\n"
FIRST = "comm_, &requests_[n_++]);\n            MPI_Isend(f.row(1)"
LAST = "high_, 1, comm_, &requests_[n_++]);"
END = "{ MPI_Waitall(n_, requests_, MPI_STATUSES_IGNORE); }"
MADE = "Halo halo(MPI_COMM_WORLD, rank, size);"
POST = """void more(Field &f) {
        MPI_Isend(f.row(9), f.ny(), MPI_DOUBLE, low_, 9, comm_, &requests_[n_++]);
    }
    void end()"""
TWICE = """{
        for (int k = 0; k < 2; k++) {
            MPI_Waitall(n_, requests_, MPI_STATUSES_IGNORE);
            n_ = 4;
        }
    }"""

# What is changed of the case (from, to).
DIVIDED: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "by its object": [(RESET, "        this->n_ = 0;\n"), (END, END.replace("(n_", "(this->n_"))],
    "in another routine": [
        (RESET, "        reset();\n"),
        ("    void end()", "    void reset() { n_ = 0; }\n    void end()"),
    ],
    "by its end too": [(END, END.replace(" }", " n_ = 0; }"))],
    "in a loop": [(RESET, f"{RESET}        for (int k = 0; k < 1; ++k)\n")],
    "where there are some": [(END, END.replace("{ ", "{ if (n_ > 0) "))],
    "of what the interior does not set": [("halo.begin(a);", "halo.begin(b);")],
    "from an offset": [(LAST, LAST.replace("&requests_[n_++]", "requests_ + n_++"))],
}
KEPT: dict[str, list[tuple[str, str]]] = {
    "not set to 0": [(RESET, "")],
    "set to 1": [(RESET, RESET.replace("0", "1"))],
    "set in some cases": [(RESET, "        if (low_ >= 0) n_ = 0;\n")],
    "left in some cases": [(RESET, f"        if (low_ < -5) return;\n{RESET}")],
    "set in a routine that is left": [
        (RESET, "        reset();\n"),
        ("    void end()", "    void reset() { if (low_ > 9) return; n_ = 0; }\n    void end()"),
    ],
    "set behind a start": [(LAST, f"{LAST}\n            n_ = 0;")],
    "counted without a start": [(LAST, f"{LAST}\n            n_++;")],
    "counted down": [(LAST, f"{LAST}\n            --n_;")],
    "counted in front": [(FIRST, FIRST.replace("n_++", "++n_"))],
    "not counted": [(FIRST, FIRST.replace("n_++", "n_"))],
    "another counter": [
        (FIRST, FIRST.replace("n_++", "m_++")),
        ("low_, high_, n_;", "low_, high_, n_, m_ = 0;"),
    ],
    "another object's counter": [
        ("void begin(Field &f)", "void begin(Field &f, Halo &o)"),
        ("        begin(f);", "        begin(f, *this);"),
        (RESET, "        o.n_ = 0;\n"),
        (MADE, f"{MADE}\n    Halo other(MPI_COMM_WORLD, rank, size);"),
        ("halo.begin(a);", "halo.begin(a, other);"),
    ],
    "another object's requests": [
        ("void begin(Field &f)", "void begin(Field &f, Halo &o)"),
        ("        begin(f);", "        begin(f, *this);"),
        (FIRST, FIRST.replace("&req", "&o.req")),
        (MADE, f"{MADE}\n    Halo other(MPI_COMM_WORLD, rank, size);"),
        ("halo.begin(a);", "halo.begin(a, other);"),
    ],
    "more are waited for": [(END, END.replace("(n_", "(n_ + 1"))],
    "others are waited for": [(END, END.replace("requests_", "requests_ + 1"))],
    "the end counts": [(END, END.replace("{ ", "{ n_++; "))],
    "the end counts in its loop": [(END, TWICE)],
    "a reference to it": [
        ("    void end()", "    int &count() { return n_; }\n    void end()"),
        (BEGIN, BEGIN.replace("\n", "\n        halo.count() = 4;\n")),
    ],
    "its address": [
        ("    void end()", "    int *count() { return &n_; }\n    void end()"),
        (BEGIN, BEGIN.replace("\n", "\n        *halo.count() = 4;\n")),
    ],
    "a method between": [
        ("    void end()", "    void count(int n) { n_ = n; }\n    void end()"),
        (BEGIN, BEGIN.replace("\n", "\n        halo.count(4);\n")),
    ],
    "another object": [
        (MADE, f"{MADE}\n    Halo other(MPI_COMM_WORLD, rank, size);"),
        (BEGIN, BEGIN.replace("halo.end", "other.end")),
    ],
    "an object that is copied": [
        (MADE, f"{MADE}\n    Halo other(MPI_COMM_WORLD, rank, size);"),
        (BEGIN, BEGIN.replace("\n", "\n        halo = other;\n")),
    ],
    "another pointer": [
        (MADE, f"{MADE}\n    Halo other(MPI_COMM_WORLD, rank, size), *h = &halo;"),
        (BEGIN, "h->begin(a);\n        h = s % 2 ? &halo : &other;\n        h->end();"),
    ],
    "begun in a loop": [
        (BEGIN, BEGIN.replace("halo.begin", "for (int k = 0; k < s; k++) halo.begin"))
    ],
    "begun in some cases": [(BEGIN, BEGIN.replace("halo.begin", "if (s > 2) halo.begin"))],
    "received into what the sweep needs": [("f.row(0)", "f.row(9)")],
    "posted again of what it sets": [
        ("void end()", POST),
        (BEGIN, BEGIN.replace("\n", "\n        if (rank > 0) halo.more(b);\n")),
    ],
}


def after(folder: Path, changes: list[tuple[str, str]]) -> str:
    text = CASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    source = folder / "p.cpp"
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_goes_between(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, DIVIDED[name])
    between = "diffuse_interior(a, b);\n        halo.end();\n        diffuse_boundary(a, b);"
    begin = "halo.begin(b);" if name.startswith("of what") else "halo.begin(a);"
    assert f"{begin}\n        {between}" in text


@pytest.mark.parametrize("name", KEPT)
def test_the_sweep_stays_behind_the_end(name: str, tmp_path: Path) -> None:
    assert "diffuse_interior(a, b)" not in after(tmp_path, KEPT[name])
