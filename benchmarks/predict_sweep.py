"""A million networks for one program: the vectorized sweep against a plain Python loop.

Usage: python benchmarks/predict_sweep.py [MODEL.toml] [--points N]

Both run here, one after the other; the loop runs on a sample of the points and is scaled up.
Prints one line per program and exits 1 if a sweep takes a second or more, or if the two disagree.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np

from imbrex.model.model_file import load_model
from imbrex.model.program import Program
from imbrex.network.message import Message
from imbrex.network.points import NetworkPoints

EXAMPLE = Path(__file__).parents[1] / "examples" / "sancho2006.toml"
SAMPLE = 2000


def plain_message_s(message: Message, mode: str, latency: float, gap: float, g: float) -> float:
    """Exposed time of one message, by the formulas of docs/theory/predict.md; delay = "message"."""
    delay = latency + gap * message.size_bytes
    exposed = max(delay - message.independent.total_s, 0.0)
    if mode == "independent" or message.ordered < message.n_sent:
        return exposed
    produced, consumed = message.produced_at, message.consumed_at
    step = max(message.t_produce_s, g)
    if message.pipelined:
        step = max(step, gap * message.element_bytes)
        first = int(produced[int(np.argmin(consumed))])
        late = 0.0
        for p, c in zip(produced.tolist(), consumed.tolist(), strict=True):
            late = max(late, step * max(p - first, 0) - message.t_consume_s * c)
        return min(exposed, latency + gap * message.element_bytes * (first + 1) + late)
    late = 0.0
    for p, c in zip(produced.tolist(), consumed.tolist(), strict=True):
        before = message.t_produce_s * (message.n_produced - 1) - step * p
        hidden = message.independent.total_s + before + message.t_consume_s * c
        late = max(late, delay - hidden)
    return min(exposed, late)


def plain_time(program: Program, latency: float, gap: float, g: float) -> float:
    """Normalized execution time on one network, one number at a time."""
    communication = sum(
        m.count * plain_message_s(m, program.mode, latency, gap, g) for m in program.messages
    )
    communication += sum(
        c.count * 2 * math.log2(c.processes) * latency for c in program.collectives
    )
    return 1 + communication / program.computation_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--points", type=int, default=1_000_000)
    arguments = parser.parse_args()
    model = load_model(arguments.model)
    side = math.isqrt(arguments.points)
    latency, gap = np.meshgrid(np.geomspace(1e-7, 1e-4, side), np.geomspace(1e-11, 1e-6, side))
    latency, gap = latency.ravel(), gap.ravel()
    g = model.latency_table.message_gap_s
    sample = np.linspace(0, latency.size - 1, SAMPLE).astype(int)
    good = True
    print(
        f"{'program':<12} {'mode':<13} {'points':>9} {'sweep':>9} {'plain loop':>11} {'ratio':>9}"
    )
    for program in model.programs:
        if any(m.delay != "message" for m in program.messages):
            print(f'{program.name:<12} skipped: the loop knows delay = "message" only')
            continue
        start = time.perf_counter()
        values = program.normalized_time(program.mode, NetworkPoints(latency, gap, g))
        swept = time.perf_counter() - start
        start = time.perf_counter()
        plain = [plain_time(program, float(latency[i]), float(gap[i]), g) for i in sample]
        looped = (time.perf_counter() - start) / SAMPLE * latency.size
        agree = bool(np.allclose(values[sample], plain, rtol=1e-9))
        good = good and swept < 1.0 and agree
        print(
            f"{program.name:<12} {program.mode:<13} {latency.size:>9} {swept:>7.3f} s "
            f"{looped:>9.2f} s {looped / swept:>7.0f} x{'' if agree else '  DISAGREE'}"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
