"""The machine profile of a run: given, cached, or made by a quick calibration."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from imbrex import network
from imbrex.errors import ImbrexError
from imbrex.launch.hosts import may_use_several_hosts
from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import LauncherLine
from imbrex.mpi_environment.mpi_library import MpiLibrary
from imbrex.profile.job import Machine

TABLE = "times.table"
PROBES = Path("bin") / "imbrex-probes"


@dataclass(frozen=True)
class Transfers:
    """Where transfer times come from. `profile` is None when there are none."""

    machine: Machine
    profile: network.MachineProfile | None = None
    warning: str | None = None

    def save(self, folder: Path) -> Path | None:
        """Write machine.json and the runtime's table into a run directory; the table's path."""
        if self.profile is None:
            return None
        self.profile.save(folder / "machine.json")
        network.write_table(self.profile, folder / TABLE)
        return folder / TABLE


def find_transfers(
    line: LauncherLine,
    library: MpiLibrary,
    given: Path | None,
) -> Transfers:
    """The transfer times for a run of this line.

    ImbrexError where the file given cannot be used, or is of another MPI library; one of other
    settings is a warning. A calibration that fails costs the bounds, not the run: a warning too.
    """
    if given is not None:
        profile = network.load(given)
        machine = Machine("given", str(given.absolute()), profile.created)
        return Transfers(machine, profile, _check(profile, given, line, library))
    try:
        profile, origin = network.obtain(
            line.with_program,
            lambda: native.build("probes", library) / PROBES,
            library.identity,
            line.circumstances,
        )
    except ImbrexError as error:
        return Transfers(Machine(), None, f"no machine profile: {error}")
    warning = network.cut_short(profile) or network.too_noisy(profile)
    return Transfers(Machine(origin, None, profile.created), profile, warning)


def _check(
    profile: network.MachineProfile, file: Path, line: LauncherLine, library: MpiLibrary
) -> str | None:
    """A warning where a profile was made with other settings; ImbrexError for another library."""
    used = network.library_version(library.file)
    wrong = None if used is None else profile.mismatch(*used)
    if wrong is not None:
        raise ImbrexError(
            f"{file}: {wrong}; make one with `imbrex calibrate -- {' '.join(line.circumstances)}`"
        )
    several = may_use_several_hosts(line.launcher_words)
    settings = network.settings_in_force(line.launcher_words, os.environ)
    return profile.differences(settings, None if several else socket.gethostname())
