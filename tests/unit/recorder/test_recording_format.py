"""The ranges of a recording's fields are those of what the recorder writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.profile.recording_format import MESSAGES


def _document(members: int) -> str:
    rank = {
        "rank": 0,
        "compute_s": 0.5,
        "messages": [],
        "groups": [{"members": members, "size": 2}],
    }
    return json.dumps(
        {"format": "imbrex-recording", "schema_version": 1, "sites": [], "ranks": [rank]}
        | {"functions": ["MPI_Init"], "not_recorded": [], "watchpoints": False}
    )


def test_a_group_is_known_by_a_hash_of_64_bits(tmp_path: Path) -> None:
    file = tmp_path / "messages.json"
    file.write_text(_document(2**64 - 1))
    assert MESSAGES.load(file)["ranks"][0]["groups"][0]["members"] == 2**64 - 1
    file.write_text(_document(2**64))
    with pytest.raises(ImbrexError, match="members is 18446744073709551616"):
        MESSAGES.load(file)
