"""Whether what throws an exception ends a program of C++, or something may go on behind it.

`u.at(i)` throws where there is no such element. In a program that catches nothing this is its end,
whatever else is under way then, as it may be to read beyond the elements by `u[i]`.
"""

from __future__ import annotations

import re

from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program

# What catches, keeps an exception for later, or is told of one that nothing catches.
_CATCHES = re.compile(
    rb"\b(?:catch|set_terminate|terminate_handler|async|packaged_task|promise|exception_ptr|signal"
    rb"|sigaction|SIGABRT)\b"
)


def caught(program: Program, unseen: Reason | None) -> bool:
    """Whether an exception may be caught. `unseen`: why code may run that is not seen."""
    return unseen is not None or any(_CATCHES.search(each.data) for each in program.sources())
