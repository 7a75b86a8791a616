"""Random deterministic programs for two ranks, in C and in fixed-form Fortran.

A program is a list of statements over six arrays and two scalars. Every message that one rank
sends the other receives at the same step or, for short ones, at a later one; nothing else decides
what is received, so that the output depends on nothing but the program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from random_guards import put_guarded  # type: ignore[import-not-found]
from random_message_loops import put_message_loop  # type: ignore[import-not-found]
from random_numbers import put_numbers  # type: ignore[import-not-found]
from random_sinking import c_pair, fortran_pair  # type: ignore[import-not-found]
from random_steps import mixed  # type: ignore[import-not-found]
from random_sweeps import sweep  # type: ignore[import-not-found]

ARRAYS = ["a", "b", "c", "d", "e", "f"]
LENGTH = 3000
_OTHER = {"e": "f", "f": "e"}


@dataclass
class Writer:
    """Statements in one language; indices count from 1 and are shifted for C."""

    fortran: bool
    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def put(self, c: str, fortran: str) -> None:
        text = fortran if self.fortran else c
        if not text:
            return
        if not self.fortran:
            self.lines.append("    " * self.depth + text)
            return
        line = "      " + "  " * (self.depth - 1) + text
        while len(line) > 72:
            cut = line.rindex(",", 0, 72) + 1
            self.lines.append(line[:cut])
            line = "     &    " + line[cut:].lstrip()
        self.lines.append(line)

    def at(self, array: str, index: str) -> str:
        if self.fortran:
            return f"{array}({index})"
        number = (
            str(int(index) - 1)
            if index.isdigit()
            else index.replace("i+1", "i").replace("i+2", "i+1")
            if "i+" in index
            else "i-1"
        )
        return f"{array}[{number}]"


class Generator:
    def __init__(self, seed: int, fortran: bool, declarations: str = "") -> None:
        """`declarations`: of Fortran, what a routine begins with that uses the COMMON blocks."""
        self.declarations = declarations
        self.seed = seed
        self.routines: list[str] = []  # of this program's own
        self.random = random.Random(seed)
        self.out = Writer(fortran)
        self.pending: list[tuple[int, int]] = []  # (tag, count) of messages not yet received
        self.level = 0
        self.busy: set[str] = set()  # arrays of transfers between their start and their wait
        # C, half of the programs: `e` and `f` are pointers that are exchanged.
        self.exchanging = not fortran and seed % 2 == 1
        self.odd = False  # whether they have been exchanged an odd number of times
        # Of one group of ten in five, some receives name no source, or neither source nor tag:
        # there is but one process that sends.
        self.anyone = seed // 10 % 5 == 4
        # One program in eight: what a loop leaves in its index is used.
        self.reads_index = seed % 8 == 3

    def shared(self) -> str:
        """Of Fortran: what the program's own routine declares besides."""
        return ""

    def array(self) -> str:
        return self.random.choice([array for array in ARRAYS if array not in self.busy])

    def pair(self) -> list[str]:
        return self.random.sample([array for array in ARRAYS if array not in self.busy], 2)

    def constant(self) -> str:
        return f"{self.random.randint(1, 63) / 64}"

    def real(self) -> str:
        return self.constant() + ("d0" if self.out.fortran else "")

    def loop(self) -> None:
        x, y = self.array(), self.array()
        low = self.random.choice([1, 1, 2, 100, 1500])
        high = self.random.choice([50, 1499, LENGTH - 1, LENGTH - 1])
        if high < low:
            low, high = 1, LENGTH - 1
        shift = self.random.choice([0, 1])
        factor, term = self.real(), self.real()
        if self.random.random() < 0.3:  # a scalar and a loop that needs it
            factor = "q"
            self.out.put(f"q = 0.25 + 0.25 * {x}[{low - 1}];", f"q = 0.25d0 + 0.25d0 * {x}({low})")
        index = "i" if self.out.fortran else self.random.choice(["i", "j"])  # `j` is shared
        self.out.put(
            f"for ({'int i' if index == 'i' else index} = {low - 1}; {index} < {high}; {index}++)",
            f"do i = {low}, {high}",
        )
        self.out.depth += 1
        self.out.put(
            f"{x}[{index}] = {factor} * {x}[{index}] + {term} * {y}[{index} + {shift}] + 0.125;",
            f"{x}(i) = {factor} * {x}(i) + {term} * {y}(i + {shift}) + 0.125d0",
        )
        self.out.depth -= 1
        self.out.put("", "end do")
        if self.reads_index and self.random.random() < 0.3:
            self.out.put("s = 0.5 * s + 0.0009765625 * j;", "s = 0.5d0 * s + 0.0009765625d0 * i")

    def sweep(self, *, rows: bool = False) -> None:
        """Every second cell of a plate; `rows`: behind an exchange of its rows."""
        array = self.array()
        found = sweep(self.random, array)
        for c, fortran in found.rows(array) if rows else []:
            self.out.put(c, fortran)
        depth = self.out.depth
        for line in found.fortran if self.out.fortran else found.c:
            self.out.depth -= line.startswith("end")
            self.out.put(line, line)
            self.out.depth += line.startswith(("for ", "if ", "do "))
        self.out.depth = depth

    def scalar(self) -> None:
        x = self.array()
        index = self.random.randint(1, LENGTH)
        s = self.random.choice(["s", "t"])
        self.out.put(f"{s} = 0.5 * {s} + {x}[{index - 1}];", f"{s} = 0.5d0 * {s} + {x}({index})")

    def element(self) -> None:
        x = self.array()
        index = self.random.choice([1, 2, 100, LENGTH])
        s = self.random.choice(["s", "t"])
        self.out.put(f"{x}[{index - 1}] = {s};", f"{x}({index}) = {s}")

    def call(self) -> None:
        x, y = self.pair()
        which = self.random.choice(["work", "mix", "globally"])
        if which == "work":
            self.out.put(f"work({x}, {LENGTH});", f"call work({x}, {LENGTH})")
        elif which == "mix" or self.busy:
            self.out.put(f"mix({x}, {y});", f"call mix({x}, {y})")
        else:
            self.out.put("globally();", "call glob()")

    def alias(self) -> None:
        """C only: a pointer that may point to more than one array."""
        if self.out.fortran or self.busy:
            self.loop()
            return
        if self.exchanging and self.random.random() < 0.5:
            self.swap()
        elif self.random.random() < 0.5:
            start, offset = self.array(), self.random.choice([0, 7, 8])
            rounded = f"p = (double *)(((size_t){start} + 7) / 8 * 8);"  # where it is already
            self.out.put(rounded if offset == 8 else f"p = {start} + {offset};", "")
        else:
            self.out.put(f"p[{self.random.randint(0, 20)}] = s;", "")

    def swap(self) -> None:
        for line in ("old = e;", "e = f;", "f = old;"):
            self.out.put(line, "")
        self.busy = {_OTHER.get(array, array) for array in self.busy}
        self.odd = not self.odd

    def branch(self) -> None:
        self.out.put("if (rank == 0) {", "if (rank .eq. 0) then")
        self.out.depth += 1
        for _ in range(self.random.randint(1, 2)):
            self.random.choice([self.loop, self.scalar, self.element, self.call])()
        if self.exchanging and not self.busy and self.random.random() < 0.3:
            self.swap()
        self.out.depth -= 1
        if self.random.random() < 0.5:
            self.out.put("} else {", "else")
            self.out.depth += 1
            self.random.choice([self.loop, self.element])()
            self.out.depth -= 1
        self.out.put("}", "end if")

    def repeat(self) -> None:
        if self.level:
            self.loop()
            return
        self.level += 1
        self.flush()  # or the loop would receive what was sent before it
        self.out.put("for (int k = 0; k < 3; k++) {", "do k = 1, 3")
        self.out.depth += 1
        self.block(self.random.randint(3, 6))
        self.flush()
        self.out.depth -= 1
        self.out.put("}", "end do")
        self.level -= 1

    def buffer(self, array: str, count: int) -> str:
        offset = self.random.choice([0, 0, LENGTH - count])
        if self.out.fortran:
            whole = self.random.choice([array, f"{array}(1)"])
            return f"{array}({offset + 1})" if offset else whole
        return f"&{array}[{offset}]" if offset else array

    def source(self) -> str:
        wild = self.anyone and self.random.random() < 0.5
        return "MPI_ANY_SOURCE" if wild else "peer"

    def wanted(self, tag: int | str) -> str:
        """The tag that a receive names. Messages still to be taken are told apart by theirs."""
        alone = self.anyone and not (self.pending or self.busy)
        return "MPI_ANY_TAG" if alone and self.random.random() < 0.3 else str(tag)

    def message(self, name: str, array: str, count: int, tag: int | str) -> tuple[str, str]:
        buffer = self.buffer(array, count)
        status = name == "Recv"
        of = f"{self.source()}, {self.wanted(tag)}" if status else f"peer, {tag}"
        c = f"MPI_{name}({buffer}, {count}, MPI_DOUBLE, {of}, MPI_COMM_WORLD"
        f = f"call MPI_{name.upper()}({buffer}, {count}, MPI_DOUBLE_PRECISION, {of}, MPI_COMM_WORLD"
        c += ", MPI_STATUS_IGNORE);" if status else ");"
        return c, f + (", MPI_STATUS_IGNORE, ierr)" if status else ", ierr)")

    def exchange(self) -> None:
        self.both_ways("peer", self.source())

    def both_ways(self, to: str, source: str) -> None:
        x, y = self.pair()
        count = self.random.choice([1, 10, LENGTH // 2, LENGTH])
        tag = self.random.randint(0, 2)
        first, second = self.buffer(x, count), self.buffer(y, count)
        of = f"{source}, {self.wanted(tag)}"
        self.out.put(
            f"MPI_Sendrecv({first}, {count}, MPI_DOUBLE, {to}, {tag}, {second}, {count}, "
            f"MPI_DOUBLE, {of}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            f"call MPI_SENDRECV({first}, {count}, MPI_DOUBLE_PRECISION, {to}, {tag}, {second}, "
            f"{count}, MPI_DOUBLE_PRECISION, {of}, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)",
        )

    def axis(self) -> None:
        """Both directions of an axis one after the other: the two neighbours are one rank here."""
        self.both_ways("peer", "1 - rank")
        for _ in range(self.random.randint(0, 2)):
            self.random.choice([self.loop, self.element])()
        self.both_ways("1 - rank", "peer")

    def sinking(self) -> None:
        """An exchange and a computation, each in a routine without arguments."""
        if self.busy:
            self.exchange()
            return
        name = f"{self.seed}_{len(self.routines)}"
        if self.out.fortran:
            pair = fortran_pair(self.random, name, LENGTH, self.declarations)
        else:
            pair = c_pair(self.random, name, LENGTH)
        self.routines.append(pair.routines)
        for call in pair.calls:
            self.out.put(call, call)

    def turns(self) -> None:
        """One rank sends first, the other receives first."""
        count = self.random.choice([1, LENGTH // 2, LENGTH])
        tag = self.random.randint(0, 2)
        x, y = self.array(), self.array()
        self.out.put("if (rank == 0) {", "if (rank .eq. 0) then")
        self.out.depth += 1
        self.out.put(*self.message("Send", x, count, tag))
        if self.random.random() < 0.5:
            self.loop()
        self.out.put(*self.message("Recv", y, count, tag))
        self.out.depth -= 1
        self.out.put("} else {", "else")
        self.out.depth += 1
        self.out.put(*self.message("Recv", x, count, tag))
        if self.random.random() < 0.5:
            self.loop()
        self.out.put(*self.message("Send", y, count, tag))
        self.out.depth -= 1
        self.out.put("}", "end if")

    def stages(self) -> None:
        """A pipeline: in each iteration one rank receives, and the other sends."""
        if self.level or self.busy:
            self.turns()
            return
        self.level += 1
        first, last, step = self.random.choice(
            [
                ("1", "4", 1),
                ("2", "rank + peer + 3", 1),
                ("5", "0", -2),
                ("3", "1", -1),
                ("1", "0", 1),
                ("rank + peer", "6", 3),
            ]
        )
        compare, sign = (">=", "-") if step < 0 else ("<=", "+")
        self.out.put(
            f"for (int k = {first}; k {compare} {last}; k {sign}= {abs(step)}) {{",
            f"do k = {first}, {last}, {step}",
        )
        self.out.depth += 1
        sent, received, other = self.random.sample(ARRAYS, 3)
        tag, count = self.random.choice(["8", "8", "20 + k"]), self.random.choice([1, 10, LENGTH])
        sender = self.random.choice([0, 1])
        self.compute(1)
        self.guarded(1 - sender, *self.message("Recv", received, count, tag))
        if self.random.random() < 0.7:
            self.out.put(f"mix({other}, {received});", f"call mix({other}, {received})")
        if self.random.random() < 0.7:
            self.out.put(f"work({sent}, {LENGTH});", f"call work({sent}, {LENGTH})")
        self.compute(1)
        self.guarded(sender, *self.message("Send", sent, count, tag))
        if self.random.random() < 0.2:
            self.exchange()
        self.compute(1)
        self.out.depth -= 1
        self.out.put("}", "end do")
        self.level -= 1

    def one_way(self) -> None:
        """A short message that is received at a later step."""
        if len(self.pending) >= 4:
            self.receive()
            return
        tag, count = self.random.randint(5, 6), self.random.choice([1, 10])
        c, f = self.message("Send", self.array(), count, tag)
        self.guarded(0, c, f)
        self.pending.append((tag, count))

    def receive(self) -> None:
        if not self.pending:
            self.one_way()
            return
        tag = self.random.choice([tag for tag, _ in self.pending])
        position = next(i for i, (t, _) in enumerate(self.pending) if t == tag)
        _, count = self.pending.pop(position)
        self.guarded(1, *self.message("Recv", self.array(), count, tag))

    def guarded(self, rank: int, c: str, f: str) -> None:
        if self.random.random() < 0.5:
            self.out.put(f"if (rank == {rank})", f"if (rank .eq. {rank}) {f}")
            self.out.depth += 1
            self.out.put(c, "")
            self.out.depth -= 1
            return
        self.out.put(f"if (rank == {rank}) {{", f"if (rank .eq. {rank}) then")
        self.out.depth += 1
        if self.random.random() < 0.3:
            self.loop()
        self.out.put(c, f)
        if self.random.random() < 0.3:
            self.loop()
        self.out.depth -= 1
        self.out.put("}", "end if")

    def reduce(self) -> None:
        self.out.put(
            "MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);",
            "call MPI_ALLREDUCE(s, t, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)",
        )

    def spread(self) -> None:
        """A broadcast, a transpose or a gathering of whole arrays or parts of them."""
        x, y = self.pair()
        root = self.random.choice([0, 1])
        count = self.random.choice([1, 10, LENGTH // 2])
        kind = self.random.choice(["bcast", "alltoall", "gather"])
        first, second = self.buffer(x, 2 * count), self.buffer(y, 2 * count)
        if kind == "bcast":
            self.out.put(
                f"MPI_Bcast({first}, {count}, MPI_DOUBLE, {root}, MPI_COMM_WORLD);",
                f"call MPI_BCAST({first}, {count}, MPI_DOUBLE_PRECISION, {root}, "
                "MPI_COMM_WORLD, ierr)",
            )
            return
        end = "" if kind == "alltoall" else f"{root}, "
        self.out.put(
            f"MPI_{kind.capitalize()}({first}, {count}, MPI_DOUBLE, {second}, {count}, "
            f"MPI_DOUBLE, {end}MPI_COMM_WORLD);",
            f"call MPI_{kind.upper()}({first}, {count}, MPI_DOUBLE_PRECISION, {second}, {count}, "
            f"MPI_DOUBLE_PRECISION, {end}MPI_COMM_WORLD, ierr)",
        )

    def count(self) -> None:
        """C only: an exact reduction, which may be started early and waited for late."""
        if self.out.fortran:
            self.spread()
            return
        index = self.random.choice([1, 2, 100, LENGTH])
        self.out.put(f"m[0] = (int)(1000 * {self.array()}[{index - 1}]);", "")
        if self.random.random() < 0.5:
            self.loop()
        self.out.put("MPI_Allreduce(m, &m[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);", "")
        if self.random.random() < 0.7:
            self.loop()
        self.out.put("s = 0.5 * s + 0.0625 * m[1];", "")

    def start(self, name: str, array: str, count: int, tag: int, request: int) -> None:
        buffer = self.buffer(array, count)
        rank = self.source() if name == "Irecv" else "peer"
        self.out.put(
            f"MPI_{name}({buffer}, {count}, MPI_DOUBLE, {rank}, {tag}, MPI_COMM_WORLD, "
            f"&r[{request}]);",
            f"call MPI_{name.upper()}({buffer}, {count}, MPI_DOUBLE_PRECISION, {rank}, {tag}, "
            f"MPI_COMM_WORLD, r({request + 1}), ierr)",
        )

    def wait(self, first: int, count: int) -> None:
        if count == 1:
            self.out.put(
                f"MPI_Wait(&r[{first}], MPI_STATUS_IGNORE);",
                f"call MPI_WAIT(r({first + 1}), MPI_STATUS_IGNORE, ierr)",
            )
            return
        self.out.put(
            f"MPI_Waitall({count}, &r[{first}], MPI_STATUSES_IGNORE);",
            f"call MPI_WAITALL({count}, r({first + 1}), MPI_STATUSES_IGNORE, ierr)",
        )

    def compute(self, most: int) -> None:
        for _ in range(self.random.randint(0, most)):
            self.random.choice([self.loop, self.loop, self.scalar, self.element, self.call])()

    def nonblocking(self) -> None:
        """One or two exchanges that the program starts and waits for by itself."""
        if self.busy:
            self.exchange()
            return
        starts = []
        odd = self.odd
        for number in range(self.random.choice([1, 1, 2])):
            x, y = self.pair()
            self.busy |= {x, y}
            count = self.random.choice([1, 10, LENGTH // 2, LENGTH])
            tag = 7 + number
            starts += [("Isend", x, count, tag), ("Irecv", y, count, tag)]
        self.random.shuffle(starts)
        for request, (name, array, count, tag) in enumerate(starts):
            if self.random.random() < 0.2:
                self.compute(1)
            self.start(name, array, count, tag, request)
        self.compute(2)
        if self.exchanging and self.random.random() < 0.3:
            self.swap()
            self.compute(2)
        if self.random.random() < 0.2:
            self.exchange()
        if self.random.random() < 0.5:
            self.wait(0, len(starts))
            self.busy.clear()
            return
        order = list(range(len(starts)))
        self.random.shuffle(order)
        for request in order:
            self.wait(request, 1)
            array = starts[request][1]
            self.busy.discard(array if self.odd == odd else _OTHER.get(array, array))
            self.compute(1)

    def icollective(self) -> None:
        if self.busy:
            self.loop()
            return
        x, y = self.pair()
        count = self.random.choice([1, 10, LENGTH // 2])
        first, second = self.buffer(x, 2 * count), self.buffer(y, 2 * count)
        if self.random.random() < 0.5:
            self.busy = {x}
            self.out.put(
                f"MPI_Ibcast({first}, {count}, MPI_DOUBLE, 1, MPI_COMM_WORLD, &r[0]);",
                f"call MPI_IBCAST({first}, {count}, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, "
                "r(1), ierr)",
            )
        else:
            self.busy = {x, y}
            self.out.put(
                f"MPI_Ialltoall({first}, {count}, MPI_DOUBLE, {second}, {count}, MPI_DOUBLE, "
                "MPI_COMM_WORLD, &r[0]);",
                f"call MPI_IALLTOALL({first}, {count}, MPI_DOUBLE_PRECISION, {second}, {count}, "
                "MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, r(1), ierr)",
            )
        self.compute(2)
        self.wait(0, 1)
        self.busy.clear()

    def flush(self) -> None:
        while self.pending:
            self.receive()

    def block(self, count: int) -> None:
        compute = [
            self.loop,
            self.loop,
            self.scalar,
            self.element,
            self.call,
            self.alias,
            self.branch,
            self.sweep,
        ]
        talk = [
            self.exchange,
            self.axis,
            self.nonblocking,
            self.nonblocking,
            self.icollective,
            self.sinking,
            lambda: put_numbers(self),
            lambda: put_numbers(self),
            lambda: put_guarded(self),
            lambda: put_guarded(self),
            self.turns,
            self.stages,
            self.one_way,
            self.receive,
            self.reduce,
            self.spread,
            self.spread,
            self.count,
            lambda: self.sweep(rows=True),
        ]
        if self.seed % 5 == 1:  # what other programs are stays as it is
            talk += 3 * [lambda: put_message_loop(self)]
        mixed(self.random, count, talk, compute, self.repeat)

    def body(self) -> list[str]:
        self.block(self.random.randint(6, 14))
        self.flush()
        return self.out.lines
