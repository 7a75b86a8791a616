"""Run several jobs at once, of which only one moves at a time, in short turns.

What disturbs a machine for longer than a turn then disturbs all jobs alike, so that their ratio
holds where one run after the other would drown in noise. Each rank is bound to a core of its own,
the ranks of the jobs that wait are stopped with SIGSTOP, and the program reads its processor time
instead of the clock (turns_clock.c): MPI spins while it waits, so that the processor time of a rank
that moves is the time that passes.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
TURN_S = 0.025
# Each rank leaves its process number in the folder that is the first word.
REGISTER = 'echo "$$" >"$0/$$"; exec "$@"'


def build_clock(folder: Path) -> Path:
    """The object to preload that lets MPI_Wtime read the processor time."""
    clock = folder / "turns_clock.so"
    words = ["cc", "-O2", "-shared", "-fPIC", "-o", str(clock), str(HERE / "turns_clock.c")]
    subprocess.run(words, check=True)
    return clock


class Job:
    """A launcher with its ranks, which move only between `go` and `stop`."""

    def __init__(self, launcher: Sequence[str], program: Sequence[str], folder: Path) -> None:
        self.words = [*launcher, "sh", "-c", REGISTER, str(folder), *program]
        self._folder = folder
        self._output = (folder.parent / f"{folder.name}.out").open("w+")
        self._process = subprocess.Popen(
            self.words,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def _signal(self, number: int) -> None:
        for rank in self._folder.iterdir():
            try:
                os.kill(int(rank.name), number)
            except ProcessLookupError:
                rank.unlink()

    def go(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        self._signal(signal.SIGSTOP)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """Leave no rank behind, above all none that is stopped."""
        if not self.ended():
            self._signal(signal.SIGKILL)
            self._process.kill()
            self._process.wait()

    def seconds(self) -> float:
        """The time that the program says its solver took; ends the script if it failed."""
        self._output.seek(0)
        output = self._output.read()
        self._output.close()
        found = re.search(r"^time: +([0-9]*\.[0-9]+) s", output, re.MULTILINE)
        if self._process.returncode != 0 or found is None:
            sys.exit(f"{' '.join(self.words)}: exit {self._process.returncode}\n{output}")
        return float(found.group(1))


def take_turns(jobs: Sequence[Job]) -> None:
    """Let the jobs run to their ends, one at a time."""
    running = list(jobs)
    while running:
        for job in running:
            job.go()
            time.sleep(TURN_S)
            if len(running) > 1:
                job.stop()
        running = [job for job in running if not job.ended()]


def in_turns(launcher: Sequence[str], programs: Sequence[Sequence[str]]) -> list[float]:
    """The seconds of processor time that each program took, all run with the same launcher."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="imbrex-turns-") as scratch:
        jobs = []
        for number, program in enumerate(programs):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            jobs.append(Job(launcher, program, folder))
        try:
            take_turns(jobs)
        finally:
            for job in jobs:
                job.end()
        seconds = [job.seconds() for job in jobs]
    if sum(seconds) > 1.02 * (time.monotonic() - started):
        sys.exit(f"{' '.join(jobs[0].words)}: does not take its time from MPI_Wtime of turns_clock")
    return seconds
