"""Instructions of the runtime for a transfer, with events from inside a library and by the calls.

    python benchmarks/source_instructions.py

Two ranks of Open MPI exchange 8 bytes (MPI_Irecv, MPI_Isend, MPI_Waitall) over UCX and over PSM2,
each rank under callgrind (valgrind). Two runs of different length tell an exchange from the start
of the job; of the two ranks counts the one with fewer. UCX's progress, which a waiting rank calls
as often as it has time for, is left out. Other load on the machine does not change the counts. PSM2
runs without an adapter in a mount namespace, which needs root.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from preloaded import ROOT, build_runtime

SHORT, LONG = 500, 2500
TRANSFERS = 2  # of an exchange, on each rank
POLL = "ucp_worker_progress"
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    char out[8] = {0}, in[8];
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Irecv(in, 8, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, 8, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
}
"""
NAMESPACE = ["unshare", "-m", str(ROOT / "tests" / "mpi" / "psm2" / "without_hardware.sh")]
# by source: words in front of mpirun, parameters of Open MPI, variables
SETTINGS: dict[str, tuple[list[str], dict[str, str], dict[str, str]]] = {
    "ucx": (
        [],
        {"pml": "ucx", "pml_ucx_tls": "any", "pml_ucx_devices": "any"},
        {"UCX_TLS": "shm,self"},
    ),
    "psm2": (NAMESPACE, {"pml": "cm", "mtl": "psm2"}, {"PSM2_DEVICES": "self,shm"}),
}


def instructions(file: Path) -> int:
    """Those of the runtime's own functions in one output of callgrind, but for polls."""
    text = subprocess.run(
        ["callgrind_annotate", "--threshold=100", str(file)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = [line for line in text.splitlines() if "libimbrex" in line and POLL not in line]
    return sum(int(line.split()[0].replace(",", "")) for line in lines)


def count(program: Path, runtime: Path, source: str, events: str, exchanges: int) -> int:
    """The instructions of the rank with fewer of them."""
    before, parameters, variables = SETTINGS[source]
    words = [part for name, value in parameters.items() for part in ("--mca", name, value)]
    with tempfile.TemporaryDirectory(dir=program.parent) as name:
        folder = Path(name)
        environment = {**os.environ, **variables, "IMBREX_DIR": name, "IMBREX_EVENTS": events}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        environment |= {"IMBREX_LOG": "off"}
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out.%p'}"]
        preload = ["-x", f"LD_PRELOAD={runtime}", "-n", "2"]
        launcher = ["mpirun.openmpi", "--oversubscribe", *words, *preload]
        subprocess.run(
            [*before, *launcher, *valgrind, str(program), str(exchanges)],
            env=environment,
            check=True,
            capture_output=True,
        )
        return min(map(instructions, folder.glob("out.*")))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "exchange.c").write_text(PROGRAM)
        program = folder / "exchange"
        compile_it = ["mpicc.openmpi", "-O2", "-w", "-o", str(program), str(folder / "exchange.c")]
        subprocess.run(compile_it, check=True)
        runtime = build_runtime("mpicc.openmpi", folder)
        print("| source | by the calls | by the source | added |")
        print("|---|--:|--:|--:|")
        for source in SETTINGS:
            shares = []
            for events in ("call", source):
                runs = [count(program, runtime, source, events, n) for n in (SHORT, LONG)]
                shares.append((runs[1] - runs[0]) / (LONG - SHORT) / TRANSFERS)
            calls, inside = shares
            print(f"| `{source}` | {calls:.0f} | {inside:.0f} | {inside - calls:.0f} |", flush=True)


if __name__ == "__main__":
    main()
