"""What a replay says beside what the run says, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from building import Builder

from imbrex.diagnosis.account import Account, RowAccount, take_account
from imbrex.diagnosis.division import Division
from imbrex.diagnosis.interval import Interval
from imbrex.network.interconnect import Interconnect
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows
from imbrex.replay.agreement import Figure, agreement, awaited_at, unexplained
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.situation import AS_MEASURED, Situation
from imbrex.replay.whole import RunSites, on_network
from imbrex.replay.whole_text import whole_text

MakeRun = Callable[..., Path]
ROUTE = Route(latency_ns=1_000_000, eager_bytes=100)
"""One message takes 1 ms."""


def one_message() -> Builder:
    """Rank 0 works 5 ms and sends at site 1; rank 1 receives there and works 5 ms."""
    b = Builder(2)
    b.calc(0, 5_000_000)
    b.send(0, 1, 40, site=1)
    b.recv(1, 0, blocking=True, site=1)
    b.calc(1, 5_000_000)
    return b


def taken(account: Account, site: int, **parts: Any) -> Account:
    """An account with the call time of one site."""
    row = next(found for found in rows(account.run, "site") if found.number == site)
    division = Division(**parts)
    return replace(account, whole=division, sites=(RowAccount(row, division),))


def figures(
    make_run: MakeRun, measured_s: float = 0.011, *, busy: bool = False, **parts: Any
) -> dict[str, Figure]:
    run = load_run(make_run())
    b = one_message()
    situation = Situation(
        AS_MEASURED, Interconnect("wire", 1e-3, 1e9), Network(ROUTE, ROUTE), (0, 1)
    )
    schedule = b.schedule()
    document = {
        "measured_s": measured_s,
        "computation_s": 0.005,
        "not_replayed_share": 0.0,
        "networks": [on_network(RunSites(run), Replayer(schedule), situation, with_sites=True)],
    }
    account = taken(take_account(run), 1, **parts)
    return {figure.name: figure for figure in agreement(account, schedule, document, busy=busy)}


def moving(
    seconds: float, gainable: float | None = None, **further_causes: float
) -> dict[str, Any]:
    causes = {"transfer": seconds, **further_causes}
    return {
        "call_s": sum(causes.values()),
        "causes": {name: Interval(s, s) for name, s in causes.items()},
        "gainable": Interval(0.0, seconds if gainable is None else gainable),
    }


def test_what_the_run_can_gain_is_the_limit(make_run: MakeRun) -> None:
    found = figures(make_run, **moving(0.001))
    assert found["run time"].within
    assert found["transfer"].predicted == pytest.approx(0.001)
    saved = found["hidden saves at most"]
    assert (saved.site, saved.within, saved.why) == ("app.c:12", True, "")
    assert saved.run == Interval(0.0, 0.001)


@pytest.mark.parametrize(
    ("parts", "measured_s", "why"),
    [
        (moving(0.001, gainable=0.0002), 0.011, "the ranks compute too little to hide all of it"),
        (moving(0.0005, library=0.0006), 0.011, "the run cannot tell all of it from MPI's own"),
        (moving(0.0002), 0.0102, "messages were faster than the machine profile says"),
        (moving(0.0002), 0.02, "the run had stalls, or was disturbed"),
        (moving(0.0002), 0.011, ""),
    ],
)
def test_more_than_the_limit_has_its_reason(
    make_run: MakeRun, parts: dict[str, Any], measured_s: float, why: str
) -> None:
    found = figures(make_run, measured_s, **parts)
    saved = found["hidden saves at most"]
    assert not saved.within
    assert saved.why.startswith(why) and bool(saved.why) == bool(why)
    assert (saved in unexplained(found.values())) == (not why)


def test_a_profile_of_a_busy_machine_explains_what_else_nothing_does(make_run: MakeRun) -> None:
    found = figures(make_run, 0.011, busy=True, **moving(0.0002))
    assert found["hidden saves at most"].why.startswith("the machine was busy when its profile")
    assert unexplained(found.values()) == []
    assert found["run time"].why == ""


@pytest.mark.parametrize(
    ("measured_s", "why"), [(0.0111, ""), (0.02, "the run had stalls"), (0.01, "messages were")]
)
def test_run_time_is_off_for_a_reason(make_run: MakeRun, measured_s: float, why: str) -> None:
    found = figures(make_run, measured_s, **moving(0.001))["run time"]
    assert found.within == (not why)
    assert found.why.startswith(why) and bool(found.why) == bool(why)


def test_where_transfers_are_awaited() -> None:
    b = Builder(2)
    sent, received = b.send(0, 1, 1000, site=1), b.recv(1, 0, site=2)
    b.calc(0, 5)
    b.wait(sent)
    b.wait(received)
    b.send(1, 0, 8, site=5)
    b.recv(0, 1, blocking=True, site=6)
    schedule = b.schedule()
    schedule.site[[2, 5]] = 3, 4  # type: ignore[index]
    assert awaited_at(schedule, 1) == awaited_at(schedule, 2) == {3, 4}
    assert awaited_at(schedule, 5) == awaited_at(schedule, 6) == {6}


def test_the_page_says_where_the_run_allows_less(make_run: MakeRun) -> None:
    folder = make_run()
    entry = Figure("hidden saves at most", 0.001, Interval(0.0, 0.0002), "app.c:12", "it is so")
    network = Situation(AS_MEASURED, Interconnect("wire", 1e-3, 1e9), Network(ROUTE, ROUTE), (0, 1))
    row = on_network(
        RunSites(load_run(folder)), Replayer(one_message().schedule()), network, with_sites=True
    )
    row["network"]["name"] = f"{AS_MEASURED} (inter-node)"
    document = {
        "ranks": 2,
        "calls": 2,
        "measured_s": 0.011,
        "not_replayed": [],
        "divided_equally": [],
        "not_replayed_share": 0.0,
        "networks": [row],
        "agreement": [entry.to_json()],
    }
    text = whole_text(load_run(folder), document)
    assert (
        "app.c:12, hidden saves at most: by the run's own calls at most 200 us: it is so." in text
    )
