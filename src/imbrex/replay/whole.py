"""What a plain run's own call log predicts: run time elsewhere, what limits it, what each call site
would save if its transfers were hidden."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from imbrex.diagnosis.account import take_account
from imbrex.network.interconnect import Interconnect
from imbrex.profile.run import Run
from imbrex.replay.agreement import agreement
from imbrex.replay.ahead import sent
from imbrex.replay.arrays import ArraySchedule
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.collectives import Collectives, read_collectives
from imbrex.replay.evaluate import IDEAL, PARTS, Network, Replayed, Replayer
from imbrex.replay.farm_schedule import as_served, chance_ns, serves_as_it_did
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.parametric import of_byte_time, of_latency, tolerance
from imbrex.replay.run_log import read_run_log
from imbrex.replay.situation import AS_MEASURED, Situation, made_while_busy, situations

TOLERATED = (0.01, 0.02, 0.05)
_MOST_SITES = 12
_MOST_LATENCY_NS = 1e9
_MOST_BYTE_NS = 1e6
_SHARED_UP_TO = 20_000_000
"""Operations up to which messages share links, which takes several replays."""


@dataclass(frozen=True)
class Settings:
    """What the user asked for; None: as it was measured."""

    networks: tuple[str, ...] = ()
    progress: str = "probed"
    ranks_per_node: int | None = None
    collectives: Path | None = None


@dataclass(frozen=True)
class Whole:
    """`document` is the JSON of `imbrex predict RUN`."""

    schedule: LogSchedule
    situations: tuple[Situation, ...]
    document: dict[str, Any]


class Sites(Protocol):
    """What the numbers of call sites mean."""

    def label(self, site: int) -> str:
        """Where it is."""

    def operation(self, site: int) -> str:
        """The MPI function that is called there."""


@dataclass(frozen=True)
class RunSites:
    """The call sites of a run."""

    run: Run

    def label(self, site: int) -> str:
        return self.run.site(site).label

    def operation(self, site: int) -> str:
        rows = self.run.over_ranks[self.run.over_ranks["site"] == site]
        return self.run.operation(int(rows["operation"][0])) if len(rows) else ""


def predict_whole(run: Run, interconnects: list[Interconnect], settings: Settings) -> Whole:
    """Replay a run's call log on the network that it had and on others.

    ImbrexError where the log is missing or covers a part of the run.
    """
    chosen = read_collectives(settings.collectives) if settings.collectives else Collectives()
    log = read_run_log(run)
    made = schedule_from_log(log, chosen)
    found = situations(
        run,
        settings.networks,
        interconnects,
        settings.progress,
        settings.ranks_per_node,
        sent(log),
    )
    document: dict[str, Any] = {
        "schema_version": 1,
        "kind": "whole run",
        "ranks": len(run.ranks),
        "cores": run.job.cores,
        "core_wait_share": run.job.core_wait_share,
        "load": run.job.crowded,
        "calls": made.calls,
        "operations": len(made.schedule.operations),
        "measured_s": made.measured_ns * 1e-9,
        "computation_s": longest_s(made.schedule),
        "progress": settings.progress,
        "paused_s": log.paused_ns() * 1e-9,
        "not_replayed": _not_replayed(run, made),
        "not_replayed_share": made.missing_ns / max(made.measured_ns * made.schedule.streams, 1),
        "divided_equally": [
            {"site": run.site(site).label, "calls": calls}
            for site, calls in made.divided_equally.most_common()
        ],
        "first_come": [
            {"site": run.site(site).label, "messages": messages}
            for site, messages in made.first_come.most_common()
        ],
        "networks": [],
    }
    shares = _shared(made.schedule)
    replayed = as_messages(made.schedule) if shares else made.schedule
    farms = made.farms if shares else ()
    for number, situation in enumerate(found):
        replayer = Replayer(situation.place(replayed))
        own = number == 0 and situation.name.startswith(AS_MEASURED)
        placed = situation.place(made.schedule)
        if (
            own
            and farms
            and not serves_as_it_did(placed, farms, situation.network, made.measured_ns)
        ):
            farms = ()
        served = None if own else as_served(placed, farms, situation.network)
        if served is not None:
            replayer = Replayer(as_messages(served))
        row = on_network(RunSites(run), replayer, situation, with_sites=number == 0)
        row["served_s"] = None
        if served is not None:
            span = chance_ns(placed, farms, situation.network)
            row["served_s"] = [row["time_s"] + ns * 1e-9 for ns in span]
        document["networks"].append(row)
    if as_measured(document) is not None:
        busy, account = made_while_busy(run), take_account(run)
        figures = agreement(account, replayed, document, busy=busy)
        own_s = account.whole.cause("library").low
        document["library_share"] = own_s / account.busy_s if account.busy_s else 0.0
        document["agreement"] = [figure.to_json() for figure in figures]
    return Whole(made, tuple(found), document)


def _by_rank(schedule: ArraySchedule) -> np.ndarray:
    """ns of computation of each rank: of the thread with most."""
    most = np.zeros(schedule.ranks)
    np.maximum.at(most, schedule.rank, schedule.computation_ns())
    return most


def longest_s(schedule: ArraySchedule) -> float:
    """Computation of the rank with most, in s."""
    return float(_by_rank(schedule).max(initial=0.0)) * 1e-9


def _not_replayed(run: Run, made: LogSchedule) -> list[dict[str, Any]]:
    rows = []
    for reason, sites in made.not_replayed.items():
        for site, calls in sites.most_common():
            rows.append({"reason": reason, "site": run.site(site).label, "calls": calls})
    return rows


def _shared(schedule: ArraySchedule) -> bool:
    return len(schedule.operations) <= _SHARED_UP_TO


def on_network(
    sites: Sites, replayer: Replayer, situation: Situation, with_sites: bool
) -> dict[str, Any]:
    """The row of one network in the JSON of `imbrex predict RUN`; times in s."""
    schedule, network = replayer.schedule, situation.network
    one_path = situation.on_one_path().network
    shared = _shared(schedule)
    replayed = replayer.run(network, trace=True, shared=shared)
    time_ns = replayed.run_ns
    ideal_ns = replayer.run(IDEAL).run_ns
    progressing = replayer.run(network.progressing("ideal"), shared=shared).run_ns
    holding = replayer.run(network.progressing("none"), shared=shared).run_ns
    in_step = replayed
    if network.in_turns:
        in_step = replayer.run(replace(network, in_turns=False), shared=shared)
    compute = _by_rank(schedule)
    longest = float(compute.max(initial=0.0))
    row: dict[str, Any] = {
        "network": situation.interconnect.to_json() | {"name": situation.name},
        "time_s": time_ns * 1e-9,
        "in_step_s": in_step.run_ns * 1e-9,
        "ideal_progress_s": progressing * 1e-9,
        "no_progress_s": holding * 1e-9,
        "without_network_s": ideal_ns * 1e-9,
        "efficiency": {
            "parallel": float(compute.mean()) / max(time_ns, 1.0),
            "load_balance": float(compute.mean()) / max(longest, 1.0),
            "serialization": longest / max(ideal_ns, 1.0),
            "transfer": ideal_ns / max(time_ns, 1.0),
        },
        "critical_path": _path(sites, replayed, schedule),
        "latency_tolerance": _tolerances(
            replayer, one_path, of_latency, one_path.between.latency_ns, _MOST_LATENCY_NS, 1e-9
        ),
        "byte_time_tolerance": _tolerances(
            replayer, one_path, of_byte_time, one_path.between.byte_ns, _MOST_BYTE_NS, 1e-9
        ),
    }
    if with_sites:
        row["sites"] = _sites(sites, replayer, situation, replayed, shared)
    return row


def _tolerances(
    replayer: Replayer, network: Network, kind: Any, start: float, most: float, unit: float
) -> dict[str, Any]:
    """The value of the parameter at which run time grows by TOLERATED; None: at no value."""
    evaluate = kind(replayer, network)
    found: dict[str, Any] = {"slope": evaluate(start).slope}
    for share in TOLERATED:
        value = tolerance(evaluate, start, share, max(most, 2 * start))
        found[f"{share:.0%}"] = None if value is None else value * unit
    return found


def _path(names: Sites, replayed: Replayed, schedule: ArraySchedule) -> dict[str, Any]:
    """What the critical path is made of, in s, and the ranks and sites that have most of it."""
    path = replayed.path
    assert path is not None
    assert schedule.site is not None
    ranks, sites = Counter[int](), Counter[int]()
    own = path["ns"].sum(axis=1)
    for rank, ns in zip(schedule.rank[path["stream"]].tolist(), own.tolist(), strict=True):
        ranks[rank] += ns
    outside = own - path["ns"][:, PARTS.index("computation")]
    outside -= path["ns"][:, PARTS.index("lateness")]
    for site, ns in zip(schedule.site[path["op"]].tolist(), outside.tolist(), strict=True):
        sites[site] += ns
    return {
        **{f"{part}_s": replayed.total(part) * 1e-9 for part in PARTS},
        "latencies": replayed.total("latencies"),
        "bytes": replayed.total("bytes"),
        "ranks": [{"rank": r, "time_s": ns * 1e-9} for r, ns in ranks.most_common(_MOST_SITES)],
        "sites": [
            {"site": names.label(site), "time_s": ns * 1e-9}
            for site, ns in sites.most_common(_MOST_SITES)
            if ns > 0 and site
        ],
    }


def _sites(
    names: Sites, replayer: Replayer, situation: Situation, replayed: Replayed, shared: bool
) -> list[dict[str, Any]]:
    """Sites on the critical path: what hiding their transfers saves at most, and what progress for
    them alone does. All others save nothing."""
    schedule, path = replayer.schedule, replayed.path
    assert schedule.site is not None
    assert path is not None
    moving = [PARTS.index(part) for part in ("latency", "bandwidth", "overhead")]
    on_path = np.bincount(schedule.site[path["op"]], path["ns"][:, moving].sum(axis=1))
    order = [site for site in np.argsort(-on_path).tolist() if site and on_path[site] > 0]
    held = situation.network.between.held_by_receiver or situation.network.between.held_by_sender
    rows = []
    for site in order[:_MOST_SITES]:
        hidden = replayer.run(situation.network, free_site=site, shared=shared).run_ns
        row = {
            "site": names.label(site),
            "operation": names.operation(site),
            "on_path_s": float(on_path[site]) * 1e-9,
            "saves_at_most_s": max(replayed.run_ns - hidden, 0.0) * 1e-9,
        }
        if held:
            driven = replayer.run(situation.network, driven_site=site, shared=shared).run_ns
            row["progress_saves_s"] = max(replayed.run_ns - driven, 0.0) * 1e-9
        rows.append(row)
    return sorted(rows, key=lambda row: row["saves_at_most_s"], reverse=True)


def as_measured(document: dict[str, Any]) -> dict[str, Any] | None:
    """The row of the network that the run had; None where it has no machine profile."""
    first = document["networks"][0]
    return first if first["network"]["name"].startswith(AS_MEASURED) else None
