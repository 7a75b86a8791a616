"""What a search found: the verdict, and the files that it leaves."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from imbrex.diagnosis import wording
from imbrex.tune.candidate import Tried, proven
from imbrex.tune.statistics import LEAST_PAIRS, pairs_needed
from imbrex.whole_file import write_whole

ANSWER, TEXT, SCRIPT = "answer.json", "answer.txt", "apply.sh"
MEASURED = "run"
"""The run directory within the folder of a search."""
NOISY = 3.0
"""Pairs that vary by so many times what matters need more pairs than anybody waits for."""
MOST_PAIRS = 1000
"""More than these nobody waits for."""
_CHECKED = {"command": "checked", "output": "same results", "": "results not checked"}


@dataclass(frozen=True)
class Found:
    """All that a search found. `most` is what overlap could save, as a share of the run time;
    `reason` what the time is lost to, in a sentence; `run_s` how long the program takes."""

    command: tuple[str, ...]
    folder: Path
    worth: float
    most: float
    reason: str
    budget_s: float
    run_s: float
    tried: tuple[Tried, ...] = ()
    hopeless: bool = False
    """Nothing was tried, because nothing could reach `worth`."""
    whole_s: float | None = None
    """How long a whole run takes, where it is so short that nothing was tried."""
    interrupted: bool = False
    failure: str | None = None
    """Why the search ended early, where the program as it is failed."""
    notes: tuple[str, ...] = ()
    """What was not tried, and why."""
    unchanged: str = ""
    """Where overlap could save most, if nothing there could be rewritten."""
    obstacle: str = ""
    """What stands in the way of trying the source at all; empty: notes say it of single calls."""
    options: tuple[str, ...] = ()
    """What the user gave beside the budget, as words of a line."""
    left_s: float | None = None
    """What of the budget was left for trials: a calibration may have taken most of it."""

    @property
    def recommended(self) -> tuple[Tried, ...]:
        """What is proven, the best first."""
        return proven(self.tried)

    @property
    def baseline_s(self) -> list[float]:
        """The times of the program as it is."""
        return [
            pair.a.seconds
            for found in self.tried
            if found.trial is not None and found.candidate.kind != "combination"
            for pair in found.trial.counted
        ]

    @property
    def verdict(self) -> str:
        """One sentence: nothing to gain, or how much faster with what."""
        if self.hopeless:
            return f"Nothing to gain from overlap here: {_at_most(self.most)}."
        if self.whole_s is not None:
            return (
                f"Nothing tried: only {wording.seconds(self.run_s)} of the "
                f"{wording.seconds(self.whole_s)} of a run lie between MPI_Init and MPI_Finalize, "
                f"and overlap could gain {_at_most(self.most)} of them."
            )
        if self.recommended:
            return self._faster(self.recommended[0])
        if not self.tried and self._over:
            return f"Nothing tried: {self._no_room}"
        if not self.tried:
            source = self._source_unchanged or "there is no call that can be rewritten"
            return (
                f"Overlap could gain {_at_most(self.most)}, but nothing is known to try: no "
                f"setting helps this library as it is set, and {source}."
            )
        if not any(found.pairs or found.failed for found in self.tried):
            if self.interrupted:
                return "Nothing was tried yet."
            return f"Nothing tried: {self._no_room}"
        count = len(self.tried)
        if self._open:
            when = "so far" if self.interrupted else f"within {_duration(self.budget_s)}"
            looks = [t for t in self.tried if t.looks_faster and t.pairs >= LEAST_PAIRS]
            if looks:
                best = max(looks, key=lambda t: t.estimate)
                return (
                    f"Nothing proven {when}; {best.candidate.label} looks "
                    f"{_percent(best.estimate)} % faster ({_pairs(best.pairs)})."
                )
            left = sum(not found.finished for found in self.tried)
            return f"Nothing proven {when}: {left} of {count} candidates were not tried to the end."
        if (worn := self._out_of_pairs) is not None:
            return (
                f"Nothing proven with {_pairs(worn.pairs)}; {worn.candidate.label} looks "
                f"{_percent(worn.estimate)} % faster."
            )
        none = "the one candidate does not save" if count == 1 else f"none of {count} saves"
        none = f"{none} more than {wording.percent(self.worth)} for certain"
        reasons = [f"overlap could gain {_at_most(self.most)}", none]
        reasons += [self._source_unchanged] if self._source_unchanged else []
        return f"Nothing found that helps: {', '.join(reasons[:-1])}, and {reasons[-1]}."

    def lines(self) -> list[str]:
        """The verdict, why, how to apply it, and what became of each candidate. Commands begin
        with three blanks and a dollar."""
        text = [self.verdict]
        if self.recommended:
            best = self.recommended[0].candidate
            text += [f"   $ {line}" for line in best.apply]
            text += [f"What it does: {best.effect}. What it costs: {best.cost}."]
        text.append(self.reason)
        if self.whole_s is not None:
            text.append(
                "Let the program take more steps, or give --time-from if it prints how long they "
                "take."
            )
        if self.failure is not None:
            text.append(f"The trials ended early: {self.failure}.")
        if self._open or self._out_of_pairs is not None:
            text.append(f"Started again{self._with_more_time} it goes on where it stopped:")
            text.append(f"   $ {shlex.join(self._again)}")
        if (noise := self._noise) is not None:
            text.append(noise)
        times = self.baseline_s
        if times:
            text.append(
                f"The program as it is takes {wording.seconds(median(times))} (median of "
                f"{len(times)} run{'' if len(times) == 1 else 's'}). Beside it:"
            )
        text += [f"- {found.candidate.label}: {self._outcome(found)}" for found in self.tried]
        off = self.prediction_errors
        if len(off) > 1:
            text.append(
                f"Predictions and trials differ by {_percent(median(off))} % of the run in the "
                f"median, {_percent(max(off))} % at worst."
            )
        told = self._source_unchanged in self.verdict if self.obstacle else False
        return text + [f"- {n}" for n in self.notes if not (told and n.endswith(self.obstacle))]

    @property
    def prediction_errors(self) -> list[float]:
        """How far the replay's predictions are from the trials, as shares of the run time."""
        return [
            abs(found.prediction - found.estimate)
            for found in self.tried
            if found.prediction is not None and found.failed is None
        ]

    @property
    def _source_unchanged(self) -> str:
        """That no change of the source could be tried, and why, or where one would have to be."""
        if self.obstacle:
            return f"no rewrite of the source could be tried ({self.obstacle})"
        if not self.unchanged:
            return ""
        return f"no call can be rewritten, also at {self.unchanged} (why is told below)"

    @property
    def _open(self) -> bool:
        """Whether more time could find something, or something better."""
        if not self.tried:
            return self._over and not self.hopeless
        return any(not found.finished and not found.recommended for found in self.tried)

    @property
    def _over(self) -> bool:
        """Whether the time was over before anything could be tried."""
        return self.left_s is not None and self.left_s <= 0

    @property
    def _again(self) -> list[str]:
        """The line that starts it again, with a budget and pairs that are enough for all that is
        open, or with those of before where it was interrupted."""
        options, budget_s = list(self.options), self.budget_s
        if not self.interrupted:
            budget_s = self._needed_s
            if (pairs := self._pairs_wanted) is not None:
                if "--repeat" in options:
                    at = options.index("--repeat")
                    del options[at : at + 2]
                options += ["--repeat", f"{pairs}"]
                budget_s = max(budget_s, 3 * max([self.run_s, *self.baseline_s]) * pairs)
        minutes = math.ceil(budget_s / 60)
        whole = not self.interrupted or budget_s == 60 * minutes
        time = f"{minutes}m" if whole else f"{budget_s:.0f}s"
        return ["imbrex", "tune", "--budget", time, *options, "--", *self.command]

    @property
    def _pairs_wanted(self) -> int | None:
        """How many pairs of a candidate another start may need; None: no more than this one had."""
        if (worn := self._out_of_pairs) is not None:
            return max(2 * worn.pairs, _pairs_that_prove(worn, self.worth) or MOST_PAIRS)
        if (best := self._hidden_by_noise) is None or best.trial is None:
            return None
        needed = _pairs_that_prove(best, self.worth)
        return needed if needed is not None and needed > best.trial.plan.most else None

    @property
    def _with_more_time(self) -> str:
        return "" if self.interrupted else " with more time"

    @property
    def _needed_s(self) -> float:
        pairs = sum(2 * LEAST_PAIRS + 2 for found in self.tried if not found.finished)
        return max(2 * self.budget_s, 2 * max([self.run_s, *self.baseline_s]) * pairs)

    @property
    def _out_of_pairs(self) -> Tried | None:
        """What looks fastest of that which had as many pairs as it may have, and is not proven."""
        if self.recommended:
            return None
        worn = [
            found
            for found in self.tried
            if found.looks_faster and found.trial and found.pairs >= found.trial.plan.most
        ]
        return max(worn, key=lambda t: t.estimate, default=None)

    @property
    def _no_room(self) -> str:
        """Why there was no time for even the least number of pairs."""
        takes = f"a run takes {wording.seconds(self.run_s)}"
        pairs_s = 2 * (LEAST_PAIRS + 1) * self.run_s  # the first of each does not count
        if self.left_s is not None and self.left_s < pairs_s <= self.budget_s:
            spent = _duration(self.budget_s - max(self.left_s, 0.0))
            return (
                f"measuring the program and its network took {spent} of the budget of "
                f"{_duration(self.budget_s)}, and {takes}; started again only the trials are left."
            )
        if pairs_s <= self.budget_s:
            return (
                f"the budget of {_duration(self.budget_s)} was over before the first pair, though "
                f"{takes.replace(' takes ', ' took ')} when it was measured: others may keep this "
                "machine busy."
            )
        return (
            f"{takes}, and the budget of {_duration(self.budget_s)} leaves no time for "
            f"{LEAST_PAIRS} pairs."
        )

    @property
    def _hidden_by_noise(self) -> Tried | None:
        """What looks fastest, where nothing is proven and the noise is why."""
        undecided = [t for t in self.tried if t.looks_faster and not t.recommended]
        if self.recommended or not undecided:
            return None
        best = max(undecided, key=lambda t: t.estimate)
        return best if best.deviation >= NOISY * self.worth else None

    @property
    def _noise(self) -> str | None:
        """That the machine is too noisy for the question, where it is."""
        best = self._hidden_by_noise
        if best is None:
            return None
        assert best.trial is not None
        plan = best.trial.plan
        needed = _pairs_that_prove(best, self.worth)
        enough = f"about {needed} pairs" if needed is not None else "more than 1,000 pairs"
        options = ["--repeat"] if needed is None or needed > plan.most else []
        options += ["--budget"] if self._open else []
        how = f" ({', '.join(options)})" if options else ""
        return (
            f"This machine is noisy: the ratio of two runs varies by "
            f"{wording.percent(best.deviation)}. If {best.candidate.label} really saves "
            f"{_percent(best.estimate)} %, {enough} would prove it{how}."
        )

    def _faster(self, best: Tried) -> str:
        assert best.gain is not None
        low, high = best.gain
        estimate, beside = best.estimate, ""
        if best.candidate.kind == "combination":
            alone = next(
                t
                for t in self.recommended
                if t.candidate.kind != "combination"
                and best.candidate.label.startswith(t.candidate.label)
            )
            assert alone.gain is not None
            low, high = (1 - (1 - a) * (1 - b) for a, b in zip(alone.gain, best.gain, strict=True))
            estimate = 1 - (1 - alone.estimate) * (1 - estimate)
            beside = f", {_percent(best.estimate)} % of it by the second"
        return (
            f"{_percent(estimate)} % faster ({_percent(low)} to {_percent(high)}{beside}, "
            f"{_pairs(best.pairs)}, {_CHECKED[best.checked]}) with {best.candidate.label}."
        )

    def _outcome(self, found: Tried) -> str:
        """What became of a candidate, and what a replay had predicted."""
        text = self._became(found)
        if found.prediction is not None and found.failed is None:
            text += f"; predicted {_percent(found.prediction)} %"
        return text

    def _became(self, found: Tried) -> str:
        if found.failed is not None:
            return f"out: {found.failed}"
        if not found.pairs:
            why = "it cannot save more than what is proven"
            return f"not tried: {why if found.finished else 'the time was over'}"
        direction = "faster" if found.estimate >= 0 else "slower"
        text = f"{_percent(abs(found.estimate))} % {direction}"
        if found.candidate.kind == "combination":
            text += " than the best alone"
        if found.recommended and found.gain is not None:
            low, high = found.gain
            return f"{text} ({_percent(low)} to {_percent(high)}, {_pairs(found.pairs)})"
        text += f" ({_pairs(found.pairs)}), "
        if found.finished and found.looks_faster and self.recommended:
            return f"{text}less than what is proven"
        text += "not proven"
        return text if found.finished else f"{text}: the time was over"

    def to_json(self) -> dict[str, Any]:
        """The object of `imbrex tune --json`."""
        times = self.baseline_s
        return {
            "schema_version": 1,
            "command": list(self.command),
            "verdict": self.verdict,
            "reason": self.reason,
            "worth": self.worth,
            "gainable": [0.0, self.most],
            "baseline": {"seconds": times, "median_s": median(times) if times else None},
            "complete": not (self._open or self.interrupted or self._out_of_pairs),
            "notes": list(self.notes),
            "prediction_error": {
                "median": median(self.prediction_errors) if self.prediction_errors else None,
                "worst": max(self.prediction_errors, default=None),
            },
            "candidates": [found.to_json() for found in self.tried],
        }

    def write(self) -> None:
        """Leave the answer in the folder: JSON, text, and the lines for a job script."""
        answer = json.dumps(self.to_json(), indent=1, allow_nan=False)
        write_whole(self.folder / ANSWER, answer + "\n")
        write_whole(self.folder / TEXT, "\n".join(self.lines()) + "\n")
        if self.recommended:
            lines = self.recommended[0].candidate.apply
            write_whole(self.folder / SCRIPT, "\n".join(lines) + "\n")
        else:
            (self.folder / SCRIPT).unlink(missing_ok=True)


def _pairs_that_prove(found: Tried, worth: float) -> int | None:
    """How many pairs prove what a candidate seems to save; None where MOST_PAIRS do not."""
    assert found.trial is not None
    width = -math.log1p(-found.estimate) + math.log1p(-worth)
    return pairs_needed(found.deviation, width, MOST_PAIRS, found.trial.plan.confidence)


def _at_most(most: float) -> str:
    return f"at most {wording.percent(most)}".replace("at most <", "less than")


def _pairs(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _duration(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
