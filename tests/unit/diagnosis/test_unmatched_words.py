"""When and how a run says that transfers were not matched."""

from __future__ import annotations

import pytest

from imbrex.diagnosis.diagnosis import diagnose

RULE = "one-sided"


def lines(make_caused, call, unmatched, unattributed=0, **matching):
    rows = call("MPI_Recv", 4, 400, late_sender=400 - unattributed, unattributed=unattributed)
    entry = {"matched": 10_000, "unmatched": unmatched, **matching}
    return list(diagnose(make_caused(rows, matching=entry)).weaknesses)


def test_many_are_told_with_the_most_frequent_reason_and_what_it_means(make_caused, call):
    (line,) = lines(make_caused, call, {"cancelled": 5, RULE: 295, "several possible": 0})
    assert line == (
        f"300 of 10,300 (2.9 %) transfers have no match on the other side, most because: {RULE}, "
        "which Imbrex does not match; why calls waited for them is unknown, and what of them was "
        "hidden follows from the calls of one side alone"
    )


def test_where_it_waited_is_named(make_caused, call):
    rows = call("MPI_Recv", 4, 400, unattributed=400) + call("MPI_Put", 1, 0)
    run = make_caused(rows, matching={"matched": 10, "unmatched": {RULE: 30}})
    (line,) = diagnose(run).weaknesses
    assert "most because: one-sided, which Imbrex does not match; why calls waited" in line
    assert "for them is unknown, 40 % of the run at wave.f90:60 (MPI_Recv), and what" in line


@pytest.mark.parametrize(("unattributed", "told"), [(0, 0), (3, 0), (5, 1), (300, 1)])
def test_few_are_told_where_calls_waited_long_for_them(make_caused, call, unattributed, told):
    """Three fences of 10,000 transfers may be what the run waits for: from 1 % of the time on."""
    found = lines(make_caused, call, {RULE: 3}, unattributed)
    assert len(found) == told
    assert all(line.startswith("3 of 10,003 transfers have no match") for line in found)


@pytest.mark.parametrize(
    ("unattributed", "where"),
    [(300, "known, 30 % of the run at wave.f90:60 (MPI_Recv)"), (3, "known")],
)
def test_messages_with_processes_that_are_not_measured(make_caused, call, unattributed, where):
    """What waits for them is named where it is worth it."""
    (line,) = lines(make_caused, call, {"with a process outside the job": 400}, unattributed)
    assert line == (
        "400 of 10,400 (3.8 %) transfers are with processes that are not measured (MPI_Comm_spawn, "
        f"MPI_Comm_connect): why calls waited for them is not {where}"
    )


def test_another_reason_stands_alone(make_caused, call):
    (line,) = lines(make_caused, call, {"sizes differ": 400})
    assert "most because: sizes differ; why calls" in line


@pytest.mark.parametrize("unmatched", [{}, {RULE: 0}])
def test_time_without_a_cause_is_no_reason_where_all_are_matched(make_caused, call, unmatched):
    assert lines(make_caused, call, unmatched, unattributed=400) == []
