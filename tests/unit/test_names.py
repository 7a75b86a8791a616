"""Names say what they stand for: words that fit anything, or nothing, name no thing of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import imbrex

PACKAGE = Path(imbrex.__file__).parent
ROOT = PACKAGE.parents[1]
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
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


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


def used_in_c(text: str) -> Iterator[tuple[str, int]]:
    """All words of a C source but those of comments and texts, each with its line."""
    code = NO_CODE.sub(lambda found: "\n" * found.group().count("\n"), text)
    for number, line in enumerate(code.split("\n"), 1):
        yield from ((name, number) for name in re.findall(r"[A-Za-z_]\w*", line))


def says_nothing(name: str) -> bool:
    return name.removeprefix("ix_").removeprefix("ixa_").strip("_") in SAYS_NOTHING


def test_the_check_finds_what_it_looks_for() -> None:
    python = "def _learn(what):\n    for word in what: word.hint = 1\n"
    found = [name for name, _ in given_in_python(ast.parse(python)) if says_nothing(name)]
    assert sorted(found) == ["_learn", "hint", "what", "word"]
    c = '/* what others do */\nint ix_usual(int at_once); // beyond\nputs("word");\n'
    assert [n for n in used_in_c(c) if says_nothing(n[0])] == [("ix_usual", 2), ("at_once", 2)]


def test_python() -> None:
    folders = (PACKAGE, ROOT / "runtime", ROOT / "probes")
    for file in sorted(f for folder in folders for f in folder.rglob("*.py")):
        for name, line in given_in_python(ast.parse(file.read_text(encoding="utf-8"))):
            assert not says_nothing(name), f"{file.relative_to(ROOT)}:{line}: {name}"


def test_c() -> None:
    folders = (ROOT / "runtime", ROOT / "probes", ROOT / "apps", PACKAGE)
    for file in sorted(f for folder in folders for f in folder.rglob("*.[ch]")):
        for name, line in used_in_c(file.read_text(encoding="utf-8")):
            assert not says_nothing(name), f"{file.relative_to(ROOT)}:{line}: {name}"
