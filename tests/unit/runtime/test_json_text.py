"""Names are the user's bytes: what the runtime writes of them is JSON in UTF-8 all the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.driver import RUNTIME, sanitized

PROGRAM = """
#include "base/json_text.h"
int main(void)
{
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    ix_put_json_string(stdout, text);
    return 0;
}
"""


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json_text")
    return sanitized(folder, PROGRAM, RUNTIME / "base" / "json_text.c")


def written(writer: Path, text: bytes) -> str:
    output = subprocess.run([str(writer)], input=text, capture_output=True, check=True).stdout
    read = json.loads(output.decode("utf-8"))
    assert isinstance(read, str)
    return read


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_text_comes_back_as_it_was(writer: Path, text: str) -> None:
    assert written(writer, text.encode()) == text


@settings(max_examples=50, deadline=None)
@given(st.binary())
def test_any_bytes_are_a_json_string(writer: Path, text: bytes) -> None:
    kept = text.partition(b"\0")[0]
    plain = bytes(byte for byte in kept if byte < 0x80)
    assert bytes(ord(c) for c in written(writer, kept) if ord(c) < 0x80) == plain


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (b'a "b" \\', 'a "b" \\'),
        (b"\x01\x7f", "\x01\x7f"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xc0\x80x", "\ufffd\ufffdx"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
    ],
)
def test_known_answers(writer: Path, text: bytes, known: str) -> None:
    assert written(writer, text) == known
