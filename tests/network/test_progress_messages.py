"""The progress thread moves the program's messages and sends none of its own."""

from __future__ import annotations

import re

from tests.network.captured import capture, stream_bytes

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build

NODES = ("10.77.0.1", "10.77.0.2")
SIZE_BYTES, WARM_UP, ITERATIONS = 1_000_000, 5, 8
# MPICH's endpoints tell each other a little more or less; one header a look would be far more.
OWN_BYTES = 512


def _sent_bytes(cluster, exchange: str, *prefix: str) -> tuple[int, int]:
    """(data between the hosts, looks of the helper threads) of a run of naive overlap."""
    file = cluster.network.folder / f"packets-{cluster.mpi}"
    words = [*prefix, exchange, "late", str(SIZE_BYTES), "20", str(ITERATIONS)]
    with capture(cluster.network, file):
        done = cluster.network.run("env", "IMBREX_PROGRESS_TELL=1", *cluster.line(), *words)
    assert done.returncode == 0, done.stderr
    looks = sum(int(n) for n in re.findall(r"(\d+) looks", done.stderr))
    return stream_bytes(file, *NODES), looks


def test_the_thread_sends_nothing_of_its_own(cluster, mpi, exchange):
    library = library_of_launcher(parse_launcher_line([mpi.mpirun, "-n", "2", "true"]))
    launcher = str(build("runtime", library) / "bin" / "imbrex-exec")
    bare = [_sent_bytes(cluster, exchange)[0] for _ in range(2)]
    helped, looks = _sent_bytes(cluster, exchange, launcher, "--progress")
    messages = 2 * (WARM_UP + ITERATIONS) * SIZE_BYTES
    print(f"{cluster.mpi}: {messages} B of messages, {bare} B bare, {helped} B, {looks} looks")
    assert looks > ITERATIONS
    assert min(bare) >= messages
    assert abs(helped - bare[0]) <= OWN_BYTES
