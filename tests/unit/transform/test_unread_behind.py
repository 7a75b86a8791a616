"""Code that is not read behind the call of an exchange: the work may be in there."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
static double u[102];
static void (*rule)(void);
void work(double *x);
static void exchange(int to, int from)
{
    MPI_Sendrecv(u + 1, 1, MPI_DOUBLE, to, 0, u + 101, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 9; k++) {
        exchange(0, 0);
        BEHIND;
    }
    MPI_Finalize();
    return 0;
}
"""
CASES = {
    "work(u)": "the call of work, whose source is not among the files",
    "rule()": "a call through a pointer",
}


def told(folder: Path, behind: str) -> str:
    file = folder / "case.c"
    file.write_text(PROGRAM.replace("BEHIND", behind))
    return explain(transform([file], Options()))


@pytest.mark.parametrize("behind", CASES)
def test_it_is_told(tmp_path: Path, behind: str) -> None:
    found = told(tmp_path, behind)
    assert f"wrappers: not done, because {CASES[behind]}" in found, found


@pytest.mark.parametrize("behind", ['printf("%d\\n", k)', "k++", "u[3] = k"])
def test_without_such_code_there_is_no_work(tmp_path: Path, behind: str) -> None:
    found = told(tmp_path, behind)
    assert "wrappers: not done" not in found, found
