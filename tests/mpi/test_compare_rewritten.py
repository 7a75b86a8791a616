"""`imbrex transform --apply`, a run before and one after, and what `imbrex compare` says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import forked

# Rank 0 works before it sends; rank 1 waits for it and works then twice as long, on data of its
# own, by the same code: copies of a loop may differ in speed by a third, as they are aligned. The
# message leaves at once: one that waits for the receiver takes as long as the receiver waited.
PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
enum { OWN = 1 << 14, SENT = 16, PASSES = 600, ROUNDS = 30 };
static double own[OWN], message[SENT];

static __attribute__((noinline)) void work(int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < OWN; i++)
            own[i] = own[i] * 0.5 + 1;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            work(PASSES);
            message[0] = own[1];
            MPI_Send(message, SENT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(message, SENT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(2 * PASSES);
            for (int i = 0; i < SENT; i++)
                sum += message[i];
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1)
        printf("%g\\n", sum + own[1]);
    MPI_Finalize();
    return 0;
}
"""
ROUNDS = 30
RECEIVE = 1 + next(n for n, line in enumerate(PROGRAM.splitlines()) if "MPI_Recv" in line)


def imbrex(*arguments: str) -> str:
    done = forked.imbrex(arguments, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def measured(mpi: Any, source: Path, folder: Path) -> Path:
    run = folder / f"run{len(list(folder.glob('run*')))}"
    program = run.with_name(f"late-of-{run.name}")
    subprocess.run([mpi.mpicc, "-O1", "-g", "-w", "-o", program, source], check=True)
    imbrex("run", "-q", "-o", str(run), "--", mpi.mpirun, "-n", "2", str(program))
    return run


@pytest.fixture
def runs(mpi: Any, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Of the program twice, and of what `transform --apply` made of it."""
    source = tmp_path / "late.c"
    source.write_text(PROGRAM)
    before, again = (measured(mpi, source, tmp_path) for _ in range(2))
    imbrex("transform", "--apply", str(source))
    assert "MPI_Irecv" in source.read_text()
    return before, again, measured(mpi, source, tmp_path)


QUIET = 0.2
"""Up to this share of the run time two runs may differ by anyway, where little else runs."""


def test_a_rewritten_receive_is_one_with_what_it_was_and_its_cause_shrank(
    runs: tuple[Path, Path, Path],
) -> None:
    before, again, after = map(str, runs)
    found = json.loads(imbrex("compare", "--json", before, after))
    (pair,) = [site for site in found["sites"] if site["rewritten"]]
    was, _, became = pair["operation"].partition(" -> ")
    assert was == "MPI_Recv" and set(became.split(", ")) == {"MPI_Irecv", "MPI_Wait"}
    assert pair["line_before"] == RECEIVE
    assert (pair["before"]["count"], pair["after"]["count"]) == (ROUNDS, 2 * ROUNDS)
    late = pair["causes"]["late sender"]
    # Else two cores did not work at once, or other load may be why the first run took longer.
    crowded = json.loads((runs[0] / "run.json").read_text())["crowded"]
    if found["told_apart_above"] <= QUIET and crowded is None:
        assert late["told_apart"]
        assert late["after_s"][1] < 0.5 * late["before_s"][0]
        assert "ate sender shrank from " in found["sentence"]
        assert found["answer"] == "faster"
    # A change is told where it is beyond what the runs differ by anyway: so of two of one program.
    same = json.loads(imbrex("compare", "--json", before, again))
    assert not any(site["rewritten"] for site in same["sites"])
    for told in (found, same):
        walls = [told[side]["wall_s"] for side in ("before", "after")]
        noise = told["told_apart_above"] * walls[0]
        assert told["answer"] == "open" or abs(walls[1] - walls[0]) > noise
        assert (told["command"] is None) == (told["answer"] != "open")
