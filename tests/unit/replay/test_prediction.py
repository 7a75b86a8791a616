"""`imbrex predict RUN`: a run without a recording, sites, savings, and bad directories."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect, collection
from imbrex.network.points import NetworkPoints
from imbrex.profile.recording import RecordedRun
from imbrex.profile.recording_format import ARRIVED, CALL, POST, SEND
from imbrex.profile.run import load_run
from imbrex.replay.figures import equivalent_bandwidths, run_shares
from imbrex.replay.prediction import differences, predict_run
from imbrex.replay.run_command import answer, open_run
from imbrex.replay.schedule import make_schedule
from imbrex.replay.sites import collective_sites, limit_of, sites_of
from imbrex.replay.text import run_text
from imbrex.replay.unrecorded import unrecorded_json
from imbrex.replay.whole import Settings

NETWORK = Interconnect("wire", 10e-6, 1e9)


def test_a_run_without_recording(make_run: Callable[..., Path]) -> None:
    document = unrecorded_json(load_run(make_run()), [NETWORK])
    (row,) = document["networks"]
    # Site 1: 2 x 10 transfers of 64 KiB, 20 (10 us + 65.536 us); site 2: 8 of 8 bytes.
    first, second = (next(s for s in row["sites"] if s["bytes"] == b) for b in (1310720, 64))
    assert first["transfer_sum_s"] == pytest.approx(20 * (10e-6 + 65536e-9))
    assert second["transfer_sum_s"] == pytest.approx(8 * (10e-6 + 8e-9))
    # Exposed for certain 2 x 5 ms of at most 2 x 50, possibly 2 x 25 beside 2 x 20 surely hidden.
    assert first["exposed_min_sum_s"] == pytest.approx(0.1 * first["transfer_sum_s"])
    assert first["exposed_max_sum_s"] == pytest.approx(25 / 45 * first["transfer_sum_s"])
    # The second took any time, but within calls: none of it was hidden.
    assert second["exposed_min_sum_s"] == pytest.approx(second["transfer_sum_s"])
    assert second["exposed_max_sum_s"] == pytest.approx(second["transfer_sum_s"])
    # 210 ms measured, less 5 to 25.008 ms of exposed time per rank, more what it is there.
    high = (first["exposed_max_sum_s"] + second["exposed_max_sum_s"]) / 2
    assert row["time_max_s"] == pytest.approx(0.210 - 0.005 + high)
    low = (first["exposed_min_sum_s"] + second["exposed_min_sum_s"]) / 2
    assert row["time_min_s"] == pytest.approx(0.210 - 0.025008 + low)


def test_the_command_says_what_a_recording_would_tell(
    make_run: Callable[..., Path],
) -> None:
    run = make_run(warnings=["not recorded: rank 0: the two runs differ from MPI call 7 on"])
    text = answer(run, Settings(networks=("GigE",)), None, False, None) or ""
    assert "imbrex run --record" in text
    assert "the two runs differ from MPI call 7 on" in text
    document = answer(run, Settings(networks=("GigE",)), None, True, None) or ""
    assert json.loads(document)["kind"] == "run without recording"
    with pytest.raises(ImbrexError, match="differ from MPI call 7"):
        answer(run, Settings(), 1, False, run / "x.png")


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="not an Imbrex run directory"):
        open_run(tmp_path)


def test_a_damaged_recording(make_run: Callable[..., Path]) -> None:
    run = make_run()
    (run / "recording").mkdir()
    (run / "recording" / "messages.json").write_text("{")
    with pytest.raises(ImbrexError, match=r"messages\.json: truncated or damaged"):
        answer(run, Settings(), None, False, None)
    document = {"format": "imbrex-recording", "ranks": [{"rank": 0, "messages": []}]}
    (run / "recording" / "messages.json").write_text(json.dumps(document))
    with pytest.raises(ImbrexError, match="compute_s is missing"):
        answer(run, Settings(), None, False, None)


@pytest.fixture
def two_sites(message: Any, recorded: Any) -> RecordedRun:
    """Rank 0 sends two messages of 400 bytes to rank 1: the first (line 10) was written 900 ns
    before, the other (line 20) just now. Rank 1 reads both at once and computes for 5 us."""
    n = 50
    late = [2.0 * (n - 1 - i) for i in range(n)]
    messages = {
        0: [message(0, 0, 1, [900.0 + t for t in late], is_send=True, tag=1),
            message(0, 1, 1, late, is_send=True, tag=2, site="app.c:20")],
        1: [message(1, 0, 0, [3.0 * i for i in range(n)], tag=1),
            message(1, 1, 0, [3.0 * i for i in range(n)], tag=2)],
    }  # fmt: skip
    rows = {
        0: [(CALL, 0, 1000.0), (SEND, 0, 0.0), (CALL, 0, 0.0), (SEND, 1, 0.0), (CALL, 3, 0.0)],
        1: [(CALL, 1, 1000.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0),
            (CALL, 1, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 5000.0)],
    }  # fmt: skip
    return recorded(messages, rows)


SLOW = Interconnect("slow", 1e-6, 1e9)


def test_sites_say_what_they_could_hide_and_what_is_in_the_way(two_sites: RecordedRun) -> None:
    run = two_sites
    sites = {site.site: site for site in sites_of(run)}
    assert set(sites) == {"app.c:10", "app.c:20"}
    # Delay 1 us + 400 ns; 900 ns of work, and none.
    assert limit_of(sites["app.c:10"], SLOW) == "less independent work than the latency alone"
    assert limit_of(sites["app.c:20"], SLOW) == "no independent work"
    fast = Interconnect("fast", 0.2e-6, 1e9)
    assert limit_of(sites["app.c:10"], fast) == ""
    middle = Interconnect("middle", 0.6e-6, 1e9)
    assert limit_of(sites["app.c:10"], middle) == "less independent work than the transfer takes"


def test_what_sites_save_and_in_which_order(two_sites: RecordedRun) -> None:
    document = predict_run(two_sites, None, [SLOW]).document
    assert document["replayed"] is True
    assert [row["site"] for row in document["sites"]] == ["app.c:10", "app.c:20"]
    (row,) = document["networks"]
    # Both leave at 1000 and share the link: the last byte at 1000 + 800, there at 2800; then 5000.
    assert row["time_s"]["as written"] == pytest.approx(7.8e-6)
    assert row["without_network_s"] == pytest.approx(6e-6)
    # Sent at 100 instead, the first no longer shares: the other is there at 2400.
    first = document["sites"][0]
    assert first["saves_s"]["independent"] == pytest.approx(0.4e-6)
    assert first["potential_s"]["independent"] == pytest.approx(0.9e-6)
    assert first["normalized_overlap"]["independent"] == pytest.approx(0.9 / 1.4)
    assert document["sites"][1]["saves_s"]["independent"] == pytest.approx(0, abs=1e-12)
    text = run_text(document)
    assert text.index("app.c:10") < text.index("app.c:20")
    assert "\n    limit: no independent work" in text
    assert max(map(len, text.splitlines())) <= 100 and "%" not in text.replace(" %", "")


def test_runs_that_did_different_things(
    make_run: Callable[..., Path], message: Any, recorded: Any
) -> None:
    run = load_run(make_run())
    same = [message(0, 0, 1, [0.0], is_send=True, site="app.c:12", calls=20)]
    same.append(message(0, 1, 1, [0.0], is_send=True, site="app.c:20", calls=8))
    assert differences(recorded({0: same}, {}), run) == []
    fewer = [message(0, 0, 1, [0.0], is_send=True, site="app.c:12", calls=19)]
    told = differences(recorded({0: fewer}, {}), run)
    assert "app.c:12: 20 transfers in the measured run, 19 in the recorded" in told
    assert differences(recorded({0: fewer}, {}), None) == []
    # What moves nothing is no transfer of the measured run.
    empty = message(0, 2, 1, [], is_send=True, site="app.c:12", calls=5)
    assert differences(recorded({0: [*same, empty]}, {}), run) == []


def test_receives_that_bring_nothing_are_no_difference(
    make_run: Callable[..., Path], message: Any, recorded: Any
) -> None:
    rows = np.load(make_run("other") / "measures.npy")
    rows["operation"][rows["site"] == 1] = 1
    rows["transfers"][rows["site"] == 1] -= 2
    run = load_run(make_run(measures=rows))
    receives = [message(0, 0, 1, [0.0], site="app.c:12", calls=20)]
    receives.append(message(0, 1, 1, [0.0], is_send=True, site="app.c:20", calls=8))
    assert differences(recorded({0: receives}, {}), run) == []
    # Not so of sends, whose size is known.
    sends = [replace(m, is_send=True) for m in receives]
    (told,) = differences(recorded({0: sends}, {}), run)
    assert "app.c:12: 16 transfers in the measured run, 20 in the recorded" in told


def test_collectives_have_work_beside_them(message: Any, recorded: Any) -> None:
    buffers = {
        rank: [
            message(rank, 0, -1, [300.0], is_send=True, site="app.c:30", operation="MPI_Bcast"),
            message(rank, 1, -1, [200.0 * rank], site="app.c:30", operation="MPI_Bcast"),
        ]
        for rank in range(2)
    }
    run = replace(recorded({0: [], 1: []}, {}), collectives=buffers)
    (row,) = collective_sites(run, SLOW)
    # One level of a tree and 8 bytes; 300 ns before, 0 and 200 after.
    assert row["delay_s"] == pytest.approx(SLOW.latency_s + 8 * SLOW.gap_s_per_byte)
    assert row["independent_s"] == pytest.approx(400e-9)
    assert (row["operation"], row["limit"]) == ("MPI_Bcast", "collective")


def test_calls_of_a_collective_whose_size_varies(message: Any, recorded: Any) -> None:
    at = {"site": "app.c:30", "operation": "MPI_Alltoallv"}
    buffers = {
        rank: [
            message(rank, 2 * i + side, -1, [1.0] * (i + 1), is_send=bool(side), calls=3, **at)
            for i in range(4)
            for side in (0, 1)
        ]
        for rank in range(2)
    }
    run = replace(recorded({0: [], 1: []}, {}), collectives=buffers)
    (row,) = collective_sites(run, SLOW)
    assert row["calls"] == 12


def test_today_is_between_what_is_known(two_sites: RecordedRun) -> None:
    row = predict_run(two_sites, None, [SLOW]).document["networks"][0]
    # Nothing was measured: anything from the calls as written to no overlap at all.
    assert row["today_min_s"] == pytest.approx(row["time_s"]["as written"])
    assert row["today_max_s"] == pytest.approx(row["time_s"]["none"])


def test_a_recording_without_pairs_is_told(recorded: Any) -> None:
    run = recorded({0: [], 1: []}, {0: [(CALL, 3, 1.0)], 1: [(CALL, 3, 1.0)]})
    prediction = predict_run(run, None, collection())
    assert prediction.document["replayed"] == "no send was recorded together with its receive"
    assert "cannot be predicted" in run_text(prediction.document)


def test_equivalent_bandwidth_by_hand(two_sites: RecordedRun) -> None:
    schedule = make_schedule(two_sites)
    # No overlap at 5 GB/s: two delays one after the other, 2 (1000 + 80) ns. As written both are
    # under way at once: 1000 + 800 G.
    found = equivalent_bandwidths(schedule, 1e-6)
    assert found["as written"] == pytest.approx(800 / 1160e-9, rel=0.01)
    # The first leaves at 100, so that the link is busy until 100 + 800 G: 1100 + 800 G = 3160.
    assert found["independent"] == pytest.approx(800 / 2060e-9, rel=0.01)


def test_shares_add_up(two_sites: RecordedRun) -> None:
    parts = run_shares(make_schedule(two_sites), NetworkPoints(1e-6, 1e-9))["as written"]
    assert np.sum(parts, axis=0) == pytest.approx(1)
    assert parts[0][0] == pytest.approx(6 / 7.8)
    assert parts[2][0] == 0


def test_a_program_of_collectives_alone_has_a_run_time(recorded: Any) -> None:
    rows = [(CALL, 2, 1000.0)]
    run = recorded({0: [], 1: []}, {0: rows, 1: rows})
    document = predict_run(run, None, [SLOW]).document
    assert document["replayed"] is True
    assert (document["collectives"], document["sites"]) == (1, [])
    (row,) = document["networks"]
    # Up a tree of two and down again.
    assert row["time_s"]["as written"] == pytest.approx(1e-6 + 2 * SLOW.latency_s)
    assert "1 collective calls per rank" in run_text(document)


def test_what_nobody_reads_is_told_from_what_was_not_seen(message: Any, recorded: Any) -> None:
    unread = [float("nan")] * 10
    messages = {
        0: [message(0, 0, 1, [0.0] * 10, is_send=True)],
        1: [message(1, 0, 0, unread)],
    }
    site = sites_of(recorded(messages, {0: [], 1: []}))[0]
    network = Interconnect("slow", 1e-6, 1e9)
    assert limit_of(site, network) == "nobody was seen to read what it brings"
    assert limit_of(site, network, blind=True).endswith("code that was not recorded")
