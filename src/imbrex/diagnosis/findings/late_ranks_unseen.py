"""Waiting of which only the rank's own calls are known: nothing of it can have been moving."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, place, worth
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """The site with the most time in which nothing was in flight, in a run without causes."""
    if account.caused or not account.sites:
        return
    worst = max(account.sites, key=lambda site: site.row.sums.wait_min_s)
    waiting = Interval(worst.row.sums.wait_min_s, worst.row.sums.wait_max_s)
    if not worth(account, Interval(waiting.low, waiting.low)):
        return
    share = account.share(waiting)
    yield Finding(
        kind="waiting",
        at_stake=waiting,
        evidence="call",
        text=(
            f"At least {wording.percent(share.low)} of the run goes in waiting at {place(worst)} "
            "with nothing in flight: look for late partners and imbalance"
        ),
        command=commands.show(account, "--by", "rank"),
        site=worst.row.site,
        operation=worst.operation,
    )
