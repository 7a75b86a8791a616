"""Elements that no two iterations share, by remainders: compared with all iterations."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imbrex.transform.analysis.congruent import never_equal_in
from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.remainders import Congruence, Remainder, Value, remainder
from imbrex.transform.model.statements import LoopRange

ROW, COLUMN, COLOR = Affine.variable("i"), Affine.variable("j"), Affine.variable("color")


def point(*subscripts: Affine) -> Section:
    return tuple(Range.point(each) for each in subscripts)


def affine(constant: int, **factors: int) -> Affine:
    return Affine(constant, tuple(sorted((k, n) for k, n in factors.items() if n)))


def value(expression: Affine, names: dict[str, int]) -> int:
    return expression.constant + sum(by * names[key] for key, by in expression.terms)


RANGES = [LoopRange("i", Affine(1), Affine(90)), LoopRange("j", Affine(1), Affine(90))]
SAME_COLOR = (Congruence(affine(0, i=1, j=1, color=-1), 2),)
CELL = (COLUMN, ROW)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ((COLUMN, affine(-1, i=1)), True),
        ((affine(1, j=1), ROW), True),
        ((affine(1, j=1), affine(1, i=1)), False),
        ((affine(2, j=1), ROW), False),
        ((affine(0, j=3), affine(1, i=1)), True),
        ((affine(0, j=2), affine(1, i=1)), False),
        ((affine(0, color=1), ROW), False),
    ],
)
def test_cells_of_two_colors(other: tuple[Affine, Affine], expected: bool) -> None:
    assert never_equal_in(point(*CELL), point(*other), SAME_COLOR, RANGES) is expected


@pytest.mark.parametrize("width", [92, 91, 90, 89, 300])
def test_rows_and_columns_of_a_line(width: int) -> None:
    """A cell of 90 columns is told from those above it where rows are as long as that at least."""
    mine, above = affine(0, i=width, j=1), affine(-width, i=width, j=1)
    found = never_equal_in(point(mine), point(above), SAME_COLOR, RANGES)
    # Rows of 89 overlap, which no digits tell; but an odd width changes the colour by itself.
    assert found is (width >= 90 or width % 2 == 1)


def test_products_with_an_index_may_be_anything() -> None:
    mine = point(Affine.variable("i·n"))
    assert not never_equal_in(mine, point(affine(1, **{"i·n": 1})), SAME_COLOR, RANGES)
    common = (Congruence(Affine.variable("i·n"), 2),)
    assert never_equal_in(mine, point(affine(1, **{"i·n": 1})), common, RANGES)


def test_each_prime_has_its_own_equations() -> None:
    common = (Congruence(ROW, 2), Congruence(COLUMN, 3))
    for distance, expected in ((1, True), (2, False), (3, True)):
        assert never_equal_in(point(ROW), point(affine(distance, i=1)), common, RANGES) is expected
    for distance, expected in ((1, True), (2, True), (3, False)):
        assert (
            never_equal_in(point(COLUMN), point(affine(distance, j=1)), common, RANGES) is expected
        )


def test_steps_of_any_length_take_no_time() -> None:
    for modulus in (2**31 - 1, 2**61 - 1, 2 * (2**61 - 1)):
        common = (Congruence(ROW, modulus),)
        found = never_equal_in(point(ROW), point(affine(1, i=1)), common, RANGES)
        assert found is (modulus % 2 == 0)


def test_bounds_that_are_not_known_tell_no_digits() -> None:
    ranges = [RANGES[0], LoopRange("j", Affine(1), Affine.variable("n"))]
    mine, above = affine(0, i=92, j=1), affine(-92, i=92, j=1)
    assert not never_equal_in(point(mine), point(above), SAME_COLOR, ranges)


small = st.integers(-3, 3)
expressions = st.builds(
    lambda c, i, j, color: affine(c, i=i, j=j, color=color),
    st.integers(-9, 9),
    st.integers(-7, 7),
    small,
    small,
)
congruences = st.builds(Congruence, expressions, st.integers(2, 6))
bounds = st.tuples(st.integers(-2, 2), st.integers(0, 4))


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(expressions, expressions), min_size=1, max_size=2),
    st.lists(congruences, min_size=1, max_size=2),
    bounds,
    bounds,
    st.integers(-2, 2),
)
def test_what_is_said_never_to_meet_does_not(
    pairs: list[tuple[Affine, Affine]],
    common: list[Congruence],
    first: tuple[int, int],
    second: tuple[int, int],
    color: int,
) -> None:
    spans = {"i": (first[0], sum(first)), "j": (second[0], sum(second))}
    ranges = [LoopRange(name, Affine(a), Affine(b)) for name, (a, b) in spans.items()]
    left = point(*(mine for mine, _ in pairs))
    right = point(*(theirs for _, theirs in pairs))
    if not never_equal_in(left, right, tuple(common), ranges):
        return
    iterations = [
        names
        for i, j in itertools.product(*(range(a, b + 1) for a, b in spans.values()))
        if (names := {"i": i, "j": j, "color": color})
        and all(value(each.difference, names) % each.modulus == 0 for each in common)
    ]
    touched = {tuple(value(each.low, names) for each in left if each.low) for names in iterations}
    theirs = {tuple(value(each.low, names) for each in right if each.low) for names in iterations}
    assert touched.isdisjoint(theirs)


operands = st.builds(lambda c, i: affine(c, i=i), small, small)


@settings(max_examples=300, deadline=None)
@given(operands, operands, st.integers(2, 5), st.integers(-3, 3), st.booleans(), st.integers(0, 4))
def test_what_is_told_of_a_value_holds(
    rest: Affine, operand: Affine, modulus: int, factor: int, floored: bool, step: int
) -> None:
    found = Value(rest, ((Remainder(operand, modulus, floored), factor),))
    for i in range(-7, 8):
        names = {"i": i}
        divided = value(operand, names)
        left = divided % modulus if floored else abs(divided) % modulus * (1 if divided > 0 else -1)
        known = value(rest, names) + factor * left
        assert known >= value(found.least(), names)
        if divided >= 0:
            assert known >= value(found.least(frozenset({operand})), names)
        congruent = found.congruent(step)
        if congruent is not None:
            assert congruent.modulus > 1
            assert (value(congruent.difference, names) - known) % congruent.modulus == 0


def test_remainders_of_remainders_are_not_told() -> None:
    inner = remainder(Value(ROW), 2)
    assert inner is not None
    assert remainder(inner, 2) is None and remainder(Value(ROW), 1) is None
    assert inner.plus(Value(Affine(1))).congruent() == Congruence(affine(1, i=1), 2)
    assert Value(ROW).congruent() is None and Value(ROW).congruent(1) is None
