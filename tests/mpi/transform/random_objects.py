"""Random programs for two ranks in free-form Fortran, whose data are components of objects.

The objects are a module's variable, elements of a module's array, a dummy argument and a local
variable. Messages go from components, with counts, ranks and requests that are components; what is
computed between them uses the same component, another one, or the same of another object, in place
or in a routine that gets the object, the component or both.
"""

from __future__ import annotations

import random

from random_steps import mixed  # type: ignore[import-not-found]

LENGTH = 400
COMPONENTS = ["u", "v", "e", "f", "inner%x"]
# How a local object gets its components, and gives them back. It is passed to no routine.
LOCAL_HEAD = """    allocate(l%u(n), l%v(n))
    l%nx = n
    l%peer = 1 - rank
    l%inner%tag = 9
    l%s = 0.5d0
    l%t = 0.25d0
    do i = 1, n
      l%u(i) = h%v(i)
      l%v(i) = h%u(i)
      l%e(i) = h%f(i)
      l%f(i) = h%e(i)
      l%inner%x(i) = h%inner%x(i)
    end do"""
LOCAL_TAIL = """    do i = 1, n
      h%u(i) = 0.5d0 * h%u(i) + l%u(i)
      h%v(i) = 0.5d0 * h%v(i) + l%v(i)
      h%e(i) = 0.5d0 * h%e(i) + l%e(i)
      h%f(i) = 0.5d0 * h%f(i) + l%f(i)
      h%inner%x(i) = 0.5d0 * h%inner%x(i) + l%inner%x(i)
    end do
    h%s = h%s + l%s
    h%t = h%t + l%t"""


class Body:
    """Random statements on some objects, and perhaps on a dummy argument `x` besides them."""

    def __init__(self, choice: random.Random, objects: list[str], same: str = "") -> None:
        """`same`: what `x` may be, one of the objects' components; "" for no `x`."""
        self.random = choice
        self.objects = objects
        self.same = same
        self.lines: list[str] = []
        self.depth = 2
        self.busy: set[str] = set()  # arrays of transfers between their start and their wait
        self.routines: list[tuple[str, str]] = []  # those that may be called: name, what x may be
        self.private: set[str] = set()  # objects that are passed to no routine
        self.level = 0

    def put(self, text: str) -> None:
        pieces = [text]
        indent = "  " * self.depth
        while len(indent + pieces[-1]) > 98:
            cut = pieces[-1].rindex(" ", 0, 96 - len(indent))
            pieces[-1:] = [pieces[-1][:cut] + " &", "  " + pieces[-1][cut:].lstrip()]
        self.lines += [indent + piece for piece in pieces]

    def object(self) -> str:
        return self.random.choice(self.objects)

    def arrays(self) -> list[str]:
        """Those that no transfer uses: `x` and what it may be are one."""
        found = [f"{each}%{part}" for each in self.objects for part in COMPONENTS]
        busy = self.busy
        if self.same:
            found.append("x")
            if self.busy & {"x", self.same}:
                busy = self.busy | {"x", self.same}
        return [array for array in found if array not in busy]

    def array(self) -> str:
        return self.random.choice(self.arrays())

    def pair(self) -> list[str]:
        """Two arrays of a message, mostly of one object or one component of two."""
        arrays = self.arrays()
        first = self.random.choice(arrays)
        partners = [other for other in arrays if {first, other} != {"x", self.same}]
        near = [
            other
            for other in partners
            if other.partition("%")[0] == first.partition("%")[0]
            or other.partition("%")[2] == first.partition("%")[2]
        ]
        near = [other for other in near if other != first]
        partners = [other for other in partners if other != first]
        return [
            first,
            self.random.choice(near if near and self.random.random() < 0.7 else partners),
        ]

    def real(self) -> str:
        return f"{self.random.randint(1, 63) / 64}d0"

    def loop(self) -> None:
        x, y = self.array(), self.array()
        low = self.random.choice([1, 1, 2, 100])
        high = self.random.choice(["50", f"{LENGTH // 2}", "n - 1", f"{self.object()}%nx - 1"])
        shift = self.random.choice(["i", "i + 1"])
        self.put(f"do i = {low}, {high}")
        self.put(f"  {x}(i) = {self.real()} * {x}(i) + {self.real()} * {y}({shift}) + 0.125d0")
        self.put("end do")

    def scalar(self) -> None:
        s = f"{self.object()}%{self.random.choice('st')}"
        index = self.random.choice([1, 2, 100, LENGTH])
        self.put(f"{s} = 0.5d0 * {s} + {self.array()}({index})")

    def element(self) -> None:
        s = f"{self.object()}%{self.random.choice('st')}"
        self.put(f"{self.array()}({self.random.choice([1, 2, 100, LENGTH])}) = {s}")

    def size(self) -> None:
        """Both ranks set what later counts and loops use."""
        self.put(f"{self.object()}%nx = {self.random.choice([20, LENGTH // 2, LENGTH])}")

    def call(self) -> None:
        kind = self.random.choice(["work", "mix", "smooth", "mark", "blend"])
        public = [each for each in self.objects if each not in self.private]
        if kind == "work":
            self.put(f"call work({self.array()}, n)")
        elif kind == "mix" and len(set(self.arrays()) - {"x"}) > 1:
            x, y = self.pair()
            self.put(f"call mix({x}, {y})")
        elif kind == "mix" or not public:
            self.loop()
        else:
            each = self.random.choice(public)
            used = {"smooth": ["v", "e"], "mark": ["u", "inner%x"], "blend": ["f"]}[kind]
            taken = {f"{each}%{part}" for part in used}
            read = [array for array in self.arrays() if array != f"{each}%f"]
            if not taken <= set(self.arrays()) or not read:
                self.loop()
            elif kind == "blend":
                self.put(f"call blend({each}, {self.random.choice(read)})")
            else:
                self.put(f"call {kind}({each})")

    def given(self) -> None:
        """A routine that exchanges messages, given an object and a component."""
        public = [each for each in self.objects if each not in self.private]
        if self.busy or not self.routines or not public or self.level > 1:
            self.loop()
            return
        name, same = self.random.choice(self.routines)
        each = self.random.choice(public)
        other = each if self.random.random() < 0.6 else self.object()
        self.put(f"call {name}({each}, {other}{same[1:]})")

    def branch(self) -> None:
        self.put("if (rank == 0) then")
        self.depth += 1
        for _ in range(self.random.randint(1, 2)):
            self.random.choice([self.loop, self.scalar, self.element, self.call])()
        self.depth -= 1
        self.put("end if")

    def repeat(self) -> None:
        if self.level or self.busy:
            self.loop()
            return
        self.level += 1
        self.put("do k = 1, 3")
        self.depth += 1
        self.block(self.random.randint(2, 5))
        self.depth -= 1
        self.put("end do")
        self.level -= 1

    def buffer(self, array: str, count: str) -> str:
        few = count.isdigit() and int(count) <= LENGTH // 2
        choices = [array, f"{array}(1)"]
        if few:
            choices += [f"{array}({LENGTH - int(count) + 1})", f"{array}(1:{count})"]
        return self.random.choice(choices)

    def count(self) -> str:
        return self.random.choice(["1", "10", f"{LENGTH // 2}", "n", f"{self.object()}%nx"])

    def peer(self) -> str:
        return f"{self.object()}%peer"

    def exchange(self) -> None:
        x, y = self.pair()
        count = self.count()
        tag = self.random.choice(["1", "2", f"{self.object()}%inner%tag"])
        self.put(
            f"call MPI_SENDRECV({self.buffer(x, count)}, {count}, MPI_DOUBLE_PRECISION, "
            f"{self.peer()}, {tag}, {self.buffer(y, count)}, {count}, MPI_DOUBLE_PRECISION, "
            f"{self.peer()}, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)"
        )

    def turns(self) -> None:
        """One rank sends first, the other receives first."""
        x, y = self.array(), self.array()
        count = self.count()
        ends = f"{count}, MPI_DOUBLE_PRECISION, {self.peer()}, 3, MPI_COMM_WORLD"
        send = f"call MPI_SEND({self.buffer(x, count)}, {ends}, ierr)"
        receive = f"call MPI_RECV({self.buffer(y, count)}, {ends}, MPI_STATUS_IGNORE, ierr)"
        self.put("if (rank == 0) then")
        self.depth += 1
        self.put(send)
        if self.random.random() < 0.5:
            self.loop()
        self.put(receive)
        self.depth -= 1
        self.put("else")
        self.depth += 1
        self.put(receive)
        if self.random.random() < 0.5:
            self.loop()
        self.put(send)
        self.depth -= 1
        self.put("end if")

    def nonblocking(self) -> None:
        """One or two exchanges that the program starts and waits for by itself."""
        if self.busy:
            self.exchange()
            return
        starts = []
        owner = self.object()
        for number in range(self.random.choice([1, 1, 2])):
            x, y = self.pair()
            self.busy |= {x, y}
            count = self.count()
            starts += [("ISEND", x, count, 7 + number), ("IRECV", y, count, 7 + number)]
        self.random.shuffle(starts)
        for request, (name, array, count, tag) in enumerate(starts, 1):
            self.put(
                f"call MPI_{name}({self.whole(array)}, {count}, MPI_DOUBLE_PRECISION, "
                f"{self.peer()}, {tag}, MPI_COMM_WORLD, {owner}%r({request}), ierr)"
            )
        self.compute(2)
        if self.random.random() < 0.5:
            requests = self.random.choice([f"{owner}%r", f"{owner}%r(1:{len(starts)})"])
            self.put(f"call MPI_WAITALL({len(starts)}, {requests}, MPI_STATUSES_IGNORE, ierr)")
            self.busy.clear()
            return
        order = list(range(len(starts)))
        self.random.shuffle(order)
        for request in order:
            self.put(f"call MPI_WAIT({owner}%r({request + 1}), MPI_STATUS_IGNORE, ierr)")
            self.busy.discard(starts[request][1])
            self.compute(1)

    def whole(self, array: str) -> str:
        return self.random.choice([array, f"{array}(1)"])

    def reduce(self) -> None:
        s, t = f"{self.object()}%s", f"{self.object()}%t"
        self.put(
            f"call MPI_ALLREDUCE({s}, {t}, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)"
        )

    def spread(self) -> None:
        count = self.count()
        self.put(
            f"call MPI_BCAST({self.whole(self.array())}, {count}, MPI_DOUBLE_PRECISION, "
            f"{self.random.choice([0, 1])}, MPI_COMM_WORLD, ierr)"
        )

    def compute(self, most: int) -> None:
        for _ in range(self.random.randint(0, most)):
            self.random.choice([self.loop, self.loop, self.scalar, self.element, self.call])()

    def block(self, count: int) -> None:
        compute = [self.loop, self.loop, self.scalar, self.element, self.call, self.branch]
        compute += [self.call, self.size]
        talk = [self.exchange, self.exchange, self.exchange, self.nonblocking, self.nonblocking]
        talk += [self.turns, self.reduce, self.spread, self.given, self.given]
        mixed(self.random, count, talk, compute, self.repeat)


def routines(seed: int) -> str:
    """The random routine of this seed, and those that it calls."""
    choice = random.Random(seed)
    texts, known = [], []
    for number in range(choice.choice([0, 0, 1, 1, 2])):
        same = "o%" + choice.choice(COMPONENTS)
        given = Body(choice, ["o"], same)
        given.block(choice.randint(2, 5))
        name = f"q{seed}_{number}"
        known.append((name, same))
        texts.append(_routine(f"{name}(o, x)", ["o"], "double precision :: x(n)", given.lines))
    objects = ["h", "g", "many(1)", "many(k2)"]
    local = choice.random() < 0.4
    body = Body(choice, [*objects, "l"] if local else objects)
    body.private = {"l"}
    body.routines = known
    body.block(choice.randint(6, 14))
    lines = body.lines
    if local:
        lines = [*LOCAL_HEAD.splitlines(), *lines, *LOCAL_TAIL.splitlines()]
    declared = "type(grid_t) :: l" if local else ""
    texts.append(_routine(f"p{seed}(h)", ["h"], declared, ["    k2 = 2", *lines]))
    return "\n".join(texts)


def _routine(head: str, objects: list[str], declared: str, lines: list[str]) -> str:
    declarations = [f"    type(grid_t), intent(inout) :: {', '.join(objects)}"]
    declarations += [f"    {declared}"] if declared else []
    declarations.append("    integer :: i, k, k2, ierr")
    name = head.partition("(")[0]
    text = "\n".join([*declarations, *lines])
    return f"\n  subroutine {head}\n{text}\n  end subroutine {name}"
