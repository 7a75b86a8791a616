"""What changed between two runs, and what one run of each cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.comparable import Advice, in_turns, measured_again, why_not
from imbrex.diagnosis.division import MOVING, Division
from imbrex.diagnosis.finding import WORTH
from imbrex.diagnosis.interval import NOTHING, Interval
from imbrex.diagnosis.pairs import SitePair, pair_sites
from imbrex.diagnosis.words import CAUSE_WORDS
from imbrex.profile.run import Run
from imbrex.profile.site_map import SiteMap

LEAST = 0.05
"""By how much two runs of one program may differ that ran one after the other on a quiet machine:
whole programs here differed by one to seven per cent (docs/theory/apps.md)."""
OWN = ("transfer", "library")
"""Causes that the load of the machine and the balance of the work change less than others."""
OWN_LEAST = 0.1
"""By how much those may differ, as a share of themselves."""


@dataclass(frozen=True)
class Change:
    """A quantity in both runs (s a rank, mean), and whether one run of each tells them apart."""

    name: str
    before: Interval
    after: Interval
    told: bool

    @property
    def change(self) -> float:
        """After less before, at their middles."""
        return self.after.middle - self.before.middle


@dataclass(frozen=True)
class Difference:
    """Two runs side by side."""

    before: Account
    after: Account
    rewrites: SiteMap | None = None

    @cached_property
    def pairs(self) -> tuple[SitePair, ...]:
        """The call sites, those whose time in MPI changed most first."""
        return tuple(pair_sites(self.before.run, self.after.run, self.rewrites))

    @property
    def noise(self) -> float:
        """The share of the run time below which one run of each tells nothing.

        What the ranks compute is the same before and after, but for what was rewritten: if it
        takes longer in one of the runs, so may all else.
        """
        old, new = (a.compute_s * a.per_rank for a in (self.before, self.after))
        same = len(self.before.run.ranks) == len(self.after.run.ranks)
        return max(LEAST, abs(new - old) / old if old > 0 and same else 0.0)

    @cached_property
    def wall(self) -> Change:
        """The run time."""
        return self.change(
            "run time", *(Interval(a.wall_s, a.wall_s) for a in (self.before, self.after))
        )

    @cached_property
    def causes(self) -> tuple[Change, ...]:
        """Every cause of the time in MPI that either run has."""
        if not (self.before.caused and self.after.caused):
            return ()
        return tuple(
            change
            for change in self._of(self.before.whole, self.after.whole)
            if change.before.high > 0 or change.after.high > 0
        )

    def of_pair(self, pair: SitePair) -> tuple[Change, ...]:
        """The causes at one call site; none where a run does not know them."""
        return self._of(*pair.divisions) if self.before.caused and self.after.caused else ()

    def gainable(self) -> Change:
        """What overlap could gain."""
        return self.change(
            "gainable by overlap",
            *(_mean(a, a.whole.gainable) for a in (self.before, self.after)),
        )

    def _of(self, before: Division, after: Division) -> tuple[Change, ...]:
        """The causes of both; transfer and stalled as one where a run does not tell them apart."""
        both = (before.parts, after.parts)
        if any("moving" in parts for parts in both):
            both = (_joined(before), _joined(after))
        return tuple(
            self.change(
                CAUSE_WORDS[name],
                _mean(self.before, both[0].get(name, NOTHING)),
                _mean(self.after, both[1].get(name, NOTHING)),
                own=name in OWN,
            )
            for name in dict.fromkeys((*both[0], *both[1]))
        )

    def change(self, name: str, before: Interval, after: Interval, *, own: bool = False) -> Change:
        """Told apart where the intervals leave more between them than runs differ by anyway, and
        other load on the machine is not the reason."""
        gap = max(before.low - after.high, after.low - before.high)
        least = self.noise * self.before.wall_s
        if own:
            least = min(least, max(OWN_LEAST, self.noise) * max(before.high, after.high))
            least = max(least, WORTH * self.before.wall_s)
        is_load = self._load(after.middle - before.middle) is not None
        return Change(name, before, after, gap > least and not is_load)

    def _load(self, change: float) -> str | None:
        """What kept the machine busy in the run that took longer; load makes nothing shorter."""
        return (self.after if change > 0 else self.before).run.job.crowded

    @cached_property
    def unlike(self) -> str:
        """Why the runs cannot be compared; empty where they can."""
        return why_not(self.before, self.after)

    @property
    def answer(self) -> str:
        """`faster`, `slower`, or `open`: what `compare --repeat` answers too."""
        if self.unlike or not self.wall.told:
            return "open"
        return "faster" if self.wall.change < 0 else "slower"

    @property
    def advice(self) -> Advice | None:
        """What decides it where the answer is open."""
        if self.unlike:
            return measured_again(self.before, self.after)
        return in_turns(self.before, self.after) if self.answer == "open" else None

    @property
    def sentence(self) -> str:
        """What to say first."""
        if self.unlike:
            return f"These runs do not tell whether it helped: {self.unlike}."
        wall = self.wall
        share = wall.change / wall.before.high
        before, after = wording.seconds(wall.before.high), wording.seconds(wall.after.high)
        if wall.told:
            first = f"{wording.percent(abs(share))} {self.answer}: {before} before, {after} after."
        else:
            first = (
                f"One run of each cannot tell whether it helped: {before} and {after} differ by "
                f"{wording.percent(abs(share))}, and {self._why_open(share)}."
            )
        told = sorted((c for c in self.causes if c.told), key=lambda c: -abs(c.change))[:2]
        parts = [
            f"{c.name} {'shrank' if c.change < 0 else 'grew'} from "
            f"{_words(c.before)} to {_words(c.after)} a rank"
            for c in told
        ]
        if parts:
            text = ", ".join(parts)
            return f"{first} {text[0].upper()}{text[1:]}."
        if self.causes:
            return f"{first} No cause of the time in MPI changed by more than runs differ by."
        return first

    def _why_open(self, share: float) -> str:
        """What else the difference may come from: other load, or by how much runs differ anyway."""
        load = self._load(share)
        if load is not None and abs(share) > self.noise:
            return f"while the {'second' if share > 0 else 'first'} ran, {load}"
        noise = wording.percent(self.noise)
        words = f"two runs of one program may by {noise}"
        if self.noise > LEAST:
            words = f"what the ranks computed, which a rewrite leaves as it is, by {noise}"
        return words if load is not None else words + _either_way(share, self)

    @property
    def told_apart_words(self) -> str:
        """Within what lies a change that one run of each does not tell."""
        words = f"within the {wording.percent(self.noise)} that runs differ by"
        loaded = any(a.run.job.crowded is not None for a in (self.before, self.after))
        return f"{words}, or what other load on the machine may have done" if loaded else words


def _either_way(share: float, difference: Difference) -> str:
    """What the noise leaves of the change, where that bounds anything."""
    low, high = share - difference.noise, share + difference.noise
    if low <= -1:
        return ""
    faster, slower = wording.percent(-low), wording.percent(high)
    return f": the second is between {faster} faster and {slower} slower"


def _joined(division: Division) -> dict[str, Interval]:
    """The causes with transfer and stalled as one."""
    rest = {name: part for name, part in division.causes.items() if name not in MOVING}
    return {**rest, "moving": division.moving}


def _mean(account: Account, sums: Interval) -> Interval:
    return Interval(sums.low * account.per_rank, sums.high * account.per_rank)


def _words(interval: Interval) -> str:
    return wording.interval(interval.low, interval.high)


def differences(before: Run, after: Run, pairs: Sequence[SitePair] | None = None) -> list[str]:
    """In what the runs differ besides the program, so that their numbers do.

    `pairs`: their call sites, paired.
    """
    old, new = len(before.ranks), len(after.ranks)
    lines = []
    if pairs and not any(pair.rows_before and pair.rows_after for pair in pairs):
        lines.append(
            "no call site is in both runs: if they are of two programs, their difference says "
            "nothing about a change of either"
        )
    if old != new:
        lines.append(f"the runs differ in ranks ({old} and {new}): sums do too")
    for quantity, name in (("MPI library", wording.library), ("source of events", _sources)):
        if name(before) != name(after):
            lines.append(f"the runs differ in {quantity} ({name(before)} and {name(after)})")
    if before.job.machine.created != after.job.machine.created:
        same = wording.library(before) == wording.library(after)
        remedy = ": give both the same --machine FILE" if same else ""
        lines.append(
            "the transfer times of the runs come from different machine profiles, so that a change "
            f"of transfer, hidden or exposed time may be one of the calibration{remedy}"
        )
    return lines


def _sources(run: Run) -> str:
    found = run.job.events
    return "/".join(dict.fromkeys(found.values())) or "call"
