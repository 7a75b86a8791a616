"""What a user's permission would allow, as attempts with preparing rewrites have found it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from imbrex.transform.line_maps import LineMap, original_places
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.reasons import PERMISSIONS
from imbrex.transform.rewrites.base import Decision


@dataclass(slots=True)
class Permissions:
    """Reductions that would move, once prepared, if their order were free, by file and line."""

    found: dict[tuple[str, int], Reason] = field(default_factory=dict)

    def note(self, decisions: list[Decision], maps: Mapping[str, LineMap]) -> None:
        """Look through what came of an edited text; `maps` leads to the original lines."""
        place = original_places(maps)
        for decision in decisions:
            because = dict(decision.reason.cause.parameters).get("cause", decision.reason.cause)
            if (
                decision.decision == "refused"
                and isinstance(because, Cause)
                and because.kind in PERMISSIONS
            ):
                original = place(decision.site.location)
                reason = decision.reason.relocated(place)
                self.found.setdefault((original.file, original.line), reason)

    def tell(self, decisions: list[Decision]) -> None:
        """Say of reductions that stay which permission they want."""
        for decision in decisions:
            at = (decision.site.routine.file, decision.site.call.line)
            if decision.decision == "nothing-to-gain" and at in self.found:
                decision.decision, decision.reason = "refused", self.found[at]
