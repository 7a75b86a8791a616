"""What an access touches by the values of variables."""

from __future__ import annotations

from typing import NamedTuple

from imbrex.transform.model.affine import Affine, Range, Section


class Case(NamedTuple):
    """What an access touches where variables have some values."""

    values: tuple[tuple[str, int], ...]
    section: Section | None
    strides: tuple[Affine, ...]

    def known(self, values: dict[str, int]) -> tuple[Section | None, tuple[Affine, ...]]:
        """The section and its strides with values in the place of their variables."""

        def with_values(form: Affine) -> Affine:
            for key, value in values.items():
                form = form.substitute(key, Affine(value))
            return form

        strides = tuple([with_values(stride) for stride in self.strides])
        if self.section is None:
            return None, strides
        ends = [[None if e is None else with_values(e) for e in span] for span in self.section]
        return tuple([Range(low, high) for low, high in ends]), strides

    def at(self, key: str) -> Case:
        """The case with its value of one variable in the place of it."""
        rest = tuple([pair for pair in self.values if pair[0] != key])
        return Case(rest, *self.known({k: v for k, v in self.values if k == key}))

    def variables(self) -> set[str]:
        found = {key for key, _ in self.values}
        for dimension in self.section or ():
            found |= dimension.variables()
        for stride in self.strides:
            found |= stride.variables()
        return found
