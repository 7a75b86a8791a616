"""A start or a wait that leaves an `if` under its condition: that must come to the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 500
static double u[N + 2], w[N + 2];
static int up = MPI_PROC_NULL, down = MPI_PROC_NULL, go = 1;
static void decay(double *a)
{
    for (int i = 1; i <= N; i++)
        a[i] = 0.5 * a[i] + 0.125;
}
int main(int argc, char **argv)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 9; step++) {
        %(ahead)s
        if (%(condition)s) {
            %(first)s
            MPI_Irecv(&u[N + 1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[0]);
            MPI_Isend(&u[1], 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[1]);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            %(last)s
        }
        %(behind)s
        u[1] += u[N + 1] + w[2];
        go = step % 2;
    }
    printf("%%g %%d\\n", u[1], go);
    MPI_Finalize();
    return 0;
}
""".replace("step % 2", "step %% 2")
PLAIN = {"ahead": "", "condition": "go > 0", "first": "", "last": "", "behind": "decay(w);"}


def rewritten(folder: Path, changes: dict[str, str]) -> str:
    file = folder / "halo.c"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    outcome = transform([file], Options())
    text = outcome.after[str(file)]
    again = transform([file], Options(contents={file: text}))
    assert again.after[str(file)] == text
    return text.decode()


@pytest.mark.parametrize(
    "changes", [{}, {"first": "w[0] = 1.0;"}, {"last": "w[0] = 1.0;"}, {"condition": "u[1] < 9.0"}]
)
def test_a_wait_leaves(tmp_path: Path, changes: dict[str, str]) -> None:
    text = rewritten(tmp_path, changes)
    condition = changes.get("condition", "go > 0")
    assert text.count(f"if ({condition})") == 2
    assert text.index("decay(w);") < text.index("MPI_Wait")


@pytest.mark.parametrize(
    "changes",
    [
        {"first": "go = 0;"},
        {"last": "go = 0;"},
        {"last": "if (step > 4)\n                go = 0;"},
        {"condition": "u[N + 1] < 9.0"},  # the message brings it, perhaps meanwhile
        {"condition": "q[0] == MPI_REQUEST_NULL"},
        {"condition": "q[1] == MPI_REQUEST_NULL || go > 0"},
    ],
)
def test_a_wait_stays_where_the_answer_changes(tmp_path: Path, changes: dict[str, str]) -> None:
    text = rewritten(tmp_path, changes)
    assert text.index("MPI_Wait") < text.index("decay(w);")


STARTS = {"ahead": "decay(w);", "last": "u[1] += u[N + 1];", "behind": ""}


@pytest.mark.parametrize("changes", [{}, {"first": "go = 0;"}, {"condition": "w[0] < 9.0"}])
def test_a_receive_leaves(tmp_path: Path, changes: dict[str, str]) -> None:
    """What its branch does ahead of it cannot change an answer that was given before."""
    text = rewritten(tmp_path, STARTS | changes)
    assert text.index("MPI_Irecv") < text.index("decay(w);")


@pytest.mark.parametrize(
    "changes",
    [
        {"condition": "u[N + 1] < 9.0"},
        {"condition": "q[0] == MPI_REQUEST_NULL"},
        {"condition": "w[1] < 9.0"},
    ],
)
def test_a_receive_stays_where_it_changes_the_answer(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    text = rewritten(tmp_path, STARTS | changes)
    assert text.index("MPI_Irecv") > text.index("decay(w);")
