"""What MPI_THREAD_MULTIPLE takes in a run: there is no progress thread without it."""

from __future__ import annotations

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.interval import Interval


def price_of(account: Account) -> Interval | None:
    """Calls of all ranks times what it adds to one, in s; None where that was not measured."""
    added = account.knowledge.thread_multiple_s
    if added is None:
        return None
    calls = account.sums.count
    return Interval(calls * added.low, calls * added.high)


def is_above_gain(account: Account) -> bool:
    """Whether it takes more than progress while the ranks compute could save."""
    price = price_of(account)
    return price is not None and price.middle > account.whole.progress.middle


def price_words(account: Account) -> str:
    """Its share of the run and where that comes from; empty where it was not measured."""
    price, added = price_of(account), account.knowledge.thread_multiple_s
    if price is None or added is None or not account.busy_s:
        return ""
    share = account.share(price)
    return (
        f"MPI_THREAD_MULTIPLE, which it needs, takes {wording.percents(share.low, share.high)} of "
        f"the run ({wording.interval(added.low, added.high)} of each of {account.sums.count:,} "
        "calls)"
    )
