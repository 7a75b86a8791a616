"""The hosts of submodules: what a module or another submodule declares is known in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from imbrex.transform.readers.fortran_scopes import Scope

SUBMODULE = "submodule"
_HEAD = re.compile(r"submodule\(([a-z]\w*)(?::([a-z]\w*))?\)([a-z]\w*)")


def find_hosts(scopes: Sequence[Scope], modules: Mapping[str, Scope]) -> None:
    """Let each submodule know its host.

    Of one that is not among the files it is not known what it declares, as of a module that is
    used and not among them.
    """
    heads = [(s, _HEAD.fullmatch(s.name)) for s in scopes if s.kind == SUBMODULE]
    known = {(head[1], head[3]): scope for scope, head in heads if head is not None}
    for scope, head in heads:
        if head is None:
            continue
        host = modules.get(head[1]) if head[2] is None else known.get((head[1], head[2]))
        if host is None or _lies_in(host, scope):
            scope.uses.append((head[1], None))
        else:
            scope.parent = host


def _lies_in(inner: Scope | None, outer: Scope) -> bool:
    """Whether a scope is another one, or is inside it."""
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is outer
