"""What libclang keeps of a file is gone once it is read, though Python looks for no circles."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.readers import c
from imbrex.transform.readers.c import Asked, read_c

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("name", ["halo.c", "begun.cpp"])
def test_no_unit_stays_when_its_file_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    units: list[weakref.ref[Any]] = []

    def parsed(*given: Any) -> Any:
        unit = plain(*given)
        units.append(weakref.ref(unit))
        return unit

    plain = c.parsed
    monkeypatch.setattr(c, "parsed", parsed)
    path = CASES / name
    gc.disable()
    try:
        part = read_c(path, ["-D_GNU_SOURCE"], path.read_bytes(), Asked(checks=True))
        assert part.routines and units and all(unit() is None for unit in units)
    finally:
        gc.enable()
