"""Names of functions as a screen has room for them."""

from __future__ import annotations

import pytest

from imbrex.diagnosis.places import callers_apart, short_place
from imbrex.profile.sites import Site


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("main+0x30", "main+0x30"),
        ("LAMMPS_NS::CommBrick::reverse_comm()+0x2bb", "CommBrick::reverse_comm+0x2bb"),
        ("a::b::c(std::map<int, x::y>, void (*)(int)) const", "b::c"),
        ("a::grid<b::c, 3>::send(int)", "grid<b::c, 3>::send"),
        ("f(int)", "f"),
        ("a::operator()(int)+0x1", "a::operator()+0x1"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)"),
        ("odd ) name", "odd ) name"),
    ],
)
def test_functions_lose_their_parameters_and_outer_scopes(function, shown):
    assert short_place(Site(1, image="/x/app", function=function)) == shown


def test_lines_stay():
    assert short_place(Site(1, file="/x/a.c", line=3, function="f(int)")) == "a.c:3"


@pytest.mark.parametrize(
    ("chains", "apart"),
    [
        ([["f (/x/a.c:5)"], ["g (/x/a.c:9)"]], ["a.c:5", "a.c:9"]),
        ([["f (/x/a.c:5)", "m (/x/b.c:1)"], ["f (/x/a.c:5)", "m (/x/b.c:2)"]], ["b.c:1", "b.c:2"]),
        ([["f (/x/a.c:5)"], []], ["a.c:5", ""]),
        ([["f (/x/a.c:5)"], ["f (/x/a.c:5)"]], ["", ""]),
        ([["f (/x/a.c:5)"], ["f (/x/a.c:5)"], ["f (/x/a.c:7)"]], ["a.c:5", "a.c:5", "a.c:7"]),
        ([["not a place"], ["f (/x/a.c:5)"]], ["", "a.c:5"]),
        ([[], []], ["", ""]),
    ],
)
def test_copies_of_one_call_are_told_apart_by_their_callers(chains, apart):
    sites = [
        Site(number, file="/x/dot.c", line=3, inlined_into=tuple(chain))
        for number, chain in enumerate(chains, 1)
    ]
    assert callers_apart(sites) == apart
