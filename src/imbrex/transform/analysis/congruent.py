"""Elements that no two iterations share, by the remainders of their indices.

A sweep over the cells of one colour, `(i + j) % 2 == color`, reads cells of the other alone. That
an iteration writes what another one touches says that the subscripts of both are equal; what all
iterations have in common says more of their indices. Where no integers fulfil all of these
equations modulo a prime, no two iterations meet (the test of the greatest common divisor, of
several equations).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from imbrex.transform.model.affine import PRODUCT, Affine, Section
from imbrex.transform.model.remainders import Congruence
from imbrex.transform.model.statements import LoopRange

_LARGEST = 64  # a step of thousands of cells is no colour
Row = tuple[dict[tuple[str, bool], int], int]
"""Factors of unknown integers, by their names and whose they are, and a constant: 0 in sum."""


def never_equal_in(
    left: Section, right: Section, common: tuple[Congruence, ...], ranges: Sequence[LoopRange]
) -> bool:
    """Whether no two iterations, equal or not, have the one's `left` where the other's `right` is.

    `common`: what holds in each iteration, of its indices and of what is the same in all.
    """
    indices = frozenset(span.index for span in ranges)
    primes = {p for each in common for p in _primes(each.modulus)}
    points = [
        pair
        for mine, theirs in zip(left, right, strict=True)
        if mine.low is not None and theirs.low is not None
        if mine.low == mine.high and theirs.low == theirs.high
        for pair in _digits(mine.low, theirs.low, ranges)
    ]
    for prime in sorted(primes):
        rows: list[Row] = []
        for each in common:
            if each.modulus % prime == 0:
                rows += [_row(each.difference, indices, second) for second in (False, True)]
        for mine, theirs in points:
            factors, constant = _row(mine, indices, False)
            subtracted, other = _row(theirs, indices, True)
            for name, factor in subtracted.items():
                factors[name] = factors.get(name, 0) - factor
            rows.append((factors, constant - other))
        if _contradict(rows, prime):
            return True
    return False


def _digits(
    left: Affine, right: Affine, ranges: Sequence[LoopRange]
) -> Iterator[tuple[Affine, Affine]]:
    """What is equal where these two are: of `92 * i + j` the rows and the columns.

    What stands beside the largest factor must stay within it, as the digits of a number do.
    """
    spans = {span.index: span for span in ranges}
    factors = {abs(by) for side in (left, right) for key, by in side.terms if key in spans}
    base = max(factors, default=1)
    (high, low), (other_high, other_low) = (_split(side, base) for side in (left, right))
    rest = low.plus(other_low, -1)
    fixed = all(key in spans for key, _ in rest.terms)
    varying = [(spans[k], by) for k, by in low.terms if k in spans]
    varying += [(spans[k], -by) for k, by in other_low.terms if k in spans]
    lengths = [span.high.plus(span.low, -1) for span, _ in varying]
    numbers = not any(s.low.terms or n.terms for (s, _), n in zip(varying, lengths, strict=True))
    if base == 1 or not (fixed and numbers and (low.terms or other_low.terms)):
        yield left, right
        return
    ends = [(by * span.low.constant, by * span.high.constant) for span, by in varying]
    least = rest.constant + sum(map(min, ends))
    most = rest.constant + sum(map(max, ends))
    if -base < least and most < base:
        yield from _digits(high, other_high, ranges)
        yield from _digits(low, other_low, ranges)
    else:
        yield left, right


def _split(value: Affine, base: int) -> tuple[Affine, Affine]:
    """How often a number is in a value, and what is left, the constant near 0."""
    times = (value.constant + base // 2) // base
    high = Affine(times, tuple((key, by // base) for key, by in value.terms if by % base == 0))
    return high, value.plus(high, -base)


def _row(value: Affine, indices: frozenset[str], second: bool) -> Row:
    """A value in one of two iterations; a product with an index in it is an integer of its own."""
    return {
        (key, second and not indices.isdisjoint(key.split(PRODUCT))): factor
        for key, factor in value.terms
    }, value.constant


def _primes(number: int) -> Iterator[int]:
    """The prime factors of a number, but for large ones."""
    factor = 2
    while number > 1 and factor <= _LARGEST:
        if number % factor == 0:
            yield factor
            while number % factor == 0:
                number //= factor
        factor += 1


def _contradict(rows: Iterable[Row], prime: int) -> bool:
    """Whether no integers make all of these sums 0 modulo a prime (Gauss)."""
    solved: list[tuple[tuple[str, bool], Row]] = []
    for factors, constant in rows:
        left = {name: factor % prime for name, factor in factors.items() if factor % prime}
        constant %= prime
        for name, (known, value) in solved:
            factor = left.get(name, 0)
            if factor:
                for other, by in known.items():
                    left[other] = (left.get(other, 0) - factor * by) % prime
                constant = (constant - factor * value) % prime
                left = {other: by for other, by in left.items() if by}
        if left:
            name = min(left)
            inverse = pow(left[name], -1, prime)
            scaled = {other: by * inverse % prime for other, by in left.items()}
            solved.append((name, (scaled, constant * inverse % prime)))
        elif constant:
            return True
    return False
