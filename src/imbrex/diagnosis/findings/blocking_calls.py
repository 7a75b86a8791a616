"""Blocking sends and receives in which data moves: they can begin earlier or end later."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, evidence, gain, groups, overlap_can_help


def find(account: Account) -> Iterator[Finding]:
    """One finding per blocking call whose gain is worth it."""
    if not overlap_can_help(account):
        return
    for group in groups(account, gain, lambda site: _blocks(site.operation)):
        site, share = group.worst, account.share(group.at_stake)
        blocks = "blocks while its message moves"
        if len(group.sites) > 1:
            blocks = "block while their messages move"
        yield Finding(
            kind="blocking_call",
            at_stake=group.at_stake,
            evidence=evidence(account),
            text=(
                f"{wording.percents(share.low, share.high)} of the run: {group.place} {blocks}; "
                "a nonblocking call with its wait behind work that does not "
                "need the data can hide that"
            ),
            command=commands.transform(account, site.row.site),
            site=site.row.site,
            operation=site.operation,
        )


def _blocks(operation: str) -> bool:
    """Whether it sends or receives, and returns when that is done."""
    one = mpi_facts.sends(operation) or mpi_facts.receives(operation)
    return one and mpi_facts.is_blocking(operation)
