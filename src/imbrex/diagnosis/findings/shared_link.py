"""Transfers that took longer than the network needs, though all sides were inside MPI."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, groups, worth
from imbrex.diagnosis.findings import undriven
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """One finding per site that stalls for certain."""
    if not account.caused or not account.knowledge.calibrated:
        return
    for group in groups(
        account,
        lambda site: site.division.cause("stalled"),
        lambda site: site.division.cause("stalled").low > 0 and not undriven.explains(site),
    ):
        stalled, site = group.at_stake, group.worst
        if not worth(account, Interval(stalled.low, stalled.low)):
            continue
        share = account.share(stalled)
        yield Finding(
            kind="stalled",
            at_stake=stalled,
            evidence="matched",
            text=(
                f"{wording.percents(share.low, share.high)} of the run: stalled at {group.place}: "
                "all sides were there, yet the data took longer than the network needs (cores, "
                "memory or link shared, or the other side computes without driving it)"
            ),
            command=(
                commands.show(account, "--by", "path")
                if account.knowledge.thorough
                else commands.probe(account)
            ),
            site=site.row.site,
            operation=site.operation,
        )
