"""Call sites in Python: file, line and function, from what the runtime wrote."""

from __future__ import annotations

from pathlib import Path

from imbrex.profile.python_source import PYTHON_SOURCE
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site

SOURCE = """\
comm.barrier()
class Halo:
    @property
    def both(self):
        def inner():
            return comm.recv()
        return inner()
    size = comm.size
"""


def resolved(file: Path, line: int) -> Site:
    return resolve_sites([Site(0), Site(1, str(file), PYTHON_SOURCE, line)])[1]


def test_the_innermost_function_around_the_line(tmp_path: Path) -> None:
    file = tmp_path / "halo.py"
    file.write_text(SOURCE)
    functions = [resolved(file, line).function for line in range(1, 9)]
    inner, both = "Halo.both.inner", "Halo.both"
    assert functions == [None, None, None, both, inner, inner, both, None]
    site = resolved(file, 6)
    assert (site.file, site.line, site.label) == (str(file), 6, "halo.py:6")


def test_a_source_that_is_gone_or_no_python_costs_the_function_only(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_bytes(b"def f(:\n\x00")
    for file in (wrong, tmp_path / "gone.py", Path("<string>")):
        site = resolved(file, 3)
        assert (site.file, site.line, site.function) == (str(file), 3, None)
