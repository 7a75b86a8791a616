"""Marked regions become the model's parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.model.model_file import load_model
from imbrex.recorder.regions import write_regions


def raw(rank: int, sends: int = 4) -> dict[str, object]:
    def total(count: int, elements: int, ns: int) -> dict[str, int]:
        return {"count": count, "elements": elements, "ns": ns}

    return {
        "schema_version": 1,
        "rank": rank,
        "compute_ns": 1_000_000,
        "dropped": 0,
        "regions": [
            {
                **{"name": "north", "operation": "MPI_Isend", "image": "/app", "offset": 16},
                **{"sends": sends, "send_bytes": 800 * sends, "send_elements": 100 * sends},
                **{"first_send_ns": 1000, "last_send_ns": 1000 + 5000 * (sends - 1)},
                "produce": total(sends, 50 * sends, 50 * sends * 20),
                "after_produce": total(sends, 0, 700 * sends),
                "consume": total(sends, 100 * sends, 100 * sends * 3),
                "before_consume": total(sends - 1, 0, 90 * (sends - 1)),
            }
        ],
    }


def test_the_rank_that_sends_most_gives_the_model(tmp_path: Path) -> None:
    for rank, sends in ((0, 4), (1, 8)):
        (tmp_path / f"regions-{rank}.json").write_text(json.dumps(raw(rank, sends)))
    assert write_regions(tmp_path)
    program = load_model(tmp_path / "regions.toml").programs[0]
    (message,) = program.messages
    assert program.name == "rank 1"
    assert program.computation_s == pytest.approx(5e-6)
    assert (message.n_sent, message.n_produced, message.n_consumed) == (100, 50, 100)
    assert message.element_bytes == 8
    assert message.t_produce_s == pytest.approx(20e-9)
    assert message.t_consume_s == pytest.approx(3e-9)
    assert message.independent.after_produce_s == pytest.approx(700e-9)
    assert message.independent.before_consume_s == pytest.approx(90e-9)


def test_without_marks_there_is_nothing(tmp_path: Path) -> None:
    assert not write_regions(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "regions-0.json").write_text("{")
    with pytest.raises(ImbrexError, match="regions-0"):
        write_regions(tmp_path)
