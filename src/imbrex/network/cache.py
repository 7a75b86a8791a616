"""Machine profiles kept for the same MPI library, launcher line, hosts and settings."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import cache_folder, source_folder
from imbrex.network import settings
from imbrex.network.profile import MachineProfile
from imbrex.network.quality import cut_short, is_better, spread
from imbrex.network.reading import load


def folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where profiles are kept: below $IMBREX_CACHE, else $XDG_CACHE_HOME/imbrex or ~/.cache."""
    env = os.environ if environment is None else environment
    if env.get("IMBREX_CACHE"):
        return Path(env["IMBREX_CACHE"]) / "machines"
    return cache_folder(env) / "machines"


@functools.cache
def fingerprint_of_method() -> str:
    """A digest of all that decides how a profile is made: the probes and this package.

    A profile is as good as the method that made it: a changed method must not meet an old profile.
    """
    digest = hashlib.sha256()
    for folder in (source_folder("probes"), Path(__file__).parent):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix in (".c", ".h", ".def", ".txt", ".py"):
                digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def key(library_id: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Hexadecimal name of the circumstances: equal only where a profile may be used again.

    The whole launcher line counts (ranks, hosts, mapping, settings), the files that it names by
    their content, the allocation, the host, every variable that MPI libraries read, and the method.
    """
    circumstances = {
        "version": __version__,
        "method": fingerprint_of_method(),
        "library": library_id,
        "launcher": settings.words_that_matter(words),
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


def unwritable(environment: Mapping[str, str] | None = None) -> str | None:
    """Where and why no profile can be kept; None where it can."""
    place = folder(environment)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{place}: profiles cannot be kept there ({error.strerror})"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"{place}: profiles cannot be kept there (not writable)"
    return None


def better(
    name: str, profile: MachineProfile, environment: Mapping[str, str] | None = None
) -> str | None:
    """One line about the profile kept under `name` where `profile` must not take its place."""
    kept = find(name, environment)
    if kept is None or not is_better(kept, profile):
        return None
    if cut_short(profile) is not None:
        return f"this machine is too busy now: the profile of {kept.created} stays in use"
    if profile.quick and not kept.quick:
        return f"the full profile of {kept.created} stays in use: this quick one is no better"
    return (
        f"this machine is too noisy now: the profile of {kept.created} stays in use, "
        f"in which times spread by {spread(kept):.1f} instead of {spread(profile):.1f}"
    )


def keep(
    name: str, profile: MachineProfile, environment: Mapping[str, str] | None = None
) -> Path | None:
    """Keep `profile` under `name`, unless a better one is there; the file that is there then.

    None where nothing can be written, which costs only time.
    """
    file = folder(environment) / f"{name}.json"
    if better(name, profile, environment) is not None:
        return file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        profile.save(file)
    except (OSError, ImbrexError):
        return None
    return file
