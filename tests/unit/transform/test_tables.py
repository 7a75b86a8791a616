"""Subscripts with elements of constant arrays, as the steps to the neighbours on a lattice."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASE = (Path(__file__).parent / "cases" / "lattice.c").read_text()
ROWS = "(int y = 1; y <= NY; y++)\n        for (int x = 1; x < NX - 1; x++) {\n            double g"
TABLE = "static const int ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};"
READ = "lattice[y - ey[q]][x - ex[q]]"
INSIDE = "for (int y = 2; y <= NY - 1; y++)"
DEEPER = "for (int y = 3; y <= NY - 2; y++)"

# name: the table, what is read, the rows that are done, the loop of the interior
DIVIDED = {
    "as it is": (TABLE, READ, "1; y <= NY", INSIDE),
    "the other way": (TABLE, "lattice[y + ey[q]][x + ex[q]]", "1; y <= NY", INSIDE),
    "up alone": (TABLE.replace("-1", "0"), READ, "1; y <= NY", "for (int y = 2; y <= NY; y++)"),
    "twice as far": (TABLE, "lattice[y - 2 * ey[q]][x]", "2; y <= NY - 1", DEEPER),
    "two of them": (TABLE, "lattice[y - ey[q] + ey[8 - q]][x]", "2; y <= NY - 1", DEEPER),
    "two by a macro": (
        "#define AT(y, q) ((y) - ey[q] - ey[q])\n" + TABLE,
        "lattice[AT(y, q)][x]",
        "2; y <= NY - 1",
        DEEPER,
    ),
    "a table of pairs": (
        TABLE + "\nstatic const int e[Q][2] = {{0, 0}, {1}, {0, 1}, {-1, 0}, {0, -1}};",
        "lattice[y - e[q][1]][x - e[q][0]]",
        "1; y <= NY",
        INSIDE,
    ),
}
STAYS = {
    "a table that may change": (TABLE.replace("const ", ""), READ),
    "a table of another file": ("extern const int ey[Q];", READ),
    "steps that are computed": (TABLE, "lattice[y - ey[q] * ex[q] * ey[q]][x]"),
    "a table by a pointer": (TABLE + "\nstatic const int *to = ey;", "lattice[y - to[q]][x]"),
    "as far as the halo": (TABLE.replace("{0,", "{NY,"), READ),
    "half of a step": (TABLE, "lattice[y - ey[q] / 2][x]"),
}


def _after(table: str, read: str, path: Path, rows: str = "1; y <= NY") -> str:
    text = CASE.replace(TABLE, table).replace(READ, read)
    assert ROWS in text
    path.write_text(text.replace(ROWS, ROWS.replace("1; y <= NY", rows)))
    return transform([path], Options()).after[str(path)].decode()


@pytest.mark.parametrize("name", DIVIDED)
def test_divided(name: str, tmp_path: Path) -> None:
    table, read, rows, interior = DIVIDED[name]
    after = _after(table, read, tmp_path / "lattice.c", rows)
    inside = after[after.index("static void stream_collide_interior") :]
    assert inside.index(interior) < inside.index("stream_collide_boundary")
    assert after.index("stream_collide_interior(0.8);") < after.index("halo_finish(halo_r);")


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    table, read = STAYS[name]
    assert "_interior" not in _after(table, read, tmp_path / "lattice.c")
