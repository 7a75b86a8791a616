"""Runs whose times are written down, and searches over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.tune.answer import Found
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def setting(value: str) -> Candidate:
    return Candidate("setting", f"X={value}", Setup({"X": value}), "effect", "cost")


class Machine:
    """Runs take 10 s times a factor that the setting X decides, with noise; the clock goes on."""

    def __init__(
        self, factors: dict[str, float], noise: float = 0.005, seed: int = 1, kind: str = "half"
    ) -> None:
        self.factors, self.noise, self.kind = factors, noise, kind
        self.other: dict[str, float] = {}
        self.added = True
        self.rng = np.random.default_rng(seed)
        self.now = 0.0
        self.runs: list[str] = []
        self.printed: Callable[[str, float], str] = lambda x, t: f"took {t:.6f}\nresult 42\n"

    def __call__(self, line: Line) -> TimedRun:
        x = line.environment.get("X", "")
        self.runs.append(x)
        if x == "bad":
            raise ImbrexError("line B ended with exit code 3: nothing is compared (no such pml)")
        factor = self.factors.get(x, 1.0)
        y = self.other.get(line.environment.get("Y", ""), 1.0)
        factor = factor * y if self.added else min(factor, y)
        seconds = 10 * factor * (1 + self.noise * self._drawn())
        self.now += seconds
        return TimedRun(seconds, None, self.printed(x, seconds))

    def _drawn(self) -> float:
        if self.kind == "spikes":
            return 10 * float(self.rng.random() < 0.1)
        if self.kind == "exponential":
            return float(self.rng.exponential())
        return abs(float(self.rng.normal()))

    def clock(self) -> float:
        return self.now


def tuned(
    machine: Machine, values: Sequence[str], budget_s: float = 1e6, **more: object
) -> tuple[Tried, ...]:
    plan = more.pop("plan", Plan(30, warm=0))
    request = Request(LINE, plan, budget_s, **more)  # type: ignore[arg-type]
    tried = [Tried(setting(v)) for v in values]
    search(request, tried, machine, clock=machine.clock)
    return tuple(tried)


def found(
    tried: tuple[Tried, ...], most: float = 0.3, folder: Path = Path("t"), **more: Any
) -> Found:
    return Found(LINE.words, folder, 0.01, most, "MPI 40 %.", 600, 10, tried, **more)
