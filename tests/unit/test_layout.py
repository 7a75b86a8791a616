"""Who may import whom: the layers of the package, from the command line down to plain facts.

cli → tune → capabilities → diagnosis → facts → basis; `tune` closes the loop of the others. A
folder imports its own modules and lower layers, never a neighbour in its layer, so that each
capability can be read, tested and replaced alone.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import imbrex

PACKAGE = Path(imbrex.__file__).parent
LAYERS = (
    {"errors", "__version__"},
    {"formats", "mpi_facts", "panels", "process_group", "steps", "whole_file"},
    {"mpi_environment", "network", "profile"},
    {"diagnosis"},
    {"export", "launch", "model", "probe", "recorder", "replay", "report", "transform"},
    {"tune"},
    {"cli"},
)
# Edges within a layer, each with its reason.
ALLOWED = {
    ("network", "mpi_environment"): "a kept calibration is of one build of one MPI library",
    ("export", "replay"): "GOAL is the schedule that is replayed",
}
CLICK_ONLY_IN = "cli"

LAYER_OF = {name: number for number, layer in enumerate(LAYERS) for name in layer}


@functools.cache
def modules(package: Path) -> dict[str, ast.Module]:
    """All modules by dotted name without the package's own; a folder's __init__ has its name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        if "templates" in parts or parts == ("__init__",):
            continue
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.AST, package: str = "imbrex") -> Iterator[tuple[str, int]]:
    """What a module imports, at its head or in a function: dotted names and lines. Names of the
    package without its own: `network.points`; of `from imbrex import network`: `network`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which folder they name"
            origin = node.module or ""
            names = [f"{origin}.{a.name}" for a in node.names]
        else:
            continue
        yield from ((name.removeprefix(package + "."), node.lineno) for name in names)


def violations(package: Path) -> list[str]:
    """One line per import that the layers do not allow."""
    trees = modules(package)
    folders = {name.partition(".")[0] for name in trees} | {"__version__"}
    lines = [f"{folder}: has no place among the layers" for folder in folders - LAYER_OF.keys()]
    for name, tree in trees.items():
        mine = name.partition(".")[0]
        for target, line in imported(tree):
            theirs = target.partition(".")[0]
            where = f"{name}:{line} imports {target}"
            if theirs == "click" and mine != CLICK_ONLY_IN:
                lines.append(f"{where}: commands are in cli")
            if theirs not in folders or theirs == mine or (mine, theirs) in ALLOWED:
                continue
            if LAYER_OF.get(theirs, 0) >= LAYER_OF.get(mine, 0):
                lines.append(f"{where}: not below it")
    return lines


def cycles(package: Path) -> list[list[str]]:
    """Modules that import each other in a circle, one circle of each."""
    trees = {name: _without_types(tree) for name, tree in modules(package).items()}
    edges = {
        name: {m for t, _ in imported(tree) if (m := _module(t, trees)) is not None and m != name}
        for name, tree in trees.items()
    }
    found = []
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            found.append([*path[path.index(name) :], name])
        elif name not in done:
            for target in sorted(edges[name]):
                visit(target, [*path, name])
            done.add(name)

    for name in edges:
        visit(name, [])
    return found


def _without_types(tree: ast.Module) -> ast.Module:
    """The module without what it imports for its annotations alone, which a run never does."""
    body = [n for n in tree.body if not (isinstance(n, ast.If) and _asks_for_types(n.test))]
    return ast.Module(body, [])


def _asks_for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _module(target: str, trees: dict[str, ast.Module]) -> str | None:
    """The module that an imported name stands in."""
    while target and target not in trees:
        target = target.rpartition(".")[0]
    return target or None


def test_imports_go_one_way() -> None:
    assert violations(PACKAGE) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycles(PACKAGE) == []


def _package(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        file = folder / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_the_check_can_fail(tmp_path: Path) -> None:
    package = _package(
        tmp_path,
        errors="",
        profile__kinds="if TYPE_CHECKING:\n    from imbrex.profile.run import Run\n",
        profile__run="from imbrex.profile.kinds import Kind\nfrom imbrex.replay import matching\n",
        replay__matching="from imbrex.profile import run\n",
        replay__late="def f():\n    from imbrex.recorder.trace import CALL\n",
        recorder__trace="import click\n",
        report__html="from imbrex import diagnosis\n",
        diagnosis__advice="import imbrex.report.html\n",
        elsewhere__new="",
    )
    assert sorted(violations(package)) == [
        "diagnosis.advice:1 imports report.html: not below it",
        "elsewhere: has no place among the layers",
        "profile.run:2 imports replay.matching: not below it",
        "recorder.trace:1 imports click: commands are in cli",
        "replay.late:2 imports recorder.trace.CALL: not below it",
    ]
    assert cycles(package) == [["profile.run", "replay.matching", "profile.run"]]
