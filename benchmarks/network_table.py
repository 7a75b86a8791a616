"""What `imbrex run` says of three styles of one exchange over a real network of 800 Mbit/s.

    sudo python benchmarks/network_table.py openmpi|mpich

Makes two hosts in network namespaces (tests/network/two-hosts), calibrates, runs
tests/network/exchange.c (1 and 4 MB with 50 ms of work) and the three variants of halo3d, and
prints the tables of docs/theory/two-hosts.md. One to four minutes for each MPI.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tests" / "network" / "two-hosts"
ITERATIONS = 10
STEPS = 20


def launcher(mpi: str, folder: Path, ranks: int = 2, hosts: int = 2) -> list[str]:
    """As many ranks on each host, the lower ones on the first, over TCP."""
    agent, each = str(folder / "launch"), -(-ranks // hosts)
    names = [f"node{number}" for number in range(1, hosts + 1)]
    if mpi == "mpich":
        return [
            *("mpirun.mpich", "-launcher", "ssh", "-launcher-exec", agent, "-iface", "eth0"),
            *("-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0,lo"),
            *(("-ppn", str(each)) if each > 1 else ()),
            *("-hosts", ",".join(names), "-n", str(ranks)),
        ]
    slots = [f"{name}:{each}" if each > 1 else name for name in names]
    return [
        *("mpirun.openmpi", "--bind-to", "none", "--mca", "plm_rsh_agent", agent),
        *("--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include", "eth0"),
        *("--mca", "oob_tcp_if_include", "10.77.0.0/24"),
        *("--host", ",".join(slots), "-n", str(ranks)),
    ]


def share(low: float, high: float, whole: float) -> str:
    """An interval in per cent of the transfer time."""
    return f"{100 * low / whole:.0f} to {100 * high / whole:.0f} %"


def row(name: str, time_ms: float, totals: dict[str, float]) -> str:
    """One line of the table: the three parts add up to the whole."""
    whole = totals["transfer_max_s"]
    hidden, exposed = totals["overlap_min_s"], totals["exposed_min_s"]
    parts = [hidden, exposed, whole - hidden - exposed]
    cells = " | ".join(f"{100 * part / whole:.0f} %" for part in parts)
    return (
        f"| {name} | {time_ms:.0f} ms | {cells} | {share(hidden, totals['overlap_max_s'], whole)} |"
    )


def main(mpi: str) -> None:
    """Make the network, measure, print, and remove the network."""
    name = f"imbrex{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="imbrex-network-") as scratch:
        folder = Path(scratch)
        line = launcher(mpi, folder)

        def run(*words: str) -> str:
            command = [str(SCRIPT), "run", name, str(folder), sys.executable, "-m", "imbrex.cli"]
            done = subprocess.run(
                [*command, *words], cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(done.stderr)
            return done.stdout

        def measured(label: str, *program: str) -> tuple[list[str], dict[str, float]]:
            """The words that the program printed, and the totals of its run."""
            options = ("-q", "-o", label, "--machine", "machine.json")
            printed = run("run", *options, "--", *line, *program).split()
            shown: dict[str, dict[str, float]] = json.loads(run("show", label, "--json"))
            return printed, shown["totals"]

        build = [f"mpicc.{mpi}", "-g", "-O1", "-w", "-o", str(folder / "exchange")]
        subprocess.run([*build, str(ROOT / "tests" / "network" / "exchange.c")], check=True)
        make = ["make", "-s", "-C", str(ROOT / "apps"), "halo3d", "MPIFC="]
        subprocess.run([*make, f"MPICC=mpicc.{mpi}", f"BUILD={folder}"], check=True)
        try:
            subprocess.run([str(SCRIPT), "up", name, scratch], check=True)
            # Open MPI is slow at small sizes here: the quick form does not come to large ones.
            quick = ["--quick"] if mpi == "mpich" else []
            run("calibrate", *quick, "-o", "machine.json", "--", *line)
            print(f"| {mpi} | time | hidden | exposed | undetermined | hidden in all |")
            print("|---|---|---|---|---|---|")
            for size in (1_000_000, 4_000_000):
                for style in ("blocking", "late", "tested"):
                    words = ("./exchange", style, str(size), "50", str(ITERATIONS))
                    printed, totals = measured(f"{style}-{size}", *words)
                    time_ms = 1e3 * float(printed[printed.index("seconds") + 1])
                    print(row(f"exchange, {size // 10**6} MB, {style}", time_ms, totals))
            for variant in ("blocking", "late-wait", "overlapped"):
                words = ("./halo3d", "--variant", variant, "--n", "192", "--steps", str(STEPS))
                printed, totals = measured(variant, *words)
                time_ms = 1e3 * float(printed[printed.index("time:") + 1]) / STEPS
                print(row(f"halo3d, {variant}", time_ms, totals))
        finally:
            subprocess.run([str(SCRIPT), "down", name], check=False)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("openmpi", "mpich"):
        sys.exit(__doc__)
    main(sys.argv[1])
