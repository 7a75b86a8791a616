"""What overlap is worth to a recorded run, on the network it was measured on and on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imbrex import mpi_facts
from imbrex.network.interconnect import Interconnect, load_interconnects
from imbrex.network.message import MODES
from imbrex.network.points import NetworkPoints
from imbrex.network.reading import load
from imbrex.profile.format import Path as TransferPath
from imbrex.profile.recording import FloatArray, RecordedMessage, RecordedRun
from imbrex.profile.run import Run
from imbrex.profile.summary import rows, totals, wall_s
from imbrex.replay.modes import (
    AS_WRITTEN,
    BOUNDARY_FIRST,
    BOUNDARY_LAST,
    NONE,
    REPLAY_MODES,
)
from imbrex.replay.replay import replay_s
from imbrex.replay.schedule import COLLECTIVE, ReplayError, Schedule, make_schedule
from imbrex.replay.sites import SitePotential, collective_sites, site_json, sites_of
from imbrex.replay.situation import time_of_sizes

MOST_SITES = 12
BEST = "boundary"


@dataclass(frozen=True)
class RunPrediction:
    """A recorded run with all that `imbrex predict RUN` says of it. `document` is its JSON."""

    run: RecordedRun
    schedule: Schedule | None
    networks: tuple[Interconnect, ...]
    sites: tuple[SitePotential, ...]
    document: dict[str, Any]


def grid(networks: list[Interconnect]) -> NetworkPoints:
    """Described networks as the points of one replay."""
    return NetworkPoints(
        np.array([n.latency_s for n in networks]),
        np.array([n.gap_s_per_byte for n in networks]),
        np.array([n.message_gap_s for n in networks]),
        np.array([n.overhead_s for n in networks]),
        np.array([n.receive_overhead_s for n in networks]),
        tuple(n.sizes for n in networks),
    )


def measured_networks(folder: Path, run: Run | None) -> list[Interconnect]:
    """The network of the run, from its machine profile: that of the path with most bytes.

    Empty where the run has no profile, or one without LogGP parameters.
    """
    file = folder / "machine.json"
    if not file.exists():
        return []
    found = load_interconnects(str(file))
    if run is None or not len(run.measures):
        return [replace(found[0], sizes=_sizes(file, found[0]))]
    paths, rows = run.over_ranks["path"], run.over_ranks["bytes"]
    inter = int(rows[paths == TransferPath.INTER].sum())
    intra = int(rows[paths == TransferPath.INTRA].sum())
    wanted = "inter-node" if inter >= intra and inter > 0 else "intra-node"
    named = [n for n in found if n.name.endswith(wanted)] or found
    return [replace(named[0], name=f"as measured ({wanted})", sizes=_sizes(file, named[0]))]


def _sizes(file: Path, network: Interconnect) -> tuple[tuple[float, float], ...]:
    """What messages of each size took on the path of a profile, beyond EEL."""
    path = load(file).paths[network.name.rsplit(" ", 1)[1]]
    if path.loggp is None:
        return ()
    byte_s, sizes = time_of_sizes(path, path.loggp)
    return tuple((size, moved * byte_s) for size, moved in sizes)


def hidden_share(run: Run | None) -> tuple[float, float]:
    """The share of the transfer time that was hidden: from what is certain to what is possible."""
    return (run is not None and totals(run).hidden_share) or (0.0, 1.0)


def differences(recording: RecordedRun, run: Run | None) -> list[str]:
    """Call sites at which the measured run moved more or fewer messages than the recorded one.

    The program may do other things from run to run; then the two belong together only in part.
    """
    if run is None or recording.sampled is not None:
        return []
    recorded, receives = Counter[str](), Counter[str]()
    for messages in recording.messages.values():
        for m in messages:
            if m.elements:
                recorded[m.site] += m.calls
                receives[m.site] += 0 if m.is_send else m.calls
    measured, empty = Counter[str](), Counter[str]()
    for row in rows(run, "site"):
        operation = row.operation or ""
        each = mpi_facts.sends(operation) + mpi_facts.receives(operation)
        if each or mpi_facts.facts(operation).kind == "start":
            sums = row.sums
            measured[row.key] += sums.transfers
            each = max(each, 1)
            empty[row.key] += max(sums.count * each - sums.transfers, 0)
    # What is received may be less than its buffer takes, down to nothing.
    return [
        f"{site}: {measured[site]} transfers in the measured run, {recorded[site]} in the recorded"
        for site in sorted({*recorded, *(s for s, n in measured.items() if n)})
        if not 0 <= recorded[site] - measured[site] <= min(empty[site], receives[site])
    ]


def predict_run(
    recording: RecordedRun, run: Run | None, networks: list[Interconnect]
) -> RunPrediction:
    """Replay a recording in every mode on every network, and each site alone on the first.

    Where it cannot be replayed `document["replayed"]` is the reason, and only the potentials of
    the sites are known.
    """
    sites = sites_of(recording)
    document: dict[str, Any] = {
        "schema_version": 1,
        "kind": "recorded run",
        "ranks": len(recording.ranks),
        "cores": run.job.cores if run is not None else None,
        "computation_s": max(recording.compute_s.values(), default=0.0),
        "measured_s": wall_s(run) if run is not None else None,
        "sampled": recording.sampled,
        "plain_code": recording.plain_code,
        "differences": differences(recording, run),
        "blind_spots": list(recording.blind),
        "networks": [],
        "sites": [site_json(site, networks[0], bool(recording.blind)) for site in sites],
        "collective_sites": collective_sites(recording, networks[0]),
    }
    try:
        schedule = make_schedule(recording)
        # A program of collectives alone has its run time too.
        if not sites and (any(recording.messages.values()) or not _collective_calls(schedule)):
            raise ReplayError("no send was recorded together with its receive")
        document["networks"] = _network_rows(schedule, run, networks)
        _add_savings(document["sites"], sites, schedule, networks)
    except ReplayError as error:
        document["replayed"] = str(error)
        return RunPrediction(recording, None, tuple(networks), tuple(sites), document)
    document["replayed"] = True
    document["collectives"] = _collective_calls(schedule)
    # Those that would save most come first.
    document["sites"].sort(key=_saved, reverse=True)
    return RunPrediction(recording, schedule, tuple(networks), tuple(sites), document)


def _collective_calls(schedule: Schedule) -> int:
    """How many collectives a rank calls: the first."""
    return sum(op.kind == COLLECTIVE for op in schedule.operations[schedule.run.ranks[0]])


def _saved(row: dict[str, Any]) -> float:
    saves = row.get("saves_s") or {}
    return max(saves.values(), default=0.0)


def mode_times(schedule: Schedule, network: NetworkPoints) -> dict[str, FloatArray]:
    """Run time in s of every mode, and BEST: the better kind of loop indexing; shape of the points.

    A program may leave a mode unused, so none is slower than the one before it.
    """
    times = {mode: replay_s(schedule, network, mode) for mode in REPLAY_MODES}
    for mode, before in zip(MODES[1:], (AS_WRITTEN, *MODES[1:]), strict=False):
        times[mode] = np.minimum(times[mode], times[before])
    best = np.minimum(times[BOUNDARY_FIRST], times[BOUNDARY_LAST])
    times[BEST] = np.minimum(best, times[AS_WRITTEN])
    times[NONE] = np.maximum(times[NONE], times[AS_WRITTEN])
    return times


def _network_rows(
    schedule: Schedule, run: Run | None, networks: list[Interconnect]
) -> list[dict[str, Any]]:
    at = grid(networks)
    nothing = float(replay_s(schedule, NetworkPoints(0.0, 0.0), AS_WRITTEN)[0])
    times = mode_times(schedule, at)
    low, high = hidden_share(run)
    found = []
    for i, network in enumerate(networks):
        none = float(times[NONE][i])
        written = float(times[AS_WRITTEN][i])
        exposed = max(none - nothing, 0.0)
        least = max(written, none - high * exposed)
        found.append(
            {
                "network": network.to_json(),
                "time_s": {mode: float(values[i]) for mode, values in times.items()},
                "today_min_s": least,
                "today_max_s": max(least, none - low * exposed),
                "without_network_s": nothing,
            }
        )
    return found


def _add_savings(
    entries: list[dict[str, Any]],
    sites: list[SitePotential],
    schedule: Schedule,
    networks: list[Interconnect],
) -> None:
    """What each site alone would save on the first network, against the program as it is."""
    at = grid(networks[:1])
    today = float(replay_s(schedule, at, AS_WRITTEN)[0])
    for row, site in list(zip(entries, sites, strict=True))[:MOST_SITES]:
        row["saves_s"] = {
            mode: max(
                0.0,
                today - float(replay_s(schedule, at, mode, only=_from(site.site))[0]),
            )
            for mode in ("independent", "fine-grained", BOUNDARY_FIRST, BOUNDARY_LAST)
        }
        saves = row["saves_s"]
        saves["fine-grained"] = max(saves["fine-grained"], saves["independent"])


def _from(site: str) -> Callable[[RecordedMessage], bool]:
    """Whether a message is sent from a site."""
    return lambda message: message.site == site
