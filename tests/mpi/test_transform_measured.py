"""`imbrex run`, then `imbrex transform --run`: what was measured stands at each call site."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import forked

pytestmark = pytest.mark.untimed

APPS = Path(__file__).parents[2] / "apps"
STEPS = 10


def imbrex(*arguments: str) -> str:
    done = forked.imbrex(arguments, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_sites_carry_what_a_run_measured(mpi: Any, tmp_path: Path) -> None:
    made = subprocess.run(
        ["make", "-C", str(APPS), f"BUILD={tmp_path}", f"MPICC={mpi.mpicc}", "MPIFC=", "halo2d"],
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    run = str(tmp_path / "run")
    words = ["--variant", "blocking", "--n", "256", "--steps", str(STEPS)]
    imbrex(*("run", "-q", "-o", run, "--", mpi.mpirun, "-n", "2", str(tmp_path / "halo2d"), *words))
    sources = [str(path) for path in sorted((APPS / "halo").glob("halo2d*.c"))]

    def sites(worth: str) -> list[dict[str, Any]]:
        text = imbrex("transform", "--json", "--run", run, "--worth", worth, *sources)
        return list(json.loads(text)["sites"])

    every = sites("0")
    shares = [site["measured"]["share"] if site["measured"] else 0.0 for site in every]
    assert shares == sorted(shares, reverse=True)
    blocking = [site for site in every if site["file"].endswith("halo2d_blocking.c")]
    assert len(blocking) == 4
    for site in blocking:
        # One line of the source, two ranks, a transfer for each direction that has a neighbour.
        assert site["measured"]["count"] >= 2 * STEPS
        assert site["measured"]["call_s"] > 0
    assert any(site["decision"] == "rewritten" for site in blocking)
    unmeasured = [site for site in every if "overlapped" in site["file"]]
    assert unmeasured and all(site["measured"] is None for site in unmeasured)
    # A high threshold leaves alone what does not reach it, as all that the run did not come to.
    kept = sites("100")
    assert any("not worth it" in site["reason"] for site in kept)
    for site in kept:
        assert site["decision"] != "rewritten" or site["measured"]["share"] >= 1
    # Its messages take microseconds: calls each 0.1 s would come when they are over.
    words = ["--run", run, "--worth", "0", "--progress", "100000"]
    reasons = [
        s["reason"] for s in json.loads(imbrex("transform", "--json", *words, *sources))["sites"]
    ]
    assert any("less than the 1e+05 us between progress calls" in reason for reason in reasons)
