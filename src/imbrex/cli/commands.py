"""The subcommands: one line each, imported only when called."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command is ("module:click command"), and the line that lists it."""

    target: str
    summary: str


GROUPS: dict[str, dict[str, Command]] = {
    "Measure": {
        "run": Command("imbrex.cli.run:run", "Measure the overlap of an MPI program."),
        "show": Command("imbrex.cli.show:show", "Show a measured run: verdict, or a table."),
        "report": Command("imbrex.cli.report:report", "Write a run as one HTML file."),
        "compare": Command("imbrex.cli.compare:compare", "Compare two runs."),
        "export": Command("imbrex.cli.export:export", "Write a run for other tools."),
    },
    "Understand": {
        "probe": Command("imbrex.cli.probe:probe", "Find out what overlaps on this MPI."),
        "calibrate": Command("imbrex.cli.calibrate:calibrate", "Measure transfer times."),
        "predict": Command(
            "imbrex.cli.predict:predict", "Say how much could overlap, and what it is worth."
        ),
    },
    "Change": {
        "tune": Command("imbrex.cli.tune:tune", "Find what makes this program faster, proven."),
        "transform": Command(
            "imbrex.cli.transform:transform", "Rewrite MPI sources so that they overlap."
        ),
    },
    "Advanced": {
        "cc": Command("imbrex.cli.compilers:cc", "The MPI C compiler, recording accesses."),
        "cxx": Command("imbrex.cli.compilers:cxx", "The MPI C++ compiler, likewise."),
        "fc": Command("imbrex.cli.compilers:fc", "The MPI Fortran compiler, likewise."),
        "record": Command("imbrex.cli.record:record", "Record when messages are produced."),
        "man": Command("imbrex.cli.man:man", "Install the manual pages."),
        "collect": Command("imbrex.cli.collect:collect", "Complete what imbrex-exec alone wrote."),
    },
}

COMMANDS: dict[str, Command] = {
    name: command for group in GROUPS.values() for name, command in group.items()
}
