"""Random programs of C in which messages are in functions that others call.

The functions ask a status how much came, load and unload through pointers to functions, start
messages whose requests they are given one by one, add up counts that they return, and call each
other on conditions. What they touch besides, and what stands between their calls, is drawn, so
that some of the calls may go ahead, or have messages beside those of others, and some may not.
"""

from __future__ import annotations

import random

from generate import C_MAIN  # type: ignore[import-not-found]

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define LENGTH 400
static double a[LENGTH], b[LENGTH], c[LENGTH], d[LENGTH], e[LENGTH], f[LENGTH];
static double s, t;
static int rank, peer, counted;

static void work(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + 0.25;
}
"""
MAIN = C_MAIN.replace("i <= LENGTH", "i < LENGTH")
CHECK = """    for (int j = 0; j < 6; j++) {{
        double sum = counted;
        for (int i = 0; i < LENGTH; i++)
            sum += all[j][i] * (1 + i % 13);
        printf("program {number} rank %d array %d %.17g %.17g %.17g\\n", rank, j, sum, s, t);
    }}"""

# Sends `n` numbers and takes up to `most`; `status` says how many came.
SWAPS = (
    """    MPI_Sendrecv(out, n, MPI_DOUBLE, peer, {tag}, in, most, MPI_DOUBLE, {source}, {tag},
                 MPI_COMM_WORLD, &status);
""",
    """    MPI_Request r;
    MPI_Irecv(in, most, MPI_DOUBLE, {source}, {tag}, MPI_COMM_WORLD, &r);
    MPI_Send(out, n, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD);
    MPI_Wait(&r, &status);
""",
    """    MPI_Request r[2];
    MPI_Status all[2];
    MPI_Irecv(in, most, MPI_DOUBLE, {source}, {tag}, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, n, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, all);
    status = all[0];
""",
)
RETURNED = """static int swap_{number}(double *out, int n, double *in, int most)
{{
    MPI_Status status;
    int got;
{swap}    MPI_Get_count(&status, MPI_DOUBLE, &got);
{more}    return got;
}}
"""
GIVEN = """static void swap_{number}(double *out, int n, double *in, int most, int *got)
{{
    MPI_Status status;
{swap}    MPI_Get_count(&status, MPI_DOUBLE, got);
{more}}}
"""
MORE = ("", "", "    counted += status.MPI_SOURCE;\n", "    in[0] += 0.25;\n")
HALO = """struct halo_{number} {{
    int (*load)(const double *, double *);
    void (*unload)(double *, const double *, int);
    double *out, *in;
}};
static double {buffers};
static int low_{number}(const double *u, double *to)
{{
    for (int i = 0; i < {width}; i++)
        to[i] = u[i + {low}];
    {in_load}return {width};
}}
static int high_{number}(const double *u, double *to)
{{
    for (int i = 0; i < {width}; i++)
        to[i] = u[LENGTH - {high} - i];
    return {width};
}}
static void below_{number}(double *u, const double *from, int n)
{{
    for (int i = 0; i < n; i++)
        u[i] = from[i];
}}
static void above_{number}(double *u, const double *from, int n)
{{
    for (int i = 0; i < n; i++)
        u[LENGTH - 1 - i] = {factor} * from[i];
    {in_unload}
}}
static void exchange_{number}(struct halo_{number} *h, double *u)
{{
{exchange}}}
"""
EXCHANGES = (
    """    int n = h->load(u, h->out);
    {swap}
    h->unload(u, h->in, got);
""",
    """    {swap_sized}
    h->unload(u, h->in, got);
""",
    """    double out[32], in[32];
    int n = h->load(u, out);
    {swap_own}
    h->unload(u, in, got);
""",
)
BEGIN = """static void begin_{number}(double *u, int to, int from, MPI_Request *r, MPI_Request *q)
{{
    MPI_Irecv(&u[to], {count}, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD, r);
    MPI_Isend(&u[from], {count}, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD, q);
}}
static void each_{number}(double *x, double *y)
{{
    MPI_Request r[4];
    int n = 0;
{starts}    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
{behind}}}
"""
BEHIND = ("", "", "    x[9] = 0.5 * y[0];\n", "    s = 0.5 * s + x[0];\n", "    counted++;\n")
COUNT = """static int count_{number}(const double *x)
{{
    int own = 0, all;
    for (int i = 0; i < LENGTH; i++)
        own += x[i] > {limit};
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}}
"""
BOTH = """static void both_{number}(double *x, double *y, int n)
{{
    {first}
    if (n > {limit})
        {second}
}}
"""
# First how many come, then these: either by one call or by two, into an array or a buffer.
COUNTED = """static double kept_{number}[32], taken_{number}[32];
static int many_{number};
static void near_{number}(double *x, double *y)
{{
    int n = 0, m = 0;
    for (int i = 0; i < {width}; i++)
        if (x[i] > {limit})
            kept_{number}[n++] = x[i];
    MPI_Sendrecv(&n, 1, MPI_INT, peer, 7, &m, 1, MPI_INT, peer, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    {data}
    {behind}
}}
"""
DATA = (
    """MPI_Sendrecv(kept_{number}, n, MPI_DOUBLE, peer, 8, taken_{number}, m, MPI_DOUBLE, peer, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);""",
    """MPI_Request r[2];
    MPI_Irecv(taken_{number}, m, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(kept_{number}, n, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);""",
    """MPI_Sendrecv(kept_{number}, n, MPI_DOUBLE, peer, 8, &y[300], m, MPI_DOUBLE, peer, 8,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);""",
)
AFTER = (
    "many_{number} = m;",
    "for (int i = 0; i < m; i++)\n        y[i + 200] += 0.5 * taken_{number}[i];",
    "many_{number} = m;\n    counted += n;",
    "y[5] = m + kept_{number}[0];",
)
KINDS = ("exchange", "swap", "begin", "count", "both", "near")
NEEDS = {"exchange": ("swap",), "both": ("exchange", "swap")}


class Program:
    """One program: its functions, and the statements that call them."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.draw = random.Random(f"wrappers {number}")
        self.depth = 1
        self.lines: list[str] = []
        self.returns = self.draw.random() < 0.6
        self.wild = self.draw.random() < 0.2
        self.table = self.draw.random() < 0.4
        self.kind = KINDS[number % len(KINDS)]
        self.called: set[str] = set()
        self.apart: set[str] = set()  # arrays that are left alone

    def functions(self) -> str:
        """Those that the statements call."""
        made = {
            "swap": self.swapping,
            "exchange": self.halos,
            "begin": self.beginning,
            "count": lambda: COUNT.format(
                number=self.number, limit=self.draw.choice(["0.25", "0.5"])
            ),
            "both": self.both,
            "near": self.counting,
        }
        return "".join(make() for name, make in made.items() if name in self.called)

    def swapping(self) -> str:
        tag = {"tag": str(self.draw.randint(1, 3)), "source": "peer"}
        if self.wild:
            tag["source"] = "MPI_ANY_SOURCE"
        swap, more = self.draw.choice(SWAPS).format(**tag), self.draw.choice(MORE)
        form = RETURNED if self.returns else GIVEN
        return form.format(number=self.number, swap=swap, more=more)

    def halos(self) -> str:
        draw, number = self.draw, self.number
        shared = draw.random() < 0.2  # both halos have the same buffers
        names = [f"{name}_{number}" for name in ("out", "in", "out2", "in2")]
        found = HALO.format(
            number=number,
            buffers=", ".join(f"{name}[32]" for name in names),
            width=draw.choice([1, 5, 8]),
            low=draw.choice([1, 8, 10]),
            high=draw.choice([2, 9, 12]),
            factor=draw.choice(["0.5", "1.0"]),
            in_load=draw.choice(["", "", "", "t = 0.5 * t + u[3];\n    "]),
            in_unload=draw.choice(["(void)0;", "(void)0;", "s = 0.5 * s + from[0];"]),
            exchange=draw.choice(EXCHANGES).format(
                swap=self.swap("got", "h->out", "n", "h->in", fresh=True),
                swap_sized=self.swap("got", "h->out", "h->load(u, h->out)", "h->in", fresh=True),
                swap_own=self.swap("got", "out", "n", "in", fresh=True),
            ),
        )
        second = names[:2] if shared else names[2:]
        halos = [
            f"{{low_{number}, above_{number}, {names[0]}, {names[1]}}}",
            f"{{high_{number}, below_{number}, {second[0]}, {second[1]}}}",
        ]
        if self.table:
            return (
                f"{found}static struct halo_{number} halos_{number}[2] = {{{', '.join(halos)}}};\n"
            )
        for name, halo in zip(("lo", "hi"), halos, strict=True):
            found += f"static struct halo_{number} {name}_{number} = {halo};\n"
        return found

    def beginning(self) -> str:
        return BEGIN.format(
            number=self.number,
            count=self.draw.choice([1, 5, 8]),
            tag=self.draw.randint(4, 5),
            starts=self.starts(),
            behind=self.draw.choice(BEHIND),
        )

    def counting(self) -> str:
        return COUNTED.format(
            number=self.number,
            width=self.draw.choice([10, 30]),
            limit=self.draw.choice(["0.25", "0.5"]),
            data=self.draw.choice(DATA).format(number=self.number),
            behind=self.draw.choice(AFTER).format(number=self.number),
        )

    def both(self) -> str:
        return BOTH.format(
            number=self.number,
            first=self.exchanged("x"),
            second=self.exchanged(self.draw.choice(["y", "y", "x"])),
            limit=self.draw.choice([0, 1, 5]),
        )

    def swap(self, got: str, out: str, n: str, into: str, *, fresh: bool) -> str:
        """A call of the function that sends and takes; `fresh`: `got` is declared there."""
        kind = "int " if fresh else ""
        if self.returns:
            return f"{kind}{got} = swap_{self.number}({out}, {n}, {into}, 16);"
        declared = f"int {got};\n    " if fresh else ""
        return f"{declared}swap_{self.number}({out}, {n}, {into}, 16, &{got});"

    def starts(self) -> str:
        """The starts of one or two exchanges, whose requests are given one by one."""
        found = ""
        places = self.draw.choice([(0, 10), (0, 20), (380, 10), (390, 30), (0, 8)])
        for array in self.draw.choice(["x", "xy", "xy", "xx"]):
            to, start = places if f"({array}," not in found else (100, 50)  # no two into one place
            found += f"    begin_{self.number}({array}, {to}, {start}, &r[n], &r[n + 1]);\n"
            found += "    n += 2;\n"
        return found

    def halo(self) -> str:
        which = self.draw.randint(0, 1)
        if self.table:
            return f"&halos_{self.number}[{which}]"
        return f"&{('lo', 'hi')[which]}_{self.number}"

    def exchanged(self, array: str) -> str:
        return f"exchange_{self.number}({self.halo()}, {array});"

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def array(self) -> str:
        return self.draw.choice([array for array in "abcdef" if array not in self.apart])

    def pair(self) -> list[str]:
        return self.draw.sample("abcdef", 2)

    def loop(self) -> None:
        x, y = self.array(), self.array()
        low, high = self.draw.choice([(1, 399), (1, 399), (20, 370), (0, 30), (100, 200)])
        shift = self.draw.choice([0, 1]) if high < 400 else 0
        factor = self.draw.choice(["0.5", "0.25", "s", "t"])
        self.put(f"for (int i = {low}; i < {high}; i++)")
        self.put(f"    {x}[i] = 0.5 * {x}[i] + {factor} * {y}[i + {shift}] * 0.125;")

    def compute(self) -> None:
        kind = self.draw.random()
        x, at = self.array(), self.draw.choice([0, 3, 9, 100, 399])
        if kind < 0.6:
            self.loop()
        elif kind < 0.75:
            self.put(f"work({x}, {self.draw.choice([30, 400])});")
        elif kind < 0.85:
            name = self.draw.choice("st")
            self.put(f"{name} = 0.5 * {name} + 0.25 * {x}[{at}];")
        elif kind < 0.95:
            self.put(f"{x}[{at}] = {self.draw.choice(['s', 't', '0.5 * counted', 'rank'])};")
        else:
            self.put("counted = counted % 7;")

    def talk(self) -> None:
        draw = self.draw
        x, y = self.pair()
        kind = self.kind if draw.random() < 0.8 else draw.choice(KINDS)
        self.called |= {kind, *NEEDS.get(kind, ())}
        if kind == "exchange":
            self.put(self.exchanged(x))
            if draw.random() < 0.4:  # the other direction of the axis, or another array
                self.put(self.exchanged(draw.choice([x, y])))
        elif kind == "swap":
            into = draw.choice([y, y, x])
            at = draw.choice([40, 380] if into == x else [0, 40, 380])
            n = draw.choice(["5", "5 + rank"])
            self.put(self.swap("got", f"&{x}[10]", n, f"&{into}[{at}]", fresh=False))
            self.between(x, y)
            self.put("for (int i = 0; i < got; i++)")
            self.put(f"    {draw.choice([x, y])}[i + 200] += {into}[i + {at}];")
        elif kind == "begin":
            self.put(f"each_{self.number}({x}, {y});")
        elif kind == "near":
            self.put(f"near_{self.number}({x}, {y});")
            if draw.random() < 0.7:
                self.between(x, y)
                self.put(f"for (int i = 0; i < many_{self.number}; i++)")
                self.put(f"    {draw.choice([x, y])}[i] += 0.25 * taken_{self.number}[i];")
        elif kind == "count":
            value = f"count_{self.number}({x})"
            use = draw.choice(
                ["s = 0.5 * s + 0.001953125 * %s;", "got = %s;", "counted += %s %% 5;"]
            )
            self.put(use % value)
        else:
            self.put(f"both_{self.number}({x}, {y}, {draw.choice(['2', 'rank + peer', '0'])});")
        self.between(x, y)

    def between(self, x: str, y: str) -> None:
        """Computation, mostly of other arrays."""
        if self.draw.random() < 0.7:
            self.apart = {x, y}
        for _ in range(self.draw.randint(0, 2)):
            self.compute()
        self.apart = set()

    def body(self) -> str:
        for _ in range(self.draw.randint(4, 7)):
            kind = self.draw.random()
            if kind < 0.55:
                self.talk()
            elif kind < 0.8:
                self.compute()
            else:
                self.put(f"for (int k = 0; k < {self.draw.randint(2, 4)}; k++) {{")
                self.depth += 1
                self.talk()
                self.compute()
                self.depth -= 1
                self.put("}")
        return "\n".join(self.lines)


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    functions, calls = [], []
    for number in seeds:
        program = Program(number)
        body = program.body()
        functions.append(program.functions())
        functions.append(
            f"static void program_{number}(void)\n{{\n    int got = 0;\n{body}\n"
            "    counted += got;\n}\n"
        )
        calls.append(f"    program_{number}();\n" + CHECK.format(number=number))
    return HEAD + "\n" + "\n".join(functions) + MAIN.format(calls="\n".join(calls))
