"""Rewrites of the sources that can be worth it: all sites together, and groups of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.engine import Outcome
from imbrex.transform.measured import Measured, read_measured, site_key, transform_measured
from imbrex.transform.options import Options
from imbrex.transform.rewrites.base import Decision
from imbrex.transform.text.edits import unified_diff
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.sources import Sources
from imbrex.tune.staying import Staying, staying

INTERVAL_S = 1e-3
"""Between progress calls where the probe recommends none: from 0.2 to 3 ms hardly matters."""
MOST_GROUPS = 3
PART = 0.1
"""A site that can save this part of what is worth it may go together with others."""


@dataclass(frozen=True)
class Rewriting:
    """One set of edits. `files`: the changed text of each, relative to the root; `most`: the share
    of the run time that its sites can save at most."""

    label: str
    patch: str
    files: dict[Path, bytes]
    most: float


def find_rewritings(
    sources: Sources, run: Path, worth: float, interval_s: float | None, gainable: float = 1.0
) -> tuple[list[Rewriting], list[Staying], tuple[str, ...]]:
    """Those that can reach `worth`, the one that can save most first; the calls that stay although
    they could; and why files could not be read, a line each. `gainable`: the share of the run time
    that overlap could save at most.

    NotPossibleError with what stands in the way of the costliest call where there is neither.
    """
    measured = read_measured(run)
    options = Options(flags_of=sources.flags_of, root=sources.root.resolve())
    every = _transformed(sources, options, measured, worth)
    rewritten = [d for d in every.decisions if d.decision == "rewritten"]
    found: list[Rewriting] = []
    driven = replace(options, progress_interval_s=interval_s or INTERVAL_S)
    outcome = _transformed(sources, driven, measured, worth)
    if outcome.after != every.after:
        # Most libraries move large messages only inside calls: among equals this one comes first.
        most = _share(measured, outcome.decisions) if rewritten else 1.0
        place = _places(rewritten, sources.root)
        label = f"{place} rewritten, with progress calls" if rewritten else "progress calls"
        found.append(_rewriting(sources, outcome, label, max(most, worth)))
    if rewritten and _share(measured, rewritten) >= worth:
        found.append(_whole(sources, every, measured, rewritten))
        found += _groups(sources, options, measured, worth, rewritten)
    stays = staying(sources, options, every, measured, worth, gainable)
    if not found and not stays:
        raise NotPossibleError(_why_not(every, measured))
    unread = tuple(f"not read: {why}" for why in every.skipped.values())
    return sorted(found, key=lambda r: -r.most), stays, unread


def _transformed(sources: Sources, options: Options, measured: Measured, worth: float) -> Outcome:
    try:
        return transform_measured(list(sources.files), options, measured, PART * worth)
    except ImbrexError as error:
        raise NotPossibleError(str(error)) from error


def _groups(
    sources: Sources,
    options: Options,
    measured: Measured,
    worth: float,
    rewritten: Sequence[Decision],
) -> list[Rewriting]:
    """The sites of one routine at a time, where they are of several."""
    of_routine: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for decision in rewritten:
        routine = decision.site.routine
        of_routine[routine.file, routine.name].append(decision)
    if len(of_routine) < 2:
        return []
    groups = sorted(of_routine.values(), key=lambda g: -_share(measured, g))[:MOST_GROUPS]
    found = []
    for group in groups:
        if _share(measured, group) < worth:
            continue
        only = replace(options, only=frozenset(site_key(d) for d in group))
        outcome = _transformed(sources, only, measured, worth)
        done = [d for d in outcome.decisions if d.decision == "rewritten"]
        if done and outcome.before != outcome.after:
            found.append(_whole(sources, outcome, measured, done))
    return found


def _whole(
    sources: Sources, outcome: Outcome, measured: Measured, rewritten: Sequence[Decision]
) -> Rewriting:
    label = f"{_places(rewritten, sources.root)} rewritten"
    return _rewriting(sources, outcome, label, _share(measured, rewritten))


def _rewriting(sources: Sources, outcome: Outcome, label: str, most: float) -> Rewriting:
    changed = sorted(n for n in outcome.before if outcome.before[n] != outcome.after[n])
    names = {name: Path(name).resolve().relative_to(sources.root) for name in changed}
    patch = "".join(
        unified_diff(str(names[name]), outcome.before[name], outcome.after[name])
        for name in changed
    )
    return Rewriting(label, patch, {names[name]: outcome.after[name] for name in changed}, most)


def _share(measured: Measured, decisions: Sequence[Decision]) -> float:
    rewritten = {(site_key(d), d.site.call.name): d for d in decisions if d.decision == "rewritten"}
    return min(1.0, sum(measured.share(d.site) for d in rewritten.values()))


def _places(decisions: Sequence[Decision], root: Path) -> str:
    """`halo.c:41, 52 and 6 more`."""
    lines: dict[str, list[int]] = defaultdict(list)
    for decision in decisions:
        lines[Path(decision.site.routine.file).name].append(decision.site.call.line)
    texts = []
    for name, numbers in lines.items():
        distinct = sorted(set(numbers))
        text = f"{name}:{', '.join(str(n) for n in distinct[:2])}"
        texts.append(text + (f" and {len(distinct) - 2} more" if len(distinct) > 2 else ""))
    return "; ".join(texts)


def _why_not(outcome: Outcome, measured: Measured) -> str:
    """The call that costs most of those that stay, with what stands in the way."""
    costly = [d for d in outcome.decisions if measured.of(d.site) is not None]
    if not costly:
        if outcome.skipped:
            return next(iter(outcome.skipped.values()))
        return "none of its calls stands in the sources that were read"
    worst = max(costly, key=lambda d: measured.share(d.site))
    place = f"{Path(worst.site.routine.file).name}:{worst.site.call.line}"
    return f"{place} ({worst.site.call.name}) stays as it is: {worst.obstacle.text}"
