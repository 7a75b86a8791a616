"""Rows and requests that a function is handed by their addresses: which elements it touches."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
C, CXX = ((CASES / name).read_text() for name in ("handed.c", "posted.cpp"))
POST = "static void post(double *in, const double *out, int n, int from, int to, int tag"
RECEIVE, SEND = "MPI_Irecv(in, n", "MPI_Isend(out, n"
UPPER = "post(a, &a[nx * (ny + 2)], ny + 2, up, down, 1, r);"
LOWER = "post(a + (nx + 1) * (ny + 2), a + (ny + 2), ny + 2, down, up, 2, r + 2);"
WAIT = "MPI_Waitall(4, r, MPI_STATUSES_IGNORE);"
LINE = "MPI_Request r[4];"
START = "MPI_Irecv(in, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &r[0]);"

# What is changed of the case (from, to).
DIVIDED: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "by elements": [(UPPER, UPPER.replace("(a,", "(&a[0],").replace("r)", "&r[0])"))],
    "by a further function": [
        (
            "static void step(",
            "static void twice(double *u, MPI_Request *q, int n, int m, int l, "
            "int up, int down) {\n    post(u, u + l * n, n, up, down, 1, q);\n"
            "    post(u + m * n, &u[n], n, down, up, 2, &q[2]);\n}\n\nstatic void step(",
        ),
        (UPPER, "twice(a, r, ny + 2, nx + 1, nx, up, down);"),
        (f"        {LOWER}\n", ""),
    ],
    "in the other order": [
        (UPPER, UPPER.replace(" r)", " r + 2)")),
        (LOWER, LOWER.replace("r + 2)", "&r[0])")),
    ],
    "behind a local pointer": [(START, "double *row = in;\n    " + START.replace("(in", "(row"))],
}
# How far the interior begins from the edge where more is received.
DEEPER: dict[str, tuple[int, list[tuple[str, str]]]] = {
    "two rows": (3, [(UPPER, UPPER.replace("ny + 2,", "2 * (ny + 2),"))]),
    "another row in the function": (4, [(START, START.replace("(in,", "(in + 2 * n,"))]),
}
KEPT: dict[str, list[tuple[str, str]]] = {
    "a row of the interior": [(LOWER, LOWER.replace("nx + 1) *", "nx - 3) *"))],
    "a shorter distance": [(LOWER, LOWER.replace("(nx + 1) * (ny + 2)", "(nx + 1) * ny"))],
    "a distance that is set": [
        (UPPER, f"int k = (rank + s) % nx;\n        {UPPER}"),
        (LOWER, LOWER.replace("nx + 1) *", "k) *")),
    ],
    "more than a row": [(UPPER, UPPER.replace("ny + 2,", "ny + 9,"))],
    "a pointer that the function moves": [(START, "in += 2 * n;\n    " + START)],
    "another type": [
        (
            LOWER,
            LOWER.replace("post(a + (", "post((double *)((float *)a + (").replace(
                "2), a +", "2)), a +"
            ),
        )
    ],
    "a request twice": [(LOWER, LOWER.replace("r + 2", "r + 1"))],
    "requests further on": [(LOWER, LOWER.replace("r + 2", "r + 3")), (LINE, "MPI_Request r[5];")],
    "requests from a variable": [(LOWER, LOWER.replace("r + 2", "r + 2 * (s > 3)"))],
    "requests that the function counts": [(START, "r++;\n    " + START)],
    "requests of rows": [
        (LINE, "MPI_Request r[2][2];"),
        (UPPER, UPPER.replace(" r)", " r[0])")),
        (LOWER, LOWER.replace("r + 2", "r[1]")),
        (WAIT, WAIT.replace("4, r,", "4, r[0],")),
    ],
    "in some cases": [(LOWER, f"if (s != 3) {LOWER}")],
    "behind a return": [(START, f"if (from == 77) return;\n    {START}")],
}

# The posts of the case of C++ as methods that are handed a row.
METHODS = [
    (
        "    void end()",
        "    void receive(double *p, int n, int from, int tag) {\n"
        "        MPI_Irecv(p, n, MPI_DOUBLE, from, tag, comm_, &requests_[n_++]);\n    }\n"
        "    void send(const double *p, int n, int to, int tag) {\n"
        "        MPI_Isend(p, n, MPI_DOUBLE, to, tag, comm_, &requests_[n_++]);\n    }\n"
        "    void end()",
    ),
    *(
        (
            f"MPI_I{call}({row}, f.ny() + 2, MPI_DOUBLE, {to}, {tag}, comm_, &requests_[n_++]);",
            f"{method}({row}, f.ny() + 2, {to}, {tag});",
        )
        for call, method, row, to, tag in (
            ("recv", "receive", "f.row(0)", "low_", 1),
            ("send", "send", "f.row(1)", "low_", 2),
            ("recv", "receive", "f.row(f.nx() + 1)", "high_", 2),
            ("send", "send", "f.row(f.nx())", "high_", 1),
        )
    ),
]
METHODS_KEPT: dict[str, list[tuple[str, str]]] = {
    "into what the sweep needs": [("receive(f.row(f.nx() + 1)", "receive(f.row(f.nx() - 4)")],
    "from the end of a row": [("receive(f.row(0)", "receive(f.row(0) + 2 * f.ny()")],
    "a pointer that the method moves": [
        ("        MPI_Irecv(p", "        p += 2 * n;\n        MPI_Irecv(p"),
    ],
    "of an object whose size it sets": [
        ("        n_ = 0;\n", "        n_ = 0;\n        f.set(f.ny() + s_);\n"),
        ("int low_, high_, n_;", "int low_, high_, n_, s_ = 0;"),
        ("    double *row(", "    void set(int n) { ny_ = n; }\n    double *row("),
    ],
}


def after(folder: Path, name: str, text: str, changes: list[tuple[str, str]]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    source = folder / name
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_goes_in_front_of_the_wait(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, "p.c", C, DIVIDED[name])
    assert f"step_interior(nx, ny, a, b);\n        {WAIT}\n        step_boundary(nx, ny, a" in text


@pytest.mark.parametrize("name", DEEPER)
def test_the_interior_begins_behind_what_is_received(name: str, tmp_path: Path) -> None:
    first, changes = DEEPER[name]
    text = after(tmp_path, "p.c", C, changes)
    assert (
        f"step_interior(int nx, int ny, const double *a, double *b) {{\n    for (int i = {first};"
        in text
    )


@pytest.mark.parametrize("name", KEPT)
def test_the_step_stays_behind_the_wait(name: str, tmp_path: Path) -> None:
    assert "step_interior(" not in after(tmp_path, "p.c", C, KEPT[name])


def test_methods_that_are_handed_a_row(tmp_path: Path) -> None:
    text = after(tmp_path, "p.cpp", CXX, METHODS)
    assert "diffuse_interior(a, b);\n        halo.end();\n        diffuse_boundary(a, b);" in text


@pytest.mark.parametrize("name", METHODS_KEPT)
def test_methods_that_are_handed_what_the_sweep_needs(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, "p.cpp", CXX, METHODS + METHODS_KEPT[name])
    assert "diffuse_interior(a, b)" not in text
