"""The options of the progress thread: what the runtime reads of them in the environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from imbrex.errors import ImbrexError

LONGEST_US = 10_000_000
AUTOMATIC = "on"


@dataclass(frozen=True)
class ProgressOptions:
    """What the user asked for.

    `interval` is "" (no progress thread), "on" (Imbrex chooses) or microseconds; `share_percent`
    the most of a core that looks without movement may take, None: Imbrex's own.
    """

    interval: str = ""
    share_percent: float | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is to be a progress thread."""
        return bool(self.interval)

    def check(self) -> None:
        """Raise ImbrexError for what makes no sense."""
        if self.share_percent is not None and not self.wanted:
            raise ImbrexError("--progress-share belongs to --progress")
        if self.interval not in ("", AUTOMATIC) and not _is_interval(self.interval):
            raise ImbrexError(
                f"--progress={self.interval}: write --progress=MICROSECONDS from 1 to "
                f"{LONGEST_US}, or --progress and then -- before the launcher"
            )
        share = self.share_percent
        if share is not None and not (math.isfinite(share) and 0 < share <= 100):
            raise ImbrexError(
                f"--progress-share {share:g}: write a share of a core in per cent, above 0 and up "
                "to 100"
            )

    def environment(self) -> Mapping[str, str]:
        """The variables for the ranks. Never those of the user's own environment."""
        found = {"IMBREX_PROGRESS": self.interval or "off"}
        if self.share_percent is not None:
            found["IMBREX_PROGRESS_SHARE"] = f"{self.share_percent:g}"
        return found


def _is_interval(text: str) -> bool:
    try:
        return 1 <= float(text) <= LONGEST_US
    except ValueError:
        return False
