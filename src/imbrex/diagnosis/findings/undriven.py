"""Transfers that nobody drove: both sides had posted and computed, and the data moved later."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.finding import Finding, overlap_can_help, place, worth
from imbrex.diagnosis.interval import Interval

EXPLAINS = 0.5
"""The share of the time in which data moved that lost overlap must be to be its reason."""


def explains(site: RowAccount) -> bool:
    """Whether most of what moved at a site could have moved while it computed."""
    return site.division.lost_overlap.middle >= EXPLAINS * site.division.moving.middle > 0


def find(account: Account) -> Iterator[Finding]:
    """One finding per site where progress during the computation would have saved something."""
    if not account.caused or not overlap_can_help(account):
        return
    for site in account.sites:
        lost = site.division.lost_overlap
        if not worth(account, Interval(lost.low, lost.low)) and not (
            lost.low > 0 and worth(account, lost)
        ):
            continue
        share = account.share(lost)
        begun = next((w for w in site.waited if w.moving.middle > 0), None)
        of_what = f" of {begun.operation} at {begun.name}" if begun else ""
        yield Finding(
            kind="lost_overlap",
            at_stake=lost,
            evidence="matched",
            text=(
                f"{wording.percents(share.low, share.high)} of the run: both sides had posted and "
                f"this one computed, but the data{of_what} moved only in {place(site)}. Progress "
                "would hide it: MPI_Test calls, a progress thread, or a setting"
            ),
            command=commands.try_settings(account),
            site=site.row.site,
            operation=site.operation,
        )
