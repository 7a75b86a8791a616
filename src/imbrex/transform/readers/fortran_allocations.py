"""The arrays that an ALLOCATE names, with the bounds that it gives them."""

from __future__ import annotations

import re

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.allocation import Allocation
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_lines import closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope

_PLAIN = re.compile(r"[a-z_]\w*(?=\()")


def allocations(
    names: Names, components: Components, scope: Scope, text: str
) -> tuple[Allocation, ...]:
    """Of `allocate(u(0:nx+1, ny), stat=ierr)` in small letters, without blanks."""
    inside = text[len("allocate(") : closing(text, len("allocate"))]
    if "::" in inside or re.search(r"(?:^|,)(?:source|mold)=", inside):
        return ()
    found = []
    for a, b in split_arguments(inside):
        item = inside[a:b]
        plain = _PLAIN.match(item)
        component = components.resolve(item, 0)
        if component is not None:
            one = component.one_object and len(component.fields) == 1 and not component.part
            if not one or component.subscripts is None or component.end != len(item):
                continue
            owner, array = component.base.key, component.last
            shape = item[slice(*component.subscripts)]
        elif plain is not None and closing(item, plain.end()) == len(item) - 1:
            variable = names.variable(scope, plain[0])
            if variable is None:
                continue
            owner, array, shape = "", variable, item[plain.end() + 1 : -1]
        else:
            continue
        bounds = []
        for low, high in split_arguments(shape):
            first, colon, last = shape[low:high].rpartition(":")
            ends = names.affine(scope, first) if colon else Affine(1), names.affine(scope, last)
            bounds.append(ends)
        if array.allocatable and len(bounds) == len(array.bounds):
            found.append(Allocation(owner, array.key, tuple(bounds)))
    return tuple(found)
