"""Whether a launcher line may use several hosts (then parts stay on the nodes until the end)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_OPTIONS = frozenset(
    [
        *("-H", "-host", "--host", "-hosts", "--hosts", "-f", "-machine"),
        *("-hostfile", "--hostfile", "-machinefile", "--machinefile"),
        *("-default-hostfile", "--default-hostfile", "-w", "--nodelist", "-N", "--nodes"),
    ]
)
_COUNTS = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NUM_NODES")
_LISTS = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "OAR_NODEFILE")
_LOCAL = frozenset(["localhost", "127.0.0.1", "1"])


def may_use_several_hosts(
    launcher_words: Sequence[str], environment: Mapping[str, str] = os.environ
) -> bool:
    """True unless it is plain that everything runs on this host."""
    for index, argument in enumerate(launcher_words):
        name, _, value = argument.partition("=")
        if name in _OPTIONS:
            value = value or (launcher_words[index + 1] if index + 1 < len(launcher_words) else "")
            # `localhost:4` and `1` are this host, whatever option it was.
            if value.split(":", 1)[0] not in _LOCAL:
                return True
    if any(environment.get(name, "1") not in ("", "1") for name in _COUNTS):
        return True
    for name in _LISTS:
        try:
            lines = Path(environment[name]).read_text().splitlines()
        except (KeyError, OSError):
            continue
        if len({line.split()[0] for line in lines if line.strip()}) > 1:
            return True
    return False
