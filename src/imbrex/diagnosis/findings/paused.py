"""A program that pauses measuring wherever it moves data."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """Only where no transfer was measured at all."""
    if account.sums.transfers or not account.run.ranks["dropped"].any():
        return
    yield Finding(
        kind="paused",
        at_stake=Interval(0.0, account.busy_s),
        evidence="run",
        text=(
            "The program pauses measuring (MPI_Pcontrol) wherever it moves data: take that out and "
            "measure again"
        ),
        command=commands.measure_again(account),
    )
