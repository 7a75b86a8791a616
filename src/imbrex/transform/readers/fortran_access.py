"""Which modules the routines of Fortran know, and where such knowledge can be added to."""

from __future__ import annotations

from imbrex.transform.model.module_access import ModuleAccess
from imbrex.transform.readers.fortran_scopes import Scope


def access_of(scope: Scope, modules: dict[str, Scope]) -> ModuleAccess:
    """What a routine that is read as this scope knows."""
    outer = scope.parent
    of_module = outer if outer is not None and outer.kind == "module" else None
    chain = [scope]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    hosts = {each.name for each in chain if each.kind == "module"}
    whole: set[str] = set()
    for each in chain:
        listed = {name for name, names in each.uses if names is not None}
        whole |= {name for name, names in each.uses if names is None} - listed
    used: set[str] = set()
    work = [name for each in chain for name, _ in each.uses]
    while work:
        name = work.pop()
        if name not in used and name in modules:
            used.add(name)
            work += [inner for inner, _ in modules[name].uses]
    return ModuleAccess(
        "" if of_module is None else of_module.name,
        of_module is not None and (of_module.withholds or of_module.problem is not None),
        -1 if of_module is None or of_module.problem is not None else of_module.withheld_at,
        frozenset(hosts),
        frozenset(whole),
        frozenset(used),
        scope.behind_head,
    )
