"""Elements of arrays of pointers that own what they name: which of them differ."""

from __future__ import annotations

from collections.abc import Set

from imbrex.transform.model.affine import Affine, never_equal

# Arrays each of whose elements owns its memory, with those that they exchange elements with.
Owned = dict[str, frozenset[str]]
Element = tuple[str, tuple[Affine, ...]]  # an array, and the indices in it; empty if not known


def different_elements(
    owned: Owned, left: Element, right: Element, changed: Set[str] = frozenset()
) -> bool:
    """Whether two elements are surely not one and the same, so that they name other memory.

    `changed`: variables whose values in the indices of the one may not be those in the other's.
    """
    if right[0] not in owned.get(left[0], ()):
        return False
    if left[0] != right[0]:
        return True
    if len(left[1]) != len(right[1]):
        return False
    return any(
        never_equal(mine, other) and not (mine.variables() | other.variables()) & changed
        for mine, other in zip(left[1], right[1], strict=True)
    )
