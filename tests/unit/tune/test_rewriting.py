"""Which rewrites are tried, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.measured import Measured
from imbrex.transform.rewrites.base import Site
from imbrex.tune import rewriting
from imbrex.tune.rewriting import find_rewritings
from imbrex.tune.sources import Sources

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[1000], v[1000], w[100000];
static void swap(double *out, double *in, int peer)
{
    MPI_Sendrecv(out, 1000, MPI_DOUBLE, peer, 0, in, 1000, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    swap(u, v, 1 - rank);
    for (int k = 0; k < 1000; k++)
        for (int i = 1; i < 100000; i++)
            w[i] = 0.5 * w[i] + 0.25 * w[i - 1];
    printf("%g %g\\n", v[0], w[0]);
    MPI_Finalize();
    return 0;
}
"""


class Shares(Measured):
    """The exchange could save a fifth of the run, nothing else anything."""

    def share(self, site: Site) -> float:
        return 0.2 if site.call.name == "MPI_Sendrecv" else 0.0


def test_a_routine_is_split_though_the_run_has_calls_that_are_not_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rewrite with progress calls comes first: most libraries move data inside calls only."""
    monkeypatch.setattr(rewriting, "read_measured", lambda run: Shares(1.0))
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    sources = Sources(tmp_path / "p", tmp_path, tmp_path, (source,), (), {}, "make")
    found, stays, unread = find_rewritings(sources, tmp_path, 0.01, None)
    assert (stays, unread) == ([], ())
    assert [(r.label, r.most) for r in found] == [
        ("p.c:6 rewritten, with progress calls", 0.2),
        ("p.c:6 rewritten", 0.2),
    ]
    assert ["MPI_Iprobe" in r.patch for r in found] == [True, False]
    assert all("+    swap_start(u, v, 1 - rank" in r.patch for r in found)


def test_why_a_file_could_not_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "read_measured", lambda run: Shares(1.0))
    files = tmp_path / "p.c", tmp_path / "broken.c"
    files[0].write_text(PROGRAM)
    files[1].write_text("int broken(void) { return undeclared; }\n")
    sources = Sources(tmp_path / "p", tmp_path, tmp_path, files, (), {}, "make")
    _, _, (line,) = find_rewritings(sources, tmp_path, 0.01, None)
    assert line.startswith("not read: ") and "broken.c" in line and "undeclared" in line
