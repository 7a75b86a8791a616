"""Collectives as messages, round by round: what engine/meet.c replays, for those who write them
down. In a round all send what they have to send, then take what comes."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.replay.arrays import Algorithm

Round = list[tuple[int, int, float]]
"""From which member, to which, how many bytes."""


def rounds(
    algorithm: Algorithm,
    members: int,
    root: int,
    size_bytes: float,
    blocks: tuple[float, ...] = (),
) -> Iterator[Round]:
    """The rounds of a collective; of one member alone there are none. `blocks`: of each member, of
    allgathers, and of gathers and scatters by trees, where they are not all the same."""
    if members < 2:
        return
    size, part = size_bytes, size_bytes / members
    if algorithm == Algorithm.RECURSIVE_DOUBLING:
        yield from _doubling(members, size, by_halves=False)
    elif algorithm == Algorithm.RABENSEIFNER:
        yield from _doubling(members, size, by_halves=True)
    elif algorithm == Algorithm.TREE_UP_DOWN:
        yield from _up(members, 0, size, parts=False)
        yield from _down(members, 0, size, parts=False)
    elif algorithm in (Algorithm.BINOMIAL_FROM_ROOT, Algorithm.BINOMIAL_SCATTER):
        yield from _down(members, root, size, algorithm == Algorithm.BINOMIAL_SCATTER, blocks)
    elif algorithm in (Algorithm.BINOMIAL_TO_ROOT, Algorithm.BINOMIAL_GATHER):
        yield from _up(members, root, size, algorithm == Algorithm.BINOMIAL_GATHER, blocks)
    elif algorithm == Algorithm.SCATTER_ALLGATHER:
        yield from _down(members, root, size, parts=True)
        yield from _ring(members, members - 1, part)
    elif algorithm == Algorithm.RING_ALLREDUCE:
        yield from _ring(members, 2 * (members - 1), part)
    elif algorithm == Algorithm.RING_ALLGATHER:
        own = blocks or (part,) * members
        for k in range(members - 1):
            yield [(a, (a + 1) % members, own[(a - k) % members]) for a in range(members)]
    elif algorithm == Algorithm.DOUBLING_ALLGATHER:
        yield from _doubling_allgather(members, blocks or (part,) * members)
    elif algorithm == Algorithm.PAIRWISE:
        in_pairs = members & (members - 1) == 0
        for k in range(1, members):
            yield _pairs(members, k, part) if in_pairs else _shift(members, k, part)
    elif algorithm == Algorithm.CHAIN_SCAN:
        for member in range(members - 1):
            yield [(member, member + 1, size)]
    elif algorithm == Algorithm.LINEAR_SCAN:
        yield [(a, b, size) for b in range(members - 1, 0, -1) for a in range(b)]
    elif algorithm == Algorithm.DIRECT:
        yield _shift(members, 1, size)
    else:
        yield from _by_distance(algorithm, members, size)


def _by_distance(algorithm: Algorithm, members: int, size: float) -> Iterator[Round]:
    distance = 1
    while distance < members:
        moved = {
            Algorithm.DISSEMINATION: size,
            Algorithm.NO_MESSAGES: 0.0,  # who writes it down needs something that waits for all
            Algorithm.BRUCK: size / 2,
        }[algorithm]
        yield _shift(members, distance, moved)
        distance *= 2


def _doubling_allgather(members: int, own: tuple[float, ...]) -> Iterator[Round]:
    """Everybody has the blocks of itself and of those before it, twice as many after each round."""
    distance = 1
    while distance < members:
        count = min(distance, members - distance)
        yield [
            (a, (a + distance) % members, sum(own[(a - k) % members] for k in range(count)))
            for a in range(members)
        ]
        distance *= 2


def _shift(members: int, distance: int, size: float) -> Round:
    return [(a, (a + distance) % members, size) for a in range(members)]


def _pairs(members: int, mask: int, size: float) -> Round:
    return [(a, a ^ mask, size) for a in range(members)]


def _ring(members: int, count: int, size: float) -> Iterator[Round]:
    for _ in range(count):
        yield _shift(members, 1, size)


def _power_within(members: int) -> int:
    return 1 << (members.bit_length() - 1)


def _doubling(members: int, size: float, by_halves: bool) -> Iterator[Round]:
    power = _power_within(members)
    rest = members - power
    for k in range(rest):
        yield [(2 * k, 2 * k + 1, size)]

    def place(k: int) -> int:
        """Where members are no power of two the first `rest` pairs send one of theirs."""
        return 2 * k + 1 if k < rest else k + rest

    up = [1 << k for k in range(power.bit_length() - 1)]
    masks = [*((m, size * m / power) for m in up[::-1]), *((m, size * m / power) for m in up)]
    for mask, moved in masks if by_halves else ((m, size) for m in up):
        yield [(place(k), place(k ^ mask), moved) for k in range(power)]
    for k in range(rest):
        yield [(2 * k + 1, 2 * k, size)]


def _down(
    members: int, root: int, size: float, parts: bool, blocks: tuple[float, ...] = ()
) -> Iterator[Round]:
    """Down a binomial tree; `parts`: each subtree gets its own part of the buffer."""
    mask = _power_within(members)
    while mask:
        yield from _level(members, root, mask, size, parts, blocks, up=False)
        mask //= 2


def _up(
    members: int, root: int, size: float, parts: bool, blocks: tuple[float, ...] = ()
) -> Iterator[Round]:
    mask = 1
    while mask < members:
        yield from _level(members, root, mask, size, parts, blocks, up=True)
        mask *= 2


def _level(
    members: int,
    root: int,
    mask: int,
    size: float,
    parts: bool,
    blocks: tuple[float, ...],
    up: bool,
) -> Iterator[Round]:
    for v in range(0, members - mask, 2 * mask):
        near, far = (v + root) % members, (v + mask + root) % members
        count = min(mask, members - v - mask)
        moved = size * count / members if parts else size
        if parts and blocks:
            moved = sum(blocks[(far + k) % members] for k in range(count))
        yield [(far, near, moved) if up else (near, far, moved)]
