"""A user's word on a statement: where it holds the output stays, where not the guard tells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[4000], w[4000];
static int where[4000];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4000; i++) {
        where[i] = %s + i %% 1000;
        w[i] = rank + i;
    }
    MPI_Sendrecv(w, 2000, MPI_DOUBLE, 1 - rank, 0, u, 2000, MPI_DOUBLE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma imbrex independent(u, w)
    for (int i = 0; i < 4000; i++)
        u[where[i]] = 2.0 * w[i];
    printf("%%d %%g %%g\\n", rank, u[1999], u[2500]);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("holds", [True, False])
def test_the_guard_watches_what_was_stated(holds: bool, mpi: Any, tmp_path: Path) -> None:
    source = tmp_path / "stated.c"
    source.write_text(PROGRAM % ("2000" if holds else "1500"))
    before = printed(mpi, source, tmp_path)
    outcome = transform([source], Options())
    assert any(d.decision == "rewritten" for d in outcome.decisions)
    source.write_bytes(outcome.after[str(source)])
    if holds:
        assert printed(mpi, source, tmp_path) == before
    program = tmp_path / "guarded"
    imbrex = [sys.executable, "-m", "imbrex.cli"]
    build = ["cc", f"--compiler={mpi.mpicc}", "-w", "-g", "-O1", str(source), "-o", str(program)]
    subprocess.run([*imbrex, *build], check=True, capture_output=True)
    words = ["run", "-q", "--guard", "-o", str(tmp_path / "run"), "--"]
    subprocess.run([*imbrex, *words, mpi.mpirun, "-n", "2", str(program)], capture_output=True)
    found = json.loads((tmp_path / "run" / "guard.json").read_text())
    assert found["exact"] is True
    assert bool(found["findings"]) is not holds


def printed(mpi: Any, source: Path, folder: Path) -> list[str]:
    program = folder / "plain"
    subprocess.run([mpi.mpicc, "-w", str(source), "-o", str(program)], check=True)
    done = subprocess.run(
        [mpi.mpirun, "-n", "2", str(program)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())
