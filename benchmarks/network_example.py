"""The screens of docs/guide/tutorial.md: one exchange over a network, measured and compared.

    sudo python benchmarks/network_example.py openmpi|mpich [--bytes N] [--iterations N]

Makes two hosts in network namespaces (tests/network/two-hosts, TCP at 800 Mbit/s), and prints what
`imbrex run` says of tests/network/exchange.c with 50 ms of work: `late` (Irecv, Isend, the work,
Waitall), `blocking` (Sendrecv, then the work) and `tested` (as `late`, with MPI_Testall in the
work), and what `imbrex compare` says of `late` and `tested`. Two minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from network_table import ROOT, SCRIPT, launcher
from two_hosts import Network, two_hosts

STYLES = ("late", "blocking", "tested")


def said(network: Network, *words: str) -> str:
    """Standard output, then what the command told the user."""
    done = subprocess.run(
        [str(SCRIPT), "run", network.name, str(network.folder), *words],
        capture_output=True,
        text=True,
        env=network.environment,
        cwd=network.folder,
        timeout=400,
        check=True,
    )
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mpi", choices=("openmpi", "mpich"))
    parser.add_argument("--bytes", type=int, default=4_000_000)
    parser.add_argument("--iterations", type=int, default=40)
    options = parser.parse_args()
    imbrex = (sys.executable, "-m", "imbrex.cli")
    with two_hosts() as network:
        program = network.folder / "exchange"
        source = ROOT / "tests" / "network" / "exchange.c"
        words = [f"mpicc.{options.mpi}", "-O2", "-g", "-w", "-o", str(program), str(source), "-lm"]
        subprocess.run(words, check=True)
        for style in STYLES:
            line = [*launcher(options.mpi, network.folder), str(program), style]
            line += [str(options.bytes), "50", str(options.iterations)]
            print(f"# {style}\n")
            print(said(network, *imbrex, "run", "-o", style, "--", *line), flush=True)
        print("# compare late tested\n")
        print(said(network, *imbrex, "compare", "late", "tested"))


if __name__ == "__main__":
    main()
