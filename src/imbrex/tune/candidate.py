"""A change to try: what it is, how it is applied, and what became of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.profile.progress import Progress
from imbrex.tune.statistics import deviation_of
from imbrex.tune.timed_run import Line
from imbrex.tune.trial import Trial


@dataclass(frozen=True)
class Setup:
    """What differs from the program as it is: variables of the environment, the launcher line
    where it starts another build, and what stands before the program: imbrex-exec."""

    environment: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] | None = None
    prefix: tuple[str, ...] = ()

    def line(self, name: str, line: Line) -> Line:
        """The line that is run, from the user's."""
        words = self.words or line.words
        if self.prefix:
            words = tuple(parse_launcher_line(words).with_prefix(self.prefix))
        return replace(
            line,
            name=name,
            words=words,
            environment={**line.environment, **self.environment},
        )


@dataclass(frozen=True)
class Candidate:
    """One change. `kind` is setting, progress, source or combination; `effect` and `cost` say what
    it does and what it takes.

    `setup` is what is tried, beside the setup `beside`: that of the program as it is (for a source,
    built as the candidate is), or for a combination that of the best alone. `most` is the share of
    the run time that it can save at most, as the measured run says; `commands` are what a user does
    before setting the environment, and `start` starts the program where it is started otherwise.
    `progress`: data moves while the program computes, by `thread` as a run with it showed, or by
    one that never pauses (`spins`); `eager_bytes`: messages up to this size leave without asking;
    `saves_s`: what a replay of the run says of that, None where there is none.
    """

    kind: str
    label: str
    setup: Setup = Setup()
    effect: str = ""
    cost: str = ""
    most: float = 1.0
    beside: Setup = Setup()
    commands: tuple[str, ...] = ()
    start: str = ""
    progress: bool = False
    thread: Progress | None = None
    spins: bool = False
    eager_bytes: int = 0
    saves_s: float | None = None

    @property
    def apply(self) -> tuple[str, ...]:
        """The lines for a shell or a job script."""
        variables = self.setup.environment.items()
        words = [f"{name}={shlex.quote(value)}" for name, value in variables]
        exported = (f"export {' '.join(words)}",) if words else ()
        return self.commands + exported + ((self.start,) if self.start else ())


@dataclass(frozen=True)
class Tried:
    """A candidate after its trial. `failed` says why it is out, whatever its time: a run that
    failed, another result. `trial` is None where not one pair was run."""

    candidate: Candidate
    trial: Trial | None = None
    failed: str | None = None
    checked: str = ""
    """How its results were checked: `command`, `output`, or empty: not at all."""
    finished: bool = False
    """More pairs would not change what becomes of it; else the time was over."""

    @property
    def pairs(self) -> int:
        """How many pairs decide."""
        return 0 if self.trial is None else len(self.trial.counted)

    @property
    def estimate(self) -> float:
        """The share of the time that it seems to save; 0 of no pairs."""
        return 1 - self.trial.ratio.estimate if self.trial is not None and self.pairs else 0.0

    @property
    def prediction(self) -> float | None:
        """The share of the time that a replay says it saves; None without pairs to take it of."""
        if self.candidate.saves_s is None or self.trial is None or not self.pairs:
            return None
        return self.candidate.saves_s / self.trial.medians_s[0]

    @property
    def gain(self) -> tuple[float, float] | None:
        """The share of the time that it saves, least and most; None of too few pairs."""
        if self.trial is None or self.trial.ratio.low == 0:
            return None
        return self.trial.ratio.gain

    @property
    def certain_gain(self) -> float:
        """The least that it saves, 0 where that is not known."""
        return self.gain[0] if self.gain is not None else 0.0

    @property
    def deviation(self) -> float:
        """How much the ratio of a pair varies: a standard deviation."""
        return 0.0 if self.trial is None else deviation_of(self.trial.log_ratios)

    @property
    def recommended(self) -> bool:
        """Whether it is proven to save what is worth it, and nothing speaks against it."""
        gain = self.gain
        if self.failed is not None or gain is None or self.trial is None:
            return False
        return gain[0] > self.trial.plan.worth

    @property
    def looks_faster(self) -> bool:
        """Whether it is worth more pairs: faster by what matters, going by the estimate."""
        return (
            self.failed is None
            and self.trial is not None
            and self.pairs > 0
            and self.estimate > self.trial.plan.worth
        )

    def to_json(self) -> dict[str, object]:
        """An entry of `candidates`."""
        candidate = self.candidate
        return {
            "kind": candidate.kind,
            "what": candidate.label,
            "predicted": [0.0, candidate.most],
            "predicted_s": candidate.saves_s,
            "prediction": self.prediction,
            "estimate": self.estimate if self.pairs else None,
            "gain": None if self.gain is None else list(self.gain),
            "pairs": self.pairs,
            "finished": self.finished,
            "checked": self.checked or None,
            "failed": self.failed,
            "recommended": self.recommended,
            "apply": list(candidate.apply),
            "effect": candidate.effect,
            "cost": candidate.cost,
        }


def proven(tried: Iterable[Tried]) -> tuple[Tried, ...]:
    """What is proven, what gains most for certain first; a combination is more than the best
    alone."""
    found = [t for t in tried if t.recommended]
    return tuple(sorted(found, key=lambda t: (t.candidate.kind != "combination", -t.certain_gain)))
