"""Blocking collectives in which data moves, where a nonblocking one would move without calls."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.finding import Finding, evidence, gain, groups, overlap_can_help


def find(account: Account) -> Iterator[Finding]:
    """One finding per collective whose gain is worth it.

    Where the probe found that the nonblocking form does not move while all compute, it is said
    with what it takes instead. Where it is not known, the probe comes next, if it would tell.
    """
    if not overlap_can_help(account):
        return
    for group in groups(account, gain, lambda site: _blocks(site.operation)):
        site, share = group.worst, account.share(group.at_stake)
        instead = mpi_facts.nonblocking_form(site.operation) or "a nonblocking collective"
        moves = account.knowledge.moves_without_calls(instead, _bytes(site))
        if moves is False:
            text = (
                f"data moves in it; {instead} would need MPI_Test calls in the work behind which "
                "it is to hide: the probe found that it does not move without calls here"
            )
            command = commands.transform(account, site.row.site)
        elif moves is None:
            text = f"data moves in it; {instead} with independent work before its wait may hide it"
            text += ", if this MPI moves it without calls"
            command = commands.transform(account, site.row.site)
            if account.knowledge.probe_tells(instead):
                command = commands.probe(account)
                text += ", which the probe tells"
        else:
            text = f"data moves in it; {instead} with independent work before its wait can hide it"
            command = commands.transform(account, site.row.site)
        yield Finding(
            kind="blocking_collective",
            at_stake=group.at_stake,
            evidence=evidence(account),
            text=f"{wording.percents(share.low, share.high)} of the run: {group.place}: {text}",
            command=command,
            site=site.row.site,
            operation=site.operation,
        )


def _blocks(operation: str) -> bool:
    """Whether it is a collective that moves data, and returns when that is done."""
    return mpi_facts.is_collective(operation) and mpi_facts.is_blocking(operation)


def _bytes(site: RowAccount) -> float:
    sums = site.row.sums
    return sums.bytes / sums.transfers if sums.transfers else 0.0
