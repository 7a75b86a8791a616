"""What `imbrex predict RUN` says of a schedule whose every figure is worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from building import Builder

from imbrex.network.interconnect import Interconnect
from imbrex.profile.run import load_run
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule
from imbrex.replay.parametric import of_latency
from imbrex.replay.situation import AS_MEASURED, Situation
from imbrex.replay.verdict import next_command, recorded_verdict, whole_verdict
from imbrex.replay.whole import RunSites, Whole, on_network
from imbrex.replay.whole_figures import curves_svg
from imbrex.replay.whole_text import whole_text

ROUTE = Route(latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20, eager_bytes=100)
WIRE = Interconnect("wire", 1030e-9, 0.5e9)
MakeRun = Callable[..., Path]


def on(run: Path, b: Builder, route: Route = ROUTE, name: str = AS_MEASURED) -> dict[str, Any]:
    nodes = tuple(range(b.ranks))
    situation = Situation(name, WIRE, Network(route, route), nodes)
    return on_network(RunSites(load_run(run)), Replayer(b.schedule()), situation, with_sites=True)


def one_message() -> Builder:
    """Rank 0 works 5000 ns and sends at site 1; rank 1 works 1000, receives, works 500."""
    b = Builder(2)
    b.calc(0, 5000)
    b.send(0, 1, 40, site=1)
    b.calc(1, 1000)
    b.send(1, 0, 8, site=2)
    b.recv(1, 0, blocking=True, site=1)
    b.calc(1, 500)
    b.recv(0, 1, blocking=True, site=2)
    return b


def test_run_time_and_efficiencies(make_run: MakeRun) -> None:
    row = on(make_run(), one_message())
    # 5000 + 10 + 1000 + 80 + 20, then 500; without a network 5000 + 500.
    assert row["time_s"] == pytest.approx(6610e-9)
    assert row["without_network_s"] == pytest.approx(5500e-9)
    assert row["efficiency"] == pytest.approx(
        {
            "parallel": 3250 / 6610,
            "load_balance": 3250 / 5000,
            "serialization": 5000 / 5500,
            "transfer": 5500 / 6610,
        }
    )


def test_the_critical_path_by_part_rank_and_site(make_run: MakeRun) -> None:
    path = on(make_run(), one_message())["critical_path"]
    parts = {"computation": 5500, "latency": 1000, "bandwidth": 80, "overhead": 30, "lateness": 0}
    for part, ns in parts.items():
        assert path[f"{part}_s"] == pytest.approx(ns * 1e-9)
    assert (path["latencies"], path["bytes"]) == (1, 40)
    # The message is the sender's until it has come.
    shares = {entry["rank"]: entry["time_s"] for entry in path["ranks"]}
    assert shares == pytest.approx({0: 6090e-9, 1: 520e-9})
    assert len(path["sites"]) == 1
    assert path["sites"][0]["time_s"] == pytest.approx(1110e-9)


def test_tolerances_are_where_run_time_has_grown_by_so_much(make_run: MakeRun) -> None:
    row = on(make_run(), one_message())
    assert row["latency_tolerance"] == pytest.approx(
        {"slope": 1, "1%": 1066.1e-9, "2%": 1132.2e-9, "5%": 1330.5e-9}
    )
    assert row["byte_time_tolerance"] == pytest.approx(
        {"slope": 40, **{f"{k}%": (2 + 66.1 * k / 40) * 1e-9 for k in (1, 2, 5)}}
    )


def test_what_hiding_a_site_saves(make_run: MakeRun) -> None:
    rows = on(make_run(), one_message())["sites"]
    # Latency and bytes; the processors' overheads stay. What is not on the path saves nothing.
    assert [(row["site"], row["operation"]) for row in rows] == [("app.c:12", "MPI_Isend")]
    assert rows[0]["saves_at_most_s"] == pytest.approx(1080e-9)


def test_what_is_hidden_no_longer_leaves_the_next_path(make_run: MakeRun) -> None:
    """Two messages as long as each other, of two sites: to hide one of them saves nothing."""
    b = Builder(3)
    for sender, site in ((1, 1), (2, 2)):
        b.calc(sender, 5000)
        b.send(sender, 0, 0, site=site)
    for sender, site in ((1, 1), (2, 2)):
        b.recv(0, sender, blocking=True, site=site)
    row = on(make_run(), b, replace(ROUTE, send_ns=0.0, receive_ns=0.0))
    assert row["time_s"] == pytest.approx(6000e-9)
    assert [site["saves_at_most_s"] for site in row["sites"]] == [0]


def test_what_progress_at_a_site_saves(make_run: MakeRun) -> None:
    b = Builder(2)
    b.recv(1, 0, site=1)
    begun = b.recv(0, 1, site=1), b.send(0, 1, 1000, site=1)
    b.send(1, 0, 8, site=1)
    for rank in range(2):
        b.calc(rank, 10_000)
    b.wait(*begun)
    b.wait((1, 0))
    row = on(make_run(), b, replace(ROUTE, held_by_sender=True, held_by_receiver=True))
    # 3000 ns after the work at both ends, or beside it but for the overhead of taking it.
    assert row["time_s"] == row["no_progress_s"]
    assert row["ideal_progress_s"] < row["time_s"]
    assert row["sites"][0]["progress_saves_s"] == pytest.approx(3000e-9)


@pytest.mark.parametrize(
    ("of_site", "ideal_s", "says"),
    [
        (0.8, 91.0, "progress for all while the ranks compute saves 9 %"),
        (8.8, 91.0, "progress for it while the ranks compute saves 8.8 %"),
        (0.2, 99.8, ""),
    ],
)
def test_progress_for_all_is_told_where_one_site_gains_little(
    of_site: float, ideal_s: float, says: str
) -> None:
    """As of a call that waits for the messages of several sites."""
    site = {"site": "app.c:12", "saves_at_most_s": 10.0, "progress_saves_s": of_site}
    row = {
        "network": {"name": AS_MEASURED},
        "efficiency": {"transfer": 0.9, "load_balance": 1.0, "serialization": 1.0},
        "time_s": 100.0,
        "ideal_progress_s": ideal_s,
        "sites": [site],
    }
    told = whole_verdict(document([row], 100.0))
    assert "hiding those of app.c:12 saves at most 10 %" in told
    assert says in told and ("progress" in told) is bool(says)


def document(rows: list[dict[str, Any]], measured_s: float) -> dict[str, Any]:
    return {
        "ranks": 2,
        "calls": 4,
        "measured_s": measured_s,
        "not_replayed": [],
        "divided_equally": [],
        "first_come": [],
        "not_replayed_share": 0.0,
        "networks": rows,
    }


def test_the_text_begins_with_the_answer_and_a_line_to_copy(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)")
    row["network"]["name"] = f"{AS_MEASURED} (inter-node)"
    whole = document([row], 6600e-9)
    text = whole_text(load_run(folder), whole)
    assert "As measured the replay gives 6.61 us, +0.2 %." in text
    assert text.splitlines()[0] == whole_verdict(whole)
    assert whole_verdict(whole) == (
        "Transfers take 17 % of the run; hiding those of app.c:12 saves at most 16 %."
    )
    assert text.splitlines()[1] == "Next: imbrex tune -- mpirun -n 2 ./app"
    # Nothing is held, so the columns of progress would say nothing.
    assert "progress" not in text


@pytest.mark.parametrize(
    ("measured_ns", "cores", "says"),
    [
        (7_000, 1, "Transfers take 17 % of the run; hiding"),
        (
            66_100,
            1,
            "90 % of the run is neither its computation nor its network (2 ranks share 1 core). "
            "Of the rest transfers take 17 %; hiding",
        ),
        (
            66_100,
            2,
            "90 % of the run is neither its computation nor its network (stalls, or MPI itself). "
            "Of the rest transfers take 17 %; hiding",
        ),
    ],
)
def test_what_the_replay_does_not_explain_comes_first(
    make_run: MakeRun, measured_ns: float, cores: int, says: str
) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=AS_MEASURED)
    row["network"]["name"] = AS_MEASURED
    whole = document([row], measured_ns * 1e-9) | {"cores": cores}
    assert whole_verdict(whole).startswith(says)
    command = next_command(load_run(folder), whole)
    assert command is not None
    assert command.startswith("imbrex tune" if measured_ns < 10_000 else "imbrex show")
    text = " ".join(whole_text(load_run(folder), whole).split())
    assert ("they wait for each other's core" in text) == (cores == 1)


@pytest.mark.parametrize(
    ("cores", "waited", "says"),
    [
        (1, 0.71, "2 ranks share 1 core and had none for 71 % of their time"),
        (1, 0.0, "2 ranks share 1 core and had none for 0 % of their time"),
        (2, 0.31, "ranks were ready to run and had no core for 31 % of their time"),
        (None, 0.31, "ranks were ready to run and had no core for 31 % of their time"),
        (2, 0.04, "stalls, or MPI itself"),
        (2, None, "stalls, or MPI itself"),
    ],
)
def test_for_how_long_ranks_had_no_core(
    make_run: MakeRun, cores: int | None, waited: float | None, says: str
) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=AS_MEASURED)
    row["network"]["name"] = AS_MEASURED
    told = {"cores": cores, "core_wait_share": waited}
    whole = document([row], 100_000e-9) | told
    assert f"({says})" in whole_verdict(whole)
    text = " ".join(whole_text(load_run(folder), whole).split())
    assert "each other's core" not in text
    assert (f"%: {says}." in text) == ((waited is not None and waited > 0.05) or cores == 1)


def test_the_screen_is_written_as_that_of_a_run(make_run: MakeRun) -> None:
    """In 100 columns, but for a line to copy and rows; a blank before each sign of per cent."""
    folder = make_run()
    row = on(folder, one_message(), name=AS_MEASURED)
    row["network"]["name"] = AS_MEASURED
    many = {"ranks": 40, "cores": 2, "not_replayed_share": 0.123, "paused_s": 1.0}
    left = [{"site": "app.c:12", "calls": 1234567, "reason": "calls of no kind"}]
    text = whole_text(load_run(folder), document([row], 1.0) | many | {"not_replayed": left})
    lines = [line for line in text.splitlines() if not line.startswith("Next: ")]
    assert "40 ranks share 2 cores" in " ".join(lines[:2]) and "as long as it did (12 % of" in text
    assert "  app.c:12: 1,234,567 calls" in text
    assert max(map(len, lines)) <= 100 and not re.search("[0-9]%", text)
    assert not any(re.search("[0-9]$", a) and b.startswith("%") for a, b in pairwise(lines))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, "90 % of the run is neither its computation nor its network (stalls, or MPI itself)."),
        ({"cores": 1}, "90 % of the run is neither its computation nor its network (2 ranks share"),
        ({"load": "others"}, "90 % of the run is neither its computation nor its network (others"),
        ({"sampled": 0.1}, "No overlap saves even 0.5 % of the run: without any"),
        ({"measured_s": 10.5}, "No overlap saves even 0.5 % of the run: without any"),
        ({"measured_s": None}, "No overlap saves even 0.5 % of the run: without any"),
    ],
)
def test_the_answer_of_a_recorded_run_begins_so_too(change: dict[str, Any], says: str) -> None:
    modes = ("none", "independent", "consumer", "fine-grained", "boundary")
    row = {
        "network": {"name": AS_MEASURED},
        "time_s": dict.fromkeys(modes, 10.0),
        "today_max_s": 10.0,
        "without_network_s": 10.0,
    }
    found = {"ranks": 2, "cores": 2, "measured_s": 100.0, "sampled": None, "networks": [row]}
    assert recorded_verdict(found | change).startswith(says)


def test_columns_of_progress_stand_where_they_say_something(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message())
    for ideal, none, head in (
        (1, 1, "transfer          latency"),
        (1, 2, "transfer  no progress "),
        (0.5, 1, "transfer   progress  "),
        (0.5, 2, "transfer   progress  no progress "),
    ):
        changed = {"ideal_progress_s": ideal, "no_progress_s": none}
        changed = {name: share * row["time_s"] for name, share in changed.items()}
        lines = whole_text(load_run(folder), document([row | changed], 6600e-9)).splitlines()
        (found,) = [line for line in lines if line.startswith("network ")]
        assert head in found


def test_the_text_says_what_passes_in_turns_and_what_was_paused(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)")
    assert row["in_step_s"] == row["time_s"]
    run, turns, paused = load_run(folder), "taken to pass in turns", "Around pauses of the program"
    text = whole_text(run, document([row], row["time_s"]))
    assert turns not in text
    assert paused not in text
    row |= {"in_step_s": 5000e-9}
    text = whole_text(run, document([row], 6000e-9) | {"paused_s": 1e-6})
    assert turns in text
    assert "; 5 us as long as both sides stay in step" in text
    assert "messages both ways were in step for a part of the run" in text
    assert f"{paused} (MPI_Pcontrol) lie 1 us" in text
    text = whole_text(run, document([row], 4000e-9))
    assert "messages were faster than the machine profile says" in text


def test_the_text_says_which_blocks_are_taken_to_be_equal(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)")
    whole = document([row], 6600e-9)
    about = "Blocks of different sizes that the log does not tell, taken to be equal:"
    assert about not in whole_text(load_run(folder), whole)
    whole["divided_equally"] = [{"site": f"app.c:{line}", "calls": line} for line in range(30)]
    lines = whole_text(load_run(folder), whole).splitlines()
    at = lines.index(about)
    assert lines[at + 2] == "  app.c:1: 1 collectives"
    assert any(line.endswith("more (--json)") for line in lines[at:])


def test_the_text_says_where_the_order_of_the_run_decides(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)")
    whole = document([row], 6600e-9) | {"calls": 1000}
    about = "messages were taken before one of another rank"
    whole["first_come"] = [{"site": "app.c:1", "messages": 9}]
    assert about not in whole_text(load_run(folder), whole)
    whole["first_come"] = [{"site": f"app.c:{line}", "messages": 5} for line in range(10)]
    lines = whole_text(load_run(folder), whole).splitlines()
    at = next(k for k, line in enumerate(lines) if about in line)
    assert lines[at].startswith("50 messages")
    assert lines[at + 2] == "  app.c:0: 5 messages"
    assert "  and 6 more (--json)" in lines


def test_the_text_says_where_work_goes_to_whoever_asks_first(make_run: MakeRun) -> None:
    folder = make_run()
    own = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)") | {"served_s": None}
    other = on(folder, one_message(), name="other") | {"served_s": [5000e-9, 5010e-9]}
    whole = document([own, other], 6600e-9) | {
        "calls": 1000,
        "first_come": [{"site": "app.c:1", "messages": 500}],
    }
    text = whole_text(load_run(folder), whole)
    assert "work goes to whoever asks first, as in the program." in text
    assert "keeps the order of the run" not in text
    assert "takes itself" not in text
    other["served_s"] = [5000e-9, 6000e-9]
    text = whole_text(load_run(folder), whole)
    assert "takes itself hangs on less than the log tells; so run time may be:\n" in text
    assert "  other: 5 us to 6 us\n" in text
    other["served_s"] = None
    assert "keeps the order of the run" in whole_text(load_run(folder), whole)


@pytest.mark.parametrize(
    ("computes_ns", "says", "by"),
    [
        ((99_000, 99_000), "computation alone decides.", None),
        ((99_000, 1_000), "49 % is lost to the ranks' unequal work.", "rank"),
    ],
)
def test_what_limits_a_run_that_no_network_limits(
    make_run: MakeRun, computes_ns: tuple[int, int], says: str, by: str | None
) -> None:
    folder, b = make_run(), Builder(2)
    for rank, ns in enumerate(computes_ns):
        b.calc(rank, ns)
    row = on(folder, b)
    row["network"]["name"] = AS_MEASURED
    whole = document([row], 99e-6)
    assert whole_verdict(whole) == f"No network and no overlap saves even 0.5 % of the run: {says}"
    command = next_command(load_run(folder), whole)
    assert command == (f"imbrex show {folder} --by {by}" if by else None)
    for share, words in ((0.049, says), (0.2, "computation decides, and MPI itself (20 %).")):
        told = whole_verdict(whole | {"library_share": share})
        assert told.endswith(f": {says if by else words}")


@pytest.mark.parametrize(("cores", "told"), [(2, True), (3, False), (None, False)])
def test_the_text_says_where_progress_has_no_core(
    make_run: MakeRun, cores: int | None, told: bool
) -> None:
    b = Builder(2)
    receive = b.recv(1, 0, site=1)
    b.send(0, 1, 4000, site=2)
    b.calc(1, 9000)
    b.wait(receive)
    held = replace(ROUTE, held_by_receiver=True)
    run = load_run(make_run())
    row = on(run.directory, b, held)
    row["network"]["name"] = AS_MEASURED
    assert max(site["progress_saves_s"] for site in row["sites"]) > 0
    run = replace(run, job=replace(run.job, cores=cores))
    line = "No core is idle (2 ranks, 2 cores)"
    assert (line in whole_text(run, document([row], row["time_s"]))) == told


def test_the_text_says_how_far_off_it_is(make_run: MakeRun) -> None:
    folder = make_run()
    row = on(folder, one_message(), name=f"{AS_MEASURED} (inter-node)")
    row["network"]["name"] = f"{AS_MEASURED} (inter-node)"
    text = whole_text(load_run(folder), document([row], 9000e-9))
    assert "As measured the replay gives 6.61 us, -27 %: the run was slower than" in text
    text = whole_text(load_run(folder), document([row], 5000e-9))
    assert "+32 %: messages were faster than the machine profile says" in text


def test_curves_of_run_time_mark_the_network_that_the_run_had(make_run: MakeRun) -> None:
    """Run time is 5610 ns and one latency, 6530 ns and 40 bytes: today's values stand between."""
    folder, b = make_run(), one_message()
    situation = Situation(f"{AS_MEASURED} (inter-node)", WIRE, Network(ROUTE, ROUTE), (0, 1))
    row = on(folder, b)
    row["network"]["name"] = situation.name
    schedule = LogSchedule(b.schedule(), {}, 0, 6610, 4)
    whole = Whole(schedule, (situation,), document([row], 6610e-9))
    drawing = curves_svg(whole)
    assert drawing is not None
    for label in ("latency, µs (today 1)", "bandwidth, MB/s (today 500)", "+1%", "+2%", "+5%"):
        assert label in drawing
    evaluate = of_latency(Replayer(situation.place(b.schedule())), situation.network)
    latency = evaluate.curve((100, 1000, 10_000))
    assert [latency.value(ns) for ns in (100, 1000, 10_000)] == pytest.approx([5710, 6610, 15_610])
    row["network"]["name"] = "another"
    assert curves_svg(whole) is None


def test_curves_of_a_run_that_no_network_slows(make_run: MakeRun) -> None:
    """Ranks that send only to themselves, or nothing: no latency costs 1 %, and none is marked."""
    folder, b = make_run(), Builder(2)
    b.calc(0, 5000)
    b.calc(1, 1000)
    situation = Situation(f"{AS_MEASURED} (intra-node)", WIRE, Network(ROUTE, ROUTE), (0, 0))
    row = on(folder, b, name=situation.name)
    assert row["latency_tolerance"]["5%"] is row["byte_time_tolerance"]["5%"] is None
    schedule = LogSchedule(b.schedule(), {}, 0, 5000, 0)
    drawing = curves_svg(Whole(schedule, (situation,), document([row], 5000e-9)))
    assert drawing is not None
    assert "today" in drawing
    assert "+1%" not in drawing
