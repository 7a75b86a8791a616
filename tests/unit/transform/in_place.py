"""The rewrites without the one that moves work in front of what uses a message.

Programs whose messages have work behind a statement tell with these whether they pass that.
"""

from imbrex.transform.rewrites.registry import REWRITES

IN_PLACE = frozenset(REWRITES) - {"rearrangement"}
