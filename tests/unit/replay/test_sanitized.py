"""The engine under the sanitizers of addresses and undefined behaviour, with what orders have
changed looked through wherever they meet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
from tests.modules import load
from pathlib import Path
folder = Path({folder!r})
load(folder / "building.py")
orders = load(folder / "test_orders.py")
from imbrex.replay import evaluate
from dataclasses import replace
from random import Random
draw = Random(5)
for turn in range(40):
    program = orders.waits_for_any(
        draw.randint(3, 6), draw.randint(2, 5), turn, draw.choice((101, 5000, 160_000)),
        draw.choice((0.0, 0.3)), draw.randint(1, 3),
    )
    held = replace(orders.HELD, held_by_sender=draw.random() < 0.8,
                   held_by_receiver=draw.random() < 0.8)
    network = evaluate.Network(replace(held, latency_ns=300), held)
    replayer = evaluate.Replayer(program.schedule())
    over = [network.with_latency(draw.uniform(0, 100_000)).with_byte_ns(draw.uniform(0, 3))
            for _ in range(draw.randint(1, 90))]
    expected = orders.one_by_one(replayer, over)
    for most in (evaluate.LANES_BYTES, 200_000, 1000)[: 3 if turn % 8 == 0 else 1]:
        evaluate.LANES_BYTES, before = most, evaluate.LANES_BYTES
        assert replayer.run_ns_of(over)[0].tolist() == expected, turn
        evaluate.LANES_BYTES = before
replayer.run(over[0], trace=True)
print("the same")
"""


def test_lanes_and_replays_under_sanitizers(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None or sys.platform != "linux":
        pytest.skip("needs gcc")
    named = subprocess.run([gcc, "-print-file-name=libasan.so"], capture_output=True, text=True)
    library = Path(named.stdout.strip())
    if not library.is_absolute():
        pytest.skip("needs libasan")
    compiler = tmp_path / "cc"
    flags = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DIX_FEWEST_SETTLED=0"
    compiler.write_text(f'#!/bin/sh\nexec {gcc} "$@" {flags}\n')
    compiler.chmod(0o755)
    environment = os.environ | {
        "CC": str(compiler),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "LD_PRELOAD": str(library),
        # Python gives back little of what it has at its end.
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    program = PROGRAM.format(folder=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "the same\n"
