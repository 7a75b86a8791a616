"""Range-based loops over an array that is a member of an element: which element that is counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.beside_exchange import first_wait, text_with

TYPES = "struct Cell {\n    double c[3];\n    double rest;\n};"
OWN = "double own[3] = {1.0, 2.0, 3.0};\n    int k = 5 + size;"
USES = {
    "what comes is read": "for (double d : y[999].c) sum += d;",
    "what comes is read by name": "for (const double &d : y[999].c) sum += d;",
    "what comes may be read": "for (double d : y[k].c) sum += d;",
    "what comes is set": "for (double &d : y[999].c) d += 1.0;",
    "what is sent is set": "for (double &d : x[0].c) d += 1.0;",
    "the element changes meanwhile": "for (double &d : y[k].c) { d = 1.0; k = 999; }",
}
OTHERS = {
    "of another vector": "for (double &d : z[999].c) d += 1.0;",
    "of a variable": "for (double d : own) sum += d;",
}


@pytest.mark.parametrize("there", USES.values(), ids=USES)
def test_the_message_is_awaited_in_front(there: str, tmp_path: Path) -> None:
    text = text_with(tmp_path, TYPES, OWN, there)
    assert first_wait(text) < text.index(there)


@pytest.mark.parametrize("there", OTHERS.values(), ids=OTHERS)
def test_the_messages_are_awaited_behind(there: str, tmp_path: Path) -> None:
    text = text_with(tmp_path, TYPES, OWN, there)
    assert first_wait(text) > text.index(there)
