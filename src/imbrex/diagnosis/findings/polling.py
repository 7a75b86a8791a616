"""MPI_Test and MPI_Iprobe calls that find nothing, too often."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, evidence, place, worth
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """One finding per polling site whose calls cost more than they can bring."""
    for site in account.sites:
        if not mpi_facts.is_poll(site.operation):
            continue
        own = (
            site.division.cause("library") if account.caused else Interval(0, site.row.sums.call_s)
        )
        if not worth(account, Interval(own.low, own.low if account.caused else own.high)):
            continue
        calls = site.row.sums.count
        interval = account.knowledge.progress_interval_s
        every = f" (the probe recommends one every {wording.seconds(interval)})" if interval else ""
        share = account.share(own)
        yield Finding(
            kind="polling",
            at_stake=own,
            evidence=evidence(account),
            text=(
                f"{wording.percents(share.low, share.high)} of the run: {calls:,} calls of "
                f"{place(site)}, {wording.seconds(site.row.sums.call_s / calls)} each. Where "
                f"work lies between them, make fewer{every}"
            ),
            command=commands.show(account, "--by", "operation"),
            site=site.row.site,
            operation=site.operation,
        )
