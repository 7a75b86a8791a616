"""`assert` of the C library, and other statements inside expressions."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <assert.h>
static double u[1000], v[1000], w[1000];
int check(int n);
int main(int argc, char **argv)
{
    int i, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Sendrecv(u, 10, MPI_DOUBLE, 0, 0, v, 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %s
    for (i = 0; i < 1000; i++) {
        w[i] = w[i] * 2;
        %s
    }
    u[1] = v[0];
    MPI_Finalize();
}
"""


@pytest.mark.parametrize(
    ("between", "inside", "passed"),
    [
        ("assert(me >= 0);", "", True),
        ("assert(me >= 0 && argc);", "assert(w[i] < 3.0);", True),
        ("if (me) assert(!(me < 0));", "", True),
        ("assert(v[1] >= 0);", "", False),
        ("assert(check(me));", "", False),
        ("assert((v[2] = me) >= 0);", "", False),
        ("me = ({ int k = 3; k + me; });", "", False),
        ("({ if (me) ; else check(me); });", "", False),
        ("({ if (me) ; else v[2] = 1.0; });", "", False),
        ("({ if (me) v[2] = 1.0; else ; });", "", False),
        ("({ if (me) goto out; else __assert_fail(0, 0, 0, 0); });\\nout:", "", False),
    ],
)
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_asserted(between: str, inside: str, passed: bool, suffix: str, tmp_path: Path) -> None:
    """What it asks is read; other statements inside expressions stop messages."""
    path = tmp_path / f"p{suffix}"
    path.write_text((PROGRAM % (between, inside)).replace("\\n", "\n"))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    behind = text.index("MPI_Wait") > text.index("w[i] * 2") if "MPI_Wait" in text else False
    assert behind is passed, text
