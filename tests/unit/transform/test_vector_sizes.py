"""Loops to the size of a vector: divided where that is known to be what the messages go by."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

DECLARED = "std::vector<double> f(n + 2), g(n + 2);"
SWAP = "f.swap(g);"
ADVANCE = "for (size_t i = 1; i < f.size() - 1; i++) g[i] = f[i - 1] + f[i] + f[i + 1];"
PROGRAM = f"""#include <mpi.h>
#include <algorithm>
#include <utility>
#include <vector>
static std::vector<double> *all;
static void longer(std::vector<double> &x) {{ x.push_back(1.0); }}
static void through(std::vector<double> &x) {{ longer(x); }}
static void turn(std::vector<double> &x, std::vector<double> &y) {{ x.swap(y); }}
static void keep(std::vector<double> &x) {{ all = &x; }}
static void look(const std::vector<double> &x, double *s) {{ *s = x[3]; }}
static void change(int &n) {{ n--; }}
static void exchange(std::vector<double> &f, int n, int left, int right)
{{
    MPI_Request r[4];
    MPI_Irecv(&f[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&f[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&f[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&f[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}}
static void relax(const std::vector<double> &f, std::vector<double> &g)
{{
    {ADVANCE}
}}
int main(int argc, char **argv)
{{
    int left, right, n = 1000;
    double s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &left);
    right = left + 1;
    left--;
    {DECLARED}
    for (int t = 0; t < 10; t++) {{
        exchange(f, n, left, right);
        relax(f, g);
        {SWAP}
    }}
    MPI_Finalize();
    return 0;
}}
"""
LOOP = "    for (int t"


def before(code: str) -> tuple[str, str]:
    """A statement more in front of the steps."""
    return (LOOP, f"    {code}\n{LOOP}")


DIVIDED: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "exchanged by the library": [(SWAP, "std::swap(f, g);")],
    "not exchanged": [(SWAP, "")],
    "in place": [("relax(f, g);", ADVANCE)],
    "with a value": [(DECLARED, DECLARED.replace("n + 2)", "n + 2, 1.0)"))],
    "a copy": [(DECLARED, "std::vector<double> f(n + 2); std::vector<double> g(f);")],
    "a copy by its value": [(DECLARED, "std::vector<double> f(n + 2); auto g = f;")],
    "two of another size beside": [
        (DECLARED, f"{DECLARED} std::vector<double> h(n), k(n);"),
        before("h.swap(k);"),
    ],
    "iterators": [before("std::fill(f.begin(), f.end(), 1.0);")],
    "a function that reads": [before("look(f, &s);")],
    "another that grows": [before("std::vector<double> h(n); longer(h); h.resize(3);")],
    "a parameter for the size": [
        (
            "const std::vector<double> &f, std::vector<double> &g)",
            "Fields f, std::vector<double> &g)",
        ),
        ("static void relax", "typedef const std::vector<double> &Fields;\nstatic void relax"),
    ],
    "messages by the size": [("&f[n + 1]", "&f[f.size() - 1]"), ("&f[n]", "&f[f.size() - 2]")],
    "nothing else by the number": [
        ("&f[n + 1]", "&f[f.size() - 1]"),
        ("&f[n]", "&f[f.size() - 2]"),
        ("exchange(f, n, left", "exchange(f, left"),
        ("&f, int n, int left", "&f, int left"),
        before("n--;"),
    ],
}
REFUSED: dict[str, list[tuple[str, str]]] = {
    "another number": [(DECLARED, "std::vector<double> f(n + 3), g(n + 3);")],
    "resized": [before("f.resize(n + 5);")],
    "the other resized": [before("g.resize(n + 5);")],
    "an element more": [before("f.push_back(1.0);")],
    "emptied": [before("f.clear(); f.resize(n + 3);")],
    "by another name": [before("auto &r = f; r.resize(n + 5);")],
    "by a pointer": [before("std::vector<double> *p = &f; p->resize(n + 5);")],
    "by a function": [before("longer(f);")],
    "by a function of a function": [before("through(f);")],
    "by a kept address": [before("keep(f); all->resize(n + 5);")],
    "by a lambda": [before("auto more = [&]() { f.resize(n + 5); }; more();")],
    "by a lambda that is given it": [
        before("auto more = [](std::vector<double> &x) { x.resize(5000); }; more(f);")
    ],
    "by the library": [before("std::fill_n(std::back_inserter(f), 3, 1.0);")],
    "exchanged with another": [before("std::vector<double> h(n + 5); h.swap(f);")],
    "exchanged by the library with another": [
        before("std::vector<double> h(n + 5); std::swap(h, f);")
    ],
    "exchanged by a function": [before("std::vector<double> h(n + 5); turn(h, f);")],
    "exchanged in a row": [
        (DECLARED, DECLARED.replace("n + 2)", "n + 2)").replace(";", ", h(n + 2), k(n + 5);")),
        before("std::swap(h, k);"),
        (SWAP, "f.swap(h);"),
    ],
    "exchanged with a row": [
        before("std::vector<std::vector<double>> h(2, std::vector<double>(n + 5)); h[0].swap(f);")
    ],
    "a row exchanged with it": [
        before("std::vector<std::vector<double>> h(2, std::vector<double>(n + 5)); f.swap(h[0]);")
    ],
    "assigned": [before("std::vector<double> h(n + 5); f = h;")],
    "assigned a list": [before("f = {1.0, 2.0};")],
    "assigned by a method": [before("f.assign(n + 5, 1.0);")],
    "moved": [before("std::vector<double> h(std::move(f)); f.push_back(1.0); f.resize(n + 5);")],
    "moved back": [
        before("std::vector<double> h(n + 5); f = std::move(h);"),
    ],
    "a list": [(DECLARED, "std::vector<double> f{1.0 * n}, g{1.0 * n}; f.resize(n + 3);")],
    "the number changes": [before("n--;")],
    "a number with a fraction": [
        ("right, n = 1000;", "right;\n    double n = 999.5;"),
        ("&f[n + 1]", "&f[(int)n + 1]"),
        ("&f[n]", "&f[(int)n]"),
        ("&f, int n, int left", "&f, double n, int left"),
    ],
    "the number is changed": [before("change(n);")],
    "a copy of another": [
        (DECLARED, "std::vector<double> f(n + 2), h(n + 5); std::vector<double> g(h);"),
    ],
}


def outcome_of(tmp_path: Path, changes: list[tuple[str, str]]):  # type: ignore[no-untyped-def]
    text = PROGRAM
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1) if old == LOOP else text.replace(old, new)
    path = tmp_path / "case.cpp"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome


def divides(tmp_path: Path, changes: list[tuple[str, str]]) -> bool:
    """Whether the interior is computed before the exchange is completed."""
    outcome = outcome_of(tmp_path, changes)
    assert len(outcome.decisions) == 5
    return any("i + 1 < f.size() - 1" in str(text) for text in outcome.after.values())


@pytest.mark.parametrize("name", DIVIDED)
def test_divided(name: str, tmp_path: Path) -> None:
    assert divides(tmp_path, DIVIDED[name])


@pytest.mark.parametrize("name", REFUSED)
def test_not_divided(name: str, tmp_path: Path) -> None:
    assert not divides(tmp_path, REFUSED[name])


def test_a_list_of_one_number_is_no_number_of_elements(tmp_path: Path) -> None:
    numbers = [
        ("std::vector<double>", "std::vector<int>"),
        ("MPI_DOUBLE", "MPI_INT"),
        ("x.push_back(1.0)", "x.push_back(1)"),
        ("double *s", "int *s"),
        ("double s;", "int s;"),
    ]
    assert divides(tmp_path, numbers)
    for made in ("f{n + 2}, g{n + 2};", "f = {n + 2}, g = {n + 2};", "f({n + 2}), g({n + 2});"):
        changed = [("f(n + 2), g(n + 2);", made)]
        assert not divides(tmp_path, [*numbers, *changed])
