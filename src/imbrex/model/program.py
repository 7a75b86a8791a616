"""A program: computation, messages and collectives of one iteration, on one or many networks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from imbrex.network.message import Message
from imbrex.network.points import FloatArray, NetworkPoints


@dataclass(frozen=True)
class Collective:
    """`count` small collectives over `processes` processes per iteration."""

    name: str
    processes: int
    count: float = 1.0

    def time_s(self, network: NetworkPoints) -> FloatArray:
        """count * 2 log2(N) EEL, in seconds: fan in, fan out in a binary tree (section 4.2)."""
        latency = np.asarray(network.latency_s, dtype=np.float64)
        return np.asarray(self.count * 2.0 * math.log2(self.processes) * latency)


@dataclass(frozen=True)
class Printed:
    """A cell of the latency table as somebody printed it, and why it differs if it does."""

    latency_s: float
    nonoverlap: float | None
    overlap: float | None
    reason: str = ""


@dataclass(frozen=True)
class Program:
    """One iteration of a program; `mode` is which work the word "overlap" means for it."""

    name: str
    computation_s: float
    messages: tuple[Message, ...] = ()
    collectives: tuple[Collective, ...] = ()
    mode: str = "independent"
    process: str = "worst"
    printed: tuple[Printed, ...] = field(default=())

    def message(self, name: str) -> Message:
        return next(message for message in self.messages if message.name == name)

    def delay_s(self, network: NetworkPoints) -> FloatArray:
        """All point-to-point delays of an iteration, hidden or not, in seconds."""
        zero = np.zeros(np.shape(network.latency_s))
        return np.asarray(sum((m.count * m.delay_s(network) for m in self.messages), zero))

    def collective_s(self, network: NetworkPoints) -> FloatArray:
        """The time of all collectives of an iteration, in seconds; none of it is hidden."""
        zero = np.zeros(np.shape(network.latency_s))
        return np.asarray(sum((c.time_s(network) for c in self.collectives), zero))

    def exposed_s(self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0) -> FloatArray:
        """The point-to-point time of an iteration that is not hidden, in seconds."""
        zero = np.zeros(np.shape(network.latency_s))
        return np.asarray(
            sum((m.count * m.exposed_s(mode, network, cpu_speed) for m in self.messages), zero)
        )

    def time_s(self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0) -> FloatArray:
        """Run time of one iteration, in seconds."""
        return np.asarray(
            self.computation_s / cpu_speed
            + self.exposed_s(mode, network, cpu_speed)
            + self.collective_s(network)
        )

    def normalized_time(
        self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0
    ) -> FloatArray:
        """(T_comp + exposed communication) / T_comp, at least 1 (section 4.4)."""
        communication = self.exposed_s(mode, network, cpu_speed) + self.collective_s(network)
        return np.asarray(1.0 + communication / (self.computation_s / cpu_speed))

    def potential_s(self, mode: str, message_gap_s: float = 0.0, cpu_speed: float = 1.0) -> float:
        """Potential overlap of all messages of an iteration, in seconds."""
        return sum(m.count * m.potential_s(mode, message_gap_s, cpu_speed) for m in self.messages)

    def covered(self, mode: str, message_gap_s: float = 0.0) -> list[Message]:
        """The messages that have any potential overlap in this mode."""
        return [m for m in self.messages if m.potential_s(mode, message_gap_s) > 0]

    def normalized_overlap(
        self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0
    ) -> FloatArray:
        """Potential overlap over delay of the message that has least of it (section 4.3).

        Messages without any potential are left out, as the paper leaves out phijb: `covered`
        says which remain. Zero if none does. Shape of the network points.
        """
        gap = float(np.max(network.message_gap_s))
        result: FloatArray | None = None
        for message in self.covered(mode, gap):
            ratio = message.potential_s(mode, gap, cpu_speed) / message.delay_s(network)
            result = np.asarray(ratio if result is None else np.minimum(result, ratio))
        return np.zeros(np.shape(network.latency_s)) if result is None else result

    def shares(
        self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0
    ) -> dict[str, FloatArray]:
        """Fractions of run time: computation, point_to_point (exposed), collective (figure 10)."""
        time = self.time_s(mode, network, cpu_speed)
        return {
            "computation": np.asarray(self.computation_s / cpu_speed / time),
            "point_to_point": np.asarray(self.exposed_s(mode, network, cpu_speed) / time),
            "collective": np.asarray(self.collective_s(network) / time),
        }
