"""Conditions whose outcome is known where values are."""

from __future__ import annotations

from typing import NamedTuple

from imbrex.transform.model.affine import Affine


class Test(NamedTuple):
    """A condition that compares integers: whether `difference` is 0, or (not `equal`) is not."""

    difference: Affine
    equal: bool

    def answer(self, values: dict[str, int]) -> bool | None:
        """What the condition gives where variables have these values; None where not known."""
        known = self.difference.replace(
            lambda name: Affine(values[name]) if name in values else Affine.variable(name)
        )
        if known is None or known.terms:
            return None
        return (known.constant == 0) is self.equal


class Choice(NamedTuple):
    """A value that a condition chooses: `merge(3, 4, dir == -1)`."""

    test: Test
    chosen: Affine
    otherwise: Affine

    def variables(self) -> frozenset[str]:
        asked = self.test.difference.variables()
        return asked | self.chosen.variables() | self.otherwise.variables()
