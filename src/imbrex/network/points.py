"""Networks as the parameters of a model of run time: one, or millions at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.network.interconnect import Interconnect, time_of_size

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class NetworkPoints:
    """Networks to evaluate, one or millions: arrays of one shape or scalars, in seconds.

    `latency_s` is EEL, `gap_s_per_byte` G, `message_gap_s` g, `overhead_s` o (section 4.2);
    `receive_overhead_s` is the receiver's (o_r of LogGP). EEL contains one of each.
    """

    latency_s: FloatArray | float
    gap_s_per_byte: FloatArray | float
    message_gap_s: FloatArray | float = 0.0
    overhead_s: FloatArray | float = 0.0
    receive_overhead_s: FloatArray | float = 0.0
    sizes: tuple[tuple[tuple[float, float], ...], ...] = ()
    """By point, as of `Interconnect`; none, or empty where time is in proportion to size."""

    def bytes_s(self, size_bytes: float) -> FloatArray:
        """What a message takes beyond EEL, in s; shape as of `gap_s_per_byte`."""
        time_s = np.asarray(self.gap_s_per_byte, dtype=np.float64) * size_bytes
        for point, sizes in enumerate(self.sizes):
            if sizes:
                time_s[point] = time_of_size(sizes, size_bytes)
        return time_s


def points(network: Interconnect) -> NetworkPoints:
    """A described network as the model's parameters."""
    return NetworkPoints(
        network.latency_s, network.gap_s_per_byte, network.message_gap_s, network.overhead_s
    )
