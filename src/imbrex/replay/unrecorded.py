"""What a measured run without a recording tells of another network: how long transfers would take.

The bounds of the run say which share of each site's transfer time was exposed; the same share of
the transfer time on the other network is taken to be exposed there. How much could be hidden is not
known without a recording.
"""

from __future__ import annotations

from typing import Any

from imbrex.diagnosis.lines import lines as wrapped
from imbrex.diagnosis.wording import interval, seconds
from imbrex.network.interconnect import Interconnect
from imbrex.profile.run import Run
from imbrex.profile.summary import Row, rows, totals, wall_s


def unrecorded_json(run: Run, networks: list[Interconnect]) -> dict[str, Any]:
    """Estimates for every network; times in s, sums over ranks where named `_sum_s`.

    Run time is the measured one with the mean rank's exposed transfer time of today taken out and
    that of the other network put in, both as intervals.
    """
    sums = totals(run)
    ranks = max(len(run.ranks), 1)
    found = [row for row in rows(run, "site") if row.sums.transfers > 0]
    document: dict[str, Any] = {
        "schema_version": 1,
        "kind": "run without recording",
        "ranks": len(run.ranks),
        "measured_s": wall_s(run),
        "exposed_today_min_sum_s": sums.exposed_min_s,
        "exposed_today_max_sum_s": sums.exposed_max_s,
        "networks": [],
    }
    for network in networks:
        sites = [_site(row, network) for row in found]
        low = sum(site["exposed_min_sum_s"] for site in sites)
        high = sum(site["exposed_max_sum_s"] for site in sites)
        rest_low = wall_s(run) - sums.exposed_max_s / ranks
        rest_high = wall_s(run) - sums.exposed_min_s / ranks
        document["networks"].append(
            {
                "network": network.to_json(),
                "transfer_sum_s": sum(site["transfer_sum_s"] for site in sites),
                "exposed_min_sum_s": low,
                "exposed_max_sum_s": high,
                "time_min_s": max(rest_low, 0.0) + low / ranks,
                "time_max_s": max(rest_high, 0.0) + high / ranks,
                "sites": sorted(sites, key=lambda s: s["exposed_max_sum_s"], reverse=True),
            }
        )
    return document


def _site(row: Row, network: Interconnect) -> dict[str, Any]:
    """A site's transfers on a network: EEL + G size each, exposed by the shares of today."""
    sums = row.sums
    transfer = sums.transfers * network.latency_s + sums.bytes * network.gap_s_per_byte
    least_hidden, most_hidden = sums.hidden_share or (0.0, 1.0)
    return {
        "site": row.key,
        "operation": row.operation,
        "transfers": sums.transfers,
        "bytes": sums.bytes,
        "transfer_sum_s": transfer,
        "exposed_min_sum_s": (1 - most_hidden) * transfer,
        "exposed_max_sum_s": (1 - least_hidden) * transfer,
    }


def unrecorded_text(document: dict[str, Any], directory: str) -> str:
    """The same for a reader."""
    lines = [
        *wrapped(
            f"{document['ranks']} ranks, measured {seconds(document['measured_s'])}, without a "
            "recording: what is exposed today, on other networks"
        ),
        "",
        f"{'network':<28} {'transfers':>12} {'exposed (sum over ranks)':>28} {'run time':>24}",
    ]
    for row in document["networks"]:
        exposed = interval(row["exposed_min_sum_s"], row["exposed_max_sum_s"])
        time = interval(row["time_min_s"], row["time_max_s"])
        transfers = seconds(row["transfer_sum_s"])
        lines.append(f"{row['network']['name']:<28} {transfers:>12} {exposed:>28} {time:>24}")
    first = document["networks"][0]
    lines += ["", f"Call sites that expose most on {first['network']['name']}:"]
    for site in first["sites"][:8]:
        lines.append(
            f"  {site['site']} {site['operation']}: "
            f"{interval(site['exposed_min_sum_s'], site['exposed_max_sum_s'])} of "
            f"{seconds(site['transfer_sum_s'])}"
        )
    lines += [
        "",
        *wrapped(
            "The share exposed today is taken to be exposed there too. How much could be hidden, "
            "and what that is worth, takes a recording: build with imbrex cc, cxx or fc and start "
            "with imbrex run --record."
        ),
        f"This run: {directory}",
    ]
    return "\n".join(lines)
