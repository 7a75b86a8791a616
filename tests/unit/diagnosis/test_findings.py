"""The rules over runs whose answers are worked out by hand; two ranks of 1 s each.

Each rule is also shown to say nothing where its ground is missing.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from imbrex.diagnosis import findings
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.findings import registry
from imbrex.diagnosis.knowledge import PROBED
from imbrex.profile.format import Ended
from imbrex.profile.run import load_run

_NONBLOCKING = Path(__file__).parents[3] / "probes" / "experiments" / "nonblocking.c"


def finding_kinds(run):
    return [finding.kind for finding in diagnose(run).findings]


def source(run):
    """The one file of the calls, where it is on this machine."""
    return run.sites[1].file


def only(run, kind):
    (found,) = [finding for finding in diagnose(run).findings if finding.kind == kind]
    return found


def machine(quick=True, nonblocking=(), progress_interval_s=None, thread_multiple=None):
    points = [{"size_bytes": 1, "x_lo_s": 1e-9, "x_hi_s": 1e-6}]
    return {
        **{"format": "imbrex-machine-profile", "schema_version": 1, "created": "x"},
        **{"imbrex_version": "0", "quick": quick, "hosts": [], "ranks": 2, "settings": {}},
        **{"library": {"name": "Open MPI", "version": "4.1.4"}, "collectives": []},
        **{"paths": {"intra-node": {"points": points, "gap_s_per_byte": 1e-10}}},
        **{"nonblocking": list(nonblocking), "progress_interval_s": progress_interval_s},
        **{"thread_multiple": thread_multiple},
    }


def test_late_senders_with_what_was_waited_for_and_for_whom(make_caused, call):
    waits = [
        {"rank": 0, "site": 3, "operation": 2, "start_site": 2, "start_operation": 1, "count": 9}
        | {"late_min_ns": 400_000_000, "late_max_ns": 400_000_000}
    ]
    partners = [
        {"rank": rank, "peer": peer, "late_min_ns": ms * 10**6, "late_max_ns": ms * 10**6}
        for rank, peer, ms in ((0, 2, 400), (1, 2, 300), (2, 0, 50))
    ]
    run = make_caused(
        call("MPI_Waitall", 3, 500, (0, 1, 2), late_sender=400, gainable=0),
        waits=waits,
        partners=partners,
        compute_ms=(400, 400, 1000),
    )
    found = only(run, "late_sender")
    # 3 ranks of 0.4 s in 1.8 s of computation and 1.5 s of calls
    assert found.at_stake.low == found.at_stake.high == pytest.approx(1.2)
    assert found.text == (
        "36 % of the run (400 ms a rank): late senders at wave.f90:46 (MPI_Waitall) for MPI_Irecv "
        "at wave.f90:38; 93 % of all waiting is for rank 2, which computes 1.7 times the mean. "
        "Balance the work, or send earlier"
    )
    assert found.command == f"imbrex show {run.directory} --by rank"
    assert found.certainty == "certain"


def test_lateness_below_a_hundredth_is_not_told(make_caused, call):
    assert finding_kinds(make_caused(call("MPI_Recv", 4, 30, late_sender=9, library=21))) == []


def test_lost_overlap_is_told_where_the_wait_is(make_caused, call):
    run = make_caused(
        call(
            *("MPI_Waitall", 3, 300),
            **{"transfer": 300, "gainable": 300, "lost_overlap": (200, 250)},
        )
    )
    found = only(run, "lost_overlap")
    assert (found.at_stake.low, found.at_stake.high) == pytest.approx((0.4, 0.5))
    assert found.text.startswith("20 to 25 % of the run: both sides had posted")
    assert "moved only in wave.f90:46 (MPI_Waitall)" in found.text
    assert found.command.startswith("imbrex run --progress -- ")
    assert "early_wait" not in finding_kinds(run)


def test_a_wait_without_work_before_it(make_caused, call):
    run = make_caused(call("MPI_Waitall", 3, 300, transfer=300, gainable=300))
    found = only(run, "early_wait")
    assert "put work that does not need the data before the wait" in found.text
    assert found.command == f"imbrex transform --run {run.directory} {source(run)}"


def test_ends_of_epochs_are_one_finding_that_transform_is_not_asked_for(make_caused, call):
    """`transform` moves no epoch, and one work bounds what all of them gain."""
    rows = call("MPI_Win_fence", 3, 200, transfer=200, gainable=200)
    run = make_caused(rows + call("MPI_Win_flush", 4, 100, transfer=100, gainable=100))
    found = only(run, "early_wait")
    assert "wave.f90:46 (MPI_Win_fence) and 1 more place wait while one-sided data moves" in (
        found.text
    )
    assert found.command == f"imbrex show {run.directory} --site wave.f90:46"


def test_blocking_calls_lead_to_transform(make_caused, call):
    run = make_caused(call("MPI_Recv", 4, 200, transfer=(90, 110), gainable=(90, 110)))
    found = only(run, "blocking_call")
    assert found.text.startswith("9 to 11 % of the run: wave.f90:60 (MPI_Recv) blocks")
    assert found.command == f"imbrex transform --run {run.directory} {source(run)}"


def test_what_stalls_for_certain_is_not_what_a_rewrite_gains(make_caused, call):
    """Of 20 % that overlap could gain 16 to 18 % stalls: the rewrite is told 2 to 4 %."""
    run = make_caused(call("MPI_Recv", 4, 200, stalled=(160, 180), transfer=(20, 40), gainable=200))
    assert only(run, "blocking_call").at_stake.to_json() == pytest.approx([0.04, 0.08])
    assert only(run, "stalled").at_stake.to_json() == pytest.approx([0.32, 0.36])


def test_sites_of_one_operation_are_one_finding(make_caused, call):
    run = make_caused(
        call("MPI_Recv", 4, 100, transfer=100, gainable=100)
        + call("MPI_Recv", 2, 60, transfer=60, gainable=60)
        + call("MPI_Recv", 1, 2, transfer=2, gainable=2)
    )
    found = only(run, "blocking_call")
    assert found.at_stake.high == pytest.approx(0.32)
    assert "wave.f90:60 (MPI_Recv) and 1 more place block" in found.text


def test_no_overlap_is_advised_below_a_hundredth(make_caused, call):
    run = make_caused(
        call("MPI_Recv", 4, 200, late_sender=192, transfer=8, gainable=8, lost_overlap=8)
    )
    assert finding_kinds(run) == ["late_sender"]


@pytest.mark.parametrize(
    ("moves", "words", "command"),
    [
        (None, "may hide it, if this MPI moves it without calls", "imbrex probe -- mpirun -n 2"),
        (True, "with independent work before its wait can hide it", "imbrex transform"),
        (False, "MPI_Ialltoall would need MPI_Test calls", "imbrex transform"),
    ],
)
def test_collectives_by_what_the_probe_saw(make_caused, call, moves, words, command):
    seen = {"operation": "MPI_Ialltoall", "path": "intra-node", "from_bytes": 1}
    profile = machine(nonblocking=[seen | {"to_bytes": None, "moves": moves}])
    causes = call("MPI_Alltoall", 2, 300, transfer=300, gainable=300)
    calls = [row | {"transfers": 1, "bytes": 1 << 20} for row in causes]
    run = make_caused(causes, calls=calls, profile=profile)
    found = only(run, "blocking_collective")
    assert words in found.text
    assert found.command.startswith(command)


@pytest.mark.parametrize("blocking", ["MPI_Neighbor_alltoall", "MPI_Allgatherv", "MPI_Scan"])
def test_no_probe_is_advised_that_does_not_tell(make_caused, call, blocking):
    """`imbrex probe` does not run the nonblocking form of these, however often it is run."""
    run = make_caused(call(blocking, 2, 300, transfer=300, gainable=300))
    found = only(run, "blocking_collective")
    assert found.text.endswith("may hide it, if this MPI moves it without calls")
    assert found.command.startswith("imbrex transform --run")


def test_no_probe_is_advised_whose_profile_was_used(make_caused, call):
    """It ran MPI_Iallreduce, and could not say whether it moves."""
    probed = machine()
    probed["paths"]["intra-node"]["points"][0]["class"] = "two-sided"
    run = make_caused(call("MPI_Allreduce", 2, 300, transfer=300, gainable=300), profile=probed)
    assert only(run, "blocking_collective").command.startswith("imbrex transform")


def test_what_the_probe_runs_is_known_where_it_is_advised():
    source = _NONBLOCKING.read_text()
    assert set(re.findall(r'\{"(MPI_I[a-z]+)"', source)) == PROBED


def test_stalled_data_while_all_were_there(make_caused, call):
    run = make_caused(call("MPI_Recv", 4, 300, stalled=(200, 250), transfer=(50, 100)))
    found = only(run, "stalled")
    assert found.at_stake.low == pytest.approx(0.4)
    assert found.command == "imbrex probe -- mpirun -n 2"
    thorough = make_caused(
        call("MPI_Recv", 4, 300, stalled=(200, 250), transfer=(50, 100)),
        profile=machine(quick=False),
        name="thorough",
    )
    assert only(thorough, "stalled").command.endswith("--by path")


@pytest.mark.parametrize(("calls", "advised"), [(8_000_000, True), (10_000_000, False)])
def test_a_progress_thread_that_takes_more_than_it_gains(make_caused, call, calls, advised):
    """Of two ranks; 0.4 to 0.5 s are lost, and a call costs 20 to 30 ns more."""
    run = make_caused(
        call(
            *("MPI_Waitall", 3, 300),
            **{"transfer": 300, "gainable": 300, "lost_overlap": (200, 250), "count": calls},
        ),
        profile=machine(thread_multiple={"lowest_s": 20e-9, "highest_s": 30e-9}),
    )
    found = only(run, "lost_overlap")
    assert found.command.startswith("imbrex run --progress -- ") == advised
    assert found.command.startswith("imbrex probe --try-settings") != advised
    told = (
        ". A progress thread takes more than it can gain: MPI_THREAD_MULTIPLE, which it needs, "
        "takes 20 to 30 % of the run (20 to 30 ns of each of 20,000,000 calls)"
    )
    assert found.text.endswith(told) != advised


def test_data_that_stalls_while_others_use_the_cores(make_caused, call):
    """Measuring again comes before all else: the machine may be the whole reason."""
    crowded = "other processes kept 0.8 of 2 cores busy and next to none was idle"
    run = make_caused(
        call("MPI_Recv", 4, 300, stalled=(200, 250), transfer=(50, 100)), crowded=crowded
    )
    found = only(run, "stalled")
    assert f"({crowded}): measure again" in found.text
    assert found.command == "imbrex run -- mpirun -n 2 ./wave"


def test_ranks_that_come_late_while_others_use_the_cores(make_caused, call):
    """Work that is unequal in sum is the program's own; else the load may be the reason."""
    crowded = "other processes kept 0.8 of 2 cores busy and next to none was idle"
    late = call("MPI_Recv", 4, 300, late_sender=250) + call("MPI_Send", 1, 90, late_receiver=80)
    alike = make_caused(late, crowded=crowded)
    found = only(alike, "late_sender")
    assert f"All compute alike, but {crowded}: measure again" in found.text
    assert found.command == "imbrex run -- mpirun -n 2 ./wave"
    assert finding_kinds(alike) == ["late_sender"]  # not the same advice for the others again
    rows = call("MPI_Recv", 4, 300, (0,), late_sender=250)
    unequal = make_caused(rows, crowded=crowded, compute_ms=(700, 950), name="unequal")
    found = only(unequal, "late_sender")
    assert found.text.endswith("Balance the work, or send earlier")


def test_more_ranks_than_cores_are_told_before_what_follows_from_them(make_caused, call):
    """Two ranks on one core: who waits in MPI keeps it from the other."""
    rows = call("MPI_Waitall", 3, 300, late_sender=200, stalled=(60, 100), transfer=(0, 40))
    run = make_caused(rows, ranks=2, cores=1)
    found = only(run, "shared_cores")
    assert finding_kinds(run) == ["shared_cores"]
    assert found.at_stake.low == 0
    assert found.at_stake.high == pytest.approx(0.6)
    assert "2 ranks share 1 core" in found.text
    assert found.command == "imbrex run -- mpirun -n 1 ./wave"
    assert diagnose(run).sentence.endswith("2 ranks share 1 core, which makes them wait.")
    for number, cores in enumerate((2, None)):
        other = make_caused(rows, name=f"run{number}", ranks=2, cores=cores)
        assert "shared_cores" not in finding_kinds(other) and "late_sender" in finding_kinds(other)
    little = call("MPI_Waitall", 3, 300, library=295, late_sender=5)
    assert "shared_cores" not in finding_kinds(make_caused(little, name="little", ranks=2, cores=1))
    unsaid = make_caused(
        rows, name="unsaid", ranks=2, cores=1, command=["mpirun", "-n", "1", "a", ":", "b"]
    )
    assert only(unsaid, "shared_cores").command == f"imbrex show {unsaid.directory} --by rank"


def test_collectives_of_a_rank_alone_copy_its_own_data(make_caused, call):
    run = make_caused(call("MPI_Allreduce", 3, 300, library=280, stalled=20))
    found = only(run, "own_data")
    assert found.at_stake.low == found.at_stake.high == pytest.approx(0.56)
    assert found.text.startswith("28 % of the run: calls of wave.f90:46 (MPI_Allreduce) that move")
    waits = make_caused(call("MPI_Allreduce", 3, 300, late_collective=300), name="waits")
    sends = make_caused(call("MPI_Send", 3, 300, library=300), name="sends")
    assert all("own_data" not in finding_kinds(other) for other in (waits, sends))


def test_polling_with_the_interval_that_the_probe_recommends(make_caused, call):
    run = make_caused(
        call("MPI_Test", 1, 100, library=100, count=50_000),
        profile=machine(progress_interval_s=1e-3),
    )
    assert only(run, "polling").text == (
        "10 % of the run: 100,000 calls of wave.f90:30 (MPI_Test), 2 us each. "
        "Where work lies between them, make fewer (the probe recommends one every 1 ms)"
    )


def test_a_log_that_is_full_gets_room_for_all(make_caused, call):
    run = make_caused(
        call("MPI_Recv", 4, 300, unattributed=150, late_sender=150),
        log={"budget_bytes": 64 << 20, "logged_share": 0.25, "windows": 64, "level": 2},
    )
    found = only(run, "log_full")
    assert found.command == "imbrex run --log 512M -- mpirun -n 2 ./wave"
    assert found.at_stake.high == pytest.approx(0.3)


def test_a_run_without_a_log_is_measured_again(make_caused, call):
    calls = call("MPI_Recv", 4, 300)
    for row in calls:
        row["wait_min_ns"] = row["wait_max_ns"] = 290_000_000
    run = make_caused(None, calls=calls)
    assert finding_kinds(run) == ["log_missing", "waiting"]
    assert only(run, "log_missing").command == "imbrex run -- mpirun -n 2 ./wave"
    assert only(run, "waiting").evidence == "call"


def test_a_run_that_did_not_end_is_not_measured_again_for_its_log(make_caused, call):
    """The next run would die as this one did, and leave as little to compare."""
    run = make_caused(None, calls=call("MPI_Recv", 4, 300))
    ranks = run.ranks.copy()
    ranks["ended"][1] = Ended.DIED
    np.save(run.directory / "ranks.npy", ranks)
    found = only(load_run(run.directory), "log_not_compared")
    assert "MPI_Finalize, which not all of them came to" in found.text
    assert found.command == f"imbrex show {run.directory} --timeline"


@pytest.mark.parametrize("quick", [True, False])
def test_the_probe_is_advised_only_where_it_brings_something(make_caused, call, quick):
    calls = call("MPI_Recv", 4, 300)
    for row in calls:
        row |= {"transfers": 1, "transfer_max_ns": 100_000_000, "exposed_max_ns": 100_000_000}
    run = make_caused(None, calls=calls, profile=machine(quick=quick))
    assert ("profile_quick" in finding_kinds(run)) == quick


def test_findings_come_by_what_is_at_stake(make_caused, call):
    run = make_caused(
        call("MPI_Recv", 4, 100, late_sender=100)
        + call("MPI_Alltoall", 2, 300, late_collective=(180, 200), transfer=(50, 80)),
    )
    stakes = [finding.at_stake.middle for finding in diagnose(run).findings]
    assert stakes == sorted(stakes, reverse=True)


def test_every_rule_is_registered():
    folder = Path(findings.__file__).parent
    files = {file.stem for file in folder.glob("*.py")} - {"__init__", "registry"}
    assert {rule.__module__.rpartition(".")[2] for rule in registry.RULES} == files


def test_no_screen_has_rules_of_its_own():
    """What to tell is said in one place: renderers name no command to try but that of tables."""
    source = Path(findings.__file__).parents[2]
    for file in (source / "report").rglob("*.py"):
        text = file.read_text()
        for words in ("imbrex probe", "imbrex calibrate", "imbrex transform", "--events"):
            assert words not in text, f"{file.name} has advice of its own"
