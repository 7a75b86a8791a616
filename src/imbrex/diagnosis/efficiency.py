"""POP's efficiencies: how much of the ranks' time was computation, and what kept it from more.

Load balance is the mean over the largest compute time of the ranks, communication efficiency the
largest compute time over the run time, parallel efficiency their product. Source: POP project.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imbrex.profile.format import Ended
from imbrex.profile.run import Run


@dataclass(frozen=True)
class Efficiency:
    """Shares from 0 to 1; serialization and transfer need a replay and are None without one."""

    parallel: float
    load_balance: float
    communication: float
    serialization: float | None = None
    transfer: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """The object `efficiency`."""
        return {
            "parallel": self.parallel,
            "load_balance": self.load_balance,
            "communication": self.communication,
            "serialization": self.serialization,
            "transfer": self.transfer,
        }


def efficiency(run: Run) -> Efficiency | None:
    """Of the ranks that left data; None where none has computed.

    A rank with threads counts with the share of their time that was computation.
    """
    ranks = run.ranks[run.ranks["ended"] != Ended.MISSING]
    compute = ranks["compute_ns"].astype(np.float64)
    busy = compute + ranks["call_ns"]
    wall = ranks["wall_ns"].astype(np.float64)
    useful = wall * np.divide(compute, busy, out=np.zeros_like(compute), where=busy > 0)
    if not len(useful) or useful.max() <= 0:
        return None
    longest = float(useful.max())
    balance, communication = float(useful.mean()) / longest, longest / float(wall.max())
    return Efficiency(balance * communication, balance, communication)
