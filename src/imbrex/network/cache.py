"""Machine profiles kept for the same MPI library, launcher line, hosts and settings."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.network import settings
from imbrex.network.profile import MachineProfile
from imbrex.network.reading import load


def folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where profiles are kept: below $IMBREX_CACHE, else $XDG_CACHE_HOME/imbrex or ~/.cache."""
    env = os.environ if environment is None else environment
    if env.get("IMBREX_CACHE"):
        return Path(env["IMBREX_CACHE"]) / "machines"
    base = env.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "imbrex" / "machines"


def key(library_id: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Hexadecimal name of the circumstances: equal only where a profile may be used again.

    The whole launcher line counts (ranks, hosts, mapping, settings), the files that it names by
    their content, the allocation, the host, and every variable that MPI libraries read.
    """
    circumstances = {
        "version": __version__,
        "library": library_id,
        "launcher": list(words),
        "host": socket.gethostname(),
        "hosts": settings.fingerprint_of_hosts(words, environment),
        "settings": settings.relevant(words, environment),
        "cores": len(os.sched_getaffinity(0)),
    }
    text = json.dumps(circumstances, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def find(name: str, environment: Mapping[str, str] | None = None) -> MachineProfile | None:
    """The profile kept under `name`; None when there is none that can be read."""
    file = folder(environment) / f"{name}.json"
    if not file.exists():
        return None
    try:
        return load(file)
    except ImbrexError:
        return None


def keep(
    name: str, profile: MachineProfile, environment: Mapping[str, str] | None = None
) -> Path | None:
    """Keep `profile` under `name`; None where nothing can be written, which costs only time."""
    file = folder(environment) / f"{name}.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        profile.save(file)
    except (OSError, ImbrexError):
        return None
    return file
