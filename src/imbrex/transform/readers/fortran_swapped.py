"""What the statements touch by which arrays of Fortran are swapped, or pointed at."""

from __future__ import annotations

from imbrex.transform.model.allocation import Allocation, Shaped
from imbrex.transform.model.memory import MOVES, Access, Variable
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope
from imbrex.transform.readers.fortran_swaps import Move, Swap

_Array = tuple[Variable, str]  # and the object of which it is a component


class Swapped:
    """Such statements of one scope.

    Each of them touches all of the arrays that those in its row are about, so that nothing that
    touches one of these comes between two of the statements.
    """

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self._swaps = {id(move.line): (swap, move) for swap in scope.swaps for move in swap.moves}
        self._runs = {id(move.line): (run, move) for run in scope.pointings for move in run}

    def note(self, line: LogicalLine, effects: Effects) -> bool:
        """Enter what a statement touches; False where it is no such statement."""
        if id(line) in self._swaps:
            return self._of_swap(*self._swaps[id(line)], effects)
        return id(line) in self._runs and self._of_run(*self._runs[id(line)], effects)

    def _of_swap(self, swap: Swap, move: Move, effects: Effects) -> bool:
        found = [self._array(name) for name in (swap.kept, *swap.ring)]
        arrays = [each for each in found if each is not None]
        own = all(_is_own(each, by_pointer=swap.by_pointer) for each, _ in arrays)
        if len(arrays) < len(found) or not own:
            return False
        self._touch(arrays, move.line, effects)
        target = self._array(move.target)
        source = self._array(swap.ring[0] if move.source == swap.kept else move.source)
        assert target is not None and source is not None
        kept = move.target != swap.kept and swap.of_one_object
        self._shape(target[0], source[0] if kept else None, move.line, effects)
        return True

    def _of_run(self, run: tuple[Move, ...], move: Move, effects: Effects) -> bool:
        """A statement that points to a target, whose bounds the pointer gets."""
        pointers = [self._array(each.target) for each in run]
        targets = [self._array(each.source) for each in run]
        arrays = [each for each in (*pointers, *targets) if each is not None]
        known = self.names.pointers
        if len(arrays) < 2 * len(run):
            return False
        if not all(p is not None and _is_own(p[0], by_pointer=True) for p in pointers):
            return False
        if not all(t is not None and t[0].key in known for t in targets):
            return False
        self._touch(arrays, move.line, effects)
        pointer, target = self._array(move.target), self._array(move.source)
        assert pointer is not None and target is not None
        self._shape(pointer[0], pointer[0], move.line, effects)
        if not target[0].allocatable:
            effects.allocates += (Allocation("", pointer[0].key, target[0].bounds),)
        return True

    def _touch(self, arrays: list[_Array], line: LogicalLine, effects: Effects) -> None:
        self.names.program.variables.setdefault(MOVES, Variable(MOVES, "the arrays", "static"))
        effects.accesses.append(Access(MOVES, False, True, line.line))
        effects.accesses += [
            Access(array.key, False, write, line.line, owner=owner)
            for array, owner in arrays
            for write in (False, True)
        ]

    @staticmethod
    def _shape(
        target: Variable, source: Variable | None, line: LogicalLine, effects: Effects
    ) -> None:
        """A statement gives an array bounds: those of another one, where it is known of which."""
        effects.accesses += [Access(key, False, True, line.line) for key in bounds_of(target)]
        if source is not None:
            effects.shaped = Shaped(target.key, (source.key,), True)

    def _array(self, name: str) -> _Array | None:
        if "%" not in name:
            known = self.names.find(self.scope, name) is not None
            variable = self.names.variable(self.scope, name) if known else None
            return None if variable is None else (variable, "")
        component = Components(self.names, self.scope).resolve(name, 0)
        if component is None or component.end != len(name) or not component.one_object:
            return None
        return None if component.part else (component.last, component.owner)


def _is_own(array: Variable, *, by_pointer: bool) -> bool:
    """Whether an array is known to have memory of its own, and to be an array of numbers."""
    plain = array.allocatable and bool(array.bounds) and not array.volatile and not array.optional
    return plain and array.kind != "dummy" and array.keeps_shape is by_pointer
