"""Routines whose pointers are views of arrays, read with the names of the arrays in their places.

The statements that set the views count as part of the declarations, which all parts of a routine
have that is divided.
"""

from __future__ import annotations

from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers.fortran_associated import Selectors, keeps_names, written_out
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope


class Viewing:
    """What the views of a routine stand for."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.scope = scope
        self.selectors = Selectors()
        self.lines: list[LogicalLine] = scope.body
        views = {id(view.line) for view in scope.views}
        self.left = [line for line in scope.body if id(line) not in views]
        self.known = all(
            self.selectors.take_view(names, scope, view.line, view.name) for view in scope.views
        )
        if self.known:
            self.lines = [written_out(line, self.selectors.texts) for line in self.left]

    def finish(self, block: Block) -> None:
        """Give up on a routine in which a view may come to name something else than its array."""
        views = self.scope.views
        told = self.known and keeps_names(block.statements, self.left, self.selectors)
        if told or not views:
            return
        line = views[0].line
        unread = Statement(Kind.OPAQUE, line.start, line.end, line.line, line.end_line)
        unread.stop = ReasonKind.LINE(line=line.text.strip())
        unread.parent = block
        block.statements.append(unread)
        self.scope.problem = self.scope.problem or unread.stop
