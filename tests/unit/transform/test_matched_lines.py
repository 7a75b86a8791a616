"""Versions of a text are compared by lines, large ones in parts."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.transform.text import matched_lines

LINES = st.lists(st.sampled_from([b"{", b"}", b"", b"a", b"b", b"c", b"d", b"e"]), max_size=30)


def applied(old: list[bytes], new: list[bytes]) -> list[bytes]:
    """The new lines, by what makes them of the old ones; each side is gone through once."""
    found: list[bytes] = []
    i = j = 0
    for tag, i1, i2, j1, j2 in matched_lines.opcodes(old, new):
        assert (i1, j1) == (i, j)
        if tag == "equal":
            assert old[i1:i2] == new[j1:j2]
        found += old[i1:i2] if tag == "equal" else new[j1:j2]
        i, j = i2, j2
    assert (i, j) == (len(old), len(new))
    return found


@given(LINES, LINES)
def test_the_new_lines_come_out(old: list[bytes], new: list[bytes]) -> None:
    assert applied(old, new) == new
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matched_lines, "_FEW", 0)
        assert applied(old, new) == new


def test_what_is_put_in_is_found_in_large_texts() -> None:
    """Lines that are all over the text lead nowhere else."""
    routines = [[b"{", b"    work(%d);" % k, b"}", b""] for k in range(700)]
    old = [line for routine in routines for line in routine]
    new = [line for routine in routines for line in (*routine[:1], b"    int n;", *routine[1:])]
    put_in = [o for o in matched_lines.opcodes(old, new) if o[0] != "equal"]
    assert [(tag, j2 - j1) for tag, _, _, j1, j2 in put_in] == [("insert", 1)] * 700
    assert applied(old, new) == new


def test_small_texts_are_compared_as_they_are() -> None:
    old, new = [b"a", b"b", b"c"], [b"a", b"x", b"c"]
    expected = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    assert list(matched_lines.opcodes(old, new)) == expected
