"""What a Fortran program defines anew: operators, assignment, intrinsic names, bound procedures.

An operator, an assignment or a reference to a component is then the call of a procedure. Which
one is not found out: where it may be one of the program's, nothing moves over the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.readers.fortran_lines import split_arguments

_INTERFACE = re.compile(r"(?:abstract)?interface(.*)$")
_DEFINED = re.compile(r"(operator|assignment)\(([^()]+)\)")
_NAME = re.compile(r"[a-z]\w*")
_NUMBER = re.compile(r"integer|real|doubleprecision|complex|doublecomplex")
_KEYWORDS = {
    "eq": "==", "ne": "/=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


@dataclass(slots=True)
class Own:
    """Collected over all files."""

    operators: set[str] = field(default_factory=set)  # as texts that stand in an expression
    assignment: bool = False
    finalizers: bool = False  # procedures that run where a variable of a derived type ends
    generics: set[str] = field(default_factory=set)  # names that stand for several procedures
    functions: set[str] = field(default_factory=set)  # of the files
    types: set[str] = field(default_factory=set)  # derived types that the files define
    bound: set[str] = field(default_factory=set)  # components that are procedures
    specifics: set[str] = field(default_factory=set)  # procedures that types are bound to
    components: set[str] = field(default_factory=set)  # components that are data
    untyped: bool = False  # compilers are told to compare no types or ranks of arguments
    # Of these, the ones that are one number in some type, and those that are not in some.
    numbers: set[str] = field(default_factory=set)
    not_numbers: set[str] = field(default_factory=set)

    def number(self, component: str) -> bool:
        """Whether a component is one number, whatever type it belongs to."""
        return component in self.numbers and component not in self.not_numbers

    def interface(self, text: str) -> None:
        """The first line of an interface block."""
        found = _INTERFACE.match(text)
        if found is not None:
            self._define(found[1])

    def component(self, text: str) -> None:
        """A line of the definition of a derived type."""
        names = text.rpartition("::")[2] if "::" in text else text.removeprefix("procedure")
        listed = [names[a:b] for a, b in split_arguments(names)]
        if text.startswith("final"):
            self.finalizers = self.assignment = True
        elif text.startswith("generic"):
            for item in listed:
                self._define(item.partition("=>")[0])
                self.bound |= set(_NAME.findall(item.partition("=>")[0])[:1])
        elif text.startswith("procedure"):
            self.specifics |= {item.rpartition("=>")[2] for item in listed}
            self.bound |= {found[0] for item in listed if (found := _NAME.match(item))}
        elif "::" in text:
            head = text.partition("::")[0]
            one = _NUMBER.match(head) is not None
            one = one and not re.search(r"dimension|pointer|allocatable", head)
            for item in listed:
                if (found := _NAME.match(item)) is not None:
                    self.components.add(found[0])
                    plain = one and item[found.end() : found.end() + 1] in ("", "=")
                    (self.numbers if plain else self.not_numbers).add(found[0])
        else:
            self.components |= set(re.findall(r"[a-z]\w*", text))
            # `real x` is one word here.
            self.components |= {
                re.sub(r"^(integer|real|complex|logical|doubleprecision|character)", "", keyword)
                for keyword in _NAME.findall(text)
            }
            self.not_numbers |= self.components

    def _define(self, name: str) -> None:
        found = _DEFINED.match(name)
        if found is None:
            self.generics |= set(_NAME.findall(name)[:1])
        elif found[1] == "assignment":
            self.assignment = True
        else:
            keyword = found[2].strip(".")
            self.operators |= {found[2], _KEYWORDS.get(keyword, found[2])}
            self.operators |= {f".{key}." for key, sign in _KEYWORDS.items() if sign == found[2]}

    def add(self, other: Own) -> None:
        self.operators |= other.operators
        self.assignment = self.assignment or other.assignment
        self.finalizers = self.finalizers or other.finalizers
        self.generics |= other.generics
        self.functions |= other.functions
        self.types |= other.types
        self.bound |= other.bound
        self.specifics |= other.specifics
        self.components |= other.components
        self.numbers |= other.numbers
        self.not_numbers |= other.not_numbers
        self.untyped = self.untyped or other.untyped
