"""What must be cut off a loop nest for the rest of it to touch none of the memory of others."""

from __future__ import annotations

from collections.abc import Callable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.space import Space
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import LoopRange
from imbrex.transform.text.division import Cuts

DEEPEST = 3  # iterations that a consumer may lose at an end: as many layers stencils reach


class Cutting:
    """Finds the boundary of loop nests, by what their iterations touch."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints

    def least(
        self,
        space: Space,
        wanted: list[Access],
        deepest: int = DEEPEST,
        facts: frozenset[Affine] = frozenset(),
    ) -> Cuts | None:
        """The least that must be cut off for the rest to touch none of the others.

        Nothing, if the whole space touches none; None, if that is not enough. `facts`: what is not
        below 0 where the rest runs at all.
        """
        meets = self._test(space, wanted, facts)
        every = _long(space, deepest)
        if every == _long(space, 1):  # what is cut off less deep leaves more
            if meets(dict.fromkeys(every, (deepest, deepest))):
                return None
            if not meets({}):
                return {}
        for depth in range(1, deepest + 1):
            long = _long(space, depth)
            given = [n for n in long if space.call is None or space.given([n])]
            cuts = self._least(meets, given, depth)
            if cuts is None and long != given:
                cuts = self._least(meets, long, depth)
            if cuts is not None:
                return cuts
        return None

    @staticmethod
    def _least(meets: Callable[[Cuts], bool], usable: list[int], depth: int) -> Cuts | None:
        """What must be cut off of these loops."""
        cuts: Cuts = dict.fromkeys(usable, (depth, depth))
        if meets(cuts):
            return None
        if not cuts or not meets({}):
            return {}
        for number in usable:
            for smaller in ((0, 0), (0, depth), (depth, 0)):
                tried = {**cuts, number: smaller}
                if not meets(tried):
                    cuts = tried
                    break
        return {number: cut for number, cut in cuts.items() if cut != (0, 0)}

    def _test(
        self, space: Space, wanted: list[Access], facts: frozenset[Affine]
    ) -> Callable[[Cuts], bool]:
        """Whether what cuts leave of a space may touch memory of the others."""
        changed = self.footprints.changed(wanted)
        near = self.footprints.aliases.meeting(wanted)
        headers = [access for access in space.shared_headers() if near(access)]
        inner = [access for access in space.accesses if near(access)]

        fitting = space.fitting(self.program, wanted, changed)
        answers: dict[tuple[tuple[int, tuple[int, int]], ...], bool] = {}

        def meets(cuts: Cuts) -> bool:
            key = tuple(sorted(cuts.items()))
            if key not in answers:
                answers[key] = asked(cuts)
            return answers[key]

        def asked(cuts: Cuts) -> bool:
            if self.footprints.conflict(headers, wanted, changed) is not None:
                return True
            left = space.remaining(inner, cuts)
            if facts:
                left = [access.where(facts) for access in left]
            if self.footprints.conflict(left, fitting, changed) is None:
                return False
            told = space.by_bounds(self.program, inner, cuts)
            return bool(not told or self._still_meet(left, told, fitting, changed))

        return meets

    def _still_meet(
        self,
        left: list[Access],
        told: dict[Access, Access],
        wanted: list[Access],
        changed: frozenset[str],
    ) -> bool:
        """Whether they meet although the bounds of arrays tell something of these accesses."""
        conflict = self.footprints.conflict
        for access in left:
            meeting = [w for w in wanted if conflict([access], [w], changed) is not None]
            if not meeting:
                continue
            if access not in told or conflict([told[access]], meeting, changed) is not None:
                return True
        return False


def _long(space: Space, depth: int) -> list[int]:
    """The loops that are not known to be too short to have an interior, and begin at a value."""
    spans = enumerate(space.ranges)
    return [n for n, span in spans if span.first is None and not _short(span, depth)]


def _short(span: LoopRange, depth: int) -> bool:
    """Whether a loop is known to be too short to have an interior."""
    length = span.high.plus(span.low, -1)
    return not length.terms and length.constant < 2 * depth
