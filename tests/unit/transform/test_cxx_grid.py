"""Two vectors of a structure, reached by references and local pointers: what a nest may pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASE = (Path(__file__).parent / "cases" / "grid.cpp").read_text()
POINTER = "double *q = g.next.data();"
SIZE = """    const int ny = g.ny;
    for (int i = 1; i <= g.nx; ++i)
        for (int j = 0; j < ny; ++j) {
"""
INDEX = "const int c = i * ny + j;"
BACK = f"            {INDEX}\n            g.h[c] = 0.5"

# What is changed of the case (from, to).
DIVIDED: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "a pointer of a pointer": [(POINTER, "double *p = g.next.data(), *q = p;")],
    "a pointer to the first element": [(POINTER, "double *q = &g.next[0];")],
    "a reference": [(POINTER, "std::vector<double> &q = g.next;")],
    "other names of the width": [
        (SIZE, SIZE.replace("ny = g.ny;", "ny = g.ny, a = ny, z = a;")),
        (BACK, BACK.replace("i * ny + j", "i * z + j")),
    ],
}
WHOLE: dict[str, list[tuple[str, str]]] = {
    "a pointer behind the first element": [(POINTER, "double *q = g.next.data() + 1;")],
    "a pointer that is set again": [(POINTER, f"{POINTER}\n    if (r.me > 7) q = q + 32;")],
    "a pointer whose address is known": [
        (POINTER, f"{POINTER}\n    double **p = &q;\n    if (r.me > 7) *p = q + 32;")
    ],
    "an index that is set again": [
        (BACK, BACK.replace(INDEX, "int c = i * ny + j; if (j == 3) c += ny;"))
    ],
    "longer messages": [
        ("    const int n = g.ny;\n    MPI_Request", "    const int n = 2 * g.ny;\n    MPI_Request")
    ],
    "a width that is set again": [
        (SIZE, SIZE.replace("const int ny = g.ny;", "int ny = g.ny;\n    if (g.nx > 90) ny = 7;"))
    ],
    "a width that the nest sets": [
        (SIZE, SIZE.replace("const int ny = g.ny;", "int ny = g.ny, k = ny;")),
        (BACK, BACK.replace(INDEX, "const int c = i * k + j; k = k + j % 2;")),
    ],
    "an element of another line": [("0.5 * g.next[c] + 0.25", "0.5 * g.next[g.ny - 1 - j] + 0.25")],
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


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_needs_no_message(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, DIVIDED[name])
    start, inner = text.index("exchange_next_start(g, r"), text.index("back_interior(g);")
    assert start < inner < text.index("back_boundary(g);")
    assert text.index("update_interior(g);") < text.index("update_boundary(g);")


def test_messages_a_row_before(tmp_path: Path) -> None:
    """The last row comes into the one before the last: two rows need it."""
    text = after(tmp_path, [(POINTER, "double *q = g.next.data() - g.ny;")])
    interior = text[text.index("void back_interior(") :]
    assert "for (int i = 1; i <= g.nx - 2; i++)" in interior[: interior.index("}")]


@pytest.mark.parametrize("name", WHOLE)
def test_the_nest_may_need_it(name: str, tmp_path: Path) -> None:
    assert "back_interior(g);" not in after(tmp_path, WHOLE[name])
