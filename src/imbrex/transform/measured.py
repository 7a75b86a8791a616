"""What a measured run says of the call sites: which are worth a rewrite."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path

from imbrex.diagnosis.account import accounts
from imbrex.diagnosis.division import Division, added, has_causes
from imbrex.diagnosis.saving import most_saved_s
from imbrex.profile.aggregate import group
from imbrex.profile.format import QUANTITIES
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import Sums
from imbrex.transform import mpi_calls
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.options import Options
from imbrex.transform.rewrites.base import Decision, Site


@dataclass(slots=True)
class Measured:
    """The sums of a run by file name and line, and the time of all its ranks together."""

    total_s: float
    sites: dict[tuple[str, int], list[tuple[str, Sums]]] = field(default_factory=dict)
    # What a message takes at most, of the size class where that is most: s, by file name and line.
    longest_s: dict[tuple[str, int], float] = field(default_factory=dict)
    # The causes of the time in calls, by file name, line and operation, where the run knows them.
    divisions: dict[tuple[str, int, str], Division] = field(default_factory=dict)
    # In all calls. Several transfers may be exposed in one and the same call, so that a start alone
    # may have more exposed than that.
    calls_s: float = math.inf

    def of(self, site: Site) -> Sums | None:
        """What was measured at a call: its return address may belong to any of its lines, and there
        are several where a compiler has made copies of it."""
        name = Path(site.routine.file).name
        first, last = site.call.line, max(site.call.line, site.statement.end_line)
        found = [
            sums
            for line in range(first, last + 1)
            for operation, sums in self.sites.get((name, line), [])
            if operation == site.call.name
        ]
        return reduce(add, found) if found else None

    def message_s(self, file: str, first: int, last: int) -> float | None:
        """What a message started in these lines takes at most; None where that is not known."""
        lines = [(Path(file).name, line) for line in range(first, last + 1)]
        return max((self.longest_s[at] for at in lines if at in self.longest_s), default=None)

    def share(self, site: Site) -> float:
        """The share of the ranks' time that overlap may save at most at a call."""
        sums = self.of(site)
        if sums is None or not self.total_s:
            return 0.0
        file, name = Path(site.routine.file).name, site.call.name
        first, last = site.call.line, max(site.call.line, site.statement.end_line)
        places = ((file, line, name) for line in range(first, last + 1))
        known = [self.divisions[at] for at in places if at in self.divisions]
        division = added(known) if known else None
        return min(most_saved_s(site.call.name, sums, division), self.calls_s) / self.total_s


def read_measured(directory: Path) -> Measured:
    """Raises ImbrexError where the directory holds no run."""
    return measured_of(load_run(directory))


def measured_of(run: Run) -> Measured:
    """What a run says of the call sites."""
    found = Measured(float(run.ranks["wall_ns"].sum()) / 1e9, longest_s=_longest_s(run))
    caused = has_causes(run)
    for account in accounts(run, "site"):
        row = account.row
        if row.site is None or row.site.file is None or row.site.line is None:
            continue
        key = (Path(row.site.file).name, row.site.line)
        found.sites.setdefault(key, []).append((account.operation, row.sums))
        if caused:
            at = (*key, account.operation)
            copies = [found.divisions[at]] if at in found.divisions else []
            found.divisions[at] = added([*copies, account.division])
    found.calls_s = int(run.ranks["call_ns"].sum()) / 1e9
    return found


def _longest_s(run: Run) -> dict[tuple[str, int], float]:
    """By file name and line; endless where a transfer is in no table."""
    keys, sums = group(run.over_ranks, ("site", "size_class"))
    column = {name: QUANTITIES.index(name) for name in QUANTITIES}
    found: dict[tuple[str, int], float] = {}
    for number, values in zip(keys[:, 0].tolist(), sums, strict=True):
        site, transfers = run.site(number), int(values[column["transfers"]])
        if not transfers or site.file is None or site.line is None:
            continue
        each_s = int(values[column["transfer_max_ns"]]) / transfers / 1e9
        if values[column["uncalibrated"]]:
            each_s = math.inf
        key = (Path(site.file).name, site.line)
        found[key] = max(found.get(key, 0.0), each_s)
    return found


def transform_measured(
    paths: list[Path], options: Options, measured: Measured, threshold: float
) -> Outcome:
    """Rewrite the sites whose share of the ranks' time reaches `threshold`; the most costly first.

    Raises ImbrexError as `transform`.
    """
    options = replace(options, message_s=measured.message_s)
    every = transform(paths, options)
    wanted = {site_key(d) for d in every.decisions if measured.share(d.site) >= threshold}
    # Collectives that may match one another are rewritten together or not at all.
    names = {
        d.site.call.name
        for d in every.decisions
        if site_key(d) in wanted and d.site.call.name in mpi_calls.BLOCKING_COLLECTIVES
    }
    wanted |= {site_key(d) for d in every.decisions if d.site.call.name in names}
    if options.only:
        wanted &= options.only
    outcome = every
    if wanted != {site_key(d) for d in every.decisions}:
        # A line that does not exist stands for "none".
        only = frozenset(wanted) or frozenset({("", 0)})
        outcome = transform(paths, replace(options, only=only))
    known = {(site_key(d), d.site.call.name) for d in outcome.decisions}
    for decision in every.decisions:
        if (site_key(decision), decision.site.call.name) in known or (
            options.only and site_key(decision) not in options.only
        ):
            continue
        outcome.decisions.append(_not_worth(decision, measured, threshold))
    for decision in outcome.decisions:
        decision.measured = as_json(measured, decision.site)
    outcome.decisions.sort(key=lambda d: measured.share(d.site), reverse=True)
    return outcome


def site_key(decision: Decision) -> tuple[str, int]:
    return decision.site.routine.file, decision.site.call.line


def _not_worth(decision: Decision, measured: Measured, threshold: float) -> Decision:
    site = decision.site
    if measured.of(site) is None:
        text = ReasonKind.NOT_MEASURED()
    else:
        text = ReasonKind.NOT_WORTH(
            share=f"{100 * measured.share(site):.2g}", threshold=f"{100 * threshold:.2g}"
        )
    line = site.call.line
    return Decision(site, "nothing-to-gain", Reason(text, site.location), line, line)


def as_json(measured: Measured, site: Site) -> dict[str, float] | None:
    """Sums over ranks in seconds, and the share of the ranks' time that may be saved at most."""
    sums = measured.of(site)
    if sums is None:
        return None
    return {
        "count": sums.count,
        "call_s": sums.call_s,
        "transfer_max_s": sums.transfer_max_s,
        "exposed_min_s": sums.exposed_min_s,
        "exposed_max_s": sums.exposed_max_s,
        "share": measured.share(site),
    }
