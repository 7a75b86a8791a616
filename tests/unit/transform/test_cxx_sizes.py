"""Sizes that objects of C++ are made with: what tells those of two objects to be one."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASE = (Path(__file__).parent / "cases" / "sized.cpp").read_text()
MADE = "const int nx = 20, ny = 30;\n  Field a(nx, ny), b(nx, ny);"
ACCESS = "double *data() { return v_.data(); }"
STEP = "    halo.exchange(a);\n    relax(a, b);\n    halo.exchange(b);\n    relax(b, a);\n"
ONE = "    halo.exchange(a);\n    relax(a, b);\n"
CONSTRUCTOR = "Field(int nx, int ny) : nx_(nx), ny_(ny), v_((nx + 2) * ny) {}"

# What is changed of the case (from, to).
DIVIDED: dict[str, list[tuple[str, str]]] = {
    "as it is": [],
    "numbers": [(MADE, "Field a(20, 30), b(20, 30);")],
    "each by itself": [
        (MADE, "const int nx = 20, ny = 30;\n  Field a(nx, ny);\n  Field b(nx, ny);")
    ],
    "a number that is asked for": [
        (MADE, "const int nx = 20 + argc, ny = 30;\n  Field a(nx, ny), b(nx, ny);"),
    ],
}
READ = "struct Config { int nx, ny; };\nstatic Config config;\nint main("
SET = "config.nx = 20 + argc;\n  config.ny = 30;\n  "
UNSIGNED = [
    ("Field(int nx, int ny)", "Field(std::size_t nx, std::size_t ny)"),
    ("int nx() const", "std::size_t nx() const"),
    ("int ny() const", "std::size_t ny() const"),
    ("  int nx_, ny_;", "  std::size_t nx_, ny_;"),
    ("#include <cstdio>", "#include <cstddef>\n#include <cstdio>"),
]
DIVIDED |= {
    "components of a structure": [
        ("int main(", READ),
        (MADE, f"{SET}Field a(config.nx, config.ny), b(config.nx, config.ny);"),
    ],
    "such of one that is set again behind": [
        ("int main(", READ),
        (MADE, f"{SET}Field a(config.nx, config.ny), b(config.nx, config.ny);\n  config.ny = 3;"),
    ],
    "without a sign": UNSIGNED,
    "constants of the file": [
        ("int main(", "static const int NX = 20, NY = 30;\nint main("),
        (MADE, "Field a(NX, NY), b(NX, NY);"),
    ],
}
DIVIDED |= {
    "in the constructor's body": [
        (CONSTRUCTOR, "Field(int nx, int ny) { nx_ = nx; ny_ = ny; v_.resize((nx + 2) * ny); }")
    ],
    "one in the body": [
        (CONSTRUCTOR, CONSTRUCTOR.replace(" ny_(ny),", "").replace("{}", "{ this->ny_ = ny; }"))
    ],
    "one by another": [
        (CONSTRUCTOR, CONSTRUCTOR.replace(" ny_(ny),", "").replace("{}", "{ ny_ = nx_ + ny; }")),
        ("v_((nx + 2) * ny)", "v_((nx + 2) * (nx + ny))"),
    ],
    "one by another in front of the body": [
        (CONSTRUCTOR, CONSTRUCTOR.replace("ny_(ny)", "ny_(2 * nx_)").replace("* ny)", "* 2 * nx)")),
    ],
}
UTILITY = ("#include <cstdio>", "#include <cstdio>\n#include <utility>")
EXCHANGED = ONE + "    std::swap(a, b);\n"
DIVIDED |= {
    "objects of one size that are exchanged": [UTILITY, (STEP, STEP + "    std::swap(a, b);\n")],
    "objects of one size that two exchanges go through": [
        UTILITY,
        (MADE, "const int nx = 20, ny = 30;\n  Field a(nx, ny), b(nx, ny), c(nx, ny);"),
        (STEP, STEP + "    std::swap(a, b);\n    std::swap(b, c);\n"),
    ],
    "others are exchanged": [
        UTILITY,
        (MADE, MADE + "\n  Field c(9, 9), d(7, 7);\n  std::swap(c, d);"),
    ],
}
REFUSED: dict[str, list[tuple[str, str]]] = {
    "another size": [(MADE, "Field a(20, 30), b(40, 15);"), (STEP, ONE)],
    "a number that is set between": [
        (MADE, "int nx = 20, ny = 30;\n  Field a(nx, ny);\n  ny = 15;\n  Field b(nx, ny);"),
        (STEP, ONE),
    ],
    "a component that is set between": [
        ("int main(", READ),
        (
            MADE,
            f"{SET}Field a(config.nx, config.ny);\n  config.ny = 15;\n  "
            "Field b(config.nx, config.ny);",
        ),
        (STEP, ONE),
    ],
    "a component that a call sets between": [
        ("int main(", READ.replace("int main", "static void ask() { config.ny = 15; }\nint main")),
        (MADE, f"{SET}Field a(config.nx, config.ny);\n  ask();\n  Field b(config.nx, config.ny);"),
        (STEP, ONE),
    ],
    "a constructor that sets it": [
        ("class Field", "struct Config { int nx, ny; };\nstatic Config config;\nclass Field"),
        (CONSTRUCTOR, CONSTRUCTOR.replace("{}", "{ config.ny = 15; }")),
        (MADE, f"{SET}Field a(config.nx, config.ny), b(config.nx, config.ny);"),
        (STEP, ONE),
    ],
    "a constructor between that sets it": [
        (
            "class Field",
            "struct Config { int nx, ny; };\nstatic Config config;\n"
            "struct Less { Less() { config.ny = 15; } ~Less() {} };\nclass Field",
        ),
        (
            MADE,
            f"{SET}Field a(config.nx, config.ny);\n  Less less;\n  Field b(config.nx, config.ny);",
        ),
        (STEP, ONE),
    ],
    "an object that is a member and sets it": [
        (
            "class Field",
            "struct Config { int nx, ny; };\nstatic Config config;\n"
            "struct Less { Less() { config.ny = 15; } };\nclass Field",
        ),
        ("  int nx_, ny_;", "  int nx_, ny_;\n  Less less_;"),
        (MADE, f"{SET}Field a(config.nx, config.ny), b(config.nx, config.ny);"),
        (STEP, ONE),
    ],
    "another one without a sign": [*UNSIGNED, (MADE, "Field a(20, 30), b(40, 15);"), (STEP, ONE)],
    "a variable of the file": [
        ("int main(", "static int nx = 20, ny = 30;\nint main("),
        (MADE, "Field a(nx, ny);\n  ny = 15;\n  Field b(nx, ny);"),
        (STEP, ONE),
    ],
    "a number that a call sets": [
        ("static void relax", "static void ask(int &n) { n = 15; }\nstatic void relax"),
        (MADE, "int nx = 20, ny = 30;\n  Field a(nx, ny);\n  ask(ny);\n  Field b(nx, ny);"),
        (STEP, ONE),
    ],
    "a number that MPI sets": [
        (
            MADE,
            "int nx = 20, ny = 30;\n  Field a(nx, ny);\n"
            "  MPI_Bcast(&ny, 1, MPI_INT, 0, MPI_COMM_WORLD);\n  Field b(nx, ny);",
        ),
        (STEP, ONE),
    ],
    "a method that sets it": [
        (ACCESS, f"{ACCESS} void narrow() {{ ny_ = 15; }}"),
        (MADE, f"{MADE}\n  b.narrow();"),
        (STEP, ONE),
    ],
    "a reference to it": [
        (ACCESS, f"{ACCESS} int &width() {{ return ny_; }}"),
        (MADE, f"{MADE}\n  b.width() = 15;"),
        (STEP, ONE),
    ],
    "a pointer to it": [
        (ACCESS, f"{ACCESS} int *width() {{ return &ny_; }}"),
        (MADE, f"{MADE}\n  *b.width() = 15;"),
        (STEP, ONE),
    ],
    "an object that is assigned": [
        (MADE, f"{MADE}\n  b = Field(20, 15);"),
        (STEP, ONE),
    ],
    "objects that are exchanged": [
        UTILITY,
        (MADE, "Field a(20, 30), b(20, 30), c(40, 15);\n  std::swap(b, c);"),
        (STEP, ONE),
    ],
    "objects that are exchanged through another one": [
        UTILITY,
        (MADE, "Field a(20, 30), b(20, 30), c(20, 30), d(40, 15);"),
        (STEP, EXCHANGED + "    std::swap(b, c);\n    std::swap(c, d);\n"),
    ],
    "one that is exchanged with one of which nothing is known": [
        UTILITY,
        (CONSTRUCTOR, CONSTRUCTOR + "\n  Field() : nx_(40), ny_(15), v_(630) {}"),
        (MADE, "Field a(20, 30), b(20, 30), c;\n  std::swap(b, c);"),
        (STEP, ONE),
    ],
    "one that a reference exchanges": [
        UTILITY,
        (MADE, "Field a(20, 30), b(20, 30), c(40, 15);\n  Field &o = b;\n  std::swap(o, c);"),
        (STEP, ONE),
    ],
    "one that is exchanged in a routine": [
        UTILITY,
        ("int main(", "static void turn(Field &a, Field &b) { std::swap(a, b); }\nint main("),
        (MADE, "Field a(20, 30), b(20, 30), c(40, 15);\n  turn(b, c);"),
        (STEP, ONE),
    ],
    "a method that exchanges it": [
        UTILITY,
        (ACCESS, f"{ACCESS} void swap(Field &o) {{ std::swap(ny_, o.ny_); v_.swap(o.v_); }}"),
        (MADE, "Field a(20, 30), b(20, 30), c(40, 15);\n  b.swap(c);"),
        (STEP, ONE),
    ],
    "a body that sets it twice": [
        (
            CONSTRUCTOR,
            "Field(int nx, int ny) { nx_ = nx; ny_ = ny; ny_ = 600 / nx; v_.resize(nx * ny + 9); }",
        ),
        (MADE, "Field a(20, 30), b(40, 30);"),
        (STEP, ONE),
    ],
    "a body that sets it in some cases": [
        (
            CONSTRUCTOR,
            CONSTRUCTOR.replace(" ny_(ny),", "").replace(
                "{}", "{ if (nx > 30) ny_ = 15; else ny_ = ny; }"
            ),
        ),
        (MADE, "Field a(20, 30), b(40, 30);"),
        (STEP, ONE),
    ],
    "a body that is left": [
        (
            CONSTRUCTOR,
            CONSTRUCTOR.replace(" ny_(ny),", "").replace(
                "{}", "{ if (nx > 30) return; ny_ = ny; }"
            ),
        ),
        ("int nx_, ny_;", "int nx_, ny_ = 15;"),
        (MADE, "Field a(20, 30), b(40, 30);"),
        (STEP, ONE),
    ],
    "a value that the body keeps in some cases": [
        (
            CONSTRUCTOR,
            CONSTRUCTOR.replace(" ny_(ny),", "").replace("{}", "{ fill(); ny_ = ny; }"),
        ),
        (
            "int nx_, ny_;",
            "void fill() { for (int k = 0; k < ny_; k++) v_[k] = 1; }\n  int nx_, ny_ = 1;",
        ),
    ],
    "a body that sets another object's": [
        (
            CONSTRUCTOR,
            f"{CONSTRUCTOR}\n  Field(int nx, int ny, Field &o) : nx_(nx), v_((nx + 2) * ny) {{ "
            "ny_ = ny; o.ny_ = 15; }",
        ),
        (MADE, "Field a(20, 30), b(20, 30), c(5, 5, b);"),
        (STEP, ONE),
    ],
    "a body behind another constructor": [
        (
            CONSTRUCTOR,
            f"{CONSTRUCTOR}\n  Field(int nx) : Field(nx, 30) {{ ny_ = nx == 40 ? 15 : 30; }}",
        ),
        (MADE, "Field a(20), b(40);"),
        (STEP, ONE),
    ],
    "a constructor whose body sets it": [
        (CONSTRUCTOR, CONSTRUCTOR.replace("{}", "{ if (nx > 30) ny_ = 15; }")),
        (MADE, "Field a(20, 30), b(40, 30);"),
        (STEP, ONE),
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


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_is_one_of_both(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, DIVIDED[name])
    assert "relax_interior(a, b);\n    halo.exchange_finish();\n    relax_boundary(a, b);" in text


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_may_differ(name: str, tmp_path: Path) -> None:
    assert "_interior" not in after(tmp_path, REFUSED[name])
