"""The conditionals around a statement, and which places one run of them never reaches both."""

from __future__ import annotations

from collections.abc import Iterator, Set

from imbrex.transform.model.conditions import Test
from imbrex.transform.model.statements import Statement

# The conditionals around a statement, the outermost first, each with the number of its block.
Path = tuple[tuple[Statement, int], ...]


def exclusive(left: Path, right: Path) -> bool:
    """Whether two places are in different branches of one conditional: never are both reached."""
    for (mine, branch), (other, there) in zip(left, right, strict=False):
        if mine is not other:
            return False
        if branch != there:
            return True
    return False


def contradict(left: Path, right: Path, changed: Set[str]) -> bool:
    """Whether two places ask for different values of what stays as it is: `axis == 1`, `== 2`."""
    return any(
        not (one.difference.variables() & changed or difference.terms) and difference.constant != 0
        for one in _equalities(left)
        for other in _equalities(right)
        for difference in (one.difference.plus(other.difference, -1),)
    )


def _equalities(path: Path) -> Iterator[Test]:
    """The equations that hold where a place is reached."""
    for statement, branch in path:
        tests = [statement.test, *statement.more_tests]
        test = tests[branch] if branch < len(tests) else None
        if test is not None and test.equal:
            yield test
