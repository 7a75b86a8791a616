"""What the network can do: machine profiles, how to obtain them, and the runtime's table."""

from __future__ import annotations

from imbrex.network.interpolation import TransferTime, collective_time, transfer_time
from imbrex.network.library_version import library_version
from imbrex.network.obtain import calibrate, obtain
from imbrex.network.profile import (
    Collective,
    CollectivePoint,
    LogGP,
    MachineProfile,
    NetworkPath,
    Point,
)
from imbrex.network.quality import cut_short, too_noisy
from imbrex.network.reading import load
from imbrex.network.settings import relevant as settings_in_force
from imbrex.network.table import format_table, write_table

__all__ = [
    "Collective",
    "CollectivePoint",
    "LogGP",
    "MachineProfile",
    "NetworkPath",
    "Point",
    "TransferTime",
    "calibrate",
    "collective_time",
    "cut_short",
    "format_table",
    "library_version",
    "load",
    "obtain",
    "settings_in_force",
    "too_noisy",
    "transfer_time",
    "write_table",
]
