"""What overlaps per protocol of large messages (Shet et al., sections 3.2 and 3.3), as a table.

    python benchmarks/probe_protocols.py [--runs 3] [--insert docs/theory/probes.md]

Of a message of 1 MiB with work of three transfers: the share that the times of both sides show to
be hidden behind the sender's work (MPI_Isend against MPI_Recv) and behind the receiver's (MPI_Irecv
against MPI_Send), with the bounds that each side's own calls give; medians of the runs. Two ranks
of this node; a line per protocol that a setting chooses. A line whose library is missing is left
out, and said so.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import settings
from imbrex.network.assemble import assemble
from imbrex.network.measure import run_probes
from imbrex.probe.answer import Answer, answer
from imbrex.probe.work_overlap import WorkOverlap
from page import insert

SIZE = 1 << 20
EXPERIMENTS = ("pingpong", "streaming", "earlylate", "grid")
OPENMPI = "mpirun.openmpi --mca btl"
UCX = "mpirun.openmpi --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any"
MPICH = "mpirun.mpich -genv MPIR_CVAR_NOLOCAL 1"


@dataclass(frozen=True)
class Setting:
    """One protocol and the launcher line that chooses it."""

    protocol: str
    line: str


SETTINGS = (
    Setting("direct read", f"{OPENMPI} vader,self --mca btl_vader_single_copy_mechanism cma"),
    Setting("pipelined", f"{OPENMPI} vader,self --mca btl_vader_single_copy_mechanism none"),
    Setting("pipelined", f"{OPENMPI} tcp,self --mca mpi_leave_pinned 0"),
    Setting("asks for direct", f"{OPENMPI} tcp,self --mca mpi_leave_pinned 1"),
    *(
        Setting(protocol, f"{UCX} -x UCX_TLS=posix,cma,self -x UCX_RNDV_SCHEME={scheme}")
        for protocol, scheme in (
            ("direct read", "get_zcopy"),
            ("direct write", "put_zcopy"),
            ("pipelined", "am"),
        )
    ),
    *(
        Setting(protocol, f"{MPICH} -genv UCX_TLS {tls} -genv UCX_RNDV_SCHEME {scheme}")
        for protocol, tls, scheme in (
            ("direct read", "posix,cma,self", "get_zcopy"),
            ("direct write", "posix,cma,self", "put_zcopy"),
            ("pipelined", "posix,cma,self", "am"),
            ("pipelined", "tcp,self", "am"),
        )
    ),
)


def probe(line: str) -> Answer:
    parsed = parse_launcher_line([*line.split(), "-n", "2", "imbrex-probes"])
    binary = build("probes", library_of_launcher(parsed)) / "bin" / "imbrex-probes"
    words = [str(binary), "--quick", "--max-bytes", str(SIZE), "--time-limit", "40"]
    command = parsed.with_program([*words, "--experiments", ",".join(EXPERIMENTS)])
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    measured = run_probes(command, {**os.environ, **root}, 60)
    in_force = settings.relevant(parsed.launcher_words, os.environ)
    return answer(measured, assemble(measured, in_force, True), EXPERIMENTS)


def most_work(found: Answer, operation: str, side: str) -> WorkOverlap | None:
    """What was found with the most work, which is three transfers."""
    mine = [
        o
        for o in found.overlap
        if (o.operation, o.side, o.size_bytes) == (operation, side, SIZE)
        and o.flavour == "registers"
        and not o.both_directions
    ]
    return max(mine, key=lambda o: o.work_s, default=None)


def hidden(runs: list[Answer], operation: str, side: str) -> str:
    """Share of the transfer's own time: from times, and the bounds of the side's calls alone."""
    most = [o for o in (most_work(found, operation, side) for found in runs) if o]
    if not most:
        return "not measured"
    true = span([(o.true_overlap_min_s, o.true_overlap_max_s) for o in most], most)
    return f"{true} in {span([(o.overlap_min_s, o.overlap_max_s) for o in most], most)}"


def span(intervals_s: list[tuple[float, float]], of: list[WorkOverlap]) -> str:
    """The medians of both ends, as shares of a transfer."""
    low, high = (
        round(
            100
            * median(min(1.0, i[end] / o.transfer_s) for i, o in zip(intervals_s, of, strict=True))
        )
        for end in (0, 1)
    )
    return f"{low} %" if low == high else f"{low} to {high} %"


def row(setting: Setting, runs: list[Answer]) -> str:
    transfer = median(
        next(o.transfer_s for o in found.overlap if o.size_bytes == SIZE) for found in runs
    )
    every = [o for found in runs for o in found.overlap]
    cells = [
        f"{runs[0].profile.library_name} {runs[0].profile.library_version}",
        setting.protocol,
        f"`{setting.line}`",
        f"{transfer * 1e6:,.0f}",
        hidden(runs, "MPI_Isend/MPI_Recv", "sender"),
        hidden(runs, "MPI_Send/MPI_Irecv", "receiver"),
        f"{sum(o.outside for o in every)} of {sum(o.transfers for o in every):,}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="of each line")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    lines = [
        "| library | protocol | setting | us | sender's work hides | receiver's work hides"
        " | bounds miss |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in SETTINGS:
        try:
            lines.append(row(setting, [probe(setting.line) for _ in range(options.runs)]))
        except (ImbrexError, StopIteration) as error:
            print(f"left out: {setting.line}: {error}", file=sys.stderr)
    text = "\n".join(lines)
    print(text)
    if options.insert:
        insert(options.insert, text, "protocols")


if __name__ == "__main__":
    main()
