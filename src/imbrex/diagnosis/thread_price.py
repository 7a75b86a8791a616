"""What MPI_THREAD_MULTIPLE takes in a run: there is no progress thread without it."""

from __future__ import annotations

import numpy as np

from imbrex import mpi_facts
from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.interval import Interval


def price_of(account: Account) -> Interval | None:
    """Calls of all ranks times what it adds to one, in s; None where that was not measured.

    A blocking call has a price of its own where the profile knows it.
    """
    added, sendrecv_s = account.knowledge.thread_multiple_s, account.knowledge.sendrecv_multiple_s
    if added is None:
        return None
    calls = account.sums.count
    if sendrecv_s is None:
        return Interval(calls * added.low, calls * added.high)
    blocking = _blocking_calls(account)
    open_ended = calls - blocking  # polls, and calls that begin or complete
    least, most = min(added.low, sendrecv_s), max(added.high, sendrecv_s)
    return Interval(
        open_ended * added.low + blocking * least, open_ended * added.high + blocking * most
    )


def _blocking_calls(account: Account) -> int:
    """Calls that begin and complete what they move: MPI_Send, MPI_Sendrecv, MPI_Allreduce, ..."""
    names = account.run.job.operations
    are = np.array([mpi_facts.is_blocking(name) for name in names], dtype=bool)
    measures = account.run.measures
    return int(measures["count"][are[measures["operation"]]].sum()) if len(names) else 0


def is_above_gain(account: Account) -> bool:
    """Whether it takes more than progress while the ranks compute could save."""
    price = price_of(account)
    return price is not None and price.middle > account.whole.progress.middle


def price_words(account: Account) -> str:
    """Its share of the run and where that comes from; empty where it was not measured."""
    price, calls = price_of(account), account.sums.count
    if price is None or not calls or not account.busy_s:
        return ""
    share = account.share(price)
    return (
        f"MPI_THREAD_MULTIPLE, which it needs, takes {wording.percents(share.low, share.high)} of "
        f"the run ({wording.interval(price.low / calls, price.high / calls)} of each of {calls:,} "
        "calls)"
    )
