"""On a measured network a recorded message takes what one of its size took there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.network.interconnect import Interconnect, time_of_size
from imbrex.replay.modes import AS_WRITTEN, NONE
from imbrex.replay.prediction import grid, measured_networks
from imbrex.replay.replay import replay_s

# Up to 200 bytes at 1 ns a byte, from there on at 2.
SIZES = ((200.0, 200e-9), (1000.0, 1800e-9))
PLAIN = Interconnect("plain", 100e-9, 1e9)
MEASURED = Interconnect("measured", 100e-9, 1e9, sizes=SIZES)


@pytest.mark.parametrize(
    ("size", "takes_ns"), [(0, 0), (100, 100), (200, 200), (400, 600), (1000, 1800), (2000, 3800)]
)
def test_times_lie_on_lines_between_the_sizes(size: float, takes_ns: float) -> None:
    assert time_of_size(SIZES, size) * 1e9 == pytest.approx(takes_ns)
    both = grid([PLAIN, MEASURED]).bytes_s(size) * 1e9
    assert both == pytest.approx([size, takes_ns])
    if size:
        delay = MEASURED.of_size(size)
        assert delay.gap_s_per_byte * size * 1e9 == pytest.approx(takes_ns)
    assert PLAIN.of_size(size) is PLAIN


def test_where_the_last_two_sizes_took_the_same_time_larger_ones_take_it_in_proportion() -> None:
    assert time_of_size(((100.0, 1e-6), (1000.0, 1e-6)), 2000) == pytest.approx(2e-6)


def test_each_network_has_its_own_times(one_way: Any) -> None:
    # 400 bytes after 1000 ns of computation; the receiver then computes for 800 ns.
    schedule = one_way()
    for mode in (AS_WRITTEN, NONE):
        both = replay_s(schedule, grid([PLAIN, MEASURED]), mode) * 1e9
        assert both == pytest.approx(np.array([1000 + 100 + 400 + 800, 1000 + 100 + 600 + 800]))
    free = replay_s(schedule, grid([PLAIN, MEASURED]), AS_WRITTEN, messages_cost=False) * 1e9
    assert free == pytest.approx(np.array([1800, 1800]))


def test_pieces_share_what_the_message_takes(one_way: Any) -> None:
    # Written in 100 ns just before, read from the end on: pieces leave back to back.
    schedule = one_way()
    plain, measured = replay_s(schedule, grid([PLAIN, MEASURED]), "fine-grained") * 1e9
    assert plain < measured <= 1000 + 100 + 600 + 800


def test_the_measured_network_has_the_sizes_of_its_profile(tmp_path: Path) -> None:
    loggp = dict.fromkeys(("L_s", "o_s_s", "o_r_s", "g_s", "residual"), 0.0)
    loggp |= {"EEL_s": 100e-6, "G_s_per_byte": 5e-9}
    points = [
        {"size_bytes": size, "x_lo_s": 0, "x_hi_s": 1, "median_s": median_s}
        for size, median_s in ((1, 100e-6), (1000, 104e-6), (1_000_000, 10.1e-3))
    ]
    path = {"points": points, "gap_s_per_byte": 5e-9, "loggp": loggp}
    document = {
        **{"format": "imbrex-machine-profile", "schema_version": 1, "created": "2026-01-01T00:00Z"},
        **{"imbrex_version": "0.1.0", "quick": True, "hosts": ["a"], "ranks": 2, "settings": {}},
        **{
            "collectives": [],
            "library": {"name": "", "version": ""},
            "paths": {"inter-node": path},
        },
    }
    (tmp_path / "machine.json").write_text(json.dumps(document))
    (network,) = measured_networks(tmp_path, None)
    assert network.name == "machine: inter-node"
    assert dict(network.sizes) == pytest.approx({1: 0, 1000: 4e-6, 1_000_000: 10e-3})
    # What is shown of the network is its fit.
    assert network.gap_s_per_byte == pytest.approx(5e-9)
    assert network.of_size(1_000_000).gap_s_per_byte == pytest.approx(10e-9)
