"""Names say what they stand for: words that fit anything, or nothing, name no thing of the code.

Nor does a banner stand over a part of a file: a heading in dashes says what the code below says
anyway, where a sentence could say why it stands there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import imbrex

PACKAGE = Path(imbrex.__file__).parent
ROOT = PACKAGE.parents[1]
FOLDERS = [
    PACKAGE,
    *(ROOT / name for name in ("runtime", "probes", "apps", "benchmarks", "examples", "tests")),
]
SAYS_NOTHING = {
    "around",
    "at_once",
    "beyond",
    "deep",
    "hint",
    "kinds",
    "learn",
    "leave_behind",
    "nobody",
    "others",
    "selves",
    "together",
    "usual",
    "webs",
    "what",
    "word",
}
C_LIKE = (".c", ".h", ".def", ".cc", ".cpp", ".hpp", ".js")
FORTRAN = (".f90", ".F90", ".f", ".F", ".inc")
NO_CODE_OF_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NO_CODE_OF_FORTRAN = re.compile(r"![^\n]*|'[^'\n]*'|\"[^\"\n]*\"")
BANNER = re.compile(r"^\s*(?:/?\*|#|//|!|<!--)+\s*(?:[^\s].*?\s)?([-=*#~_])\1{3,}")
FIXED_COMMENT = re.compile(r"^[cC*][^\n]*", re.MULTILINE)


def sources(*suffixes: str) -> list[Path]:
    return sorted(f for folder in FOLDERS for f in folder.rglob("*") if f.suffix in suffixes)


def given_in_python(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names of functions, classes, parameters, variables and fields, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname, node.lineno) for alias in node.names if alias.asname)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name, node.lineno


def identifiers(code: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(code.split("\n"), 1):
        yield from ((name, number) for name in re.findall(r"[A-Za-z_]\w*", line))


def used_in_c(text: str) -> Iterator[tuple[str, int]]:
    """All words of a source of C, C++ or JavaScript but those of comments and texts."""
    return identifiers(NO_CODE_OF_C.sub(lambda found: "\n" * found.group().count("\n"), text))


def used_in_fortran(text: str, fixed: bool) -> Iterator[tuple[str, int]]:
    """All words of a Fortran source but those of comments and texts, in lower case."""
    code = FIXED_COMMENT.sub("", text) if fixed else text
    return identifiers(NO_CODE_OF_FORTRAN.sub("", code).lower())


def says_nothing(name: str) -> bool:
    return name.removeprefix("ix_").removeprefix("ixa_").strip("_") in SAYS_NOTHING


def banners(text: str) -> list[int]:
    """The lines of comments that have a heading in dashes or the like, or a rule."""
    return [n for n, line in enumerate(text.split("\n"), 1) if BANNER.match(line)]


def test_the_check_finds_what_it_looks_for() -> None:
    python = (
        "import os as usual\n"
        "def _learn(what):\n    for word in what: word.hint = 1\n"
        "try: pass\nexcept E as deep: print([k for kinds in f'{kinds}'])\n"
    )
    found = [name for name, _ in given_in_python(ast.parse(python)) if says_nothing(name)]
    assert sorted(found) == ["_learn", "deep", "hint", "kinds", "usual", "what", "word"]
    c = '/* what others do */\nint ix_usual(int at_once); // beyond\nputs("word");\n'
    assert [n for n in used_in_c(c) if says_nothing(n[0])] == [("ix_usual", 2), ("at_once", 2)]
    fortran = "      integer Others ! what\nc     word\n      print *, 'kinds', \"hint\"\n"
    assert [n for n in used_in_fortran(fortran, True) if says_nothing(n[0])] == [("others", 1)]
    assert ("word", 2) in used_in_fortran(fortran, False)


def test_python() -> None:
    for file in sources(".py"):
        for name, line in given_in_python(ast.parse(file.read_text(encoding="utf-8"))):
            assert not says_nothing(name), f"{file.relative_to(ROOT)}:{line}: {name}"


def test_c() -> None:
    for file in sources(*C_LIKE):
        for name, line in used_in_c(file.read_text(encoding="utf-8")):
            assert not says_nothing(name), f"{file.relative_to(ROOT)}:{line}: {name}"


def test_fortran() -> None:
    for file in sources(*FORTRAN):
        fixed = file.suffix.lower() in (".f", ".inc")
        for name, line in used_in_fortran(file.read_text(encoding="utf-8"), fixed):
            assert not says_nothing(name), f"{file.relative_to(ROOT)}:{line}: {name}"


def test_files() -> None:
    for file in sources(".py", *C_LIKE, *FORTRAN):
        assert not says_nothing(file.stem), file.relative_to(ROOT)


def test_banners_are_found() -> None:
    found = (
        "/* ---- Calls */",
        "/* ---- Calls ----------",
        "    # Conditions -------",
        "# ---- Tests",
        "# =====",
        " * -------- */",
        "  // ---- Drawing ----",
        "/**************",
        "!*****",
    )
    assert banners("\n".join(found)) == list(range(1, len(found) + 1))
    good = (
        "/* Why. */",
        "# a -- b",
        "x = 'y' # why",
        "#define A(...) b",
        "    --no-sandbox",
        "int *p;",
    )
    assert banners("\n".join(good)) == []


def test_no_banners() -> None:
    suffixes = (".py", ".cmake", ".css", ".j2", *C_LIKE, *FORTRAN)
    files = [*sources(*suffixes), *(ROOT.glob("*.toml")), *(ROOT / "docs").rglob("*.py")]
    files += [ROOT / "Makefile", ROOT / "runtime/CMakeLists.txt", ROOT / "apps/Makefile"]
    for file in files:
        lines = banners(file.read_text(encoding="utf-8"))
        assert not lines, f"{file.relative_to(ROOT)}: lines {lines} have banners"
