"""Texts of one iteration as they read for the first one, and for the one that follows."""

from __future__ import annotations

import pytest

from imbrex.transform.text.loop_guards import LoopGuards


def guards(fortran: bool) -> LoopGuards:
    return LoopGuards("k", "", "k + 1 < n", "0", "k + 1", 1, fortran)


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("k", "k + 1"),
        ("u[k]", "u[k + 1]"),
        ("size%k", "size%(k + 1)"),
        ("size % k", "size % (k + 1)"),
        ("a>k", "a>(k + 1)"),
        ("p->k + s.k", "p->k + s.k"),
        ("K + ak + k2", "K + ak + k2"),
    ],
)
def test_c(text: str, following: str) -> None:
    assert guards(False).at_next(text) == following


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("rank.eq.k", "rank.eq.(k + 1)"),
        ("row .EQ. K", "row .EQ. (k + 1)"),
        (".not.k.lt.3", ".not.(k + 1).lt.3"),
        ("x%k + x % k", "x%k + x % k"),
        ("mod(k, q)", "mod((k + 1), q)"),
        ("ak + k2", "ak + k2"),
    ],
)
def test_fortran(text: str, following: str) -> None:
    assert guards(True).at_next(text) == following


def test_first() -> None:
    assert guards(False).at_first("u[k] + size%k") == "u[0] + size%0"
    assert guards(True).at_first("rank.eq.k") == "rank.eq.0"
