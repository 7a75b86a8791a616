"""Constructors and destructors as code of the program that a collective may be matched in."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <memory>
#include <vector>
namespace app {
%s
}
static double a[9], b[900];
static void work() { for (int i = 0; i < 900; i++) b[i] = 0.5 * b[i] + 1.0; }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    %s
    MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    work();
    MPI_Finalize();
    return 0;
}
"""
UNSEEN = "struct Inner { int k; Inner(); };"
ENDING = "struct Inner { int k; ~Inner(); };"
SEEN = "struct Inner { int k; Inner() : k(1) {} ~Inner() { k = 0; } };"
HOLDER = " struct Config { int n = 3; std::vector<double> w; Inner in; };"

# Of each, what is declared and what main does; the code of `Inner` is not among the files.
REFUSED = {
    "a member": (UNSEEN + HOLDER, "app::Config config; (void)config.n;"),
    "a base class": (UNSEEN + "struct Late : Inner { int n = 3; };", "app::Late late; late.n = 1;"),
    "a member's end": (ENDING + HOLDER, "{ app::Config config; (void)config.n; }"),
    "elements": (UNSEEN, "std::vector<app::Inner> v(10);"),
    "elements that come later": (UNSEEN, "std::vector<app::Inner> v; v.resize(10);"),
    "elements' ends": (ENDING, "{ std::vector<app::Inner> v(10); }"),
    "elements without a name": (UNSEEN, "(void)std::vector<app::Inner>(10).size();"),
    "members of elements": (UNSEEN + HOLDER, "std::vector<app::Config> v; v.resize(10);"),
    "elements of a member": (
        UNSEEN + "struct Many { int n; std::vector<Inner> in{3}; };",
        "app::Many many; many.n = 1;",
    ),
    "what a pointer owns": (ENDING, "std::unique_ptr<app::Inner> p;"),
    "new memory": (UNSEEN + HOLDER, "app::Config *p = new app::Config; delete p;"),
    "a member of a template": (
        ENDING + "template <class T> struct Keep { Inner in; T x; };",
        "{ app::Keep<int> keep; (void)keep; }",
    ),
    "a collective in a constructor": (
        "struct Inner { int k; Inner() { MPI_Bcast(&k, 1, MPI_INT, 0, MPI_COMM_WORLD); } };"
        + HOLDER,
        "app::Config config; (void)config.n;",
    ),
}
REWRITTEN = {
    "no constructor": ("struct Pair { int n = 3; double x; };", "app::Pair pair; pair.n = 1;"),
    "a vector as a member": (
        "struct Config { int n = 3; std::vector<double> w; };",
        "app::Config config; (void)config.n;",
    ),
    "a member": (SEEN + HOLDER, "app::Config config; (void)config.n;"),
    "elements": (SEEN + HOLDER, "std::vector<app::Config> v(10);"),
    "new memory": (SEEN + HOLDER, "app::Config *p = new app::Config; delete p;"),
}


@pytest.mark.parametrize(
    ("name", "rewritten"),
    [*((name, False) for name in REFUSED), *((name, True) for name in REWRITTEN)],
)
def test_collective(name: str, rewritten: bool, tmp_path: Path) -> None:
    path = tmp_path / "case.cpp"
    path.write_text(PROGRAM % (REWRITTEN if rewritten else REFUSED)[name])
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    decision = outcome.decisions[-1]
    assert (decision.decision == "rewritten") is rewritten, decision.reason


def test_the_constructor_is_named(tmp_path: Path) -> None:
    path = tmp_path / "case.cpp"
    path.write_text(PROGRAM % REFUSED["a member"])
    (decision,) = transform([path], Options()).decisions
    assert "app::Inner::Inner, whose source is not among the files" in decision.reason.text
