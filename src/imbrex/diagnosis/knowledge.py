"""What is known besides the numbers: how the run was made, and what its machine profile holds."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex import mpi_facts
from imbrex.diagnosis.interval import Interval
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.network.profile import MachineProfile
from imbrex.network.reading import load
from imbrex.profile.run import Run

MACHINE = "machine.json"
LARGE_BYTES = 16 << 10
"""What the runtime helps where it has no profile (runtime/core/needing.h)."""

PROBED = frozenset(
    f"MPI_I{name}"
    for name in (
        *("bcast", "reduce", "allreduce", "gather", "scatter"),
        *("allgather", "alltoall", "alltoallv", "barrier"),
    )
)
"""The nonblocking collectives that `imbrex probe` runs (probes/experiments/nonblocking.c)."""


@dataclass(frozen=True)
class Knowledge:
    """What has been done already, so that it is not advised again.

    `launcher` are the words of the launcher line without its programs; None where it cannot be
    taken apart here.
    """

    profile: MachineProfile | None
    origin: str
    launcher: tuple[str, ...] | None
    inside: bool
    inside_refused: bool

    @property
    def calibrated(self) -> bool:
        """Whether there are transfer times."""
        return self.origin != "none"

    @property
    def thorough(self) -> bool:
        """Whether the profile is more than a quick calibration: measuring again brings little."""
        return self.origin == "given" or (self.profile is not None and not self.profile.quick)

    @property
    def progress_interval_s(self) -> float | None:
        """How often the probe recommends a call to MPI while computing."""
        return None if self.profile is None else self.profile.progress_interval_s

    @property
    def thread_multiple_s(self) -> Interval | None:
        """What MPI_THREAD_MULTIPLE adds to a call, where that was measured."""
        price = None if self.profile is None else self.profile.thread_multiple
        return None if price is None else Interval(price.lowest_s, price.highest_s)

    @property
    def sendrecv_multiple_s(self) -> float | None:
        """What it adds to MPI_Sendrecv, which blocks, where that was measured."""
        price = None if self.profile is None else self.profile.thread_multiple
        return None if price is None else price.sendrecv_s

    @property
    def progress_can_help(self) -> bool:
        """Whether the probe saw a large message that does not move by itself, or saw none."""
        if self.profile is None or not self.classed:
            return True
        return any(
            point.transfer_class in ("one-sided", "two-sided")
            for path in self.profile.paths.values()
            for point in path.points
            if point.size_bytes >= LARGE_BYTES
        )

    def moves_without_calls(self, operation: str, size_bytes: float) -> bool | None:
        """Whether the probe saw a nonblocking collective move while all computed."""
        if self.profile is None:
            return None
        of_size = [
            found.moves
            for found in self.profile.nonblocking
            if found.operation == mpi_facts.without_large(operation)
            and found.from_bytes <= size_bytes
            and (found.to_bytes is None or size_bytes <= found.to_bytes)
        ]
        known = [moves for moves in of_size if moves is not None]
        return any(known) if known else None

    def probe_tells(self, operation: str) -> bool:
        """Whether a probe, which was not there yet, would tell that of a nonblocking collective."""
        return not self.classed and mpi_facts.without_large(operation) in PROBED

    @property
    def classed(self) -> bool:
        """Whether the profile says which side has to be inside MPI for data to move."""
        return self.profile is not None and any(
            point.transfer_class != "unknown"
            for path in self.profile.paths.values()
            for point in path.points
        )


def know(run: Run) -> Knowledge:
    """Read what the run directory says of its circumstances; what is damaged is not known."""
    try:
        profile = load(run.directory / MACHINE)
    except ImbrexError:
        profile = None
    return Knowledge(
        profile=profile,
        origin=run.job.machine.origin,
        launcher=_launcher(run.job.command),
        inside=any(source != "call" for source in run.job.events.values()),
        inside_refused=run.job.events_reason is not None,
    )


def _launcher(command: tuple[str, ...]) -> tuple[str, ...] | None:
    try:
        line = parse_launcher_line(command)
    except (ImbrexError, OSError, IndexError):
        return None
    return line.circumstances if line.launcher is not None else None
