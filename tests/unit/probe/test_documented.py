"""Every field of the probe's JSON is in its page of the documentation, under the name it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from imbrex.network.assemble import assemble
from imbrex.network.columns import read_columns
from imbrex.network.transfer_class import Moved
from imbrex.probe.answer import answer
from imbrex.probe.knobs import Knob, Tried
from imbrex.probe.krylov import Krylov
from imbrex.probe.processor_time import ProcessorTime
from imbrex.probe.progress_calls import ProgressCalls
from imbrex.probe.quoted import Quoted
from imbrex.probe.work_overlap import WorkOverlap

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "probe-experiments.md"
WHERE = "exchange intra-node 0 1"
ROWS = (
    "# imbrex-probes 1",
    "# library Open MPI v4.1.4, x",
    "# ranks 2",
    "# host 0 0 a",
    "pingpong intra-node 0 1 1024 warm 9 1000 1000 1000 1000",
    f"{WHERE} isend-recv 1024 registers 0 0 9000 -1 1 0 1 9000 9001 4000 5000 5000 5000 0 0",
    "# end",
)


def documented() -> set[str]:
    """Words in code marks of the section on JSON."""
    section = PAGE.read_text(encoding="utf-8").split("## JSON\n")[1].split("\n## ")[0]
    return set(re.findall(r"`(\w+)`", section))


def names(value: Any) -> Iterator[str]:
    """Names of fields, not of what the user or a library named: those are values here."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name not in ("settings", "advertised_bytes", "measured_bytes", "missing_measured"):
                yield from names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner)


def test_fields_of_an_answer() -> None:
    m = read_columns(ROWS)
    found = answer(m, assemble(m, {}, True), ["delay"]).to_json()
    assert found["operations"]
    assert set(names(found)) - documented() - {"intra-node"} == set()


@pytest.mark.parametrize(
    "entry", [Knob, Krylov, Moved, ProcessorTime, ProgressCalls, Quoted, Tried, WorkOverlap]
)
def test_fields_of_an_entry(entry: Any) -> None:
    assert {f.name for f in fields(entry)} - documented() == set()
