"""Nonblocking transfers whose wait comes so soon that there was nothing to hide them behind."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.finding import Finding, evidence, gain, groups, overlap_can_help
from imbrex.diagnosis.findings import shared_link, undriven
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """One finding per wait with gain of which progress would have saved little."""
    if not overlap_can_help(account):
        return
    told = {f.site for f in (*undriven.find(account), *shared_link.find(account))}
    for group in groups(
        account,
        lambda site: _without_progress(account, site),
        lambda site: mpi_facts.is_wait(site.operation) and site.row.site not in told,
    ):
        site, share = group.worst, account.share(group.at_stake)
        begun = next((w for w in site.waited if w.moving.middle > 0), None)
        of_what = f"what {begun.operation} at {begun.name} began" if begun else "its messages"
        yield Finding(
            kind="early_wait",
            at_stake=group.at_stake,
            evidence=evidence(account),
            text=(
                f"{wording.percents(share.low, share.high)} of the run: {group.place} waits while "
                f"{of_what} moves; put work that does not need the data before the wait"
            ),
            command=commands.transform(account, site.row.site),
            site=site.row.site,
            operation=site.operation,
        )


def _without_progress(account: Account, site: RowAccount) -> Interval:
    """The gain less what progress alone would have brought."""
    lost = site.division.lost_overlap
    if not account.caused:
        return site.division.gainable
    left = gain(site)
    return Interval(max(0.0, left.low - lost.high), max(0.0, left.high - lost.low))
