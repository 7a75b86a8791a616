"""What the progress thread of a run did, in a sentence or two."""

from __future__ import annotations

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.places import short_place
from imbrex.diagnosis.thread_price import price_words

MOST_SITES = 2


def progress_words(account: Account) -> str:
    """Looks, what they took and whose transfers they moved; empty where there was no thread."""
    progress = account.run.job.progress
    if progress is None:
        return ""
    price = price_words(account)
    if not progress.looks:
        text = (
            "The progress thread never looked: no transfer that needs progress was open while the "
            "program computed."
        )
        return f"{text} {price}: leave it out." if price else text
    busy = account.busy_s or 1.0
    text = (
        f"The progress thread looked {progress.looks:,} times, {progress.moving_looks:,} times "
        f"data moved; it took {wording.percent((progress.looking_s + progress.moving_s) / busy)} "
        f"of the run's processor time, {wording.percent(progress.looking_s / busy)} in vain"
    )
    moved = _moved(account)
    return " ".join(filter(None, [f"{text}.", moved, f"{price}." if price else ""]))


def _moved(account: Account) -> str:
    """The call sites whose transfers were complete before the program asked for them."""
    progress = account.run.job.progress
    if progress is None:
        return ""
    begun = {row.row.site.id: row for row in account.sites if row.row.site is not None}
    told = []
    for site in sorted(progress.sites, key=lambda s: s["completed"], reverse=True)[:MOST_SITES]:
        row = begun.get(site["site"])
        if row is None or row.row.site is None or not site["completed"]:
            continue
        of = row.row.sums.transfers
        complete = min(site["completed"], of)
        told.append(f"{complete:,} of {of:,} transfers of {short_place(row.row.site)}")
    return f"Complete before the program asked: {' and '.join(told)}." if told else ""
