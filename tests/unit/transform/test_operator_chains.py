"""Chains such as `out % a % b % c`, as boost::format has them: each call is read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
struct Format {
    template <class T> Format &operator%%(const T &value);
    virtual Format &operator<<(int number);
    virtual Format &put(int number);
    virtual ~Format() {}
};
template <class T> Format &operator|(Format &out, const T &value);
static double a[1000], b[1000];
static int counted;
static int next() { return ++counted; }
int main(int argc, char **argv)
{
    int rank;
    Format out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(a, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++)
        b[i] = 0.5 * b[i];
    out%s;
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("step", "name"),
    [(" % next()", "%"), (" | next()", "|"), (" << next()", "<<"), (".put(next())", "put")],
)
def test_each_call_of_a_long_chain_is_read_once(step: str, name: str, tmp_path: Path) -> None:
    source = tmp_path / "chain.cpp"
    source.write_text(PROGRAM % (step * 30))
    program = read_program([source], Options())
    named = [call.name for call in program.calls()]
    assert sum(call.endswith("next") for call in named) == 30
    assert sum(name in call and not call.startswith("MPI_") for call in named) == 30, named
    decisions = transform([source], Options()).decisions
    assert [decision.decision for decision in decisions] == ["rewritten"]


TOUCHING = """#include <mpi.h>
#include <string>
#include <vector>
static double a[1000], b[1000];
static int touch() { a[0] += 1.0; return 3; }
static int look() { return a[1] > 0.5 ? 3 : 2; }
int main(int argc, char **argv)
{
    int rank;
    std::string s(9, 'x');
    std::vector<std::vector<int>> w(9), *p = &w;
    std::vector<int> v(9), *q[2] = {&v, &v};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(a, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
    %s;
    for (int i = 0; i < 1000; i++)
        b[i] = i;
    MPI_Finalize();
    return s.empty() + w.empty() + p->empty() + q[0]->empty();
}
"""


@pytest.mark.parametrize(
    ("statement", "moved"),
    [
        ("s.append(touch(), 'x').size()", False),
        ("w.at(touch()).size()", False),
        ("p->at(touch()).empty()", False),
        ("q[touch() - 3]->empty()", False),
        ("q[look() - 2]->empty()", True),
        ("q[1]->empty()", True),
        ("w[2].size()", True),
        ("s.size()", True),
    ],
)
def test_what_a_method_is_called_on_is_read_with_the_call(
    statement: str, moved: bool, tmp_path: Path
) -> None:
    source = tmp_path / "object.cpp"
    source.write_text(TOUCHING % statement)
    outcome = transform([source], Options())
    text = outcome.after[str(source)].decode()
    called = text.index(f"    {statement};")
    wait = text.find("MPI_Wait(")
    ended = wait if wait > 0 else text.index("MPI_Send(")
    assert (ended > called) is moved, text
