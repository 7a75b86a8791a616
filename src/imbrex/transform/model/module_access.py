"""Where a routine of Fortran stands among modules: whose procedures it knows by their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModuleAccess:
    """Of one routine; places are bytes of its file, -1 where there is none."""

    module: str = ""  # whose procedure it is
    withheld: bool = False  # this module gives out no names but those that it lists
    withheld_at: int = -1  # behind its statement PRIVATE
    hosts: frozenset[str] = frozenset()  # modules that the routine stands in
    whole: frozenset[str] = frozenset()  # those that it or a host uses without a list
    used: frozenset[str] = frozenset()  # those that these use too, and they by others
    behind_head: int = -1  # behind the statement that begins the routine
