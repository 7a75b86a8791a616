"""Components of Fortran that get their first values where a routine begins."""

from __future__ import annotations

from imbrex.transform.model.memory import Access
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope
from imbrex.transform.readers.fortran_types import type_name


def first_values(scope: Scope, names: Names) -> list[Access]:
    """Those of the objects that a routine only sets, `intent(out)`."""
    found: list[Access] = []
    for name in scope.dummies:
        symbol = scope.symbols.get(name)
        if symbol is not None and "intent(out)" in symbol.attributes:
            types = [symbol.type]
            for kind in types:
                if names.types.of(kind) is None:
                    continue
                for definition in names.types.families.members(type_name(kind)):
                    for inner in definition.scope.symbols.values():
                        types += [inner.type] * (inner.type not in types)
                        if "save" in inner.attributes:
                            key = names.component(definition, inner).key
                            found.append(Access(key, False, True, scope.line))
    return found
