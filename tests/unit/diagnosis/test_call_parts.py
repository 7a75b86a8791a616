"""Calls as stretches of time: hand-worked, and always the whole call without a gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.diagnosis.call_parts import parts_of_call
from imbrex.profile.causes import CAUSES
from imbrex.profile.timeline.format import TIMELINE_DTYPE


def call(begin: int, end: int, **causes: tuple[int, int]) -> np.void:
    row = np.zeros(1, TIMELINE_DTYPE)
    row["enter_ns"], row["exit_ns"] = begin, end
    for name, (low, high) in causes.items():
        row[f"{name}_min_ns"], row[f"{name}_max_ns"] = low, high
    found: np.void = row[0]
    return found


@pytest.mark.parametrize(
    ("causes", "expected"),
    [
        ({"library": (100, 100)}, [("library", 1000, 1100)]),
        (
            {"late_sender": (60, 60), "transfer": (30, 40), "stalled": (0, 10)},
            [("late_sender", 1000, 1060), ("stalled", 1060, 1065), ("transfer", 1065, 1100)],
        ),
        # nothing was measured of the network: transfer and stalled are not told apart
        (
            {"late_sender": (60, 60), "transfer": (0, 40), "stalled": (0, 40)},
            [("late_sender", 1000, 1060), ("moving", 1060, 1100)],
        ),
        (
            {"late_receiver": (20, 20), "late_collective": (30, 30), "late_sender": (50, 50)},
            [
                ("late_sender", 1000, 1050),
                ("late_collective", 1050, 1080),
                ("late_receiver", 1080, 1100),
            ],
        ),
        (
            {"library": (0, 100), "unattributed": (0, 100)},
            [("library", 1000, 1050), ("unattributed", 1050, 1100)],
        ),
        ({}, []),
    ],
)
def test_by_hand(causes: dict[str, tuple[int, int]], expected: list[tuple[str, int, int]]) -> None:
    found = parts_of_call(call(1000, 1100, **causes))
    assert [(part.cause, part.begin_ns, part.end_ns) for part in found] == expected


@given(
    st.integers(0, 10_000),
    st.dictionaries(st.sampled_from(CAUSES), st.tuples(st.integers(0, 9999), st.integers(0, 9999))),
)
def test_parts_fill_the_call(length: int, causes: dict[str, tuple[int, int]]) -> None:
    ordered = {name: (min(pair), max(pair)) for name, pair in causes.items()}
    found = parts_of_call(call(7, 7 + length, **ordered))
    if not found:
        assert length == 0 or not any(high for _, high in ordered.values())
        return
    edges = [edge for part in found for edge in (part.begin_ns, part.end_ns)]
    assert edges[0] == 7
    assert edges[-1] == 7 + length
    assert edges[1:-1:2] == edges[2::2]
