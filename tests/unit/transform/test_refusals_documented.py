"""The docs list each reason that the code can give and each rewrite, and no others.

Reasons are found in the text of the code: what `Reason` and the functions that refuse are given,
what is kept as a statement's or a routine's problem, and what functions return that answer with a
reason. A reason with names in it is compared with `…` in their place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from imbrex.transform import engine
from imbrex.transform.rewrites.progress import ProgressCalls

SOURCE = Path(engine.__file__).parent
DOCS = Path(__file__).parents[3] / "docs"
GIVEN = {"Reason", "_break", "refuse", "_refuse"}
KEPT = {"stop", "problem", "hidden", "text", "what", "how", "why", "reason", "TWICE"}
# They write code, pictures or the answers' frames, no reasons.
NO_REASONS = {
    "c_text.py",
    "command.py",
    "edits.py",
    "fortran_text.py",
    "graph.py",
    "headers.py",
    "mpi_cfg.py",
    "progress_text.py",
    "terms.py",
}
CODE = re.compile(r"::|MPI_REQUEST_NULL|call …$|^…*if \(|^double |^…+ …;$|^… \(…\)$|^[…: ]*$")


def templates(node: ast.expr) -> list[str]:
    """The texts that an expression may be, with `…` for what is known only at run time."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        parts = [str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values]
        return ["".join(parts)]
    if isinstance(node, ast.IfExp):
        return templates(node.body) + templates(node.orelse)
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in templates(value)]
    if isinstance(node, ast.Tuple):
        return [text for value in node.elts for text in templates(value)]
    return []


def given(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in GIVEN:
                for argument in node.args:
                    yield from templates(argument)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if getattr(part, "attr", getattr(part, "id", "")) in KEPT:
                        yield from templates(node.value)
        elif isinstance(node, ast.FunctionDef) and _answers(node):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield from templates(inner.value)


def _answers(function: ast.FunctionDef) -> bool:
    """Whether it returns a text."""
    returns = function.returns
    return returns is not None and ast.unparse(returns) in ("str", "str | None")


def reasons() -> dict[str, str]:
    """Each reason, and a file that gives it."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name not in NO_REASONS:
            for text in map(str.strip, given(ast.parse(path.read_text()))):
                if " " in text and CODE.search(text) is None:
                    found[text] = path.name
    return found


def documented() -> set[str]:
    lines = (DOCS / "transform-refusals.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    cells = [row[2:].split(" | ")[0] for row in rows]
    return {text for cell in cells if cell not in ("reason", "text") for text in cell.split("<br>")}


def test_each_reason_is_documented() -> None:
    known = documented()
    found = reasons()
    assert len(found) > 150
    assert {text: place for text, place in found.items() if text not in known} == {}


def test_each_documented_reason_exists() -> None:
    assert documented() - set(reasons()) == set()


def test_each_rewrite_is_documented_with_its_conditions() -> None:
    text = (DOCS / "transform.md").read_text()
    headings = re.findall(r"^##+ (?:The rewrite )?`([\w-]+)`", text, re.MULTILINE)
    assert sorted(headings) == sorted(engine.REWRITES)
    assert re.search(r"^## Progress calls", text, re.MULTILINE) is not None
    named = re.search(r"`--rewrites ([\w,\s-]+?)`", text)
    assert named is not None
    assert set(re.split(r",\s*", named[1])) == set(engine.REWRITES)
    assert f"`{ProgressCalls.name}`" in (DOCS / "transform-refusals.md").read_text()
