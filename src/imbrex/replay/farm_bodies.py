"""What workers compute of the tasks of a farm: as in the run, or as in the task nearest to them."""

from __future__ import annotations

from imbrex.replay.farms import Farm

STOP = -1


class UnplayableError(Exception):
    """The farm does not come to its end, or has what is not played."""


def likeness(farm: Farm) -> list[int]:
    """Of each task the one with a body that is nearest in the queue: itself, if it has one."""
    bodies = [k for k, task in enumerate(farm.tasks) if task.body is not None]
    if not bodies:
        raise UnplayableError
    found, place = [], 0
    for k in range(len(farm.tasks)):
        while place + 1 < len(bodies) and abs(bodies[place + 1] - k) <= abs(bodies[place] - k):
            place += 1
        found.append(bodies[place])
    return found


class Bodies:
    """The bodies of one farm's tasks, as the computation in front of operations and these."""

    def __init__(self, farm: Farm, calc_ns: list[int], kind: list[int]) -> None:
        """`calc_ns` and `kind`: of each operation of the schedule."""
        self.farm, self.calc_ns, self.kind = farm, calc_ns, kind
        self.like = likeness(farm)

    def steps(self, ops: range, more_ns: float) -> list[tuple[float, int, int]]:
        """Computation, and the kind and number of the operation behind it."""
        found: list[tuple[float, int, int]] = [(self.calc_ns[i], self.kind[i], i) for i in ops]
        if more_ns and found:
            k = max(range(len(found)), key=lambda k: found[k][0])
            found[k] = (max(found[k][0] + more_ns, 0.0), *found[k][1:])
        return found

    def of(self, task: int) -> list[tuple[float, int, int]]:
        """The steps of a task; none of STOP."""
        return self.steps(self.ops(task), self.more_ns(task)) if task != STOP else []

    def ops(self, task: int) -> range:
        """The operations of the body that a task is like."""
        like = self.farm.tasks[self.like[task]].body
        assert like is not None
        return like.ops

    def more_ns(self, task: int) -> float:
        """What a task computes beyond the one that it is like."""
        like = self.like[task]
        return 0.0 if like == task else self.farm.tasks[task].own_ns - self.cost_ns(like)

    def cost_ns(self, task: int) -> float:
        """The computation of a task."""
        body = self.farm.tasks[task].body
        if body is None:
            return float(self.farm.tasks[task].own_ns)
        return float(sum(self.calc_ns[i] for i in body.ops))
