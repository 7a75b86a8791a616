"""The subcommands: one line each, imported only when called."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    # name: "module:click command"
    "run": "imbrex.cli.run:run",
    "show": "imbrex.cli.show:show",
    "report": "imbrex.cli.show:report",
    "compare": "imbrex.cli.show:compare",
    "collect": "imbrex.cli.run:collect",
    "calibrate": "imbrex.probe.calibrate:calibrate",
    "probe": "imbrex.probe.command:probe",
    "predict": "imbrex.potential.command:predict",
    "cc": "imbrex.potential.compilers:cc",
    "cxx": "imbrex.potential.compilers:cxx",
    "fc": "imbrex.potential.compilers:fc",
    "record": "imbrex.potential.record:record",
    "transform": "imbrex.transform.command:command",
}
