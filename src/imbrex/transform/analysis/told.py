"""Values of variables that a routine does not know, by its dummies that are given them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import product

from imbrex.transform.model.affine import Affine


def told(value: Affine, given: Mapping[str, Affine], used: Set[str]) -> Iterator[Affine]:
    """The same value by other names, of which `used` are wanted.

    `given`: values of such names.
    """
    plain = value.replace(lambda factor: given.get(factor, Affine.variable(factor)))
    if plain is None:
        return
    names: dict[str, list[Affine]] = {}
    for name in sorted(used & given.keys()):
        known = given[name]
        rest = plain.plus(known, -1)
        if not rest.terms:
            yield Affine.variable(name).plus(rest)
        for factor in known.variables() if len(known.terms) == 1 else ():
            rest = known.plus(Affine.variable(factor), -1)
            if not rest.terms:
                names.setdefault(factor, []).append(Affine.variable(name).plus(rest, -1))
    wanted = [factor for factor in sorted(names) if factor in plain.variables()]
    for chosen in product(*(names[factor] for factor in wanted)):
        replaced = plain
        for factor, named in zip(wanted, chosen, strict=True):
            replaced = replaced.substitute(factor, named)
        yield replaced
