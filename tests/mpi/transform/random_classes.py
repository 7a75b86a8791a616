"""Random programs for two ranks in C++, whose data are members of objects.

The objects are the one that a method is called on, one given by reference, a global one, an element
of an array and what a pointer names. Messages go from vectors and arrays, with counts, ranks and
requests that are members; what is computed between them uses the same member, another one, or the
same of another object, in place, through other names, or in methods and functions that get the
object, the member or both. Pairs of methods begin and end exchanges.
"""

from __future__ import annotations

import random

from random_steps import mixed  # type: ignore[import-not-found]

LENGTH = 400
VECTORS = ["u", "v", "w", "rows[0]", "rows[1]", "both[1]"]
WITH_DATA = [*VECTORS, "g", "tile"]  # std::array, and the instance of a template
MEMBERS = [*WITH_DATA, "e", "f", "inner.x"]
OBJECTS = ["", "h.", "global.", "many[k2].", "p->"]


class Body:
    """Random statements on members of some objects."""

    def __init__(self, choice: random.Random, objects: list[str]) -> None:
        self.random = choice
        self.objects = objects
        self.lines: list[str] = []
        self.depth = 1
        self.busy: set[str] = set()  # arrays of transfers between their start and their wait
        self.pairs: list[tuple[str, str, set[str]]] = []  # methods that begin and end exchanges
        self.whole: list[str] = []  # methods that exchange
        self.level = 0
        self.names = 0
        self.lists = random.Random(choice.getstate()[1][0])  # of its own: the others stay

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def object(self) -> str:
        return self.random.choice(self.objects)

    def arrays(self) -> list[str]:
        found = [each + member for each in self.objects for member in MEMBERS]
        return [array for array in found if array not in self.busy]

    def array(self) -> str:
        return self.random.choice(self.arrays())

    def vectors(self) -> list[str]:
        return [a for a in self.arrays() if a.endswith(tuple(VECTORS)) and "inner" not in a]

    def pair(self) -> list[str]:
        return self.random.sample(self.arrays(), 2)

    def first(self, array: str) -> str:
        """The address of the first element."""
        ways = [f"&{array}[0]"]
        last = array.replace("->", ".").rpartition(".")[2]
        ways.append(f"{array}.data()" if last in WITH_DATA else array)
        return self.random.choice(ways)

    def real(self) -> str:
        return f"{self.random.randint(1, 63) / 64}"

    def loop(self) -> None:
        x, y = self.array(), self.array()
        low = self.random.choice([0, 0, 1, 100])
        high = self.random.choice(["50", f"{LENGTH // 2}", "N - 1", f"{self.object()}nx - 1"])
        shift = self.random.choice(["i", "i + 1"])
        self.put(f"for (int i = {low}; i < {high}; i++)")
        self.put(f"    {x}[i] = {self.real()} * {x}[i] + {self.real()} * {y}[{shift}] + 0.125;")

    def each(self) -> None:
        """A loop over all elements, or over another name of a vector."""
        free = self.vectors()
        if not free:
            self.loop()
            return
        vector = self.random.choice(free)
        if self.random.random() < 0.5:
            self.put(f"for (double &x : {vector})")
            self.put(f"    x = {self.real()} * x + 0.25;")
            return
        self.names += 1
        name = f"r{self.names}"
        self.put(f"std::vector<double> &{name} = {vector};")
        self.put(f"for (std::size_t i = 0; i < {name}.size(); i++)")
        self.put(f"    {name}[i] = 0.5 * {name}[i] + {self.array()}[3];")

    def scalar(self) -> None:
        s = f"{self.object()}{self.random.choice('st')}"
        self.put(f"{s} = 0.5 * {s} + {self.array()}[{self.random.choice([0, 1, 99, LENGTH - 1])}];")

    def element(self) -> None:
        s = f"{self.object()}{self.random.choice('st')}"
        self.put(f"{self.array()}[{self.random.choice([0, 1, 99, LENGTH - 1])}] = {s};")

    def size(self) -> None:
        """Both ranks set what later counts and loops use."""
        self.put(f"{self.object()}nx = {self.random.choice([20, LENGTH // 2, LENGTH])};")

    def call(self) -> None:
        kind = self.random.choice(
            ["work", "mix", "blur", "smooth", "mark", "blend", "touch", "scale", "lower", "at"]
        )
        owner = self.object()
        free = self.vectors()
        used = {"smooth": ["v", "e"], "mark": ["u", "inner.x"], "touch": ["u"], "blend": ["f"]}
        used |= {"scale": ["tile"], "lower": ["tile"], "at": ["tile"]}
        taken = {f"{owner}{member}" for member in used.get(kind, [])}
        named = "(*this)" if not owner else owner.removesuffix(".")
        named = "*p" if owner == "p->" else named
        if not taken <= set(self.arrays()):
            self.loop()
        elif kind == "work":
            self.put(f"work({self.first(self.array())}, N);")
        elif kind == "mix":
            x, y = self.pair()
            self.put(f"mix({self.first(x)}, {self.first(y)});")
        elif kind == "blur" and len(free) > 1:
            x, y = self.random.sample(free, 2)
            self.put(f"Grid::blur({x}, {y});")
        elif kind == "blend" and free:
            self.put(f"{owner}blend({self.random.choice(free)});")
        elif kind == "scale":
            self.put(f"{owner}tile.scale({self.real()});")
        elif kind == "lower":
            self.put(f"lower({owner}tile, &{self.array()}[0]);")
        elif kind == "at":
            self.put(f"{owner}tile(2, 3) = 0.5 * {owner}tile(1, 2) + {self.array()}[5];")
        elif kind == "touch":
            self.put(f"touch({named});")
        elif kind in ("smooth", "mark"):
            self.put(f"{owner}{kind}();")
        else:
            self.loop()

    def move(self) -> None:
        """Vectors get other memory, or one another's."""
        free = self.vectors()
        if self.busy or len(free) < 2:
            self.loop()
            return
        x, y = self.random.sample(free, 2)
        self.put(
            self.random.choice(
                [
                    *(f"{x}.swap({y});", f"{x} = {y};", f"{x}.resize(N + 5); {x}.resize(N);"),
                    *(f"std::swap({x}, {y});", f"{x}.assign(N, 0.5);"),
                ]
            )
        )

    def branch(self) -> None:
        self.put("if (rank == 0) {")
        self.depth += 1
        for _ in range(self.random.randint(1, 2)):
            self.random.choice([self.loop, self.scalar, self.element, self.call])()
        self.depth -= 1
        self.put("}")

    def repeat(self) -> None:
        if self.level or self.busy:
            self.loop()
            return
        self.level += 1
        self.put("for (int k = 0; k < 3; k++) {")
        self.depth += 1
        self.block(self.random.randint(2, 5))
        self.depth -= 1
        self.put("}")
        self.level -= 1

    def buffer(self, array: str, count: str) -> str:
        choices = [self.first(array)]
        if count.isdigit() and int(count) <= LENGTH // 2:
            choices.append(f"&{array}[{LENGTH - int(count)}]")
        return self.random.choice(choices)

    def count(self) -> str:
        return self.random.choice(["1", "10", f"{LENGTH // 2}", "N", f"{self.object()}nx"])

    def exchange(self) -> None:
        x, y = self.pair()
        count = self.count()
        tag = self.random.choice(["1", "2", f"{self.object()}inner.tag"])
        peer = f"{self.object()}peer"
        self.put(
            f"MPI_Sendrecv({self.buffer(x, count)}, {count}, MPI_DOUBLE, {peer}, {tag}, "
            f"{self.buffer(y, count)}, {count}, MPI_DOUBLE, {peer}, {tag}, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE);"
        )

    def turns(self) -> None:
        """One rank sends first, the other receives first."""
        x, y = self.array(), self.array()
        count = self.count()
        ends = f"{count}, MPI_DOUBLE, {self.object()}peer, 3, MPI_COMM_WORLD"
        send = f"MPI_Send({self.buffer(x, count)}, {ends});"
        receive = f"MPI_Recv({self.buffer(y, count)}, {ends}, MPI_STATUS_IGNORE);"
        for head, calls in (("if (rank == 0) {", [send, receive]), ("} else {", [receive, send])):
            self.put(head)
            self.depth += 1
            self.put(calls[0])
            if self.random.random() < 0.5:
                self.loop()
            self.put(calls[1])
            self.depth -= 1
        self.put("}")

    def starts(self, requests: str, *, listed: bool = False) -> list[str]:
        """Start one or two exchanges; their arrays. `listed`: into a list that takes handles in."""
        made = []
        for number in range(self.random.choice([1, 1, 2])):
            x, y = self.pair()
            self.busy |= {x, y}
            count = self.count()
            made += [("Isend", x, count, 7 + number), ("Irecv", y, count, 7 + number)]
        self.random.shuffle(made)
        for request, (name, array, count, tag) in enumerate(made):
            behind = listed and self.lists.random() < 0.5
            place = f"&{requests}[{request}]"
            if listed:
                place = f"&one{self.names}" if behind else f"&{requests}.back()"
            if listed and not behind:
                self.put(f"{requests}.push_back(MPI_REQUEST_NULL);")
            self.put(
                f"MPI_{name}({self.first(array)}, {count}, MPI_DOUBLE, {self.object()}peer, {tag}, "
                f"MPI_COMM_WORLD, {place});"
            )
            if behind:
                self.put(f"{requests}.push_back(one{self.names});")
        return [array for _, array, _, _ in made]

    def nonblocking(self) -> None:
        """Exchanges that the program starts and waits for by itself."""
        if self.busy:
            self.exchange()
            return
        requests = f"{self.object()}{self.random.choice(['r', 'q', 'z'])}"
        listed = self.lists.random() < 0.3
        if listed:
            self.names += 1
            requests = f"list{self.names}"
            self.put(f"std::vector<MPI_Request> {requests};")
            self.put(f"MPI_Request one{self.names};")
        arrays = self.starts(requests, listed=listed)
        self.compute(2)
        if listed and self.random.random() < 0.5:
            self.put(
                f"MPI_Waitall((int){requests}.size(), {requests}.data(), MPI_STATUSES_IGNORE);"
            )
            self.busy.clear()
            return
        if not listed and self.random.random() < 0.5:
            all_of_them = f"{requests}.data()" if requests.endswith(("r", "z")) else requests
            all_of_them = self.random.choice([all_of_them, f"&{requests}[0]"])
            self.put(f"MPI_Waitall({len(arrays)}, {all_of_them}, MPI_STATUSES_IGNORE);")
            self.busy.clear()
            return
        order = list(range(len(arrays)))
        self.random.shuffle(order)
        for request in order:
            self.put(f"MPI_Wait(&{requests}[{request}], MPI_STATUS_IGNORE);")
            self.busy.discard(arrays[request])
            self.compute(1)

    def halves(self) -> None:
        """An exchange that one method begins and another ends."""
        if self.busy or not self.pairs:
            self.nonblocking()
            return
        begin, end, members = self.random.choice(self.pairs)
        owner = self.object()
        self.put(f"{owner}{begin}();")
        self.busy |= {owner + member for member in members}
        self.compute(2)
        self.put(f"{owner}{end}();")
        self.busy.clear()

    def given(self) -> None:
        if self.busy or not self.whole or self.level > 1:
            self.loop()
            return
        self.put(f"{self.object()}{self.random.choice(self.whole)}();")

    def reduce(self) -> None:
        s, t = f"{self.object()}s", f"{self.object()}t"
        self.put(f"MPI_Allreduce(&{s}, &{t}, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);")

    def spread(self) -> None:
        root = self.random.choice([0, 1])
        self.put(
            f"MPI_Bcast({self.first(self.array())}, {self.count()}, MPI_DOUBLE, {root}, "
            "MPI_COMM_WORLD);"
        )

    def compute(self, most: int) -> None:
        for _ in range(self.random.randint(0, most)):
            self.random.choice([self.loop, self.loop, self.scalar, self.element, self.call])()

    def block(self, count: int) -> None:
        compute = [self.loop, self.loop, self.scalar, self.element, self.call, self.branch]
        compute += [self.call, self.size, self.each, self.each]
        compute += [self.move] if self.random.random() < 0.3 else []
        talk = [self.exchange, self.exchange, self.nonblocking, self.nonblocking, self.halves]
        talk += [self.halves, self.turns, self.reduce, self.spread, self.given]
        mixed(self.random, count, talk, compute, self.repeat)


def methods(seed: int) -> tuple[str, str]:
    """The declarations of the random methods of this seed, and their definitions."""
    choice = random.Random(seed)
    pairs, whole, texts = [], [], []
    for number in range(choice.choice([0, 1, 1, 2])):
        begin, end = f"b{seed}_{number}", f"e{seed}_{number}"
        first = Body(choice, [""])
        first.compute(2)
        arrays = first.starts("r")
        last = Body(choice, [""])
        last.put(f"MPI_Waitall({len(arrays)}, r.data(), MPI_STATUSES_IGNORE);")
        last.compute(2)
        pairs.append((begin, end, set(MEMBERS)))
        texts += [(f"{begin}()", first.lines), (f"{end}()", last.lines)]
    for number in range(choice.choice([0, 1, 1])):
        body = Body(choice, [""])
        body.block(choice.randint(2, 5))
        whole.append(f"q{seed}_{number}")
        texts.append((f"q{seed}_{number}()", body.lines))
    body = Body(choice, OBJECTS)
    body.pairs, body.whole = pairs, whole
    body.block(choice.randint(6, 14))
    start = ["    int k2 = 2;", "    Grid *p = &many[0];", "    (void)p;", "    (void)k2;"]
    texts.append((f"p{seed}(Grid &h)", start + body.lines))
    heads = "".join(f"    void {head};\n" for head, _ in texts)
    bodies = "".join(
        f"void Grid::{head}\n{{\n" + "\n".join(lines) + "\n}\n" for head, lines in texts
    )
    return heads, bodies
