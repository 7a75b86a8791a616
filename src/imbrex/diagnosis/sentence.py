"""The first sentence: what share of the run is in MPI, why, where, and what overlap could gain."""

from __future__ import annotations

from collections.abc import Callable

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.division import LATE, MOVING, UNKNOWN
from imbrex.diagnosis.finding import WORTH
from imbrex.diagnosis.findings import shared_cores, shared_link, undriven
from imbrex.diagnosis.interval import Interval
from imbrex.diagnosis.standing import find_ending
from imbrex.diagnosis.words import CAUSE_WORDS, late_words

LITTLE = 0.02
"""The share of the ranks' time in MPI below which nothing there can gain much."""
WORTH_NAMING = 0.1
"""The share of the time in MPI from which a cause is named."""
STALLS = 0.5
"""The share of what overlap could gain that must stall for certain to be told in its place."""
MOSTLY = 0.8
"""The share of a cause that one site must have for the site to stand for all of it."""
_MOST_CAUSES = 3


def first_sentence(account: Account) -> str:
    """One or two sentences that answer: of a run that was cut short where its ranks stood, of any
    in shares of the run."""
    ending = find_ending(account.run)
    if ending is None:
        return _sentence(account, is_whole=True)
    if account.busy_s <= 0 or not account.whole.calls:
        return ending.sentence
    if ending.is_whole:
        return f"{ending.sentence} {_sentence(account, is_whole=True)}"
    return f"{ending.sentence} Until then: {_sentence(account, is_whole=False)}"


def _sentence(account: Account, *, is_whole: bool) -> str:
    if account.busy_s <= 0:
        return "Nothing was measured."
    share = account.whole.call_s / account.busy_s
    if not account.whole.calls:
        return "The program made no MPI calls that take time."
    parts = _causes(account) if account.caused else _waiting(account)
    text = f"MPI {wording.percent(share)}: {', '.join(parts)}."
    return f"{text} {conclusion(account)}" if is_whole else text


def conclusion(account: Account) -> str:
    """What overlap could gain, as a sentence."""
    gain, whole = account.gainable, account.whole
    if whole.call_s < LITTLE * account.busy_s:
        return "There is little to gain."
    if (shared := shared_cores.told(account)) is not None:
        return f"{shared}, which makes them wait."
    if not account.knowledge.calibrated and not account.caused:
        return "What overlap could gain is not known without transfer times."
    lost = account.share(whole.lost_overlap)
    helped = account.run.job.progress is not None
    if (
        account.caused
        and not helped
        and (lost.low >= max(WORTH, 0.5 * gain.low) or undriven.partners_computed(account, whole))
    ):
        progress = account.share(whole.progress)
        driven = wording.percents(progress.low, progress.high)
        return f"Progress while the ranks compute could gain {driven}."
    if gain.high < WORTH:
        of_messages = whole.cause("file_io").low >= 0.5 * whole.call_s
        return f"Overlap {'of messages ' if of_messages else ''}cannot help here."
    stalled = whole.cause("stalled").low
    crowded = account.loaded
    if account.caused and crowded is not None and stalled >= STALLS * whole.gainable.high:
        told = f"{crowded[0].upper()}{crowded[1:]}"
        return f"{told}: these waits say little of the program. Measure when nothing else runs."
    if (
        account.caused
        and account.knowledge.calibrated
        and stalled >= max(STALLS * whole.gainable.high, whole.late.middle)
    ):
        needed = account.share(account.whole.cause("transfer")).high
        most = f"at most {wording.percent(needed)}".replace("at most <", "less than")
        return f"The network itself needs {most}: see to the stalls first."
    return f"Overlap could gain at most {wording.percent(gain.high)}."


def _causes(account: Account) -> list[str]:
    """The causes that matter, the largest first, then the transfer if that is not among them."""
    whole = account.whole
    least = WORTH_NAMING * whole.call_s
    parts = whole.parts
    data = _most(account, lambda site: site.division.moving.middle)
    if all(name in parts and parts[name].middle >= least for name in MOVING) and (
        _why_it_took_long(account, data)
    ):  # one reason for both
        parts = {name: part for name, part in parts.items() if name not in MOVING}
        parts["moving"] = whole.moving
    ranked = sorted(parts.items(), key=lambda item: item[1].middle, reverse=True)
    named = [(name, part) for name, part in ranked if part.middle >= least][:_MOST_CAUSES]
    texts: list[str] = []
    told = ""
    for name, part in named:
        worst = _most(account, lambda site, name=name: _part(site, name))  # type: ignore[misc]
        text, where, why = _cause(account, name, part, worst)
        place = worst.name if worst is not None else ""
        texts.append(text + (where if place != told else "") + why)
        told = place or told
    if not {*MOVING, "moving"} & {name for name, _ in named}:
        moving = account.share(whole.moving)
        if moving.high > 0:
            stalls = whole.cause("stalled").low >= STALLS * whole.moving.high
            cause = "stalled transfer" if stalls else "transfer"
            texts.append(f"{cause} {wording.percents(moving.low, moving.high)}")
    return texts


def _cause(
    account: Account, name: str, part: Interval, worst: RowAccount | None
) -> tuple[str, str, str]:
    """How much a cause takes, where most of it, and why that took long. `worst` has most of it."""
    share = account.share(part)
    amount = wording.percents(share.low, share.high)
    where = ""
    if worst is not None:
        most = _part(worst, name) < MOSTLY * part.middle
        where = f"{', most' if most else ''} at {worst.name}"
    if name == UNKNOWN:
        return f"{amount} of unknown cause", where, ""
    if name in LATE:
        if worst is not None and name == "late_collective":
            where += f" ({worst.operation})"
        operation = worst.operation if worst else ""
        return f"{amount} {late_words(name, operation, _only_rank(account, part))}", where, ""
    if name in (*MOVING, "moving"):
        words = "stalled transfer" if name == "stalled" else CAUSE_WORDS[name]
        return f"{amount} {words}", where, _why_it_took_long(account, worst)
    return f"{amount} {CAUSE_WORDS[name]}", where, ""


def _part(site: RowAccount, name: str) -> float:
    return (site.division.moving if name == "moving" else site.division.cause(name)).middle


def _only_rank(account: Account, part: Interval) -> int | None:
    """The rank for which the others wait, where it is one and this cause is most of the waiting."""
    whole = sum(partner.late.middle for partner in account.partners)
    if not account.partners or part.middle < MOSTLY * account.whole.late.middle:
        return None
    worst = account.partners[0]
    return worst.rank if worst.late.middle >= MOSTLY * whole > 0 else None


def _why_it_took_long(account: Account, worst: RowAccount | None) -> str:
    """Who did not drive the data that moved at a site, or with whom it shared a link."""
    if worst is None:
        return ""
    helped = account.run.job.progress is not None
    if not helped and undriven.explains(worst):
        return " (nobody drove it while the ranks computed)"
    if not helped and undriven.partners_computed(account, worst.division):
        return " (the partner computed and did not drive it)"
    if shared_link.saturated(account, worst):
        return " (the ranks of a host share its link)"
    return ""


def _waiting(account: Account) -> list[str]:
    """What a run without causes says: what had nothing in flight, and what may have moved."""
    sums = account.sums
    texts = []
    waiting = sums.wait_min_s / account.busy_s
    if sums.wait_min_s > 0:
        worst = _most(account, lambda site: site.row.sums.wait_min_s)
        where = f", most at {worst.name} ({worst.operation})" if worst else ""
        texts.append(
            f"at least {wording.percent(waiting)} of the run waiting with nothing in flight{where}"
        )
    if not account.knowledge.calibrated:
        texts.append("the rest waiting or transfer")
    elif account.gainable.high > 0:
        texts.append(f"at most {wording.percent(account.gainable.high)} can be transfer")
    return texts or ["nothing of it is transfer"]


def _most(account: Account, value: Callable[[RowAccount], float]) -> RowAccount | None:
    worst = max(account.sites, key=value, default=None)
    return worst if worst is not None and value(worst) > 0 else None
