"""Transfers that took longer than the network needs, though all sides were inside MPI."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.finding import Finding, groups, worth
from imbrex.diagnosis.findings import undriven
from imbrex.diagnosis.interval import Interval

SATURATED = 0.5
"""How busy the ranks of a host keep its link, at the least, before that is told as the reason."""
STALLS = 0.3
"""The share of the time in which data moved that may be stalled, before that is told. Of two ranks
served one after the other the second waits as long as the first takes: a third of all of it."""


def saturated(account: Account, site: RowAccount) -> bool:
    """Whether ranks that share a link are the reason for what stalls at a site."""
    moves = mpi_facts.sends(site.operation) or mpi_facts.receives(site.operation)
    return (
        (moves or mpi_facts.is_wait(site.operation))
        and site.division.cause("stalled").high >= STALLS * site.division.moving.middle > 0
        and account.link_load >= SATURATED
    )


def find(account: Account) -> Iterator[Finding]:
    """One finding per site that stalls for certain."""
    if not account.caused or not account.knowledge.calibrated:
        return
    for group in groups(
        account,
        lambda site: site.division.cause("stalled"),
        lambda site: (
            site.division.cause("stalled").low > 0
            and not undriven.explains(site)
            and not undriven.partners_computed(account, site.division)
        ),
    ):
        stalled, site = group.at_stake, group.worst
        if not worth(account, Interval(stalled.low, stalled.low)):
            continue
        share = account.share(stalled)
        shared = saturated(account, site)
        why, command = _shared(account) if shared else _stalled(account)
        yield Finding(
            kind="saturated_link" if shared else "stalled",
            at_stake=stalled,
            evidence="matched",
            text=(
                f"{wording.percents(share.low, share.high)} of the run: stalled at {group.place}: "
                + why
            ),
            command=command,
            site=site.row.site,
            operation=site.operation,
        )


def _shared(account: Account) -> tuple[str, str]:
    """What is said of a link that ranks share, and the next command."""
    why = (
        "several ranks of a host send or receive at once, and their messages together keep its "
        "link busy: less data, fewer ranks a host, or work to hide it behind"
    )
    return why, _closer_look(account)


def _stalled(account: Account) -> tuple[str, str]:
    """The same where nothing else is known; other load comes before all other reasons."""
    slow = "all sides were there, yet the data took longer than the network needs"
    if (crowded := account.run.job.crowded) is not None:
        again = f"{slow} ({crowded}): measure again when nothing else runs"
        return again, commands.measure_again(account)
    return f"{slow} (cores, memory or link shared)", _closer_look(account)


def _closer_look(account: Account) -> str:
    if account.knowledge.thorough:
        return commands.show(account, "--by", "path")
    return commands.probe(account)
