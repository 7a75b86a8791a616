"""Intel's functions of vectors, as `_mm_add_pd`: what they do to the memory of their arguments.

Those of floating-point numbers alone: integers in vectors may be pointers that are copied.
"""

from __future__ import annotations

PREFIXES = ("_mm_", "_mm256_", "_mm512_")
"""How their names begin; none of them calls MPI."""
_TYPES = ("pd", "ps", "sd", "ss")
_LOADS = "load loadu load1 loaddup loadr broadcast"
_STORES = "store storeu store1 storer storel storeh stream"
_VALUES = """
add sub mul div min max sqrt rsqrt rcp and or xor andnot hadd hsub addsub abs round floor ceil
set set1 setr setzero undefined unpacklo unpackhi shuffle blend blendv permute movedup moveldup
movehdup movehl movelh move movemask fmadd fmsub fnmadd fnmsub fmaddsub fmsubadd dp
cmp cmpeq cmpneq cmplt cmple cmpgt cmpge cmpord cmpunord comieq comilt comile comigt comige comineq
"""


def _each(names: str, effects: dict[int, str]) -> dict[str, dict[int, str]]:
    return {f"{p}{n}_{t}": effects for p in PREFIXES for n in names.split() for t in _TYPES}


EFFECTS = _each(_LOADS, {0: "r"}) | _each(_STORES, {0: "w"}) | _each(_VALUES, {})
