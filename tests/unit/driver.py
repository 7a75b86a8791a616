"""A C program of the tests that runs scripts of lines, each up to its `reset`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

RUNTIME = Path(__file__).parents[2] / "runtime"

# The same words everywhere: what is built with them is shared (conftest.py).
ADDRESS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREAD = ("-O1", "-g", "-fsanitize=thread")


def sanitized(folder: Path, program: str, *sources: Path) -> Path:
    """Build a C program with files of the runtime, under ASan and UBSan; the binary in `folder`."""
    main, binary = folder / "main.c", folder / "main"
    main.write_text(program)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    words = ["gcc", *flags, f"-I{RUNTIME}", "-o", str(binary), str(main), *map(str, sources)]
    subprocess.run(words, check=True)
    return binary


class Driver:
    """A running driver: many scripts, one process."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary
        self._process: subprocess.Popen[str] | None = None

    def run(self, lines: Sequence[str]) -> list[str]:
        """Send one script; the lines that it printed."""
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self.binary)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write("\n".join([*lines, "reset", ""]))
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        output = []
        while line := self._process.stdout.readline():
            if line == "done\n":
                return output
            output.append(line.rstrip("\n"))
        error = self._process.stderr.read()
        self._process.wait()
        self._process = None
        raise AssertionError("the driver died:\n" + error)

    def close(self) -> None:
        if self._process:
            self._process.communicate()
