"""Outputs of runs, compared word by word and line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.tune.results import checked_by, comparable, difference


def test_outputs_are_compared_word_by_word() -> None:
    base = ["a 1 t=0.5\nresult 7\n", "a 1 t=0.6\nresult 7\n"]
    assert comparable(base)
    assert difference(base, "a 1 t=0.9\nresult 7\n") is None
    assert str(difference(base, "a 1 t=0.9\nresult 8\n")) == (
        "line 2 of its output has '8', not '7'"
    )
    assert not comparable(["t=1 a", "t=2 a"])
    assert not comparable(["x 1"])
    assert difference(["a", "a\nb"], "c") is None


@pytest.mark.parametrize("base", [["0 right", "1 right"], ["1 right", "0 right"]])
def test_lines_of_ranks_come_in_any_order(base: list[str]) -> None:
    one, other = "\n".join(base), "\n".join(reversed(base))
    for known in ([one, one], [one, other]):
        assert comparable(known)
        assert difference(known, one) is None
        assert difference(known, other) is None
        assert difference(known, "0 right\n2 right") is not None
        assert difference(known, "0 right\n0 right") is not None
        assert difference(known, "0 right") is not None


def test_and_so_with_times_in_them() -> None:
    base = [
        "rank 0: 5.5 in 0.11 s\nrank 1: 7.5 in 0.12 s",
        "rank 1: 7.5 in 0.10 s\nrank 0: 5.5 in 9 s",
    ]
    assert comparable(base)
    assert difference(base, "rank 1: 7.5 in 0.31 s\nrank 0: 5.5 in 0.32 s") is None
    assert difference(base, "rank 1: 7.6 in 0.31 s\nrank 0: 5.5 in 0.32 s") is not None
    assert difference(base[:1], "rank 1: 7.5 in 0.12 s\nrank 0: 5.6 in 0.11 s") is not None


@given(st.data())
def test_any_order_and_no_other_number(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["a 1", "a 2", "b 1 x", "c 3 4"]), min_size=1))
    shuffled = data.draw(st.permutations(lines))
    base = ["\n".join(lines), "\n".join(data.draw(st.permutations(lines)))]
    assert difference(base, "\n".join(shuffled)) is None
    changed = [*shuffled[:-1], shuffled[-1].replace("1", "9").replace("2", "8").replace("4", "7")]
    assert difference(base, "\n".join(changed)) is not None


def test_the_users_own_check() -> None:
    assert checked_by("grep -q 'result 42'", "result 42\n") is None
    assert checked_by("echo wrong >&2; exit 4", "") == "--check ended with exit code 4 (wrong)"
