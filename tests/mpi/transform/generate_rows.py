"""Random C programs whose buffers are parts of rows, named in the ways in which C names them."""

from __future__ import annotations

import random

ROWS, CELLS = 12, 200
HEAD = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define LENGTH ({ROWS} * {CELLS})
struct grid {{ int cells; double *x; }};
static double u[LENGTH + 1], v[LENGTH + 1], w[LENGTH + 1];
static int rank, peer, n = {CELLS};
static struct grid g = {{{CELLS}, w}};
static double *row(double *x, int i) {{ return x + i * n; }}
static double *line(struct grid *of, int i) {{ return of->x + (long)i * of->cells; }}
static double *at(double *x, int i, int j) {{ return &x[i * n + j]; }}
static int id(int i, int j) {{ return i * n + j; }}
static void work(double *x, int m)
{{
    for (int k = 0; k < m; k++)
        x[k] = 0.5 * x[k] + 0.25;
}}
"""
MAIN = """
int main(int argc, char **argv)
{{
    double *all[] = {{u, v, w}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (!freopen(rank ? "rank1.txt" : "rank0.txt", "a", stdout))
        return 1;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i <= LENGTH; i++)
            all[j][i] = (i * 7 + j * 3 + rank * 5) % 32 / 32.0;
{calls}
    MPI_Finalize();
    return 0;
}}
"""
CHECK = """    program_{number}();
    for (int j = 0; j < 6; j++) {{
        double sum = 0.0;
        for (int i = 0; i <= LENGTH; i++)
            sum += all[j / 2][i] * (1 + i % (13 + j % 2));
        printf("program {number} rank %d array %d %.17g\\n", rank, j, sum);
    }}"""
ADDRESSES = (
    "&{x}[({i}) * n + {j}]",
    "&{x}[n * ({i})] + {j}",
    "{x} + ({i}) * n + {j}",
    "row({x}, {i}) + {j}",
    "&row({x}, {i})[{j}]",
    "at({x}, {i}, {j})",
    "&{x}[id({i}, {j})]",
    "at({x}, ({i}) - 1, {j}) + n",
    "&{x}[({i} + 1) * n] - n + {j}",
    "row({x} + {j}, {i})",
    "at(row({x}, 1), ({i}) - 1, {j})",
)
ELEMENTS = (
    "{x}[({i}) * n + {j}]",
    "{x}[n * ({i}) + {j}]",
    "*({x} + ({i}) * n + {j})",
    "(&{x}[({i}) * n])[{j}]",
    "row({x}, {i})[{j}]",
    "{x}[id({i}, {j})]",
    "*at({x}, {i}, {j})",
)
OF_GRID = ("line(&g, {i}) + {j}", "&g.x[({i}) * g.cells + {j}]", "g.x + g.cells * ({i}) + {j}")
IN_GRID = ("line(&g, {i})[{j}]", "g.x[({i}) * g.cells + {j}]")
INDICES = ("i", "i + 1", "i - 1", "i + 2", "2", "3", "5")
NEXT = {"u": "v", "v": "w", "w": "u"}
INDENT = " " * 8


class _Routine:
    """One routine: some loops over rows, each with computation and messages in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        lines = []
        for _ in range(self.random.choice((2, 3))):
            first, last = self.random.choice((2, 3)), self.random.choice((6, 8))
            lines.append(f"    for (int i = {first}; i < {last}; i++) {{")
            tags = 0
            for _ in range(self.random.choice((3, 4, 5, 6))):
                if self.random.random() < 0.45:
                    lines += self._message(tags)
                    tags += 1
                else:
                    lines += self._computation()
            lines += [] if tags else self._message(0)
            lines.append("    }")
        return "\n".join(lines)

    def _address(self, x: str, j: int) -> str:
        forms = ADDRESSES + (OF_GRID if x == "w" else ())
        return self.random.choice(forms).format(x=x, i=self.random.choice(INDICES), j=j)

    def _element(self, x: str) -> str:
        forms = ELEMENTS + (IN_GRID if x == "w" else ())
        return self.random.choice(forms).format(x=x, i=self.random.choice(INDICES), j="j")

    def _computation(self) -> list[str]:
        x, y = self.random.choice("uvw"), self.random.choice("uvw")
        first = self.random.choice((0, 0, 1, 20, 100))
        last = self.random.choice((CELLS, CELLS, CELLS - 1, CELLS - 50, CELLS + 10))
        loop = f"{INDENT}for (int j = {first}; j < {last}; j++)"
        draw = self.random.random()
        if draw < 0.6:
            value = f"0.25 * {self._element(y)} + 0.125"
            return [loop, f"{INDENT}    {self._element(x)} += {value};"]
        if draw < 0.8:
            return [f"{INDENT}work({self._address(x, 0)}, {self.random.choice((CELLS, 150, 20))});"]
        inside = (f"double *p = {self._address(x, 0)};", "p[j] = 0.5 * p[j] + 0.125;")
        return [f"{loop} {{", *(f"{INDENT}    {line}" for line in inside), f"{INDENT}}}"]

    def _message(self, tag: int) -> list[str]:
        x, y = self.random.choice("uvw"), self.random.choice("uvw")
        y = NEXT[x] if x == y else y  # the buffers of one exchange must not overlap
        count = self.random.choice((CELLS, CELLS - 20, 100, 20, 1))
        tail = f"{count}, MPI_DOUBLE, peer, {tag}"
        sent = f"{self._address(x, self.random.choice((0, 0, 0, 20)))}, {tail}"
        received = f"{self._address(y, self.random.choice((0, 0, 0, 20)))}, {tail}"
        draw = self.random.random()
        if draw < 0.5:
            call = f"MPI_Sendrecv({sent}, {received}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
            return [INDENT + call]
        if draw < 0.75:
            lines = [
                "if (rank == 0)",
                f"    MPI_Send({sent}, MPI_COMM_WORLD);",
                "if (rank == 1)",
                f"    MPI_Recv({received}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            ]
        else:
            lines = [
                f"MPI_Irecv({received}, MPI_COMM_WORLD, &q[0]);",
                f"MPI_Isend({sent}, MPI_COMM_WORLD, &q[1]);",
                "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);",
            ]
        return [INDENT + line for line in lines]


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    routines = [
        f"static void program_{number}(void)\n{{\n    MPI_Request q[2];\n"
        f"    q[0] = q[1] = MPI_REQUEST_NULL;\n{_Routine(number).text()}\n}}\n"
        for number in seeds
    ]
    calls = [CHECK.format(number=number) for number in seeds]
    return HEAD + "\n" + "\n".join(routines) + MAIN.format(calls="\n".join(calls))
