"""What is added to the warnings of a run that is complete."""

import json

from imbrex.launch.collect import add_warning


def test_a_warning_that_is_added_comes_first(tmp_path):
    """A screen shows the first two weaknesses: one that tells what to do is among them."""
    (tmp_path / "run.json").write_text(json.dumps({"warnings": ["noisy", "cold"]}))
    add_warning(tmp_path, "write `imbrex run --` before the launcher")
    found = json.loads((tmp_path / "run.json").read_text())["warnings"]
    assert found == ["write `imbrex run --` before the launcher", "noisy", "cold"]
