"""What gained nothing is not tried again where no message has moved in the files that it edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from imbrex.transform import engine
from imbrex.transform.options import Options
from imbrex.transform.search import unchanged

SUM = """#include <mpi.h>
double sum(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}
"""
STEP = """#include <mpi.h>
static double u[1002], v[1002];
static void step(int to, int from)
{
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, to, 0, &u[1001], 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i < 1001; i++)
        v[i] = v[i] * 0.5 + i;
    v[1] += u[1001];
}
"""
MAIN = """#include <mpi.h>
double sum(double mine);
void steps(int rank, int size);
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps(rank, size);
    double all = sum(rank);
    if (all > 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
"""
STEPS = """void steps(int rank, int size)
{
    for (int k = 0; k < 10; k++)
        step((rank + 1) % size, (rank + size - 1) % size);
}
"""


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """How many texts were tried in each search of a transformation of these files."""

    def count(**files: str) -> list[int]:
        found: list[int] = []
        search = engine.prepare

        def counted(first: Any, offered: Any, attempt: Any, *rest: Any) -> Any:
            found.append(0)

            def tried(texts: Any) -> Any:
                found[-1] += 1
                return attempt(texts)

            return search(first, offered, tried, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(engine, "prepare", counted)
            paths = [tmp_path / f"{name}.c" for name in files]
            for path, text in zip(paths, files.values(), strict=True):
                path.write_text(text)
            outcome = engine.transform(paths, Options())
        assert any(d.decision == "rewritten" for d in outcome.decisions)
        return found

    return count


def test_what_lies_in_other_files_is_tried_once(attempts) -> None:
    first, *later = attempts(sum=SUM, main=MAIN, steps=STEP + STEPS)
    assert first > 0 and later == [0]


def test_where_a_message_has_moved_it_is_tried_again(attempts) -> None:
    """The caller of the sum stands where a message has moved: there may be room for it now."""
    first, *later = attempts(sum=SUM, main=STEP + STEPS + MAIN.partition("\n")[2])
    assert first > 0 and later[0] > 0


def test_only_what_edits_a_changed_file_may_gain() -> None:
    known = {("a", "f", "", ()): frozenset({"f.c"}), ("a", "g", "", ()): frozenset({"f.c", "g.c"})}
    texts = {"f.c": b"1", "g.c": b"1", "h.c": b"1"}
    assert unchanged(known, texts, {**texts, "h.c": b"2"}) == known
    assert list(unchanged(known, texts, {**texts, "g.c": b"2"})) == [("a", "f", "", ())]
    assert unchanged(known, texts, {**texts, "f.c": b"2"}) == {}
    assert unchanged(known, texts, {**texts, "new.h": b"2"}) == known
