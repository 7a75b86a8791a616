"""What the progress thread of a run did (job.json and run.json)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from imbrex.formats.schema import optional
from imbrex.formats.value_types import ListOf, Number, Object, Whole

_SITE = Object(
    (
        optional("site", Whole(), "its id in sites.json", "", 0),
        optional("looks", Whole(), "that moved data while its transfers were open", "", 0),
        optional("completed", Whole(), "transfers that a look saw complete", "", 0),
        optional("moving_s", Number(), "processor time of those looks", "s", 0.0),
    )
)
PROGRESS = Object(
    (
        optional("ranks", Whole(), "with a progress thread", "", 0),
        optional("interval_s", Number(), "the first interval between two looks", "s", 0.0),
        optional("share", Number(), "of a core, for looks that move nothing, at most", "", 0.0),
        optional("looks", Whole(), "of all ranks", "", 0),
        optional("moving_looks", Whole(), "those that moved data", "", 0),
        optional(
            "looking_s", Number(), "processor time of the others, and between looks", "s", 0.0
        ),
        optional("moving_s", Number(), "processor time of those that moved data", "s", 0.0),
        optional("waits", Whole(), "calls of the program that waited for a look to end", "", 0),
        optional("rests", Whole(), "times that looking was given up for a while", "", 0),
        optional("sites", ListOf(_SITE), "those with most of the time", default=()),
    )
)


@dataclass(frozen=True)
class Progress:
    """Sums over the ranks; times are processor times in s, `share` that of a core (0 to 1)."""

    ranks: int
    interval_s: float
    share: float
    looks: int
    moving_looks: int
    looking_s: float
    moving_s: float
    waits: int = 0
    rests: int = 0
    sites: tuple[dict[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "sites": [dict(site) for site in self.sites]}
