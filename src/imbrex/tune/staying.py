"""Calls that would be worth a rewrite and stay: what stands in the way, and what it would take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from imbrex.diagnosis import wording
from imbrex.errors import ImbrexError
from imbrex.transform.engine import Outcome
from imbrex.transform.measured import Measured, site_key
from imbrex.transform.model.advice import advice
from imbrex.transform.options import Options
from imbrex.transform.rewrites.base import Decision
from imbrex.transform.suggest import scaffold
from imbrex.transform.text.edits import unified_diff
from imbrex.tune.sources import Sources

MOST = 3
"""So many are told, those that could save most."""
_MARK = "Not proven, not applied: each line that says `imbrex: not proven` is yours to check.\n"


@dataclass(frozen=True)
class Staying:
    """A call that stays: where it is, the share of the run time that it could save at most, what
    stands in the way and what helps against it."""

    sources: Sources
    options: Options
    decision: Decision
    most: float

    @property
    def told(self) -> str:
        """In one line."""
        site, reason = self.decision.site, self.decision.obstacle
        place = f"{Path(site.routine.file).name}:{site.call.line} ({site.call.name})"
        remedy = advice(reason.cause)
        then = f". What would help: {remedy}" if remedy else ""
        saved = f"at most {wording.percent(self.most)}"
        return f"{place} stays as it is, though it could save {saved}: {reason.text}{then}"

    def suggestion(self) -> str | None:
        """A patch for `git apply` with all that would have to hold; None where no assumption
        helps."""
        file = self.decision.site.routine.file
        place = f"{file}:{self.decision.site.call.line}"
        try:
            before, after = scaffold(list(self.sources.files), self.options, place)
        except ImbrexError:
            return None
        name = Path(file).resolve().relative_to(self.sources.root)
        return _MARK + unified_diff(str(name), before, after)


def staying(
    sources: Sources,
    options: Options,
    outcome: Outcome,
    measured: Measured,
    worth: float,
    gainable: float,
) -> list[Staying]:
    """The calls that stay and could save `worth`, those that could save most first; none of them
    more than overlap could gain in the whole run."""
    found: dict[tuple[str, int], Staying] = {}
    for decision in outcome.decisions:
        most = min(measured.share(decision.site), gainable)
        stays = decision.decision != "rewritten" and not decision.wait_moves
        if stays and most >= worth:
            known = found.get(site_key(decision))
            if known is None or known.most < most:
                found[site_key(decision)] = Staying(sources, options, decision, most)
    return sorted(found.values(), key=lambda s: -s.most)[:MOST]
