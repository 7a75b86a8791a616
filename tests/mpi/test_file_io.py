"""Time in calls for files is called that: not unknown, and no message could be hidden in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.causes import CAUSES
from imbrex.profile.run import load_run


@pytest.mark.untimed
def test_time_in_files_is_file_io(
    compiled: Callable[..., Path], measured: Callable[..., Any], tmp_path: Path
) -> None:
    done = measured(compiled("files"), str(tmp_path / "data"))
    assert "wrong" not in done.process.stdout
    run = load_run(done.folder, resolve=False)
    assert run.causes is not None
    names = [run.job.operations[number] for number in run.causes["operation"]]
    for row, name in zip(run.causes, names, strict=True):
        told = {c: (row[f"{c}_min_ns"], row[f"{c}_max_ns"]) for c in CAUSES}
        if name.startswith("MPI_File_"):
            assert told.pop("file_io") == (row["call_ns"], row["call_ns"])
            assert set(told.values()) == {(0, 0)}
        else:
            assert told["file_io"] == (0, 0)
    assert {"MPI_File_write_at_all", "MPI_File_read_at", "MPI_File_close"} <= set(names)
    # Rank 0 waits in the collective write for rank 1, which comes 0.1 s late.
    written = names.index("MPI_File_write_at_all")
    assert run.causes["call_ns"][written:].max() >= 80_000_000
    sentence = diagnose(run).sentence
    assert "file I/O" in sentence and "unknown" not in sentence
    assert "Overlap of messages cannot help here." in sentence
