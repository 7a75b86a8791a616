"""Collectives that move nothing between ranks: a rank that is alone copies its own data."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, groups, worth
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """One finding per collective whose time of MPI itself is worth it."""
    if not account.caused:
        return
    for group in groups(
        account,
        lambda site: site.division.cause("library"),
        lambda site: (
            mpi_facts.is_collective(site.operation)
            and mpi_facts.moves_data(site.operation)
            and mpi_facts.is_blocking(site.operation)
        ),
    ):
        own, site = group.at_stake, group.worst
        if not worth(account, Interval(own.low, own.low)):
            continue
        share = account.share(own)
        yield Finding(
            kind="own_data",
            at_stake=own,
            evidence="matched",
            text=(
                f"{wording.percents(share.low, share.high)} of the run: calls of {group.place} "
                "that move nothing between ranks: on a communicator of one process, where MPI "
                "copies the rank's own data, or without data. Where a rank is alone the copy can "
                "be left out"
            ),
            command=commands.show(account, "--by", "path"),
            site=site.row.site,
            operation=site.operation,
        )
