"""The first sentence of runs whose causes are known, worked out by hand.

Each run has two ranks of 1 s, so that 10 ms in both are 1 % of the run.
"""

from __future__ import annotations

import pytest

from imbrex.diagnosis.diagnosis import diagnose

MS = 1_000_000


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


def test_stalls_beside_other_load_say_little_of_the_program(make_caused, call):
    crowded = "other processes kept 1.8 of 2 cores busy and next to none was idle"
    rows = call("MPI_Recv", 4, 400, stalled=(250, 280), transfer=(120, 150), gainable=400)
    assert diagnose(make_caused(rows, crowded=crowded)).sentence.endswith(
        ". Other processes kept 1.8 of 2 cores busy and next to none was idle: these waits say "
        "little of the program. Measure when nothing else runs."
    )


def test_unequal_work_is_the_reason_whatever_else_goes_on(make_caused, call):
    rows = call("MPI_Recv", 4, 400, (0,), late_sender=350, stalled=(45, 50), gainable=50)
    unequal = make_caused(rows, compute_ms=(600, 950), crowded="others", name="unequal")
    assert diagnose(unequal).sentence.endswith("Overlap could gain at most 2.6 %.")
    alike = make_caused(rows, compute_ms=(600, 700), crowded="others", name="alike")
    assert "say little" in diagnose(alike).sentence


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
        "MPI 40 %: 20 % late senders at wave.f90:60, 20 % of unknown cause. "
    )
    whole = diagnosis.account.whole
    assert whole.call_s == pytest.approx(0.8)
    assert sum(part.low for part in whole.causes.values()) == pytest.approx(0.8)


def test_the_place_of_an_unknown_cause_is_named(make_caused, call):
    rows = call("MPI_Bcast", 1, 300, unattributed=300)
    assert diagnose(make_caused(rows)).sentence.startswith(
        "MPI 30 %: 30 % of unknown cause at wave.f90:30."
    )
    rows += call("MPI_Recv", 4, 100, unattributed=100)
    assert diagnose(make_caused(rows, name="both")).sentence.startswith(
        "MPI 40 %: 40 % of unknown cause, most at wave.f90:30."
    )


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


def test_the_rank_for_which_all_wait_is_named(make_caused, call):
    run = make_caused(
        call("MPI_Allreduce", 2, 200, late_collective=195),
        partners=[{"rank": 0, "peer": 1, "late_min_ns": 390 * MS, "late_max_ns": 390 * MS}],
    )
    assert diagnose(run).sentence.startswith("MPI 20 %: 20 % late rank 1 at wave.f90:38 (MPI_All")
    both = make_caused(
        call("MPI_Allreduce", 2, 200, late_collective=195),
        partners=[
            {"rank": rank, "peer": 1 - rank, "late_min_ns": 195 * MS, "late_max_ns": 195 * MS}
            for rank in (0, 1)
        ],
        name="both",
    )
    assert diagnose(both).sentence.startswith("MPI 20 %: 20 % late ranks at wave.f90:38")


def test_a_partner_that_computes_does_not_drive(make_caused, call):
    """Rank 0 waits 500 ms in its receive, for 450 ms of which rank 1 computes; then rank 1 waits
    50 ms for its send, and has computed since it began that."""
    run = make_caused(
        [
            *call("MPI_Recv", 4, 500, (0,), stalled=(440, 500), transfer=(0, 60), undriven=450),
            *call("MPI_Waitall", 3, 50, (1,), transfer=50, gainable=50, lost_overlap=50),
        ]
    )
    found = diagnose(run)
    assert found.sentence == (
        "MPI 28 %: 28 % transfer or stalled at wave.f90:60 (the partner computed and did not "
        "drive it). Progress while the ranks compute could gain 2.5 to 25 %."
    )
    assert [f.kind for f in found.findings] == ["partner_computes", "lost_overlap"]


def test_ranks_of_a_host_that_share_its_link(make_caused, call):
    """Of 400 ms in a receive the messages of both ranks of a host need its link for 150 ms each."""
    received = [
        {"rank": rank, "site": 4, "operation": 3, "transfers": 10, "path": 3}
        | {"transfer_min_ns": 150 * MS, "transfer_max_ns": 160 * MS}
        | {f"{kind}_exposed_min_ns": 150 * MS for kind in ("call", "matched", "expected")}
        | {f"{kind}_exposed_max_ns": 160 * MS for kind in ("call", "matched", "expected")}
        for rank in (0, 1)
    ]
    moved = {"transfer": (150, 160), "stalled": (240, 250), "gainable": 400}
    calls = call("MPI_Recv", 4, 400, **moved)
    link = " (the ranks of a host share its link)"
    run = make_caused(calls, evidence=received, hosts=["node1", "node2"])
    assert diagnose(run).sentence.startswith(
        f"MPI 40 %: 40 % transfer or stalled at wave.f90:60{link}"
    )
    assert diagnose(run).findings[0].kind == "saturated_link"
    alone = make_caused(calls, evidence=received[:1], hosts=["node1", "node2"], name="alone")
    assert link not in diagnose(alone).sentence
    one_host = make_caused(calls, evidence=received, name="one_host")
    assert link not in diagnose(one_host).sentence
