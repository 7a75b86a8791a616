"""Call sites as a line of a screen has room for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from imbrex.profile.sites import Site

_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def short_place(site: Site) -> str:
    """`CommBrick::reverse_comm+0x2bb` of a C++ function with all its scopes and parameters.

    Places with a source line, and names without parameters, stay as they are.
    """
    label = site.label
    if site.file is not None or "(" not in label or label.startswith("("):
        return label
    offset = _OFFSET.search(label)
    tail = offset.group() if offset else ""
    name = label.removesuffix(tail)
    begin = _parameters(name)
    if begin is None:
        return label
    return "::".join(_scopes(name[:begin])[-2:]) + tail


def callers_apart(sites: Sequence[Site]) -> list[str]:
    """`cgs.c:54` for each of several sites of one name: a caller that tells them apart, else ``.

    They are copies that a compiler made of one call, each in a function that it was inlined into.
    """
    chains = [[short_place(outer) for outer in _inliners(site)] for site in sites]
    for level in zip_longest(*chains, fillvalue=""):
        if len(set(level)) > 1:
            return list(level)
    return [""] * len(sites)


def _inliners(site: Site) -> Iterator[Site]:
    outer = site.inliner
    while outer is not None:
        yield outer
        outer = outer.inliner


def _parameters(name: str) -> int | None:
    """Where the list of parameters begins, which ends the name or stands before its `const`."""
    end = name.rfind(")")
    if name[end + 1 :].strip() not in ("", "const", "volatile", "const volatile"):
        return None
    depth = 0
    for at in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return at if at else None
    return None


def _scopes(name: str) -> list[str]:
    """The names that `::` joins, but for those within template arguments or parentheses."""
    found, depth, begin, at = [], 0, 0, 0
    while at < len(name):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(name[at], 0)
        if depth <= 0 and name.startswith("::", at):
            found.append(name[begin:at])
            begin = at = at + 2
        else:
            at += 1
    return [*found, name[begin:]]
