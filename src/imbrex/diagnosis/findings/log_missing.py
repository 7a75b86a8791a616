"""Time whose cause is not known because the calls are not in the call log."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.division import UNKNOWN
from imbrex.diagnosis.finding import Finding, worth
from imbrex.diagnosis.interval import Interval
from imbrex.profile.format import Ended

MOST_BYTES = 1 << 30
ENOUGH = 0.99
"""The share of the time that is covered from which a larger log would bring nothing."""


def find(account: Account) -> Iterator[Finding]:
    """A log that was full gets more room; one that was off, or none, is asked for.

    Ranks compare their logs in MPI_Finalize: where some do not come to it another run of the same
    line would tell no more, so that it is not advised.
    """
    log = account.run.job.log
    unknown = account.whole.cause(UNKNOWN)
    certain = Interval(unknown.low, unknown.low)
    if not worth(account, certain) or len(account.run.ranks) < 2:
        return
    if log is None or not log.budget_bytes:
        if account.caused:
            return
        if not (account.run.ranks["ended"] == Ended.FINALIZED).all():
            yield _not_compared(account, certain)
            return
        yield Finding(
            kind="log_missing",
            at_stake=certain,
            evidence="run",
            text=(
                "Why the calls took their time is not known, because this run has no call log; "
                "measured again with one, it says who was late and what was moving"
            ),
            command=commands.measure_again(account),
        )
    elif log.logged_share < ENOUGH and log.budget_bytes < MOST_BYTES:
        need = min(MOST_BYTES, 2 * log.budget_bytes / max(log.logged_share, 1e-3))
        size = 1 << max(20, (int(need) - 1).bit_length())
        yield Finding(
            kind="log_full",
            at_stake=certain,
            evidence="run",
            text=(
                f"The call log covers {wording.percent(log.logged_share)} of the run's time: a "
                "larger one tells the causes of the rest"
            ),
            command=commands.measure_again(account, "--log", f"{min(size, MOST_BYTES) >> 20}M"),
        )


def _not_compared(account: Account, at_stake: Interval) -> Finding:
    return Finding(
        kind="log_not_compared",
        at_stake=at_stake,
        evidence="run",
        text=(
            "Why the calls took their time is not known: the ranks compare their calls in "
            "MPI_Finalize, which not all of them came to. In which calls each spent its time:"
        ),
        command=commands.show(account, "--timeline"),
    )
