"""Where the interface of a procedure of a module is stated, apart from the procedure itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InterfaceBody:
    """The body that states it, in a module or a submodule that the procedure is in."""

    file: str
    line: int  # of its head
    last_line: int  # of its end
    declare_after: int  # the byte behind its last declaration
    alone: bool  # the procedure does not repeat its arguments: `module procedure exchange`
    fixed: bool  # whether no build has another one, or none
