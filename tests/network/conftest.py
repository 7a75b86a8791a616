"""Two hosts with a real network of 800 Mbit/s between them, in namespaces made for the session."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import forked

from imbrex.network import load

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPT = HERE / "two-hosts"
TIME_LIMIT_S = 300


@dataclass(frozen=True)
class TwoHosts:
    """The network: commands run in its head namespace, from which node1 and node2 are reached."""

    name: str
    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the head namespace; what it printed, and its exit code."""
        return subprocess.run(
            [*self._within, *command],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
            env=self._environment,
        )

    def imbrex(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the imbrex command in the head namespace."""
        # Where the namespace begins, `two-hosts run` gives a new process the same TMPDIR.
        environment = {**self._environment, "TMPDIR": str(self.folder / "tmp")}
        return forked.imbrex(
            words, cwd=self.folder, env=environment, timeout=TIME_LIMIT_S, within=self._within
        )

    @property
    def _within(self) -> tuple[str, ...]:
        return (str(SCRIPT), "run", self.name, str(self.folder))

    @property
    def _environment(self) -> dict[str, str]:
        """What is measured elsewhere, or kept from before, is of no use here."""
        return {**os.environ, "IMBREX_CACHE": str(self.folder / "cache")}


@dataclass(frozen=True)
class Cluster:
    """One MPI on the two hosts. `hosts` in a line: one rank per host unless told otherwise."""

    mpi: str
    network: TwoHosts

    def line(self, *options: str, hosts: str = "node1,node2", ranks: int = 2) -> list[str]:
        """The launcher's words, with more of its options behind the others."""
        agent = str(self.network.folder / "launch")
        if self.mpi == "mpich":
            # On one machine UCX finds shared memory between the "hosts" unless told to use TCP.
            settings = ["-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0,lo"]
            line = ["mpirun.mpich", "-launcher", "ssh", "-launcher-exec", agent, "-iface", "eth0"]
            return [*line, *settings, *options, "-hosts", hosts, "-n", str(ranks)]
        return [
            *("mpirun.openmpi", "--bind-to", "none", "--mca", "plm_rsh_agent", agent),
            *("--mca", "btl", "tcp,vader,self", "--mca", "btl_tcp_if_include", "eth0"),
            *("--mca", "oob_tcp_if_include", "10.77.0.0/24"),
            *(*options, "--host", hosts, "-n", str(ranks)),
        ]


@pytest.fixture(scope="session")
def two_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    """The network; a skip that says why where it cannot be made. Always removed at the end."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    for command in ("ip", "tc", "unshare"):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed (iproute2, util-linux)")
    network = TwoHosts(f"imbrex{os.getpid()}", tmp_path_factory.mktemp("two-hosts"))
    try:
        made = subprocess.run(
            [str(SCRIPT), "up", network.name, str(network.folder)],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
        yield network
    finally:
        subprocess.run([str(SCRIPT), "down", network.name], timeout=30, check=True)


@pytest.fixture(scope="session")
def cluster(mpi, two_hosts: TwoHosts) -> Cluster:
    """Each of Debian's two MPI libraries on the two hosts."""
    return Cluster(mpi.name, two_hosts)


@pytest.fixture(scope="session")
def exchange(mpi, two_hosts: TwoHosts) -> str:
    """exchange.c, compiled with this MPI."""
    program = two_hosts.folder / f"exchange-{mpi.name}"
    source = HERE / "exchange.c"
    subprocess.run([mpi.mpicc, "-g", "-O1", "-w", "-o", str(program), str(source)], check=True)
    return str(program)


@pytest.fixture(scope="session")
def halo3d(mpi, two_hosts: TwoHosts) -> str:
    """The mini-app halo3d, compiled with this MPI."""
    build = two_hosts.folder / f"apps-{mpi.name}"
    command = ["make", "-s", "-C", str(ROOT / "apps"), "halo3d", "MPIFC="]
    subprocess.run([*command, f"MPICC={mpi.mpicc}", f"BUILD={build}"], check=True)
    return str(build / "halo3d")


@pytest.fixture(scope="session")
def machine(cluster: Cluster) -> Path:
    """A quick machine profile of one rank per host. No message of these tests is larger than 4 MiB,
    and larger ones take longest.
    """
    file = cluster.network.folder / f"machine-{cluster.mpi}.json"
    limits = ("--quick", "--time-limit", "90", "--max-bytes", "4M")
    done = cluster.network.imbrex("calibrate", *limits, "-o", str(file), "--", *cluster.line())
    assert done.returncode == 0, done.stderr
    sizes = [point.size_bytes for point in load(file).paths["inter-node"].points]
    if sizes[-1] < 1 << 20:
        pytest.skip(f"the quick calibration came only to {sizes[-1]} B within its time")
    return file
