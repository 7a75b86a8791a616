"""The hidden share by kind of evidence, where the calls or a source inside the library book
transfers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.diagnosis.hidden import hidden_of
from imbrex.profile.run import Run, load_run

US = 1000
SEND, REDUCE = 0, 5
UCX = 2


def transfers(site: int, operation: int, expected_us: int, **more: int) -> dict[str, int]:
    """Ten logged transfers of 100 us in all, by `expected` at most that long hidden."""
    row = {"rank": 0, "site": site, "operation": operation, "size_class": 20, "path": 2}
    row |= {"transfers": 10, "transfer_min_ns": 100 * US, "transfer_max_ns": 100 * US}
    for kind, most_us in (("call", 100), ("matched", 80), ("expected", expected_us)):
        row |= {f"{kind}_overlap_max_ns": most_us * US, f"{kind}_exposed_max_ns": 100 * US}
        row[f"{kind}_exposed_min_ns"] = (100 - most_us) * US
    return row | more


@pytest.fixture
def inside(make_caused: Callable[..., Run], tmp_path: Path) -> Callable[..., Run]:
    """A run with such transfers, of which the library was seen to make `messages` each."""

    def make(evidence: list[dict[str, int]], messages: dict[int, int], source: int) -> Run:
        make_caused([], evidence=evidence, name="inside")
        file = tmp_path / "inside" / "measures.npy"
        measures = np.load(file)
        measures["source"] = source
        for site, count in messages.items():
            measures["transfers"][measures["site"] == site] = count
        np.save(file, measures)
        return load_run(tmp_path / "inside")

    return make


def share(run: Run, *keys: str) -> dict[tuple[int, ...], Any]:
    return {key: found.by["expected"] for key, found in hidden_of(run, keys).items()}


@pytest.mark.parametrize("source", [0, UCX], ids=["calls", "ucx"])
def test_other_evidence_cuts_what_calls_and_library_say(
    inside: Callable[..., Run], source: int
) -> None:
    rows = [transfers(1, SEND, 10), transfers(2, REDUCE, 30)]
    run = inside(rows, {}, source)
    assert share(run)[()] == pytest.approx((0.0, 0.2))
    by_site = share(run, "site")
    assert by_site[(1,)] == pytest.approx((0.0, 0.1))
    assert by_site[(2,)] == pytest.approx((0.0, 0.3))
    assert share(run, "rank")[(0,)] == pytest.approx((0.0, 0.2))


def test_a_collective_of_many_messages_keeps_what_the_library_showed(
    inside: Callable[..., Run],
) -> None:
    """They are not the transfers of the log; those of other rows are."""
    rows = [transfers(1, SEND, 10), transfers(2, REDUCE, 30)]
    run = inside(rows, {2: 24}, UCX)
    by_site = share(run, "site")
    assert by_site[(1,)] == pytest.approx((0.0, 0.1))
    assert by_site[(2,)] == pytest.approx((0.0, 1.0))
    assert share(run)[()] == pytest.approx((0.0, 0.55))


def test_the_narrower_of_library_and_log_counts(inside: Callable[..., Run], tmp_path: Path) -> None:
    run = inside([transfers(1, SEND, 10)], {}, UCX)
    measures = np.array(run.measures)
    measures["overlap_max_ns"], measures["exposed_min_ns"] = 5 * US, 95 * US
    np.save(tmp_path / "inside" / "measures.npy", measures)
    assert share(load_run(tmp_path / "inside"))[()] == pytest.approx((0.0, 0.05))
