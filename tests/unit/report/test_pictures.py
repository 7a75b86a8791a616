"""The script that makes the pictures of the documentation, and that they tell what it tells."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.unit.report.synthetic import write_run

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.run import load_run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
NAMES = ("first-screen", "call-site", "time-line")


def colours(file: Path) -> set[tuple[int, ...]]:
    with Image.open(file) as picture:
        assert picture.width == 1180 and picture.height > 100
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    found, count = np.unique(pixels // 8, axis=0, return_counts=True)
    return {tuple(colour) for colour in found[count > 200].tolist()}


def near(found: set[tuple[int, ...]], text: str) -> bool:
    wanted = [int(text[at : at + 2], 16) // 8 for at in (1, 3, 5)]
    return any(max(abs(a - b) for a, b in zip(c, wanted, strict=True)) <= 1 for c in found)


def test_the_script_makes_the_pictures_of_a_run(tmp_path):
    pytest.importorskip("selenium", reason="no selenium to open pages with")
    if shutil.which("chromedriver") is None or shutil.which("chromium") is None:
        pytest.skip("no chromium with chromedriver to open pages with")
    folder = write_run(tmp_path / "run")
    readme = tmp_path / "README.md"
    readme.write_text("# Title\n\n```\nold\n```\n\n```\nkept\n```\n")
    script = ROOT / "benchmarks" / "report_pictures.py"
    words = ["--run", folder, "--into", tmp_path / "pictures", "--readme", readme]
    done = subprocess.run(
        [sys.executable, str(script), *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    sentence = diagnose(load_run(folder)).sentence
    for name in NAMES:
        file = tmp_path / "pictures" / f"{name}.png"
        with Image.open(file) as picture:
            assert picture.info["Description"] == sentence
        assert file.stat().st_size < 150_000
    first, line = (colours(tmp_path / "pictures" / f"{name}.png") for name in NAMES[::2])
    assert near(first, "#3f8f5f") and near(first, "#cf9a1b")  # compute and stalled, of the bar
    assert near(line, "#cf9a1b") or near(line, "#3b6fb5")
    text = readme.read_text()
    assert " ".join(sentence.split()) in " ".join(text.split())
    assert "old" not in text and "kept" in text and "transfers were dropped" not in text


@pytest.mark.parametrize("name", NAMES)
def test_the_pictures_and_the_readme_are_of_one_run(name):
    with Image.open(ROOT / "docs" / "guide" / "report" / f"{name}.png") as picture:
        sentence = picture.info["Description"]
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```")[1]
    assert sentence in " ".join(block.split())
