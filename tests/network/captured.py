"""The packets of one host meanwhile, and how much data of TCP's streams they hold."""

from __future__ import annotations

import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEQUENCES = 1 << 32


@contextmanager
def capture(network, file: Path) -> Iterator[None]:
    """Write the packets of node1 to a file meanwhile."""
    program = network.folder / "capture"
    subprocess.run(["gcc", "-O2", "-o", str(program), str(HERE / "capture.c")], check=True)
    command = ["ip", "netns", "exec", f"{network.name}-node1", str(program), "eth0", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def stream_bytes(file: Path, one: str, other: str) -> int:
    """Bytes of data that went between two addresses: what is sent again counts once.

    Raises AssertionError where the capture lost packets.
    """
    *lines, last = file.read_text().splitlines()
    assert last == "lost 0"
    first: dict[str, int] = {}
    reached: dict[str, int] = defaultdict(int)
    for line in lines:
        _, _, size, stream, sequence = line.split()
        source, target = (end.rsplit(":", 1)[0] for end in stream.split(">"))
        if {source, target} == {one, other}:
            # Streams here are far shorter than the 4 GiB after which sequence numbers begin anew.
            begin = first.setdefault(stream, int(sequence))
            reached[stream] = max(reached[stream], (int(sequence) - begin) % SEQUENCES + int(size))
    return sum(reached.values())
