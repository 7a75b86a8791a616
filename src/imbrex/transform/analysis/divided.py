"""What of a communication routine its start does and what its finish does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from imbrex.transform.analysis.handles import Handle
from imbrex.transform.analysis.paths import Path
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Kind, Statement


@dataclass(slots=True)
class Item:
    """A statement, at the top or inside conditionals; a call becomes starts that are early.

    `number` is its place in the order of the routine, which need not be that of the text: earlier
    rewrites have moved statements.
    """

    statement: Statement
    path: Path
    accesses: list[Access]
    transfers: list[Transfer] = field(default_factory=list)
    # From an indentation to the text, where it is not the statement's own.
    render: Callable[[str], str] | None = None
    number: int = 0
    returns: bool = False  # `if (...) return` ahead of all messages, which each half asks
    only_asks: bool = False  # of such a one: what else it does the other half has done

    @property
    def may_be_left(self) -> bool:
        """Whether it stands in a conditional."""
        return not all(guard.names_alone for guard, _ in self.path)


@dataclass(slots=True)
class Schedule:
    early: list[Item] = field(default_factory=list)
    late: list[Item] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    requests: int = 0  # those of the routines that it calls
    problem: Reason | None = None
    data: dict[int, list[Access]] = field(default_factory=dict)  # of each transfer
    # Nonblocking already: what the routine starts early and waits for late, and their requests.
    held: list[Transfer] = field(default_factory=list)
    requested: set[str] = field(default_factory=set)
    begun: list[Handle] = field(default_factory=list)  # the same of routines that it calls
    waits: set[int] = field(default_factory=set)  # identities of the statements that complete them
    declarations: list[Statement] = field(default_factory=list)
    sizes: list[Access] = field(default_factory=list)  # what the extents of kept arrays read
    # What messages started elsewhere, or by an earlier call, use until the finish completes them.
    released: list[Access] = field(default_factory=list)
    # What waits of the finish set besides data: statuses that are read, and what names them.
    statuses: list[Access] = field(default_factory=list)
    in_order: bool = False  # all communication keeps its order, nothing of it is replaced

    def accesses(self, items: list[Item]) -> list[Access]:
        """What some items touch, and what giving their local variables a value reads.

        Each half declares what it needs, so a value is computed where that half comes to stand.
        """
        found = [access for item in items for access in item.accesses]
        needed = {access.variable for access in found}
        for statement in reversed(self.declarations):
            if any(a.write and a.variable in needed for a in statement.accesses):
                reads = [a for a in statement.accesses if not a.write]
                needed |= {access.variable for access in reads}
                found += reads
        return found + self.sizes + self.statuses

    @property
    def placed(self) -> frozenset[int]:
        """The identities of declarations that one half has as statements of its own."""
        statements = (item.statement for item in self.early + self.late)
        return frozenset(id(each) for each in statements if each.kind is Kind.DECLARE)

    @property
    def flying(self) -> list[Access]:
        """Memory in use from the start to the finish."""
        return self.sent + self.released

    @property
    def sent(self) -> list[Access]:
        """Of it, what messages that are started in the routine itself use."""
        begun = [t for item in self.early for t in item.transfers] + self.held
        return [access for transfer in begun for access in self.data[id(transfer)]]

    @property
    def only_sends(self) -> bool:
        """Whether the finish does nothing but wait for messages that the start has sent."""
        again = {id(item) for item in self.early}
        return (
            bool(self.transfers)
            and not (self.held or self.released)
            and all(item.returns or id(item) in again for item in self.late)
            and all(
                t.part.direction == "send" and t.part.mode == "standard" for t in self.transfers
            )
        )

    @property
    def calls(self) -> frozenset[int]:
        """Lines of the calls that are under way between the start and the finish, or end there."""
        early = [t for item in self.early for t in item.transfers]
        ends = (
            call.line for i in self.late if id(i.statement) in self.waits for call in calls_of(i)
        )
        return frozenset(transfer.call.line for transfer in early + self.held) | frozenset(ends)


def calls_of(item: Item) -> list[Call]:
    return [call for inner in item.statement.walk() for call in inner.calls]
