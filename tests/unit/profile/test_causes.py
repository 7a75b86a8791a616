"""Reading evidence, causes, waits and partners of a run, where it has them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.profile.causes import CAUSES, CAUSES_DTYPE, GAINS, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.evidence import EVIDENCE_DTYPE
from imbrex.profile.job import Job
from imbrex.profile.matching import Clocks, Log, Matching
from imbrex.profile.run import load_run

TABLES = {
    "evidence": EVIDENCE_DTYPE,
    "causes": CAUSES_DTYPE,
    "waits": WAITS_DTYPE,
    "partners": PARTNERS_DTYPE,
}


def test_layout_is_that_of_the_runtime():
    assert EVIDENCE_DTYPE.itemsize == 16 + 8 * (5 + 2 + 12)
    assert CAUSES_DTYPE.itemsize == 16 + 8 * (3 + 2 * (len(CAUSES) + len(GAINS)))
    assert WAITS_DTYPE.itemsize == 16 + 8 * 5
    assert PARTNERS_DTYPE.itemsize == 8 + 8 * 4


def test_a_run_without_them_has_none(make_run):
    run = load_run(make_run())
    assert (run.evidence, run.causes, run.waits, run.partners) == (None, None, None, None)
    assert (run.job.log, run.job.clocks, run.job.matching) == (None, None, None)


@pytest.mark.parametrize("name", TABLES)
def test_a_run_with_them(make_run, name):
    folder = make_run()
    table = np.zeros(3, TABLES[name])
    table["rank"] = [0, 1, 1]
    np.save(folder / f"{name}.npy", table)
    read = getattr(load_run(folder), name)
    assert read is not None
    assert (read == table).all()


@pytest.mark.parametrize("name", TABLES)
def test_a_truncated_one_is_one_line(make_run, name):
    folder = make_run()
    np.save(folder / f"{name}.npy", np.zeros(3, TABLES[name]))
    file = folder / f"{name}.npy"
    file.write_bytes(file.read_bytes()[:150])
    with pytest.raises(ImbrexError, match=rf"{name}\.npy: truncated or damaged"):
        load_run(folder)


def test_one_without_its_fields_is_not_ours(make_run):
    folder = make_run()
    np.save(folder / "causes.npy", np.zeros(3, WAITS_DTYPE))
    with pytest.raises(ImbrexError, match=r"causes\.npy: not the causes of an Imbrex run"):
        load_run(folder)


def test_job_says_how_much_was_logged_and_matched(make_run):
    folder = make_run()
    entry = json.loads((folder / "run.json").read_text())
    entry["log"] = {"budget_bytes": 1 << 26, "logged_share": 0.25, "windows": 8, "level": 2}
    entry["clocks"] = {"error_s": 1e-6, "violations": 0}
    entry["matching"] = {"matched": 10, "unmatched": {"cancelled": 2}, "seconds": 0.5}
    (folder / "run.json").write_text(json.dumps(entry))
    job = load_run(folder).job
    assert job.log == Log(1 << 26, 0.25, 8, 2)
    assert job.clocks == Clocks(1e-6, 0)
    assert job.matching == Matching(10, {"cancelled": 2}, 0.5)
    assert Job.from_json(job.to_json()) == job


@pytest.mark.parametrize("entry", [[1], {"logged_share": "most"}, {"unmatched": 3}, "all"])
def test_malformed_entries_are_one_line(make_run, entry):
    folder = make_run()
    content = json.loads((folder / "run.json").read_text())
    content["log" if isinstance(entry, dict) and "logged_share" in entry else "matching"] = entry
    (folder / "run.json").write_text(json.dumps(content))
    with pytest.raises(ImbrexError, match="damaged"):
        load_run(folder)


def test_a_lost_one_is_told_and_not_taken_for_a_run_without_a_log(make_run):
    folder = make_run(matching={"matched": 10, "unmatched": {}})
    for name, dtype in TABLES.items():
        np.save(folder / f"{name}.npy", np.zeros(0, dtype))
    assert load_run(folder).job.warnings == ()
    (folder / "causes.npy").unlink()
    assert load_run(folder).job.warnings == (
        f"causes.npy is missing in {folder}: why calls took their time is not known; copy the "
        "whole folder, or measure again",
    )


@pytest.mark.parametrize("matching", [None, {"matched": 0, "unmatched": {}, "reason": "no log"}])
def test_of_a_run_that_had_none_nothing_is_lost(make_run, matching):
    assert load_run(make_run(matching=matching)).job.warnings == ()
