"""The first sentence of runs whose causes are known, worked out by hand.

Each run has two ranks of 1 s, so that 10 ms in both are 1 % of the run.
"""

from __future__ import annotations

import pytest

from imbrex.diagnosis.diagnosis import diagnose


def test_one_late_rank(make_caused, call):
    run = make_caused(
        call(
            "MPI_Waitall",
            3,
            420,
            late_sender=410,
            transfer=(0.2, 0.4),
            library=(9.6, 9.8),
            gainable=(0.2, 0.4),
        )
    )
    assert diagnose(run).sentence == (
        "MPI 42 %: 41 % late senders at wave.f90:46, transfer 0.02 to 0.04 %. "
        "Overlap cannot help here."
    )


def test_a_late_receiver(make_caused, call):
    run = make_caused(call("MPI_Send", 1, 300, late_receiver=(280, 290), transfer=(10, 20)))
    assert diagnose(run).sentence.startswith("MPI 30 %: 28 to 29 % late receivers at wave.f90:30, ")


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("MPI_Bcast", "a late root"),
        ("MPI_Allreduce", "late ranks"),
        ("MPI_Reduce", "late contributors"),
    ],
)
def test_collectives_name_who_is_late(make_caused, call, operation, words):
    run = make_caused(call(operation, 2, 200, late_collective=195))
    assert diagnose(run).sentence == (
        f"MPI 20 %: 20 % {words} at wave.f90:38 ({operation}). Overlap cannot help here."
    )


def test_a_rendezvous_that_nobody_drives(make_caused, call):
    run = make_caused(
        call(
            *("MPI_Waitall", 3, 300),
            **{"transfer": (250, 300), "gainable": (250, 300), "lost_overlap": (240, 260)},
        )
    )
    assert diagnose(run).sentence == (
        "MPI 30 %: 25 to 30 % transfer at wave.f90:46 (nobody drove it while the ranks computed). "
        "Progress while the ranks compute could gain 24 to 26 %."
    )


def test_a_saturated_link(make_caused, call):
    run = make_caused(
        call("MPI_Recv", 4, 400, stalled=(250, 280), transfer=(120, 150), gainable=400)
    )
    diagnosis = diagnose(run)
    assert diagnosis.sentence == (
        "MPI 40 %: 25 to 28 % stalled transfer at wave.f90:60, 12 to 15 % transfer. "
        "The network itself needs at most 15 %: see to the stalls first."
    )
    assert "stalled" in [finding.kind for finding in diagnosis.findings]


def test_gain_is_at_most_what_the_rank_computes(make_caused, call):
    run = make_caused(call("MPI_Recv", 4, 900, transfer=900, gainable=900), compute_ms=(100, 100))
    assert diagnose(run).account.gainable.high == pytest.approx(0.1)
    assert diagnose(run).sentence.endswith("Overlap could gain at most 10 %.")


def test_little_time_in_mpi(make_caused, call):
    run = make_caused(call("MPI_Recv", 4, 15, late_sender=15))
    assert diagnose(run).sentence == (
        "MPI 1.5 %: 1.5 % late senders at wave.f90:60. There is little to gain."
    )


def test_what_is_not_in_the_log_is_unknown(make_caused, call):
    """Of 40 % in MPI the table of causes has only half."""
    calls = call("MPI_Recv", 4, 400)
    run = make_caused(call("MPI_Recv", 4, 200, late_sender=200), calls=calls)
    diagnosis = diagnose(run)
    assert diagnosis.sentence.startswith(
        "MPI 40 %: 20 % late senders at wave.f90:60, 20 % of unknown cause"
    )
    whole = diagnosis.account.whole
    assert whole.call_s == pytest.approx(0.8)
    assert sum(part.low for part in whole.causes.values()) == pytest.approx(0.8)


def test_what_is_not_told_apart_is_told_as_one(make_caused, call):
    """Of 30 % in which data moved it is not known how much the network took."""
    run = make_caused(
        call("MPI_Waitall", 3, 300, transfer=(0, 300), stalled=(0, 300), gainable=300)
        + call("MPI_Recv", 4, 100, late_sender=60, transfer=(20, 40), stalled=(0, 20))
    )
    diagnosis = diagnose(run)
    assert diagnosis.sentence == (
        "MPI 40 %: 34 % transfer or stalled at wave.f90:46, 6 % late senders at wave.f90:60. "
        "Overlap could gain at most 30 %."
    )
    assert diagnosis.account.whole.moving.low == pytest.approx(0.68)
