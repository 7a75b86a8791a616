"""What a line about a call site says: why its calls took their time, and what was hidden."""

from __future__ import annotations

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.words import CAUSE_WORDS, short

_MATTERS = 0.05
"""The share of a site's time from which a cause is told."""
_MOST = 3


def why(account: Account, site: RowAccount) -> str:
    """The causes of a site's time with their shares of the run, the largest first."""
    if not account.caused:
        return _waiting(account, site)
    ranked = sorted(site.division.parts.items(), key=lambda item: item[1].middle, reverse=True)
    least = _MATTERS * site.division.call_s
    told = []
    for name, part in [(n, p) for n, p in ranked if p.middle >= least][:_MOST]:
        share = account.share(part)
        told.append(f"{CAUSE_WORDS[name]} {wording.percents(share.low, share.high)}")
    return ", ".join(told) + begun(site)


def begun(site: RowAccount) -> str:
    """Which call began what a completing call waited for most."""
    if not site.waited or site.row.site is None or site.waited[0].site.id == site.row.site.id:
        return ""
    first = site.waited[0]
    return f" (for {short(first.operation)} at {first.name})"


def hidden_words(site: RowAccount) -> str:
    """The hidden share of the transfers begun here, where it is narrow, with its evidence."""
    if not site.row.sums.transfers or not site.hidden.says_something:
        return ""
    return f"{wording.shares(site.hidden.share)} ({site.hidden.kind})"


def _waiting(account: Account, site: RowAccount) -> str:
    sums, busy = site.row.sums, account.busy_s
    if sums.wait_min_s >= 0.95 * sums.call_s:
        return "waiting, nothing in flight"
    if sums.wait_min_s <= _MATTERS * sums.call_s:
        return "waiting or transfer"
    return f"waiting {wording.percent(sums.wait_min_s / busy)}, the rest waiting or transfer"
