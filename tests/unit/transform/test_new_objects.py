"""Objects of C++ that `new` makes: told apart as those that are declared, where that is so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>
class Domain {
public:
  Domain(int nx, int ny, int rank, int size) : nx(nx), ny(ny), rank(rank), size(size) {
    a = new double[(nx + 2) * ny];
    b = new double[(nx + 2) * ny];
    for (int i = 0; i < (nx + 2) * ny; i++) a[i] = b[i] = i + rank;
  }
  ~Domain() { delete[] a; delete[] b; }
  void exchange() {
    int up = rank == 0 ? MPI_PROC_NULL : rank - 1;
    int down = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Sendrecv(&a[ny], ny, MPI_DOUBLE, up, 0, &a[(nx + 1) * ny], ny, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&a[nx * ny], ny, MPI_DOUBLE, down, 1, &a[0], ny, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void compute() {
    for (int i = 1; i <= nx; i++)
      for (int j = 1; j < ny - 1; j++)
        b[i * ny + j] = 0.5 * (a[(i - 1) * ny + j] + a[(i + 1) * ny + j]);
  }
  void swap() { double *t = a; a = b; b = t; }
  int nx, ny, rank, size;
  double *a, *b;
};
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Domain *d = new Domain(64, 100, rank, size);
  for (int t = 0; t < 30; t++) {
    d->exchange();
    d->compute();
    d->swap();
  }
  std::printf("%f\\n", d->a[3]);
  delete d;
  MPI_Finalize();
}
"""
CONSTRUCTOR = (
    "  Domain(int nx, int ny, int rank, int size) : nx(nx), ny(ny), rank(rank), size(size) {"
)
MADE = "  Domain *d = new Domain(64, 100, rank, size);\n"
CALLS = "    d->exchange();\n    d->compute();\n"
DELETED = "  delete d;\n"
CLASS = "class Domain {\npublic:\n"
ALLOCATED = "    b = new double[(nx + 2) * ny];\n"
MAIN = "int main("
DIVIDED: dict[str, dict[str, str]] = {
    "as it is": {},
    "never freed": {DELETED: ""},
    "two of them": {
        MADE: MADE + "  Domain *e = new Domain(8, 8, rank, size);\n",
        DELETED: DELETED + "  delete e;\n",
    },
    "of the whole program": {
        MADE: "  d = new Domain(64, 100, rank, size);\n",
        MAIN: "static Domain *d;\n" + MAIN,
    },
    "made in braces": {"Domain(64, 100, rank, size)": "Domain{64, 100, rank, size}"},
    "held by an object that is made so": {
        MAIN: (
            "struct Run {\n  Domain *d;\n  Run(int r, int s) { d = new Domain(64, 100, r, s); }\n"
            "  ~Run() { delete d; }\n  void step() {\n" + CALLS + "    d->swap();\n  }\n};\n" + MAIN
        ),
        MADE: "  Run *r = new Run(rank, size);\n",
        "{\n" + CALLS + "    d->swap();\n  }\n  std": "r->step();\n  std",
        "d->a[3]": "r->d->a[3]",
        DELETED: "  delete r;\n",
    },
}
GIVEN = {
    CONSTRUCTOR: CONSTRUCTOR.replace("int size)", "int size, double *a, double *b)"),
    "    a = new double[(nx + 2) * ny];\n" + ALLOCATED: "    this->a = a;\n    this->b = b;\n",
    "delete[] a; delete[] b; ": "",
    "    d->swap();\n": "",
}
ROOM = "  double *x = new double[9000];\n"
REFUSED: dict[str, dict[str, str]] = {
    "both arrays are one": {ALLOCATED: "    b = a;\n", "delete[] b; ": ""},
    "given one array twice": GIVEN | {MADE: ROOM + MADE.replace("size)", "size, x, x)")},
    "a copy of another one": {
        MADE: MADE.replace(" d ", " c ").replace("*d", "*c") + "  Domain *d = new Domain(*c);\n"
        "  d->b = c->a;\n",
        DELETED: "",
    },
    "one that is assigned": {
        MADE: MADE + "  Domain *e = new Domain(64, 100, rank, size);\n  *e = *d;\n  d->b = e->a;\n",
        DELETED: "",
    },
    "its constructor makes itself known": {
        CLASS: CLASS + "  static Domain *last;\n",
        ALLOCATED: ALLOCATED + "    last = this;\n",
        MAIN: "Domain *Domain::last;\n" + MAIN,
        MADE: MADE + "  Domain::last->b = Domain::last->a;\n",
        DELETED: "",
    },
    "memory of its own": {
        CLASS: CLASS + "  static void *operator new(std::size_t n) { return std::malloc(n); }\n"
        "  static void operator delete(void *p) { std::free(p); }\n",
    },
    "memory of its base": {
        CLASS: "struct Pooled {\n  static void *operator new(std::size_t n) {"
        " return std::malloc(n); }\n  static void operator delete(void *p) { std::free(p); }\n};\n"
        + CLASS.replace("Domain", "Domain : public Pooled"),
    },
    "made in memory that is given": {
        MADE: "  static char room[sizeof(Domain)];\n" + MADE.replace("new ", "new (room) "),
        DELETED: "  d->~Domain();\n",
    },
    "an array of them": {
        CLASS: CLASS + "  Domain() : Domain(64, 100, 0, 1) {}\n",
        MADE: "  Domain *d = new Domain[2];\n",
        DELETED: "  delete[] d;\n",
    },
    "another one is made between": {
        CALLS: CALLS.replace(";\n", ";\n    Domain *e = new Domain(8, 8, rank, size);\n", 1)
    },
    "another one is freed between": {
        MADE: MADE + "  Domain *e = new Domain(8, 8, rank, size);\n",
        CALLS: CALLS.replace(";\n", ";\n    if (t == 29) delete e;\n", 1),
    },
}


def after(folder: Path, changes: dict[str, str]) -> str:
    source = folder / "p.cpp"
    source.write_text(changed(PROGRAM, changes))
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_is_computed_meanwhile(name: str, tmp_path: Path) -> None:
    assert "d->compute_interior();" in after(tmp_path, DIVIDED[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_be_one_stays(name: str, tmp_path: Path) -> None:
    assert "_interior" not in after(tmp_path, REFUSED[name])
