"""What is kept of transfers, requests, calls and threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .times import Time
from .words import NONE


@dataclass
class Transfer:
    x: dict[str, Any]
    thread: int
    begin_index: int
    begin_ns: int
    site: int
    operation: int
    x_operation: int
    section: str
    source: int = 0
    silent: bool = False
    unsized: bool = False
    unknown_end: bool = False
    slack: int = NONE
    bytes: int = 0
    path: int = 0
    open_ns: int = 0
    up_to: bool = False
    tag: int = 0
    close_index: int | None = None
    tail_until: int = 0
    time: Time = field(default_factory=Time)


@dataclass
class Slot:
    key: tuple[str, int] | None  # None: nobody finds it
    sequence: int
    kind: str = "one"
    transfer: Transfer | None = None
    template: dict[str, Any] | None = None
    operation: int = 0
    active: bool = False
    ending: bool = False
    duplicate: bool = False
    members: list[Slot] = field(default_factory=list)


@dataclass
class Call:
    thread: int
    operation: int
    site: int
    enter_ns: int
    enter_index: int
    unrecorded: bool
    exposed: bool
    leave_ns: int | None = None
    counted: bool = True
    first: tuple[int, int] | None = None
    finished: list[Slot] = field(default_factory=list)
    blocking: list[Transfer] = field(default_factory=list)
    moving: int = 0
    outside: int = 0
    begun: int = 0
    depth: int = 1


@dataclass
class Thread:
    born_ns: int
    calls: list[Call] = field(default_factory=list)
    call: Call | None = None
    sections: list[str] = field(default_factory=list)
    debt_paid: int = 0
    outside: int = 0
    recorded: int = 0
    wait_min: int = 0
