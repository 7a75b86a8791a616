"""Call sites in Python, whose image is the source file and whose offset is the line.

The runtime reads both from the interpreter (runtime/mpi/python_lines.c); the function is the
innermost one around the line, as the file is now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from imbrex.profile.sites import Site

PYTHON_SOURCE = "python"
"""In place of a build-id: the image is the source of a Python program (core/images.h)."""


def python_line(site: Site) -> Site:
    """The site with its file, line and, where the file can be read, function."""
    return replace(
        site, file=site.image, line=site.offset, function=_function(site.image or "", site.offset)
    )


def _function(file: str, line: int) -> str | None:
    found = [
        (last - first, name) for first, last, name in _functions(file) if first <= line <= last
    ]
    return min(found)[1] if found else None


@lru_cache(maxsize=256)
def _functions(file: str) -> tuple[tuple[int, int, str], ...]:
    """(first line, last line, qualified name) of each function; empty where there is no source."""
    try:
        return tuple(_walk(ast.parse(Path(file).read_bytes()), ""))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()


def _walk(node: ast.AST, prefix: str) -> Iterator[tuple[int, int, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + child.name
            if not isinstance(child, ast.ClassDef):
                yield child.lineno, child.end_lineno or child.lineno, name
            yield from _walk(child, name + ".")
        else:
            yield from _walk(child, prefix)
