"""One message: how much computation there is to hide it behind, and what stays exposed.

Symbols as in Sancho et al., section 3.1: T_P and T_C are the times between two writes and two
reads, N_P and N_C the elements produced and consumed, P(i) and C(i) the position of element i in
the order of production and of consumption (from 0), T_AP and T_AC the computation between the
last write and the send, and between the receive and the first read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imbrex.network.envelope import UpperEnvelope
from imbrex.network.points import FloatArray, NetworkPoints

MODES = ("none", "independent", "consumer", "fine-grained")


@dataclass(frozen=True)
class IndependentWork:
    """The parts of the independent work of one message, in seconds (section 3.4, table 3).

    `inside_computes_s` is local computation of communication calls within the window, which
    counts; `inside_included_s` the time of such calls that the measured times contain, which
    does not (section 3).
    """

    after_produce_s: float = 0.0
    before_consume_s: float = 0.0
    loop_distribution_s: float = 0.0
    produce_loop_indexing_s: float = 0.0
    consume_loop_indexing_s: float = 0.0
    rearrangement_s: float = 0.0
    inside_computes_s: float = 0.0
    inside_included_s: float = 0.0

    @property
    def total_s(self) -> float:
        return (
            self.after_produce_s
            + self.before_consume_s
            + self.loop_distribution_s
            + self.produce_loop_indexing_s
            + self.consume_loop_indexing_s
            + self.rearrangement_s
            + self.inside_computes_s
            - self.inside_included_s
        )


@dataclass(frozen=True)
class Message:
    """A point-to-point message that recurs `count` times per iteration of the program.

    `produced_at[k]` and `consumed_at[k]` are P and C of the k-th element of the message's buffer;
    elements beyond their length have no known order and are granted independent work only.
    `delay` says what an element's potential is held against: the delay of the whole message, as
    the paper does (section 4.3), or the delay of that element as data stream in.
    """

    name: str
    n_sent: int
    element_bytes: int = 8
    count: float = 1.0
    t_produce_s: float = 0.0
    t_consume_s: float = 0.0
    n_produced: int = 0
    n_consumed: int = 0
    produced_at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    consumed_at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    independent: IndependentWork = field(default_factory=IndependentWork)
    overlappable: bool = True
    pipelined: bool = False
    delay: str = "element"
    overhead_s: float | None = None

    @property
    def size_bytes(self) -> int:
        return self.n_sent * self.element_bytes

    @property
    def ordered(self) -> int:
        """How many elements have a known order of production and of consumption."""
        return int(min(self.n_sent, self.produced_at.size, self.consumed_at.size))

    @property
    def _complete(self) -> bool:
        return self.ordered == self.n_sent and self.n_sent > 0

    def delay_s(self, network: NetworkPoints) -> FloatArray:
        """EEL + G * size, in seconds, shape of the network points (section 4.2)."""
        return np.asarray(
            np.asarray(network.latency_s, dtype=np.float64)
            + np.asarray(network.gap_s_per_byte) * self.size_bytes
        )

    @cached_property
    def _arrival(self) -> UpperEnvelope:
        """max over k of (x * bytes up to and with element k - T_C C(k)), x = G."""
        n = self.ordered
        slopes = self.element_bytes * np.arange(1, n + 1, dtype=np.float64)
        intercepts = -self.t_consume_s * self.consumed_at[:n].astype(np.float64)
        if not self._complete:
            slopes = np.append(slopes, float(self.size_bytes))
            intercepts = np.append(intercepts, 0.0)
        return UpperEnvelope(slopes, intercepts)

    @cached_property
    def _injection(self) -> UpperEnvelope:
        """max over k of (x * P(k) - T_C C(k)), x = the time between two injections."""
        n = self.ordered
        produced = self.produced_at[:n].astype(np.float64)
        if self.pipelined:
            produced = np.maximum(produced - self._first_needed_at, 0.0)
        return UpperEnvelope(produced, -self.t_consume_s * self.consumed_at[:n].astype(np.float64))

    @cached_property
    def _first_needed_at(self) -> int:
        """P of the element that is consumed first."""
        return int(self.produced_at[int(np.argmin(self.consumed_at[: self.ordered]))])

    def element_potential_s(
        self, mode: str, message_gap_s: float = 0.0, cpu_speed: float = 1.0
    ) -> FloatArray:
        """t(i) for every element of the buffer, in seconds, shape (n_sent,).

        Concurrent: t(i) = T_AP + T_AC + T_P (N_P - P(i) - 1) + T_C C(i) (section 3.2), less the
        wait P(i) (g - T_P) where elements are produced faster than the network takes them.
        Pipelined: T_C C(i), less the time by which the element is sent after the one needed
        first (section 3.3). Elements without an order have the independent work.
        """
        potential = np.zeros(self.n_sent)
        if mode == "none" or not self.overlappable:
            return potential
        potential += self.independent.total_s / cpu_speed
        n = self.ordered
        if mode == "independent":
            return potential
        consumed = self.t_consume_s / cpu_speed * self.consumed_at[:n]
        t_produce_s = self.t_produce_s / cpu_speed
        step = max(t_produce_s, message_gap_s)
        if mode == "consumer":
            potential[:n] += consumed
        elif self.pipelined and n:
            late = np.maximum(self.produced_at[:n] - self._first_needed_at, 0)
            potential[:n] += np.maximum(consumed - step * late, 0.0)
        elif n:
            produced = self.produced_at[:n]
            before = t_produce_s * (self.n_produced - 1) - step * produced
            # Nobody sends an element earlier at the price of having less time for it.
            potential[:n] += np.maximum(before, 0.0) + consumed
        return potential

    def potential_s(self, mode: str, message_gap_s: float = 0.0, cpu_speed: float = 1.0) -> float:
        """What is there for every element: the smallest t(i), in seconds."""
        elements = self.element_potential_s(mode, message_gap_s, cpu_speed)
        return float(elements.min()) if elements.size else 0.0

    def starvation_ratio(self, message_gap_s: float, cpu_speed: float = 1.0) -> float:
        """T_C / max(T_P, g): below 1 the receiver of a pipelined program starves (section 3.3)."""
        step = max(self.t_produce_s / cpu_speed, message_gap_s)
        return float("inf") if step == 0 else self.t_consume_s / cpu_speed / step

    def exposed_s(self, mode: str, network: NetworkPoints, cpu_speed: float = 1.0) -> FloatArray:
        """The part of one message's delay that computation does not hide, in seconds.

        Shape of the network points. Never more than the delay; every mode may fall back on the
        one before it, as a program may.
        """
        delay = self.delay_s(network)
        if mode == "none" or not self.overlappable:
            return delay
        independent_s = self.independent.total_s / cpu_speed
        exposed = np.maximum(delay - independent_s, 0.0)
        if mode == "independent" or self.ordered == 0:
            return np.asarray(exposed)
        exposed = np.minimum(exposed, self._consumer_s(network, delay, independent_s, cpu_speed))
        if mode == "consumer" or not self._complete:
            return np.asarray(exposed)
        fine = self._fine_grained_s(network, delay, independent_s, cpu_speed)
        overhead = network.overhead_s if self.overhead_s is None else self.overhead_s
        return np.asarray(np.minimum(exposed, fine + self.n_sent * np.asarray(overhead)))

    def _consumer_s(
        self, network: NetworkPoints, delay: FloatArray, independent_s: float, cpu_speed: float
    ) -> FloatArray:
        """Sent whole after production, consumed as it arrives (section 3.2, second case)."""
        if self.delay == "message":
            least = self.t_consume_s / cpu_speed * float(self.consumed_at[: self.ordered].min())
            least = least if self._complete else 0.0
            return np.asarray(np.maximum(delay - independent_s - least, 0.0))
        gap = np.asarray(network.gap_s_per_byte, dtype=np.float64)
        last = self._arrival(gap * cpu_speed) / cpu_speed
        return np.asarray(np.maximum(network.latency_s - independent_s + last, 0.0))

    def _fine_grained_s(
        self, network: NetworkPoints, delay: FloatArray, independent_s: float, cpu_speed: float
    ) -> FloatArray:
        """Every element sent when produced, consumed as it arrives (third case)."""
        latency = np.asarray(network.latency_s, dtype=np.float64)
        element_s = np.asarray(network.gap_s_per_byte, dtype=np.float64) * self.element_bytes
        t_produce_s = self.t_produce_s / cpu_speed
        whole = self.delay == "message" and not self.pipelined
        step = np.maximum(np.asarray(network.message_gap_s, dtype=np.float64), t_produce_s)
        if not whole:
            step = np.maximum(step, element_s)
        wait = self._injection(step * cpu_speed) / cpu_speed
        if self.pipelined:
            # What is sent up to the element needed first is waited for; the rest can be hidden.
            first = latency + element_s * (self._first_needed_at + 1)
            return np.asarray(first + np.maximum(wait, 0.0))
        one = delay if whole else latency + element_s
        return np.asarray(
            np.maximum(
                one - independent_s - t_produce_s * (self.n_produced - 1) + wait,
                0.0,
            )
        )
