"""What of a message moves while who computes, over a network where the kernel moves the data.

With a large eager limit a send puts into its socket what fits; the kernels move that on while both
sides compute, and no more. So the share that moves ends with the socket buffers.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network.columns import read_columns
from imbrex.network.exchanges import Exchange, read_exchanges
from imbrex.network.transfer_class import TransferClass, classify

KIB = 1024
RATE, BURST = "150mbit", "4kb"
# Asked for in each direction; the kernel gives twice that, and uses about half for the data itself.
BUFFER_BYTES = 128 * KIB
FIT, EXCEEDS = (16 * KIB, 64 * KIB), 1024 * KIB


@pytest.fixture
def slow(two_hosts):
    """A rate at which the network's time exceeds the processors', also for the smallest of FIT, and
    a bucket that holds less than that.
    """

    def limit(rate: str, burst: str) -> None:
        for host in ("node1", "node2"):
            where = ["tc", "-n", f"{two_hosts.name}-{host}", "qdisc", "replace", "dev", "eth0"]
            how = ["root", "tbf", "rate", rate, "burst", burst, "limit", "16mb"]
            subprocess.run([*where, *how], check=True)

    limit(RATE, BURST)
    yield
    limit("800mbit", "128kb")


def line_with(cluster, eager_bytes: int) -> list[str]:
    """The launcher line with this eager limit and socket buffers of BUFFER_BYTES."""
    line = cluster.line()
    if cluster.mpi == "mpich":
        variables = {
            "UCX_RNDV_THRESH": eager_bytes,
            "UCX_TCP_SNDBUF": BUFFER_BYTES,
            "UCX_TCP_RCVBUF": BUFFER_BYTES,
        }
        words = [w for name, value in variables.items() for w in ("-genv", name, str(value))]
    else:
        parameters = {
            "btl_tcp_eager_limit": eager_bytes,
            "btl_tcp_rndv_eager_limit": eager_bytes,
            "btl_tcp_max_send_size": eager_bytes,
            "btl_tcp_sndbuf": BUFFER_BYTES,
            "btl_tcp_rcvbuf": BUFFER_BYTES,
        }
        words = [w for name, value in parameters.items() for w in ("--mca", name, str(value))]
    return [line[0], *words, *line[1:]]


def moved(cluster, line: list[str]) -> dict[int, TransferClass]:
    """The class of each size."""
    parsed = parse_launcher_line([*line, "imbrex-probes"])
    binary = build("probes", library_of_launcher(parsed)) / "bin" / "imbrex-probes"
    words = (str(binary), "--quick", "--max-bytes", str(EXCEEDS), "--time-limit", "40")
    done = cluster.network.run(*parsed.with_program([*words, "--experiments", "moved"]))
    assert done.returncode == 0, done.stderr
    trials: dict[int, dict[str, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
    for x in read_exchanges(read_columns(done.stdout.splitlines()).other["exchange"]):
        assert x.path == "inter-node"
        trials[x.size_bytes][x.label].append(x)
    found = {size: classify(of) for size, of in sorted(trials.items())}
    print(f"\n{Path(line[0]).name}: bytes, class, moved while sender, receiver, both compute")
    for size, of in found.items():
        shares = (of.moved.sender_computing, of.moved.receiver_computing, of.moved.both_computing)
        print(f"{size:9,} {of.name:12}", *(f"{100 * (s or 0):4.0f} %" for s in shares))
    return found


def test_the_kernel_moves_what_fits_the_socket_buffers(cluster, slow) -> None:
    eager = moved(cluster, line_with(cluster, 4 * EXCEEDS))
    if EXCEEDS not in eager:
        pytest.skip("the machine was too busy to come to 1 MiB")
    # Both compute, and the data moves all the same: to where it does not fit.
    assert min(eager[size].moved.both_computing or 0.0 for size in FIT) > 0.6
    assert eager[EXCEEDS].moved.both_computing < 0.4
    assert eager[EXCEEDS].name != "third-party"


def test_a_rendezvous_needs_both_sides(cluster, slow) -> None:
    """The same network, the same buffers: asked for first, nothing moves while both compute."""
    asked = moved(cluster, line_with(cluster, 16 * KIB))
    if EXCEEDS not in asked:
        pytest.skip("the machine was too busy to come to 1 MiB")
    assert asked[EXCEEDS].moved.both_computing < 0.3
    assert asked[EXCEEDS].name != "third-party"
