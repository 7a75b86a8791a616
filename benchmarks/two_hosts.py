"""Two hosts made of network namespaces, for benchmarks: one rank on each, TCP at 800 Mbit/s.

Each host has half of the cores, as two hosts have: see tests/network/two-hosts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from network_table import SCRIPT, launcher


class Network:
    """Runs command lines from the head of the network."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.environment = os.environ | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # The hosts of each network have the same names: a calibration serves the next one too.
            "IMBREX_CACHE": os.environ.get("IMBREX_CACHE", str(folder / "cache")),
        }

    def run(self, command: list[str], timeout_s: float = 200) -> str:
        """Standard output; SystemExit where the command fails.

        An app that has not converged after few steps has come to its end all the same.
        """
        done = subprocess.run(
            [str(SCRIPT), "run", self.name, str(self.folder), *command],
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder,
            timeout=timeout_s,
        )
        if done.returncode and "verification:" not in done.stdout:
            raise SystemExit(f"{' '.join(command)} fails:\n{done.stdout}{done.stderr}")
        return done.stdout

    def ranks(self, mpi: str, program: list[str]) -> str:
        return self.run([*launcher(mpi, self.folder), *program])

    def imbrex(self, *words: str) -> str:
        return self.run([sys.executable, "-m", "imbrex.cli", *words])


@contextmanager
def two_hosts(apart: bool = True) -> Iterator[Network]:
    """The network, taken down at the end. Unless `apart` each host has all of the cores, for more
    ranks than cores of a host."""
    name = f"imbrex{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="imbrex-network-") as scratch:
        cores = os.environ | ({"APART": "1"} if apart else {})
        subprocess.run([str(SCRIPT), "up", name, scratch], check=True, env=cores)
        try:
            yield Network(name, Path(scratch))
        finally:
            subprocess.run([str(SCRIPT), "down", name], check=True)
