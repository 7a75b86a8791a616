"""Transfers that nobody drove: both sides had posted and computed, and the data moved later."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.division import Division
from imbrex.diagnosis.finding import Finding, overlap_can_help, place, worth
from imbrex.diagnosis.interval import Interval

EXPLAINS = 0.5
"""The share of the time in which data moved that lost overlap must be to be its reason."""


def explains(site: RowAccount) -> bool:
    """Whether most of what moved at a site could have moved while it computed."""
    return site.division.lost_overlap.middle >= EXPLAINS * site.division.moving.middle > 0


def partners_computed(account: Account, division: Division) -> bool:
    """Whether most of the time in which data moved goes by while the other side computes."""
    away = division.undriven
    return worth(account, Interval(away.low, away.low)) and (
        away.low >= EXPLAINS * division.moving.middle
    )


def find(account: Account) -> Iterator[Finding]:
    """One finding per site where progress during the computation would have saved something."""
    if not account.caused:
        return
    for site in account.sites:
        if not explains(site) and partners_computed(account, site.division):
            yield _of_partners(account, site)
        if not overlap_can_help(account):
            continue
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


def _of_partners(account: Account, site: RowAccount) -> Finding:
    away = site.division.undriven
    share = account.share(away)
    begun = next((w for w in site.waited if w.moving.middle > 0), None)
    of_what = f" for {begun.operation} at {begun.name}" if begun else ""
    return Finding(
        kind="partner_computes",
        at_stake=away,
        evidence="matched",
        text=(
            f"{wording.percents(share.low, share.high)} of the run: {place(site)} waits{of_what} "
            "while its partner, which has begun its side, computes and makes no call to MPI. "
            "Progress there shortens it: MPI_Test calls, a progress thread, or a setting"
        ),
        command=commands.try_settings(account),
        site=site.row.site,
        operation=site.operation,
    )
