"""A machine profile for `imbrex run` in tests that ask nothing that depends on how long it takes.

A calibration has two ranks that poll for as long as they are given, and beside other tests it is
given all of its minute. What such a test runs finds this profile where Imbrex keeps its own, in a
folder of the tests. A test with the marker `calibrates` asks about the calibration itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import MpiLibrary, library_of_launcher
from imbrex.network import cache as kept_profiles
from imbrex.network import settings
from imbrex.network.library_version import library_version
from imbrex.network.profile import (
    Collective,
    CollectivePoint,
    LogGP,
    MachineProfile,
    NetworkPath,
    Point,
)
from imbrex.network.quality import CALIBRATED

FOLDER = Path(__file__).resolve().parents[1] / "build" / "tests" / "known-machine"
SIZES = (1, 64, 1024, 4096, 8192, 65536, 1 << 20, 4 << 20, 8 << 20)
EAGER_BYTES = 4096
LEAST_S_PER_BYTE, MOST_S_PER_BYTE = 1e-11, 1e-9
"""No memory is faster, so that the lower bounds hold in every run."""
MOST_LATENCY_S = 1e-3
RANKS = 2

_OWN = os.environ.get("IMBREX_CACHE")
_given = False


def give(item: pytest.Item) -> None:
    """From here on `imbrex run` finds the profile, if this test asks nothing of it.

    A profile that is measured beside other tests is kept where no test of times finds it.
    """
    global _given
    markers = {marker.name for marker in item.iter_markers()}
    _given = "untimed" in markers and "calibrates" not in markers
    if _given:
        os.environ["IMBREX_CACHE"] = str(FOLDER)
    elif "untimed" in markers:
        os.environ["IMBREX_CACHE"] = str(FOLDER.with_name("measured-beside"))
    elif _OWN is not None:
        os.environ["IMBREX_CACHE"] = _OWN
    else:
        os.environ.pop("IMBREX_CACHE", None)


def keep(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Where these words of `imbrex` are a run of a launcher's, keep the profile of its line."""
    is_here = _given and environment.get("IMBREX_CACHE") == str(FOLDER)
    if not is_here or "run" not in words or "--" not in words or "--machine" in words:
        return
    try:
        line = parse_launcher_line(words[words.index("--") + 1 :])
        if line.family == "none":
            return
        library, version = _library(line.words[0], environment.get("PATH", ""))
        name = kept_profiles.key(library.identity, line.circumstances, environment)
        if kept_profiles.find(name, environment) is None:
            profile = _profile(version, settings.relevant(line.circumstances, environment))
            kept_profiles.keep(name, profile, environment)
    except ImbrexError:
        return  # Imbrex says what is wrong with such a line


@cache
def _library(launcher: str, _path: str) -> tuple[MpiLibrary, tuple[str, str]]:
    library = library_of_launcher(parse_launcher_line([launcher, "-n", "2", "true"]))
    version = library_version(library.file)
    assert version is not None
    return library, version


def _profile(version: tuple[str, str], in_force: dict[str, str]) -> MachineProfile:
    points = tuple(
        Point(
            size,
            size * LEAST_S_PER_BYTE,
            _most_s(size),
            send_returns_before_match=size <= EAGER_BYTES,
        )
        for size in SIZES
    )
    loggp = LogGP(1e-6, 1e-7, 1e-7, 1e-7, 1e-10, 1.2e-6, 0.01)
    path = NetworkPath(points, LEAST_S_PER_BYTE, loggp)
    of_collectives = tuple(
        CollectivePoint(size, size * LEAST_S_PER_BYTE, _most_s(size)) for size in SIZES
    )
    return MachineProfile(
        *version,
        hosts=(),
        ranks=RANKS,
        settings=in_force,
        paths={"self": path, "intra-node": path},
        collectives=tuple(
            Collective(operation, RANKS, "intra-node", "any", of_collectives)
            for operation in sorted(CALIBRATED)
        ),
        created="2026-01-01T00:00:00Z",
        imbrex_version=__version__,
        quick=True,
    )


def _most_s(size: int) -> float:
    return MOST_LATENCY_S + size * MOST_S_PER_BYTE
