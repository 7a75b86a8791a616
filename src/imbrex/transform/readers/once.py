"""Attributes that are found out when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """An attribute found out when it is first asked for.

    From then on the object has it of its own, as nothing else makes reading one as fast: neither
    the call of a property nor a class with `__getattr__`, none of whose attributes are.
    """

    def __init__(self, ask: Callable[[Any], T]) -> None:
        self.ask = ask
        self.__doc__ = ask.__doc__

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, node: Any, owner: Any) -> T:
        found = self.ask(node)
        setattr(node, self.name, found)
        return found
