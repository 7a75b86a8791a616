"""The subcommands: one line each, imported only when called."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    # name: "module:click command"
    "calibrate": "imbrex.probe.calibrate:calibrate",
    "predict": "imbrex.potential.command:predict",
}
