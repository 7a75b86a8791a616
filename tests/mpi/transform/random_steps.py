"""How a random program is mixed, whatever it is written in."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Step = Callable[[], None]


def mixed(
    choice: random.Random, count: int, talk: Sequence[Step], compute: Sequence[Step], repeat: Step
) -> None:
    """So many steps: nearly half of them messages, as many computation, a loop of both now and
    then."""
    for _ in range(count):
        kind = choice.random()
        if kind < 0.45:
            choice.choice(talk)()
        elif kind < 0.9:
            choice.choice(compute)()
        else:
            repeat()
