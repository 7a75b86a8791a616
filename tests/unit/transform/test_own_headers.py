"""Programs that are read with the reader's own mpi.h: it has what MPI 1 to 4.1 have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from imbrex import mpi_facts
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_declarations import declarations
from imbrex.transform.readers.c_source import HEADERS

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 1000
static double a[N], b[N], c[N];
static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}
int main(int argc, char **argv)
{
    MPI_Comm grid, row, sub, apart;
    MPI_Group group, few;
    MPI_Info info = MPI_INFO_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int dims[2] = {0, 0}, periodic[2] = {1, 1}, keep[2] = {1, 0}, rank, size, at = 0, same, key;
    int first = 0, version, subversion;
    char packed[100], name[MPI_MAX_OBJECT_NAME];
    MPI_Aint low, extent;
    MPI_Offset where = 0;
    MPI_Count many = 0;
    MPI_Init(&argc, &argv);
    MPI_Get_version(&version, &subversion);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, &first, &few);
    MPI_Comm_create(MPI_COMM_WORLD, group, &sub);
    MPI_Comm_create_group(MPI_COMM_WORLD, few, 0, &apart);
    MPI_Comm_compare(sub, MPI_COMM_WORLD, &same);
    if (same == MPI_CONGRUENT)
        MPI_Comm_set_name(sub, "all");
    MPI_Comm_get_name(sub, name, &at);
    MPI_Type_get_extent(MPI_DOUBLE, &low, &extent);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    at = 0;
    MPI_Pack(&size, 1, MPI_INT, packed, 100, &at, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int it = 0; it < 10; it++) {
        MPI_Sendrecv(a, N, MPI_DOUBLE, right, 0, b, N, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            c[i] = c[i] * 0.5 + i;
        for (int i = 0; i < N; i++)
            a[i] = b[i] + c[i];
    }
    printf("%g %s\\n", a[5], name);
    MPI_Finalize();
    return 0;
}
"""
# name: code in front of a send of `a`, after which `q` points into `a`
KEPT = {
    "attributes": "MPI_Comm_set_attr(MPI_COMM_WORLD, key, a);"
    "MPI_Comm_get_attr(MPI_COMM_WORLD, key, &q, &flag);",
    "attributes of a datatype": "MPI_Type_set_attr(MPI_INT, key, a);"
    "MPI_Type_get_attr(MPI_INT, key, &q, &flag);",
    "attributes in MPI 1": "MPI_Attr_put(MPI_COMM_WORLD, key, a);"
    "MPI_Attr_get(MPI_COMM_WORLD, key, &q, &flag);",
    "the base of a window": "MPI_Win win; MPI_Win_create(a, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD,"
    "&win); MPI_Win_get_attr(win, MPI_WIN_BASE, &q, &flag);",
    "attached memory": "int n; MPI_Buffer_attach(a, 800); MPI_Buffer_detach(&q, &n);",
}


def test_every_function_is_declared() -> None:
    text = declarations() + "".join(path.read_text() for path in HEADERS.glob("mpi*.h"))
    declared = set(re.findall(r"\b(MPI_\w+)\)?\s*\(", text))
    declared |= set(re.findall(r"IMBREX_I?SEND\((MPI_\w+)\)", text))
    known = {name for name in mpi_facts.functions() if mpi_facts.since(name) < "5"}
    assert len(known) > 400
    assert known <= declared


@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_are_valid(language: str, tmp_path: Path) -> None:
    (tmp_path / "mpi_functions.h").write_text(declarations())
    text = PROGRAM if language == "c" else "#include <mpi.h>\n#include <mpi.h>\n"
    command = ["gcc", "-fsyntax-only", "-I", str(tmp_path), "-I", str(HEADERS), "-x", language, "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_constants_of_one_kind_differ() -> None:
    text = (HEADERS / "mpi.h").read_text() + (HEADERS / "mpi_constants.h").read_text()
    for kind in ("Datatype", "Op"):
        values = re.findall(rf"#define (MPI_\w+) \(\(MPI_{kind}\)(\w+)\)", text)
        one = {int(value, 0): name for name, value in values if name != "MPI_LONG_LONG_INT"}
        assert len(one) == len(values) - (kind == "Datatype")


def test_a_program_that_uses_much_of_mpi_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "program.c"
    path.write_text(PROGRAM)
    outcome = transform([path], Options())
    (decision,) = outcome.decisions
    assert decision.decision == "rewritten", decision.reason


@pytest.mark.parametrize("name", KEPT)
def test_mpi_keeps_some_addresses(name: str, tmp_path: Path) -> None:
    """What MPI gives back may be what it was given, however `q` was set before."""
    body = (
        "double *q = c; int key = 1, flag;"
        + KEPT[name]
        + "int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); a[1] = rank;"
        "MPI_Send(a, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);"
        "for (int i = 0; i < N; i++) q[i] = i;"
        "for (int i = 0; i < N; i++) b[i] = i;"
    )
    path = tmp_path / "program.c"
    path.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n#define N 100\nstatic double a[N], b[N], c[N];\n"
        f"int main(void) {{ MPI_Init(0, 0);\n{body}\n"
        'printf("%g %g %g\\n", a[1], b[1], q[1]); MPI_Finalize(); return 0; }\n'
    )
    (decision,) = transform([path], Options()).decisions
    assert decision.decision == "nothing-to-gain", decision.details
    assert "through `q`" in decision.reason.text or "`q`" in decision.reason.text
