"""The first sentence of runs that were cut short, from tables of which the answer is plain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from imbrex.diagnosis.standing import find_ending
from imbrex.profile.awaited import AWAITED_DTYPE, Awaited
from imbrex.profile.format import RANKS_DTYPE, Ended
from imbrex.profile.job import Job
from imbrex.profile.run import Run
from imbrex.profile.sites import Site
from imbrex.profile.standing import STANDING_DTYPE, State

OPERATIONS = ("MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Wait", "MPI_Abort")
SEND, RECV, ALLREDUCE, WAIT, ABORT = range(5)
IN, OUT, NONE = State.IN_CALL, State.COMPUTES, State.NO_CALL
END_S = 1_000.0
SITES = tuple(Site(n, file=f"/x/{name}.f90", line=10 * n) for n, name in enumerate("oabc"))
Row = tuple[int, int, State, int, int, float]
"""Rank, thread, state, operation, site, and how many seconds before the end."""


@pytest.fixture
def cut() -> Callable[..., Run]:
    """A run whose ranks ended so, where the threads stood as in `rows`."""

    def make(ended: Sequence[Ended], rows: Sequence[Row], knows_end: bool = True, **job: object):
        ranks = np.zeros(len(ended), RANKS_DTYPE)
        ranks["rank"] = np.arange(len(ended))
        ranks["ended"] = ended
        standing = np.zeros(len(rows), STANDING_DTYPE)
        for row, (rank, thread, state, operation, site, before_s) in zip(
            standing, rows, strict=True
        ):
            row["rank"], row["thread"], row["state"] = rank, thread, state
            row["operation"], row["site"] = operation, site
            row["since_ns"] = round((200 - before_s) * 1e9)
            row["since_unix_ns"] = round((END_S - before_s) * 1e9)
        about = replace(
            Job(operations=OPERATIONS, ended_unix_s=END_S if knows_end else None, wall_s=200.0),
            **job,
        )
        return Run(
            directory=None,  # type: ignore[arg-type]
            job=about,
            measures=None,  # type: ignore[arg-type]
            ranks=ranks,
            sites=SITES,
            standing=standing,
        )

    return make


def sentence(run: Run) -> str:
    ending = find_ending(run)
    assert ending is not None
    return ending.sentence


def test_both_ranks_at_one_place(cut):
    rows = [(0, 0, IN, SEND, 1, 9.8), (1, 0, IN, SEND, 1, 9.81)]
    run = cut([Ended.DIED] * 2, rows, ended_by="SIGTERM", exit_code=143)
    assert sentence(run) == (
        "Ended by SIGTERM after 200 s: both ranks stood in MPI_Send at a.f90:10 "
        "for the last 9.8 to 9.81 s."
    )


def test_a_signal_behind_mpi_finalize(cut):
    """As of a library that does not come back from it: where the time went is told, and by whom."""
    run = cut([Ended.FINALIZED] * 2, [], ended_by="SIGINT", exit_code=130)
    run.ranks["wall_ns"] = [1_500_000_000, 1_510_000_000]
    assert sentence(run) == (
        "Ended by SIGINT after 200 s: both ranks came to MPI_Finalize 1.5 to 1.51 s after "
        "MPI_Init, and what came behind it (the end of the MPI library, then of the program) is "
        "not measured."
    )
    ending = find_ending(run)
    assert ending is not None and ending.is_whole
    limit = cut([Ended.FINALIZED] * 2, [], exit_code=124, command=("timeout", "200", "mpirun"))
    assert sentence(limit).startswith("Ended by its time limit after 200 s: both ranks came to")
    assert sentence(cut([Ended.FINALIZED], [], exit_code=139)).startswith("Ended by SIGSEGV after")


@pytest.mark.parametrize("code", [0, 7, None])
def test_an_exit_code_behind_mpi_finalize_is_the_programs(cut, code):
    assert find_ending(cut([Ended.FINALIZED] * 2, [], exit_code=code)) is None


def test_of_many_ranks_the_fewest_come_first(cut):
    rows = [(n, 0, IN, ALLREDUCE, 1, 118.0) for n in range(64)]
    rows[17] = (17, 0, IN, RECV, 2, 118.0)
    rows[3] = (3, 0, OUT, WAIT, 3, 118.0)
    run = cut([Ended.DIED] * 64, rows, exit_code=137)
    assert sentence(run) == (
        "Ended by SIGKILL after 200 s: "
        "rank 3 computed since its last call, MPI_Wait at c.f90:30, 118 s before the end; "
        "rank 17 stood in MPI_Recv at b.f90:20 for the last 118 s; "
        "62 of 64 ranks stood in MPI_Allreduce at a.f90:10 for the last 118 s."
    )


def test_more_places_than_a_sentence_has_room_for(cut):
    rows = [(n, 0, IN, RECV if n % 2 else SEND, 1 + n // 2 % 3, 5.0) for n in range(6)]
    rows += [(n, 0, IN, ALLREDUCE, 1, 5.0) for n in range(6, 10)]
    told = sentence(cut([Ended.DIED] * 10, rows, exit_code=9))
    assert told.startswith("Ended by exit code 9 after 200 s: rank 0 stood in MPI_Send at a.f90:10")
    assert told.endswith(
        "; 4 of 10 ranks stood in MPI_Allreduce at a.f90:10 for the last 5 s; "
        "3 more ranks stood at other places."
    )


def test_an_abort_comes_first(cut):
    rows = [(0, 0, OUT, WAIT, 3, 1.0), (1, 0, IN, ABORT, 1, 0.5), (2, 0, IN, RECV, 2, 3.0)]
    run = cut([Ended.DIED, Ended.ABORTED, Ended.DIED], rows, exit_code=7)
    assert sentence(run).startswith(
        "Ended by MPI_Abort after 200 s: rank 1 called MPI_Abort at a.f90:10, 500 ms before the "
        "end; rank 0 computed since"
    )


def test_an_error_within_a_call(cut):
    run = cut([Ended.ABORTED], [(0, 0, IN, RECV, 2, 0.5)], exit_code=16)
    assert sentence(run) == (
        "Ended by an error in MPI after 200 s: rank 0 ended with an MPI error in MPI_Recv at "
        "b.f90:20, 500 ms before the end."
    )


def test_a_rank_with_threads_stands_where_one_waits_longest(cut):
    rows = [
        (0, 0, OUT, WAIT, 3, 1.0),
        (0, 1, IN, RECV, 2, 7.0),
        (0, 2, IN, SEND, 1, 8.0),
        (1, 0, OUT, WAIT, 3, 6.0),
        (1, 1, OUT, WAIT, 2, 4.0),
    ]
    told = sentence(cut([Ended.DIED] * 2, rows, exit_code=143))
    assert "rank 0 stood in MPI_Send at a.f90:10 for the last 8 s" in told
    assert "rank 1 computed since its last call, MPI_Wait at b.f90:20, 4 s before the end" in told


def test_ranks_of_which_little_is_known(cut):
    ended = [Ended.MISSING, Ended.DIED, Ended.FINALIZED, Ended.EXITED]
    rows = [(1, 0, NONE, 0, 0, 9.0), (3, 0, OUT, WAIT, 3, 2.0)]
    assert sentence(cut(ended, rows, exit_code=1)) == (
        "Ended by exit code 1 after 200 s: rank 3 exited after MPI_Wait at c.f90:30, 2 s before "
        "the end; rank 0 left no data; rank 1 made no MPI call after MPI_Init; rank 2 came to "
        "MPI_Finalize."
    )


def test_a_run_whose_end_is_not_known(cut):
    run = cut([Ended.DIED], [(0, 0, IN, SEND, 1, 50.0)], knows_end=False, wall_s=None)
    assert sentence(run) == (
        "Not at its end: rank 0 stood in MPI_Send at a.f90:10 since 150 s after MPI_Init."
    )


def test_a_time_limit(cut):
    run = cut(
        [Ended.DIED],
        [(0, 0, IN, SEND, 1, 50.0)],
        exit_code=124,
        command=("/usr/bin/timeout", "5", "mpirun", "./app"),
    )
    assert sentence(run).startswith("Ended by its time limit after 200 s: rank 0 stood in ")


@pytest.mark.parametrize(
    ("ended", "code"), [([Ended.FINALIZED] * 2, 1), ([Ended.EXITED] * 2, 0), ([], None)]
)
def test_a_run_that_came_to_its_end(cut, ended, code):
    rows = [(rank, 0, OUT, WAIT, 1, 1.0) for rank in range(len(ended))]
    assert find_ending(cut(ended, rows, exit_code=code)) is None


def awaited(run: Run, *rows: tuple[int, int, int, Awaited]) -> Run:
    """With whom thread 0 of ranks waited for: rank, peer, tag, what for."""
    table = np.zeros(len(rows), AWAITED_DTYPE)
    for row, values in zip(table, rows, strict=True):
        row["rank"], row["peer"], row["tag"], row["kind"] = values
    return replace(run, awaited=table)


SENDS, RECEIVES, COLLECTIVE = Awaited.SEND, Awaited.RECEIVE, Awaited.COLLECTIVE


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([(0, 1, 7, SENDS), (1, 2, 7, SENDS), (2, 0, 7, SENDS)], "in a circle (0, 1, 2) (tag 7)"),
        ([(0, 2, 7, SENDS), (1, 2, 8, SENDS), (2, 1, 7, SENDS)], "in a circle (2, 1)"),
        ([(0, 1, 7, SENDS), (1, 1, 7, SENDS), (2, 1, -1, SENDS)], "waiting for rank 1"),
        ([(0, 0, 7, SENDS), (1, 1, 7, SENDS), (2, 2, 7, SENDS)], "for themselves (tag 7)"),
        ([(r, -1, -1, RECEIVES) for r in range(3)], "waiting for any rank (any tag)"),
        ([(0, 9, 7, SENDS), (1, 8, 7, SENDS)], ""),  # of rank 2 it is not known
        ([(r, 9, 0, COLLECTIVE) for r in range(3)], "which rank 9 did not enter"),
        (
            [(r, p, 0, COLLECTIVE) for r in range(3) for p in (3, 4)],
            "which ranks 3 and 4 did not enter",
        ),
    ],
)
def test_whom_the_ranks_of_one_place_wait_for(
    cut: Callable[..., Run], rows: list[tuple[int, int, int, Awaited]], text: str
) -> None:
    stands = [(rank, 0, IN, SEND, 1, 5.0) for rank in range(3)]
    run = awaited(cut([Ended.DIED] * 3, stands), *rows)
    ending = find_ending(run)
    assert ending is not None
    assert ending.stands[0].text(3).partition("for the last 5 s")[2].endswith(text)


def test_a_circle_of_requests_that_may_not_be_waited_for_is_none(cut: Callable[..., Run]) -> None:
    stands = [(rank, 0, IN, WAIT, 1, 5.0) for rank in range(2)]
    rows = [(rank, 1 - rank, 3, Awaited.ONE_OF_RECEIVES) for rank in range(2)]
    said = sentence(awaited(cut([Ended.DIED] * 2, stands), *rows))
    assert "with messages open among them (tag 3)" in said
    assert "each waiting" not in said
    rows = [(rank, 5, 0, Awaited.COLLECTIVE) for rank in range(2)]
    said = sentence(awaited(cut([Ended.DIED] * 2, stands), *rows))
    assert "for a collective that rank 5 did not enter" in said


def test_the_signal_of_an_exit_code_of_the_launcher_of_mpich(cut: Callable[..., Run]) -> None:
    stands = [(0, 0, IN, SEND, 1, 5.0)]
    for library, code, said in (
        ("MPICH", 15, "exit code 15 (as MPICH's launcher says of SIGTERM) "),
        ("MPICH", 3, "exit code 3 after"),
        ("Open MPI", 15, "exit code 15 after"),
        ("Open MPI", 143, "SIGTERM after"),
    ):
        run = cut([Ended.DIED], stands, library=(library, "4"), exit_code=code)
        assert sentence(run).startswith(f"Ended by {said}")
