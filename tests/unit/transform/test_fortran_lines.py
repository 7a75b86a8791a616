"""Lines without marks are taken as a whole, with what taking them by characters gives."""

from __future__ import annotations

import re

import pytest

from imbrex.transform.readers import fortran_lines
from imbrex.transform.readers.fortran_lines import logical_lines

FIXED = """      x(1) = y ( 2 )
\t y =\t1
      call f('a b', "C;D"); z = 1 ! it's
     & + 2
C     a comment
  10  s = 'goes on
     & here'
      if (a .eq. b) c = d
"""
FREE = """  X(1) = Y ( 2 )
call f('a b', "C;D"); z = 1 & ! it's
  & + 2
s = 'goes &
  & on'
10 continue
"""


@pytest.mark.parametrize(("text", "fixed"), [(FIXED, True), (FREE, False)])
def test_lines_as_a_whole(text: str, fixed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = logical_lines(text, fixed=fixed)
    monkeypatch.setattr(fortran_lines, "_MARKS", re.compile(""))  # found in every line
    assert found == logical_lines(text, fixed=fixed)
