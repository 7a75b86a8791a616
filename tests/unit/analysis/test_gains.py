"""What overlap could gain and what it lost, by hand."""

from __future__ import annotations

from tests.unit.analysis.by_hand import PATH, gain, told, two
from tests.unit.analysis.jobs import (
    COMPLETION,
    RECV,
    SEND,
)


def test_lost_overlap_is_compute_time_with_everybody_there(driver):
    """Both posted by 200, the receiver computes until 10200, then waits for 500."""
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(10200, 10700, "MPI_Wait", COMPLETION, site=2)
    b.add(150, 200, "MPI_Irecv", RECV, 1000, 0, end=1)
    b.add(10200, 10700, "MPI_Wait", COMPLETION, site=2)
    row = driver.analyze([a, b], PATH).causes[1, 2, "MPI_Wait"]
    assert told(row) == {"transfer": (0, 200), "stalled": (300, 500)}
    assert gain(row) == (500, 500)
    assert gain(row, "lost_overlap") == (500, 500)


def test_lost_overlap_is_no_more_than_there_was_of_computation(driver):
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(300, 5000, "MPI_Wait", COMPLETION, site=2)
    b.add(150, 200, "MPI_Irecv", RECV, 1000, 0, end=1)
    b.add(260, 5000, "MPI_Wait", COMPLETION, site=2)
    row = driver.analyze([a, b], PATH).causes[1, 2, "MPI_Wait"]
    assert gain(row, "lost_overlap") == (60, 60)


def test_no_row_gains_more_than_the_rank_computed(driver):
    a, b = two()
    a.add(1000, 6000, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 6000, "MPI_Recv", RECV, 1000, 0)
    b.measured = [(1, "MPI_Recv", 0, 1, 5000, 1200)]
    assert gain(driver.analyze([a, b], PATH).causes[1, 1, "MPI_Recv"]) == (1200, 1200)


def test_undriven_is_the_time_in_which_the_partner_computes(driver):
    """Rank 0 starts at 100 and computes from 150 to 8000, but for a test of 50 ns; rank 1 waits
    from 1000 to 8500. So rank 0 was away for 7000 ns of that, less at most 50."""
    a, b = two()
    a.add(100, 150, "MPI_Isend", SEND, 1000, 1, end=2)
    a.add(3000, 3050, "MPI_Test", COMPLETION, site=3)
    a.add(8000, 8500, "MPI_Wait", COMPLETION, site=2)
    b.add(1000, 8500, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert gain(rows.causes[1, 1, "MPI_Recv"], "undriven") == (6950, 7000)
    assert gain(rows.causes[0, 2, "MPI_Wait"], "undriven") == (0, 0)


def test_a_partner_that_is_inside_a_call_drives(driver):
    a, b = two()
    a.add(100, 5000, "MPI_Send", SEND, 1000, 1)
    b.add(1000, 5000, "MPI_Recv", RECV, 1000, 0)
    rows = driver.analyze([a, b], PATH)
    assert gain(rows.causes[1, 1, "MPI_Recv"], "undriven") == (0, 0)


def test_a_partner_that_was_late_is_away_only_from_when_it_had_begun(driver):
    a, b = two()
    a.add(4000, 4100, "MPI_Isend", SEND, 1000, 1, end=1)
    a.add(6000, 6500, "MPI_Wait", COMPLETION, site=2)
    b.add(1000, 6500, "MPI_Recv", RECV, 1000, 0)
    row = driver.analyze([a, b], PATH).causes[1, 1, "MPI_Recv"]
    assert told(row)["late_sender"] == (3000, 3000)
    assert gain(row, "undriven") == (1900, 1900)
