"""Sizes that an object of C++ and one that is its member are made with alike.

`Solver(int n) : halo_(n), n_(n) {}`: in each solver `halo_.n_` is `n_`, so that what is an edge for
the one is an edge for the other.
"""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform.analysis.built import Members
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.model.affine import Affine, field_of
from imbrex.transform.model.program import Made, Program

Inner = tuple[str, str]  # the member that is an object, and a member of that


def name_embedded(program: Program, footprints: Footprints) -> None:
    """Replace members of such objects by what their holders have; footprints become stale."""
    if not (program.made and program.member_objects):
        return
    if program.unread_code or footprints.unseen is not None or not program.is_whole:
        return
    alike = _Alike(program, footprints).find()
    found: dict[str, Affine] = {}
    for key, (holder, field) in program.member_objects.items():
        for (outer, member), value in alike.items():
            names = {name: Affine.variable(field_of(holder, name)) for name in value.variables()}
            told = value.replace(names.get)
            if outer == field and told is not None:
                found[field_of(key, member)] = told
    if found:
        program.sizes |= found  # where a method of the inner object is called
        Renaming(found.get, frozenset(member for _, member in alike)).everywhere(program)


class _Alike:
    """Finds what holds for all objects of a class, whichever constructor has made them."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.members = Members(program, footprints)
        self.escaped = footprints.aliases.escaped

    def find(self) -> dict[Inner, Affine]:
        """Members of objects that are members, in the terms of those of their holders."""
        of_class: dict[str, list[Made]] = {}
        for name, made in self.program.made.items():
            of_class.setdefault(_class_of(name), []).append(self._sure(name, made))
        found: dict[Inner, Affine] = {}
        for every in of_class.values():
            first = _told(every[0])
            for inner, value in first.items():
                if all(_told(made).get(inner) == value for made in every):
                    keys = {inner[1], *value.variables()}
                    if all(map(self._is_kept, keys)) and inner[0] not in self.escaped:
                        found[inner] = value
        return found

    def _sure(self, name: str, made: Made) -> Made:
        """What a constructor makes for sure: it sets it once, and takes what it is given."""

        def of(constructor: str, members: dict[str, Affine]) -> dict[str, Affine]:
            if not self.members.keeps_arguments(constructor):
                return {}
            return {k: v for k, v in members.items() if self.members.is_set_once(k, constructor)}

        within = {
            key: replace(each, members=of(each.constructor, each.members))
            for key, each in made.within.items()
        }
        return Made(of(name, made.members), within)

    def _is_kept(self, member: str) -> bool:
        """Whether a member keeps what its object is made with, wherever such an object is."""
        variable = self.program.variables.get(member)
        if variable is None or not self.members.is_begun_alone(member):
            return False
        record = variable.record
        if not record or record in self.program.copied_records | self.program.exchanged_records:
            return False
        objects = [key for key, other in self.program.variables.items() if other.record == record]
        return self.escaped.isdisjoint(objects)


def _class_of(constructor: str) -> str:
    """The class of a constructor; it, or its class, may be an instance of a template."""
    depth, end = 0, 0
    for position, letter in enumerate(constructor):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and constructor.startswith("::", position):
            end = position
    return constructor[:end]


def _told(made: Made) -> dict[Inner, Affine]:
    """What a constructor makes members of inner objects, in the terms of its object's members."""
    own = {
        min(value.variables()): key
        for key, value in made.members.items()
        if value.terms and value == Affine.variable(min(value.variables()))
    }
    found: dict[Inner, Affine] = {}
    for outer, built in made.within.items():
        for member, value in built.members.items():
            keys = {name: Affine.variable(own[name]) for name in value.variables() if name in own}
            told = value.replace(keys.get)
            if told is not None and told.terms:
                found[outer, member] = told
    return found
