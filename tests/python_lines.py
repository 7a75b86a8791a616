"""What a run of `tests/mpi/programs/python_lines.py` has to say of the calls' places."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from imbrex.profile.run import Run

PROGRAM = Path(__file__).parent / "mpi" / "programs" / "python_lines.py"


def check_lines(run: Run, output: str) -> None:
    """Each call has the line that made it, in methods, generators, lambdas and threads.

    `output`: what the program printed, each line of its own with a call in it and the function.
    """
    printed = {tuple(line.split(maxsplit=1)) for line in output.splitlines()}
    assert len(printed) == 3
    for number in np.unique(run.measures["site"][run.measures["bytes"] > 0]):
        site = run.sites[number]
        assert site.file == str(PROGRAM)
        assert str(site.line) in {line for line, _ in printed}
    text = PROGRAM.read_text(encoding="utf-8").splitlines()
    (both,) = (s for s in run.sites if s.function == "Exchange.both")
    path = run.call_paths[both.id][0]
    calling = next(i for i, line in enumerate(text, 1) if "Exchange().both(1)" in line)
    assert path.callers == (f"python_lines.py:{calling}", f"Exchange.both ({both.label})")
    found = {(str(s.line), s.function) for s in run.sites if s.file == str(PROGRAM)}
    named = {place for place in printed if "<" not in place[1]}
    assert {place for place in found if place[1] is not None} == named | {
        (line, function.split(".")[0]) for line, function in printed if ".<" in function
    }
