"""Two sends change places only where no receive with a wildcard may tell them apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double a[N], b[N], c[N];
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void put(void)
{
    MPI_Request r[2];
    work(a);
    %s
    work(c);
    %s
    work(c);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    r_none();
    if (rank == 0) {
        put();
    } else {
        MPI_Recv(a, N, MPI_DOUBLE, 0, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, N, MPI_DOUBLE, 0, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%%g %%g\\n", a[1], b[2]);
    MPI_Finalize();
    return 0;
}
""".replace("    r_none();\n", "")
BLOCKING = [f"MPI_Send({x}, N, MPI_DOUBLE, 1, {tag}, MPI_COMM_WORLD);" for x, tag in ("a1", "b2")]
NONBLOCKING = [
    f"MPI_Isend({x}, N, MPI_DOUBLE, 1, {tag}, MPI_COMM_WORLD, &r[{i}]);"
    for i, (x, tag) in enumerate(("a1", "b2"))
]


@pytest.mark.parametrize("sends", [BLOCKING, NONBLOCKING], ids=["blocking", "nonblocking"])
@pytest.mark.parametrize("tags", [("1", "2"), ("MPI_ANY_TAG", "MPI_ANY_TAG")])
def test_order(sends: list[str], tags: tuple[str, str], tmp_path: Path) -> None:
    text = PROGRAM % (*sends, *tags)
    if sends is BLOCKING:
        text = text.replace("    MPI_Request r[2];\n", "")
        text = text.replace("    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n", "")
    path = tmp_path / "case.c"
    path.write_text(text)
    after = transform([path], Options()).after[str(path)].decode()
    order = re.findall(r"MPI_Isend\((\w)", after)
    assert order == (["a", "b"] if "MPI_ANY_TAG" in tags else ["b", "a"])
