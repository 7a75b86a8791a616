"""Transfers that nobody drove: both sides had posted and computed, and the data moved later."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, thread_price, wording
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
        text = (
            f"{wording.percents(share.low, share.high)} of the run: both sides had posted and "
            f"this one computed, but the data{of_what} moved only in {place(site)}. "
        )
        remedy, command = _remedy(account, "would hide it")
        yield Finding(
            kind="lost_overlap",
            at_stake=lost,
            evidence="matched",
            text=text + remedy,
            command=command,
            site=site.row.site,
            operation=site.operation,
        )


def _remedy(account: Account, what_it_does: str) -> tuple[str, str]:
    """What brings progress, and the command to try it."""
    if account.run.job.progress is not None:
        text = "The progress thread did not hide this part: a setting of the library may"
        return text, commands.try_settings(account)
    if not account.knowledge.progress_can_help:
        text = f"Progress {what_it_does}: MPI_Test calls or a setting"
        return text, commands.try_settings(account)
    if thread_price.is_above_gain(account):
        text = f"Progress {what_it_does}: MPI_Test calls or a setting. A progress thread takes "
        text += f"more than it can gain: {thread_price.price_words(account)}"
        return text, commands.try_settings(account)
    text = f"Progress {what_it_does}: a progress thread, a setting, or MPI_Test calls"
    return text, commands.measure_again(account, "--progress")


def _of_partners(account: Account, site: RowAccount) -> Finding:
    away = site.division.undriven
    share = account.share(away)
    begun = next((w for w in site.waited if w.moving.middle > 0), None)
    of_what = f" for {begun.operation} at {begun.name}" if begun else ""
    remedy, command = _remedy(account, "there shortens it")
    return Finding(
        kind="partner_computes",
        at_stake=away,
        evidence="matched",
        text=(
            f"{wording.percents(share.low, share.high)} of the run: {place(site)} waits{of_what} "
            f"while its partner, which has begun its side, computes and makes no call to MPI. "
            f"{remedy}"
        ),
        command=command,
        site=site.row.site,
        operation=site.operation,
    )
