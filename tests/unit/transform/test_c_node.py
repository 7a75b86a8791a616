"""Nodes answer from what is known already exactly what libclang would answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from clang import cindex

from imbrex.transform.readers import c_calls, c_declarations, c_parsing
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_node import Node, Tree

SOURCE = """
extern double a[];
double first(int i) { return a[i]; }
double a[10];
int old(x, y) double x[]; short y; { return (int)x[y]; }
typedef double row[5];
struct s { int b : 3; double *p; } glob;
double rows(row r, row *q, double m[3][4], int n, double w[n][n], int (*call)(int, double *)) {
    register int k = n;
    double vla[n];
    vla[0] = r[0] + q[1][2] + m[1][2] + w[k][0] + glob.b + (*call)(k + 1, glob.p + 1);
    return vla[0] + first(call(3, &a[k])) + rows(r, q, m, sizeof(int), w, call);
}
"""


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from nodes(child)


def tree() -> Tree:
    files = [("source.c", SOURCE)]
    unit = cindex.Index.create().parse("source.c", args=["-w"], unsaved_files=files)
    return Tree(unit, SOURCE.encode(), plus_plus=False)


def test_the_type_of_a_name() -> None:
    read = tree()
    names = [n for top in read.top() for n in nodes(top) if n.kind is ck.DECL_REF_EXPR]
    assert len(names) > 20
    for name in names:
        asked = read.type(c_calls.type_of(name.raw))
        pointer = asked.is_array and name.referenced.kind is ck.PARM_DECL
        assert name.type is (read.adjusted[id(asked)] if pointer else asked), name.spelling


def test_the_arguments_of_a_call() -> None:
    calls = [n for top in tree().top() for n in nodes(top) if n.kind is ck.CALL_EXPR]
    assert len(calls) == 4
    for call in calls:
        asked = c_calls.arguments(call.raw)
        assert [bytes(node.raw) for node in call.arguments] == [bytes(raw) for raw in asked]


def test_a_name_that_declares_nothing() -> None:
    literal = next(n for top in tree().top() for n in nodes(top) if n.kind is ck.INTEGER_LITERAL)
    assert literal.referenced is None


def test_headers_of_the_system_can_be_left_out() -> None:
    """Not one that is the program's."""
    header = "int declared(int);\ntypedef int number;\n"
    text = '#include "own/a.h"\n#include <b.h>\n#include <c.h>\nint used;\n'
    files = [("source.c", text), ("./own/a.h", header), ("of/b.h", header), ("of/c.h", header)]
    unit = cindex.Index.create().parse("source.c", args=["-isystem", "of"], unsaved_files=files)
    read = Tree(unit, text.encode(), plus_plus=False)
    size = len(header)
    asked = [("./own/a.h", size), ("of/b.h", size), ("of/none.h", size)]
    found = Counter(node.location.file for node in read.top())
    assert found == {"own/a.h": 2, "of/b.h": 2, "of/c.h": 2, "source.c": 1}
    found = Counter(node.location.file for node in read.top(asked))
    assert found == {"own/a.h": 2, "of/c.h": 2, "source.c": 1}


def test_the_parser_s_own_headers_are_left_out() -> None:
    path, text = Path("source.c"), b"#include <mpi.h>\nint main(void) { return MPI_Barrier(0); }\n"
    unit = c_parsing.parsed(path, [], text, {})
    read = Tree(unit, text, plus_plus=False)
    of_mpi = [node for node in read.top() if "/mpi" in (node.location.file or "")]
    assert len(of_mpi) > 400
    left = read.top(c_declarations.headers())
    of_macros = [node for node in left if "/mpi" in (node.location.file or "")]
    assert len(of_macros) < 20
    assert [node.spelling for node in left if node.location.file == "source.c"] == ["main"]
