"""Try a program beside itself, again and again: how often is a difference "proven"?

    python benchmarks/tune_self.py [--trials 100] [--pairs 10] -- mpirun -n 2 ./app

Each trial is one of `imbrex tune`: pairs of runs in turns, an interval after each, `--pairs` at
most in it; disturbed pairs are repeated as there. Both lines are the same, so that every trial that
says "faster" or "slower" by more than `--worth` per cent is wrong. Prints how many were, what the
others said, and how much the pairs varied. At 95 % confidence up to 5 % may be wrong either way.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from imbrex.tune.statistics import deviation_of
from imbrex.tune.timed_run import Line, run_timed
from imbrex.tune.trial import LEAST_DISTURBED, Plan, run_trial


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--worth", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ends it earlier")
    parser.add_argument("line", nargs="+")
    given = parser.parse_args()
    line = Line("A", tuple(given.line))
    plan = Plan(given.pairs, 0, given.worth / 100, repeated=LEAST_DISTURBED)
    said, deviations, pairs = Counter[str](), [], 0
    end = time.monotonic() + given.seconds
    for _ in range(given.trials):
        if time.monotonic() > end:
            break
        trial = run_trial(line, replace(line, name="B"), plan, run_timed)
        low, high = trial.ratio.gain
        faster, slower = low > plan.worth, -high > plan.worth
        said["faster" if faster else "slower" if slower else trial.answer.value] += 1
        deviations.append(deviation_of(trial.log_ratios))
        pairs += len(trial.counted)
    count = sum(said.values())
    wrong = said["faster"] + said["slower"]
    print("| trials | pairs | spread of a pair | faster | slower | same | open |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    cells = " | ".join(str(said[name]) for name in ("faster", "slower", "same", "open"))
    print(f"| {count} | {pairs} | {np.median(deviations):.1%} | {cells} |")
    print(f"wrong: {wrong} of {count}, by more than {given.worth:g} %")


if __name__ == "__main__":
    main()
