"""Bounds that a probe of this MPI would narrow."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, overlap_can_help, worth
from imbrex.diagnosis.interval import Interval


def find(account: Account) -> Iterator[Finding]:
    """Where what overlap could gain is wide, and the profile is no more than a quick one."""
    known = account.knowledge
    if not known.calibrated or known.thorough or not overlap_can_help(account):
        return
    if account.sums.undetermined_s < 0.5 * account.sums.transfer_max_s:
        return
    open_s = Interval(0.0, account.whole.gainable.width)
    if not worth(account, open_s):
        return
    share = account.gainable
    yield Finding(
        kind="profile_quick",
        at_stake=open_s,
        evidence="run",
        text=(
            f"What overlap could gain is known only as {wording.percents(share.low, share.high)}: "
            "the probe measures what this MPI moves while the program computes, and the next run "
            "uses it"
        ),
        command=commands.probe(account),
    )
