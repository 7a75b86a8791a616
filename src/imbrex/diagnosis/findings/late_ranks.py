"""Ranks that come late: at which site others wait for them, and for which rank most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imbrex import mpi_facts
from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.division import LATE
from imbrex.diagnosis.finding import Finding, groups
from imbrex.diagnosis.words import late_words

MOSTLY = 0.6
"""The share of all waiting from which one rank is named."""
REMEDIES = {
    "late_sender": "Balance the work, or send earlier",
    "late_receiver": "Balance the work, or post the receive earlier",
    "late_collective": "Balance the work before it",
}
REMEDIES_OF_EPOCHS = {
    "late_sender": "Balance the work, or complete earlier",
    "late_receiver": "Balance the work, or post the window earlier",
}
"""Of MPI_Win_wait, and of MPI_Win_start and MPI_Win_complete."""
UNEQUAL = 1.1
"""What a rank computes more than the mean before that is named as the reason."""


def find(account: Account) -> Iterator[Finding]:
    """One finding per site and cause of lateness that is worth it, the largest with for whom."""
    if not account.caused:
        return
    found = [
        (cause, group)
        for cause in LATE
        for group in groups(
            account,
            lambda site, cause=cause: site.division.cause(cause),  # type: ignore[misc]
            lambda site: True,
            lambda site, cause=cause: late_words(cause, site.operation),  # type: ignore[misc]
        )
    ]
    found.sort(key=lambda item: item[1].at_stake.middle, reverse=True)
    for number, (cause, group) in enumerate(found):
        late, site = group.at_stake, group.worst
        share = account.share(late)
        of_epochs = bool(mpi_facts.facts(site.operation).fields.get("group_epoch"))
        remedy = (REMEDIES_OF_EPOCHS if of_epochs else REMEDIES).get(cause, REMEDIES[cause])
        mean = wording.seconds(late.middle * account.per_rank)
        command = commands.show(account, "--by", "rank")
        if account.loaded is not None and number > 0:
            continue  # the same advice again
        if account.loaded is not None:
            remedy = (
                f"All compute alike, but {account.loaded}: measure again when nothing else runs"
            )
            command = commands.measure_again(account)
        yield Finding(
            kind=cause,
            at_stake=late,
            evidence="matched",
            text=(
                f"{wording.percents(share.low, share.high)} of the run ({mean} a rank): "
                f"{late_words(cause, site.operation)} at {group.place}{_begun(site)}"
                f"{_whom(account) if number == 0 else ''}. {remedy}"
            ),
            command=command,
            site=site.row.site,
            operation=site.operation,
        )


def _begun(site: RowAccount) -> str:
    """Which call it waited for, where that is another one."""
    late = [w for w in site.waited if w.late.middle > 0]
    if not late or late[0].site.id == (site.row.site.id if site.row.site else -1):
        return ""
    return f" for {late[0].operation} at {late[0].name}"


def _whom(account: Account) -> str:
    """The rank for which all wait most, and whether it computes more than the others."""
    whole = sum(partner.late.middle for partner in account.partners)
    if not account.partners or len(account.run.ranks) < 3 or whole <= 0:
        return ""
    worst = account.partners[0]
    if worst.late.middle < MOSTLY * whole:
        return ""
    share = wording.percent(worst.late.middle / whole)
    text = f"; {share} of all waiting is for rank {worst.rank}"
    ranks = account.run.ranks
    mine = ranks["compute_ns"][ranks["rank"] == worst.rank]
    mean = float(np.mean(ranks["compute_ns"]))
    if len(mine) and mean > 0 and float(mine[0]) > UNEQUAL * mean:
        text += f", which computes {float(mine[0]) / mean:.1f} times the mean"
    return text
