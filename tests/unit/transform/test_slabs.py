"""Slabs of a linear array in C, whose planes are told by sizes that nobody declares.

Each program that must stay differs from one that is rewritten in what would make that wrong. The
sizes are variables in one half of them, numbers in the other.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.unit.transform.replacing import changed

from imbrex.transform.analysis.radix import told_by
from imbrex.transform.engine import transform
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.linear_indices import (
    in_lines,
    index_of_parts,
    parts_of_index,
    strides_told,
)
from imbrex.transform.model.statements import LoopRange
from imbrex.transform.options import Options

SLABS = (Path(__file__).parent / "cases" / "slabs.c").read_text()
SIZES = "static int nx = 24, ny = 20, nz = 16, rank, size;"
NUMBERS = {SIZES: "enum { nx = 24, ny = 20, nz = 16 };\nstatic int rank, size;"}
INDEX = "((size_t)(k) * ny + (j)) * nx + (i)"
MAXIMUM = "largest = fmax(largest, fabs(value - u[IDX(i, j, k)]))"
NEXT = "next = calloc((size_t)nx * ny * (nz + 2), sizeof(double))"
OLD = "        double *old = u;\n        u = next;\n        next = old;\n"
BACK = "    return largest;\n"
NONE, NUMBERS_ALONE, BOTH = range(3)
# name: (replacements, of which sizes the exchange is rewritten)
CASES: dict[str, tuple[dict[str, str], int]] = {
    "as it is": ({}, BOTH),
    "the fastest index first": ({INDEX: "(i) + nx * ((j) + ny * (k))"}, BOTH),
    "each with its factor": ({INDEX: "(k) * nx * ny + (j) * nx + (i)"}, BOTH),
    "factors behind": ({INDEX: "(i) + (j) * nx + (k) * (nx * ny)"}, BOTH),
    "columns first": ({INDEX: "((size_t)(k) * ny + (j)) + (i) * ny * nz"}, NUMBERS_ALONE),
    "the first and the last lines": ({"j = 1; j < ny - 1": "j = 0; j < ny"}, BOTH),
    "a line of the next plane": ({"j < ny - 1": "j < ny + 1"}, NUMBERS_ALONE),
    "columns of the next line": ({"i < nx - 1": "i < 2 * nx"}, NUMBERS_ALONE),
    "columns of the next plane": ({"i < nx - 1": "i < nx * ny"}, NONE),
    "the field itself": ({NEXT: "next = u"}, NONE),
    "another plane is set": ({"next[IDX(i, j, k)]": "next[IDX(i, j, 1)]"}, NONE),
    "fields that change places in the sweep": ({BACK: OLD + BACK, OLD + "    }": "    }"}, NONE),
    "a sum": ({"max : largest": "+ : largest", MAXIMUM: "largest += value"}, NONE),
    "another reduction than the loop's": ({"max : largest": "min : largest"}, NONE),
    "a reduction of something else": ({"max : largest": "max : largest, size"}, NONE),
}


@pytest.mark.parametrize("sizes", ["variables", "numbers"])
@pytest.mark.parametrize("name", CASES)
def test_exchange_of_slabs(name: str, sizes: str, tmp_path: Path) -> None:
    replacements, rewritten = CASES[name]
    text = changed(SLABS, {**(NUMBERS if sizes == "numbers" else {}), **replacements})
    source = tmp_path / "slabs.c"
    source.write_text(text)
    outcome = transform([source], Options(flags=["-fopenmp"]))
    after = outcome.after[str(source)].decode()
    wanted = rewritten == BOTH or (rewritten == NUMBERS_ALONE and sizes == "numbers")
    assert ("sweep_interior" in after) == wanted, "\n".join(
        detail for d in outcome.decisions for detail in d.details
    )


def test_a_sum_is_divided_where_its_order_may_change(tmp_path: Path) -> None:
    source = tmp_path / "slabs.c"
    source.write_text(changed(SLABS, CASES["a sum"][0]))
    outcome = transform([source], Options(reassociation=True))
    after = outcome.after[str(source)].decode()
    assert after.count("#pragma omp parallel for reduction(+ : largest)") == 2
    assert "sweep_boundary(imbrex_largest)" in after


@given(
    st.lists(
        st.tuples(st.integers(-40, 40), st.integers(-2, 3), st.integers(-1, 4)),
        min_size=1,
        max_size=3,
    )
)
def test_told_indices_are_the_same_wherever_the_element_is(
    loops: list[tuple[int, int, int]],
) -> None:
    """Factor, first value and length of each loop: all pairs of iterations are tried."""
    names = [f"i{n}" for n in range(len(loops))]
    ranges = [
        LoopRange(name, Affine(low), Affine(low + length))
        for name, (_, low, length) in zip(names, loops, strict=True)
    ]
    index = Affine(7)
    for name, (factor, _, _) in zip(names, loops, strict=True):
        index = index.plus(Affine.variable(name), factor)
    told = told_by(index, ranges)
    iterations = list(product(*(range(low, low + length + 1) for _, low, length in loops)))
    for one, other in product(iterations, repeat=2):
        elements = [
            sum(f * v for (f, _, _), v in zip(loops, values, strict=True))
            for values in (one, other)
        ]
        if elements[0] == elements[1]:
            for name, mine, theirs in zip(names, one, other, strict=True):
                assert name not in told or mine == theirs


def test_what_is_told_of_lengths_that_are_not_known() -> None:
    n = Affine.variable("n")
    index = Affine(0, (("i", 1), ("j", 96), ("k", 9216)))

    def spans(j: Affine) -> list[LoopRange]:
        known = [("k", n), ("j", j), ("i", Affine(94))]
        return [LoopRange(name, Affine(1), high) for name, high in known]

    assert told_by(index, spans(Affine(94))) == {"i", "j", "k"}
    assert told_by(index, spans(Affine(96))) == {"k", "j", "i"}
    assert told_by(index, spans(Affine(97))) == frozenset()
    assert told_by(index, spans(n)) == frozenset()
    assert told_by(index.plus(Affine(0, (("k·n", 1),))), spans(Affine(94))) == frozenset()


@given(
    st.integers(1, 5), st.integers(1, 5), st.integers(0, 4), st.integers(0, 4), st.integers(0, 3),
    st.sampled_from(["1", "n", "m", "n·m", "2n", "2n·m"]),
)  # fmt: skip
def test_elements_one_after_the_other_in_lines(
    n: int, m: int, i: int, j: int, k: int, count: str
) -> None:
    """With numbers for the sizes, the lines hold just the elements, where they stay within."""
    assume(i < n and j < m)
    sizes = {"n": n, "m": m}
    plane = Affine.variable("n").product(Affine.variable("m"))
    terms = {"1": Affine(1), "n": Affine.variable("n"), "m": Affine.variable("m"), "n·m": plane}
    length = terms[count.removeprefix("2")].times(2 if count.startswith("2") else 1)
    low = Affine(i).plus(Affine.variable("n"), j).plus(plane, k)
    high = low.plus(length).plus(Affine(1), -1)
    found = in_lines((Range(low, high),), (Affine.variable("n"), Affine.variable("m")))
    assert found is not None

    def number(form: Affine | None) -> int:
        assert form is not None
        value = form.constant
        for term, factor in form.terms:
            for name in term.split("·"):
                factor *= sizes[name]
            value += factor
        return value

    spans = [range(number(span.low), number(span.high) + 1) for span in found]
    inside = all(0 <= v < size for span, size in zip(spans, (n, m), strict=False) for v in span)
    assume(inside)
    touched = sorted(a + n * (b + m * c) for c in spans[2] for b in spans[1] for a in spans[0])
    assert touched == list(range(number(low), number(high) + 1))


N, M = Affine.variable("n"), Affine.variable("m")
MOVING = frozenset("ijk")


def _form(text: dict[str, Affine], constant: Affine) -> Affine:
    """The sum of loops' indices, each with its factor."""
    found = constant
    for name, factor in text.items():
        found = found.plus(Affine.variable(name).product(factor))
    return found


@pytest.mark.parametrize(
    ("factors", "strides"),
    [
        ({"i": Affine(1), "j": N, "k": N.product(M)}, (N, M)),
        ({"j": N, "k": N.product(M)}, (N, M)),
        ({"i": Affine(1), "j": N.plus(Affine(2))}, (N.plus(Affine(2)),)),
        ({"i": Affine(1), "k": N.plus(Affine(2)).product(M)}, (N.product(M).plus(M, 2),)),
        ({"i": Affine(1), "j": N.times(-1)}, (N,)),
        ({"i": Affine(1)}, ()),
        ({"i": Affine(3), "j": N}, None),  # three values for each point
        ({"i": Affine(1), "j": N, "k": M}, None),  # no product of each other
        ({"i": Affine.variable("j"), "j": N}, None),
    ],
)
def test_strides_by_what_indices_are_multiplied_by(
    factors: dict[str, Affine], strides: tuple[Affine, ...] | None
) -> None:
    assert strides_told(_form(factors, Affine(5)), MOVING) == strides


@given(
    st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 4),
    st.booleans(), st.sampled_from([N, N.plus(Affine(2)), N.product(M)]),
)  # fmt: skip
def test_an_index_taken_apart_is_the_same_index(
    i: int, j: int, k: int, constant: int, moving: bool, stride: Affine
) -> None:
    index = _form({"i": Affine(i), "j": N.times(j), "k": N.product(M).times(k)}, Affine(constant))
    for strides in ((stride,), (stride, M)):
        parts = parts_of_index(index, strides, MOVING if moving else frozenset())
        assert index_of_parts(parts, strides) == index
