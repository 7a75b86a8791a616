"""A run without transfer times."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import WORTH, Finding
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """Where there is no machine profile, and data moved in calls that take time."""
    if account.knowledge.calibrated or not account.sums.transfers:
        return
    if account.whole.call_s < WORTH * account.busy_s:
        return
    # Without transfer times nothing of the time in MPI can be ruled out.
    open_s = account.whole.moving.high if account.caused else account.whole.call_s
    yield Finding(
        kind="profile_missing",
        at_stake=Interval(open_s, open_s),
        evidence="run",
        text=(
            "Transfer times are unknown: calibrate this MPI, then run again with "
            "--machine machine.json"
        ),
        command=commands.calibrate(account),
    )
