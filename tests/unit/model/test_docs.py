"""The example of docs/theory/predict.md gives the numbers that the page works out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.model.assess import assess, assessment_text
from imbrex.model.model_file import Model
from imbrex.network.message import MODES

PAGE = Path(__file__).parents[3] / "docs" / "theory" / "predict.md"


def test_the_worked_example(parse: Callable[..., Model]) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (example,) = (block for block in blocks if "[[application]]" in block)
    model = parse(example)
    result = assess(model.programs[0], model.networks[0])
    (edge,) = result["messages"]
    assert edge["delay_s"] * 1e6 == pytest.approx(14)
    assert [edge["exposed_s"][mode] * 1e6 for mode in MODES] == pytest.approx([14, 9, 6, 3])
    elements = model.programs[0].messages[0].element_potential_s("fine-grained")
    assert (elements * 1e6).tolist() == pytest.approx([11, 10, 9, 8])
    assert result["collective_s"] * 1e6 == pytest.approx(60)
    times = [result["normalized_time"][mode] for mode in MODES]
    assert times == pytest.approx([1.74, 1.69, 1.66, 1.63])
    assert result["normalized_overlap"] == pytest.approx(5 / 14)
    assert result["equivalent_bandwidth_bytes_per_s"] == pytest.approx(4000 / 9e-6)
    assert result["tolerated_latency_s"]["none"] * 1e6 == pytest.approx(1 / 7)
    assert result["tolerated_latency_s"]["independent"] * 1e6 == pytest.approx(5 / 6)
    assert result["sufficient_cpu_speed"] == pytest.approx(5 / 14)
    assert "none 1.740, independent 1.690, consumer 1.660, fine-grained 1.630" in assessment_text(
        result
    )
