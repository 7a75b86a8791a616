"""More ranks than cores: a rank that waits in MPI keeps a core from one that computes."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.diagnosis import commands, wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, worth
from imbrex.diagnosis.interval import Interval


def told(account: Account) -> str | None:
    """`4 ranks share 2 cores`, where they do and that may cost what is worth telling."""
    job = account.run.job
    if job.cores is None or job.ranks <= job.cores or not worth(account, _at_stake(account)):
        return None
    return f"{job.ranks} ranks share {job.cores} core{'s' * (job.cores > 1)}"


def find(account: Account) -> Iterator[Finding]:
    """One finding, which stands for all others that rest on how long anything took."""
    job, why = account.run.job, told(account)
    if why is None or job.cores is None:
        return
    at_stake = _at_stake(account)
    share = account.share(at_stake)
    yield Finding(
        kind="shared_cores",
        at_stake=at_stake,
        evidence="run",
        text=(
            f"{wording.percents(share.low, share.high)} of the run: {why}, so that ranks that wait "
            "in MPI keep the cores from those that compute, which come late: what else waits and "
            "stalls here says little of the program. Start no more ranks than there are cores, or "
            "measure where each has one"
        ),
        command=commands.with_ranks(account, job.cores),
    )


def _at_stake(account: Account) -> Interval:
    """All that waits, for a rank or for data: how much of it without this is not known."""
    return Interval(0.0, account.whole.call_s - account.whole.cause("library").low)
