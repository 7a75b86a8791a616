"""Whole random programs whose messages are of persistent requests, for two ranks: see
random_body.py for what they compute.

The handles are a routine's own, global, or in a structure or COMMON block, made in place or by
another routine, and started, waited for and freed in many forms; what they were made with may
change behind that.
"""

from __future__ import annotations

import generate  # type: ignore[import-not-found]
from random_body import ARRAYS, LENGTH, Generator, Writer  # type: ignore[import-not-found]

_HALO = 4


class Persistent(Generator):  # type: ignore[misc]
    """The statements of one program."""

    def __init__(self, seed: int, fortran: bool, declarations: str = "") -> None:
        super().__init__(seed, fortran, declarations)
        self.exchanging = False
        # `r` is of the routine itself, `g` of the whole program.
        self.handles = self.random.choice(["r", "r", f"g{seed}"])
        self.made_elsewhere = self.random.random() < 0.3
        self.swaps = not fortran and self.random.random() < 0.4
        self.used: list[str] = []  # arrays that messages touch
        self.inits: list[tuple[str, str]] = []
        self.moves = False  # whether a variable that buffers are named with changes

    def handle(self, number: int) -> tuple[str, str]:
        return f"&{self.handles}[{number}]", f"{self.handles}({number + 1})"

    def make(self, name: str, array: str, first: int, count: int, tag: int) -> None:
        """One call that makes a request, of the elements from `first` on."""
        number = len(self.inits)
        c, fortran = self.handle(number)
        place = str(first)
        if self.random.random() < 0.2:  # by a variable that may change later
            self.moves, place = True, "at"
            first_c, first_f = f"at = {first};", f"at = {first + 1}"
        else:
            first_c, first_f, place_f = "", "", str(first + 1)
        place_f = "at" if place == "at" else str(first + 1)
        self.inits.append(
            (
                f"{first_c}\n    MPI_{name}_init(&{array}[{place}], {count}, MPI_DOUBLE, peer, "
                f"{tag}, MPI_COMM_WORLD, {c});".strip(),
                f"{first_f}\ncall MPI_{name.upper()}_INIT({array}({place_f}), {count}, "
                f"MPI_DOUBLE_PRECISION, peer, {tag}, MPI_COMM_WORLD, {fortran}, ierr)".strip(),
            )
        )

    def messages(self) -> None:
        """What the requests are: pairs of arrays, or the ends of one array and what they get."""
        while len(self.inits) < 4 and (not self.inits or self.random.random() < 0.7):
            tag = len(self.inits)
            free = [array for array in ARRAYS if array not in self.used]
            if not self.inits and self.random.random() < 0.6:
                x = self.random.choice(free)
                self.used += [x]
                made = [
                    ("Recv", x, 0, _HALO, 0),
                    ("Recv", x, LENGTH + 1 - _HALO, _HALO, 1),
                    ("Send", x, _HALO, _HALO, 1),
                    ("Send", x, LENGTH + 1 - 2 * _HALO, _HALO, 0),
                ]
            else:
                x, y = self.random.sample(free, 2)
                count = self.random.choice([1, 10, LENGTH // 2, LENGTH])
                offset = self.random.choice([0, 0, LENGTH - count])
                self.used += [x, y]
                made = [("Recv", x, offset, count, tag + 2), ("Send", y, offset, count, tag + 2)]
            self.random.shuffle(made)
            for each in made:
                self.make(*each)

    def lines(self, c: str, fortran: str) -> None:
        for mine, theirs in zip(
            *((t.split("\n") + [""] * 9)[:9] for t in (c, fortran)), strict=True
        ):
            self.out.put(mine.strip(), theirs.strip())

    def create(self) -> None:
        if not self.made_elsewhere:
            for c, fortran in self.inits:
                self.lines(c, fortran)
            return
        names = ", ".join(sorted(self.used))
        of = self.handles
        if self.out.fortran:
            body = self._as_routine([fortran for _, fortran in self.inits])
            sizes = ", ".join(f"{name}(n)" for name in sorted(self.used) if name not in "cd")
            passed = ", ".join(name for name in sorted(self.used) if name not in "cd")
            mine = "r(4), " if of == "r" else ""
            declared = f"      double precision {sizes}\n" if sizes else ""
            declared += f"      integer {mine}ierr, at\n" + self.shared()
            arguments = ", ".join([*([passed] if passed else []), *(["r"] if of == "r" else [])])
            self.routines.append(
                f"      subroutine make{self.seed}({arguments})\n{self.declarations}{declared}"
                f"{body}\n      end\n"
            )
            self.out.put("", f"call make{self.seed}({arguments})")
            return
        body = "\n    ".join(c.strip() for c, _ in self.inits)
        given = ", ".join(f"double *{name}" for name in sorted(self.used))
        self.routines.append(
            f"static void make_{self.seed}(MPI_Request *{of}, {given})\n{{\n"
            f"    int at;\n    {body}\n    (void)at;\n}}\n"
        )
        self.out.put(f"make_{self.seed}({of}, {names});", "")

    @staticmethod
    def _as_routine(texts: list[str]) -> str:
        out = Writer(True)
        for line in (line for text in texts for line in text.split("\n")):
            out.put("", line.strip())
        return "\n".join(out.lines)

    def shared(self) -> str:
        if self.handles == "r":
            return ""
        return f"      integer {self.handles}(4)\n      common /h{self.seed}/ {self.handles}\n"

    def start_all(self) -> None:
        count, of = len(self.inits), self.handles
        form = self.random.choice(["all", "all", "all", "each", "parts"])
        if form == "each":
            self.out.put(f"for (int i = 0; i < {count}; i++)", f"do i = 1, {count}")
            self.out.depth += 1
            self.out.put(f"MPI_Start(&{of}[i]);", f"call MPI_START({of}(i), ierr)")
            self.out.depth -= 1
            self.out.put("", "end do")
            return
        cut = self.random.randint(1, count - 1) if form == "parts" else count
        for first, part in ((0, cut), (cut, count - cut)):
            if part:
                self.out.put(
                    f"MPI_Startall({part}, {f'&{of}[{first}]' if first else of});",
                    f"call MPI_STARTALL({part}, {of}({first + 1}), ierr)",
                )

    def wait_all(self) -> None:
        count, of = len(self.inits), self.handles
        if self.random.random() < 0.7:
            self.out.put(
                f"MPI_Waitall({count}, {of}, MPI_STATUSES_IGNORE);",
                f"call MPI_WAITALL({count}, {of}, MPI_STATUSES_IGNORE, ierr)",
            )
            return
        for number in self.random.sample(range(count), count):
            c, fortran = self.handle(number)
            self.out.put(
                f"MPI_Wait({c}, MPI_STATUS_IGNORE);",
                f"call MPI_WAIT({fortran}, MPI_STATUS_IGNORE, ierr)",
            )

    def sweep(self) -> None:
        """What may be divided: it reads what has come at the ends of an array."""
        x, y = self.pair()
        known = [array for array in self.used if array not in {*self.busy, y}]
        if known and self.random.random() < 0.6:
            x = self.random.choice(known)
        self.out.put(f"for (int i = 1; i < {LENGTH}; i++)", f"do i = 2, {LENGTH}")
        self.out.depth += 1
        self.out.put(
            f"{y}[i] = 0.5 * {y}[i] + 0.25 * ({x}[i - 1] + {x}[i + 1]);",
            f"{y}(i) = 0.5d0 * {y}(i) + 0.25d0 * ({x}(i-1) + {x}(i+1))",
        )
        self.out.depth -= 1
        self.out.put("", "end do")

    def step(self, most: int) -> None:
        for _ in range(self.random.randint(0, most)):
            self.random.choice(
                [
                    self.loop,
                    self.sweep,
                    self.sweep,
                    self.scalar,
                    self.element,
                    self.call,
                    self.alias,
                ]
            )()

    def exchange_all(self) -> None:
        self.step(2)
        self.busy = set(self.used)
        if self.swaps and self.busy & {"e", "f"}:
            self.busy |= {"e", "f"}
        if self.random.random() < 0.3 and not self.out.fortran and self.handles != "r":
            self._by_routine()
        else:
            self.start_all()
            if len(self.busy) < 5 and self.random.random() < 0.3:
                self.step(1)
            self.wait_all()
        self.busy = set()
        for x in self.used if self.random.random() < 0.5 else []:
            y = self.random.choice([array for array in ARRAYS if array != x])
            self.out.put(f"{y}[7] += 0.5 * {x}[1];", f"{y}(8) = {y}(8) + 0.5d0 * {x}(2)")
        self.step(3)

    def _by_routine(self) -> None:
        """The exchange is a routine of its own."""
        name = f"exchange_{self.seed}_{len(self.routines)}"
        outer, self.out = self.out, type(self.out)(False)
        self.start_all()
        self.wait_all()
        text = "\n".join(self.out.lines)
        self.out = outer
        self.routines.append(f"static void {name}(void)\n{{\n{text}\n}}\n")
        self.out.put(f"{name}();", "")

    def free_all(self) -> None:
        count, of = len(self.inits), self.handles
        self.out.put(f"for (int i = 0; i < {count}; i++)", f"do i = 1, {count}")
        self.out.depth += 1
        self.out.put(f"MPI_Request_free(&{of}[i]);", f"call MPI_REQUEST_FREE({of}(i), ierr)")
        self.out.depth -= 1
        self.out.put("", "end do")

    def run(self) -> None:
        """Some exchanges, in a loop or one behind the other."""
        if self.random.random() < 0.6:
            self.out.put("for (int k = 0; k < 3; k++) {", "do k = 1, 3")
            self.out.depth += 1
            self.exchange_all()
            if self.swaps:
                self.exchange_pointers()
            self.out.depth -= 1
            self.out.put("}", "end do")
            return
        for _ in range(self.random.randint(1, 2)):
            self.exchange_all()

    def exchange_pointers(self) -> None:
        for line in ("old = e;", "e = f;", "f = old;"):
            self.out.put(line, "")

    def body(self) -> list[str]:
        if not self.out.fortran and self.handles != "r":
            self.routines.append(f"static MPI_Request {self.handles}[4];\n")
        self.messages()
        self.step(2)
        self.create()
        if self.moves and not self.made_elsewhere:
            self.out.put("at = 500;", "at = 500")
        if self.swaps and self.random.random() < 0.3:
            self.exchange_pointers()
        self.run()
        if self.random.random() < 0.3:  # the same handles once more, for other memory
            self.free_all()
            self.used, self.inits = [], []
            self.made_elsewhere = False
            self.messages()
            self.create()
            self.run()
        self.free_all()
        self.step(2)
        self.exchanging = self.swaps
        return list(self.out.lines)


def _generator(number: int, fortran: bool, declarations: str = "") -> Generator:
    """Every other program has other messages."""
    kind = Generator if number % 2 else Persistent
    return kind(number, fortran, declarations)


def c_source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    return str(generate.c_source(seeds, _generator))


def fortran_source(seeds: list[int], suffix: str = "") -> str:
    """The same in fixed form; names as in `generate`."""
    return str(generate.fortran_source(seeds, suffix, _generator))
