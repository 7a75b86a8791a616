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
        _kind_of_wait,
    ):
        # several ends of epochs gain together no more than the work beside them, as all else does
        high = min(group.at_stake.high, account.whole.gainable.high)
        at_stake = Interval(min(group.at_stake.low, high), high)
        site, share = group.worst, account.share(at_stake)
        waits = "waits" if len(group.sites) == 1 else "wait"
        begun = next((w for w in site.waited if w.moving.middle > 0), None)
        requests = mpi_facts.completes_requests(site.operation)
        if begun:
            of_what = f"what {begun.operation} at {begun.name} began moves"
        else:
            of_what = "its messages move" if requests else "one-sided data moves"
        yield Finding(
            kind="early_wait",
            at_stake=at_stake,
            evidence=evidence(account),
            text=(
                f"{wording.percents(share.low, share.high)} of the run: {group.place} {waits} "
                f"while {of_what}; put work that does not need the data before the wait"
            ),
            command=(
                commands.transform(account, site.row.site)
                if requests
                else commands.show(account, "--site", site.name)  # `transform` moves no epoch
            ),
            site=site.row.site,
            operation=site.operation,
        )


def _kind_of_wait(site: RowAccount) -> str:
    """One finding for all ends of epochs: what they gain is bounded by one and the same work."""
    return site.operation if mpi_facts.completes_requests(site.operation) else "one-sided"


def _without_progress(account: Account, site: RowAccount) -> Interval:
    """The gain less what progress alone would have brought."""
    lost = site.division.lost_overlap
    if not account.caused:
        return site.division.gainable
    left = gain(site)
    return Interval(max(0.0, left.low - lost.high), max(0.0, left.high - lost.low))
