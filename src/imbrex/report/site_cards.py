"""What the page opens below a call site: its source, causes, sizes, ranks and the window it had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.finding import Finding
from imbrex.diagnosis.message_fates import FATE_WORDS, Fates
from imbrex.diagnosis.words import CAUSE_MEANINGS, CAUSE_WORDS, short
from imbrex.profile.call_paths import CallPath
from imbrex.profile.source_lines import lines_around
from imbrex.profile.summary import size_label
from imbrex.profile.timeline.timeline import Timeline
from imbrex.profile.timeline.typical import typical_iteration

MOST_CARDS = 60
_MOST_SIZES = 6
WORTH_A_PART = 0.005
"""The share of a site's time from which a cause has its part of the bar."""


@dataclass(frozen=True)
class Part:
    """A part of the time at a site: its share of 1, and what it is."""

    kind: str
    share: float
    words: str
    meaning: str


@dataclass(frozen=True)
class Line:
    """A line of source; `here`: the call is in it."""

    number: int
    text: str
    here: bool


@dataclass(frozen=True)
class Callers:
    """The paths to a site, each with its share (empty where there is one path), under a title."""

    title: str
    paths: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Card:
    """What is known of one call site beyond its row; lists are empty where nothing is."""

    where: str
    path: tuple[str, ...]
    callers: Callers | None
    source: tuple[Line, ...]
    parts: tuple[Part, ...]
    facts: tuple[tuple[str, str], ...]
    advice: tuple[tuple[str, str], ...]
    jump_ns: tuple[int, int] | None


class Cards:
    """Makes the cards of a run's sites."""

    def __init__(
        self,
        account: Account,
        findings: Sequence[Finding],
        timeline: Timeline | None,
        found: Fates | None,
    ) -> None:
        self._account = account
        self._findings = findings
        self._timeline = timeline
        self._fates = found

    def card(self, row: RowAccount) -> Card | None:
        """The card of a site; None of what is no place."""
        site = row.row.site
        if site is None or not site.id:
            return None
        facts = [
            ("calls", f"{row.row.sums.count:,}"),
            *self._window(row),
            *self._begun(row),
            *self._sizes(row),
            *self._ranks(row),
        ]
        advice = tuple(
            (finding.text, finding.command)
            for finding in self._findings
            if finding.site is not None
            and finding.site.id == site.id
            and finding.operation in (None, row.operation)
        )
        return Card(
            where=f"{site.file}:{site.line}" if site.file and site.line else site.label,
            path=(*([site.function] if site.function else []), *site.inlined_into),
            callers=_callers(self._account.run.call_paths.get(site.id, ())),
            source=_source(row),
            parts=self._parts(row),
            facts=tuple(facts),
            advice=advice,
            jump_ns=self._jump(row),
        )

    def _parts(self, row: RowAccount) -> tuple[Part, ...]:
        whole = row.division.call_s
        if whole <= 0 or not row.division.causes:
            return ()
        found = []
        for name, cause in row.division.parts.items():
            words = f"{CAUSE_WORDS[name]} {wording.percents(cause.low / whole, cause.high / whole)}"
            if cause.high >= WORTH_A_PART * whole:
                kind = "open" if name == "moving" else name
                found.append(Part(kind, cause.low / whole, words, CAUSE_MEANINGS[name]))
        open_ = max(0.0, 1.0 - sum(part.share for part in found))
        if open_ >= WORTH_A_PART:
            words = f"not certain which {wording.percent(open_)}"
            found.append(Part("open", open_, words, "one of the causes with two ends"))
        return tuple(found)

    def _begun(self, row: RowAccount) -> list[tuple[str, str]]:
        """What a completing call waited for."""
        told = []
        for waited in row.waited[:4]:
            time = waited.late + waited.moving
            told.append(
                f"{short(waited.operation)} at {waited.name} "
                f"({wording.interval(time.low, time.high)})"
            )
        return [("waits for", ", ".join(told))] if told else []

    def _sizes(self, row: RowAccount) -> list[tuple[str, str]]:
        run = self._account.run
        table = run.over_ranks
        number = row.row.site.id if row.row.site else -1
        mine = (table["site"] == number) & (table["size_class"] >= 0)
        mine &= np.asarray(
            [run.operation(int(o)) == row.operation for o in table["operation"]], np.bool_
        )
        if not mine.any():
            return []
        classes, inverse = np.unique(table["size_class"][mine], return_inverse=True)
        counts = np.bincount(inverse, weights=table["transfers"][mine])
        order = np.argsort(-counts)[:_MOST_SIZES]
        told = [
            f"{int(counts[at]):,} of {size_label(int(classes[at]))}"
            for at in sorted(order.tolist())
            if counts[at]
        ]
        rest = len(classes) - len(order)
        return [("messages", ", ".join(told) + (f", {rest} more sizes" if rest else ""))]

    def _ranks(self, row: RowAccount) -> list[tuple[str, str]]:
        run = self._account.run
        if len(run.ranks) < 2 or row.row.site is None:
            return []
        operations = [n for n, name in enumerate(run.job.operations) if name == row.operation]
        mine = run.measures["site"] == row.row.site.id
        mine &= np.isin(run.measures["operation"], operations)
        per_rank = np.bincount(
            run.measures["rank"][mine], weights=run.measures["call_ns"][mine], minlength=1
        )
        present = np.unique(run.measures["rank"][mine])
        if len(present) < 2:
            return [("ranks", f"only rank {present[0]}")] if len(present) else []
        times = per_rank[present] / 1e9
        worst, least = int(np.argmax(times)), int(np.argmin(times))
        text = (
            f"{wording.seconds(float(np.mean(times)))} a rank; most rank {present[worst]} "
            f"({wording.seconds(float(times[worst]))}), least rank {present[least]} "
            f"({wording.seconds(float(times[least]))})"
        )
        if len(present) < len(run.ranks):
            text = f"{len(present)} of {len(run.ranks)} call it: {text}"
        return [("ranks", text)]

    def _window(self, row: RowAccount) -> list[tuple[str, str]]:
        """What the messages that completed here had to hide behind, around the iteration."""
        timeline, found = self._timeline, self._fates
        if timeline is None or found is None or row.row.site is None:
            return []
        calls = timeline.calls
        operation = self._account.run.job.operations
        at = np.flatnonzero(found.wait >= 0)
        wait = calls[found.wait[at]]
        mine = wait["site"] == row.row.site.id
        mine &= np.asarray(
            [n < len(operation) and operation[n] == row.operation for n in wait["operation"]],
            np.bool_,
        )
        at = at[mine]
        if not len(at):
            return []
        fate = np.bincount(found.fate[at], minlength=len(FATE_WORDS))
        told = [f"{n:,} {FATE_WORDS[k]}" for k, n in enumerate(fate.tolist()) if n]
        facts = [(f"{len(at):,} messages looked at", ", ".join(told))]
        receive = calls[timeline.messages["receive"][at]]
        known = receive["x_hi_ns"] > 0
        text = f"{wording.seconds(float(np.median(found.window_ns[at])) / 1e9)} of the receiver's"
        text += " time between the begin of a transfer and this call (median)"
        if known.any():
            low, high = (
                float(np.median(receive[name][known])) / 1e9 for name in ("x_lo_ns", "x_hi_ns")
            )
            text += f"; the network needs {wording.interval(low, high)}"
        return [*facts, ("window", text)]

    def _jump(self, row: RowAccount) -> tuple[int, int] | None:
        names = self._account.run.job.operations
        if self._timeline is None or row.row.site is None or row.operation not in names:
            return None
        found = typical_iteration(self._timeline, row.row.site.id, names.index(row.operation))
        return None if found is None else (found.begin_ns, found.end_ns)


def _callers(paths: Sequence[CallPath]) -> Callers | None:
    if len(paths) < 2:
        return Callers("Called from", (("", paths[0].text),)) if paths else None
    total = sum(path.samples for path in paths)
    return Callers(
        f"Called from (shares of {total:,} samples of the stack, not of the time)",
        tuple((wording.percent(path.samples / total), path.text) for path in paths),
    )


def _source(row: RowAccount) -> tuple[Line, ...]:
    site = row.row.site
    if site is None or not site.line:
        return ()
    first, lines = (site.source_line or 0), site.source
    if not lines and site.file is not None:
        first, lines = lines_around(site.file, site.line)
    return tuple(Line(first + n, text, first + n == site.line) for n, text in enumerate(lines))
