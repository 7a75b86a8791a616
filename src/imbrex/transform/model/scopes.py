"""Where a function of C++ belongs: its namespaces and its class, and where that declares it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a method, or of a function in a namespace."""

    namespaces: tuple[str, ...] = ()  # from the outermost inward; "" for one without a name
    classes: tuple[str, ...] = ()  # the same
    on_object: bool = False  # a method that is not static: its first parameter is `this`
    overloaded: bool = False  # its class has another member of its name
    virtual: bool = False  # classes derived from its own may have another one
    # Where its class declares it: the file, the first byte, and the byte behind it. Empty where
    # that is the definition itself.
    declared: tuple[str, int, int] | None = None

    @property
    def qualified(self) -> str:
        """The scope as a name that means the same everywhere."""
        return "::".join((*self.namespaces, *self.classes))
