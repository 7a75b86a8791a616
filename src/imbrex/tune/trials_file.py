"""The pairs of all candidates in a file, so that a search goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.formats.schema import Field, JsonFormat
from imbrex.formats.value_types import LONGEST_S, Flag, ListOf, MapOf, Number, Object, Text, Whole
from imbrex.tune.timed_run import TimedRun
from imbrex.tune.trial import Pair
from imbrex.whole_file import write_whole

TRIALS = "trials.json"

_RUN = Object(
    (
        Field("seconds", Number(0, LONGEST_S, above=True), "how long it took", "s"),
        Field("disturbed", Text(), "what disturbed it; null if nothing", null=True),
    )
)
_PAIR = Object(
    (
        Field("a", _RUN, "the run of the baseline"),
        Field("b", _RUN, "the run of the candidate"),
        Field("a_first", Flag(), "which of the two ran first"),
        Field("counted", Flag(), "whether it decides; a disturbed pair is run again"),
    )
)
TRIALS_FORMAT = JsonFormat(
    "the trials.json of imbrex tune",
    "remove its folder to start anew",
    Object(
        (
            Field("format", Text(), '"imbrex-tune"'),
            Field("schema_version", Whole(1), "1"),
            Field("command", ListOf(Text()), "the launcher line as it was written"),
            Field("programs", ListOf(Text()), "size and time of change of each program"),
            Field("candidates", MapOf(ListOf(_PAIR)), "the pairs of each, by what it is"),
        )
    ),
    identity="imbrex-tune",
)


class Trials:
    """What was tried of a command. `programs` tells the build of its programs."""

    def __init__(self, file: Path, command: Sequence[str], programs: Sequence[str] = ()) -> None:
        self._file, self._command, self._programs = file, list(command), list(programs)
        self._pairs: dict[str, list[Pair]] = {}

    def load(self) -> dict[str, tuple[Pair, ...]]:
        """The pairs of an earlier start; ImbrexError where they are of another command or build."""
        if not self._file.exists():
            return {}
        found = TRIALS_FORMAT.load(self._file)
        for name, mine in (("command", self._command), ("build of the program", self._programs)):
            if list(found["command" if name == "command" else "programs"]) != mine:
                raise ImbrexError(
                    f"{self._file.parent}: holds the trials of another {name}; name another with "
                    "-o, or remove it"
                )
        self._pairs = {
            label: [_pair(entry) for entry in entries]
            for label, entries in found["candidates"].items()
        }
        return {label: tuple(pairs) for label, pairs in self._pairs.items()}

    def keep(self, label: str, pairs: Sequence[Pair]) -> None:
        """Write down the pairs of a candidate."""
        self._pairs[label] = list(pairs)
        content = {
            "format": TRIALS_FORMAT.identity,
            "schema_version": TRIALS_FORMAT.version,
            "command": self._command,
            "programs": self._programs,
            "candidates": {
                name: [_entry(pair) for pair in found] for name, found in self._pairs.items()
            },
        }
        write_whole(self._file, json.dumps(content, indent=1) + "\n")


def builds(programs: Sequence[str]) -> list[str]:
    """What tells one build of the programs from another."""
    found = []
    for name in programs:
        try:
            facts = Path(name).stat()
        except OSError:  # a name that the launcher finds
            continue
        found.append(f"{name} {facts.st_size} {facts.st_mtime_ns}")
    return found


def _entry(pair: Pair) -> dict[str, Any]:
    entry = asdict(pair)
    for name in ("a", "b"):
        del entry[name]["output"]
    return entry


def _pair(entry: dict[str, Any]) -> Pair:
    a, b = (TimedRun(entry[name]["seconds"], entry[name]["disturbed"]) for name in ("a", "b"))
    return Pair(a, b, entry["a_first"], entry["counted"])
