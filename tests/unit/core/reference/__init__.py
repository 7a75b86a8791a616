"""The slow, obvious account of what the engine must record.

It keeps every event and works the quantities out afterwards, from the intervals themselves, by the
formulae of docs/theory/measuring.md: no running sums as in the C core, exact fractions for
interpolation.
"""

from .calls import Reference
from .times import Table, interpolate

__all__ = ["Reference", "Table", "interpolate"]
