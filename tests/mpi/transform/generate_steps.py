"""Random programs of C++ in which an exchange and a step are methods of one class.

What stands in front of the step's loops, in them and behind them, between the two calls and behind
the wait is drawn: local variables, arrays and pointers, largest values, sums, counters, grids that
change places, sizes that are set, code that sets members. The object is a variable, what a pointer
names or an element of an array, and may be another one in the next turn.
"""

from __future__ import annotations

import random
import re

HEAD = """#include <mpi.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>
#define AT(i, j) ((i) * (nx + 2) + (j))
static int rank, peer;
typedef std::complex<double> Complex;
"""
PROGRAM = """
static double total_{number};
class Heat{number};
static void note_{number}(Heat{number} &h);
class Heat{number} {{
  public:
    explicit Heat{number}(int first) : nx(11), ny(10), counted(0), largest(0.0), u(300), v(300)
    {{
        for (int i = 0; i < 300; i++) {{
            u[i] = (i * 7 + rank * 5 + first) % 23 / 8.0;
            v[i] = (i * 3 + rank) % 11 / 4.0;
        }}
        for (int i = 0; i < 16; i++)
            edge[i] = i;
    }}
    void exchange()
    {{
        {exchange}
        {finish}
    }}
    void step()
    {{
        {before}
        for (int i = {low}; i <= {high}; i++)
            for (int j = 1; j <= nx; j++)
                {body}
        {behind}
    }}
    void turn() {{ std::swap(u, v); }}
    int nx, ny, counted;
    double largest;
    std::vector<double> u, v;
    double edge[16];
}};
static void note_{number}(Heat{number} &h)
{{
    h.counted += 2;
    h.v[20] = total_{number};
}}
static void program_{number}(std::FILE *out)
{{
    {objects}
    for (int t = 0; t < 5; t++) {{
        {calls}
    }}
    for (int k = 0; k < 6; k++) {{
        const Heat{number} &of = k % 2 ? {second} : {first};
        double sum = k < 2 ? total_{number} + of.counted + of.largest + of.nx + of.ny : 0.0;
        for (int i = 0; i < 300; i++)
            sum += (k < 4 ? of.u[i] : of.v[i]) * (1 + i % 13);
        std::fprintf(out, "program {number} rank %d array %d %.17g\\n", rank, k, sum);
    }}
}}
"""
MAIN = """int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    std::FILE *out = std::fopen(rank ? "rank1.txt" : "rank0.txt", "a");
{calls}
    std::fclose(out);
    MPI_Finalize();
    return 0;
}}
"""
EXCHANGES = (
    """MPI_Request r[2];
        MPI_Irecv(&u[AT(0, 1)], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&u[AT(ny, 1)], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);""",
    """MPI_Sendrecv(&u[AT(1, 1)], nx, MPI_DOUBLE, peer, 0, &u[AT(ny + 1, 1)], nx, MPI_DOUBLE,
                     peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&u[AT(ny, 1)], nx, MPI_DOUBLE, peer, 1, &u[AT(0, 1)], nx, MPI_DOUBLE, peer,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);""",
    """MPI_Request r[2];
        MPI_Irecv(edge, nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&u[AT(ny, 1)], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int j = 1; j <= nx; j++)
            u[AT(0, j)] = edge[j - 1];""",
)
FINISH = ("counted++;", "u[AT(0, 0)] = counted;", "largest = 0.0;", "edge[3] = ny;")
BETWEEN = (
    *("{on}counted++;", "{on}ny--;", "{on}ny = 10 - {on}ny % 2;", "{total} += {on}u[5];"),
    *("{on}largest = 0.0;", "{on}nx = 9;", "{on}turn();", "{total} += 1.0;", "{on}edge[2] = 1.0;"),
    *("double local = {on}u[3];\n        {total} += local;", "{on}u[60] = 0.5;"),
)
STENCIL = "v[AT(i, j)] = u[AT(i - 1, j)] + 0.5 * u[AT(i + 1, j)];"
LARGEST = (
    "{{ double d = std::fabs(u[AT(i - 1, j)]); v[AT(i, j)] = d; if (d > largest) largest = d; }}"
)
BODIES = (
    STENCIL,
    LARGEST,
    "v[AT(i, j)] = 0.25 * (u[AT(i - 1, j)] + u[AT(i + 1, j)] + u[AT(i, j - 1)]);",
    "{{ v[AT(i, j)] = u[AT(i - 1, j)]; counted += i; }}",
    "v[AT(i, j)] = u[AT(i - 1, j)] + v[AT(i, j)];",
    "u[AT(i, j)] = 0.5 * u[AT(i, j)] + u[AT(i - 1, j)];",
    "v[AT(i, j)] = u[AT(i - 1, j)] + counted;",
)
BEHIND = (
    *("std::swap(u, v);", "std::swap(u, v);", "u.swap(v);", "counted++;", "{total} += v[35];"),
    *("{total} += largest;", "note_{number}(*this);", "u[AT(1, 1)] = v[AT(1, 1)];", "ny = 10;"),
    "if (counted > 3)\n            {total} += 1.0;",
    "double x = u[AT(2, 1)];\n        {total} += x;",
    "v[AT(ny, nx)] = 0.0;\n        std::swap(u, v);",
)
# What is declared in front of the loops, what they do with it, and what behind them does.
LOCALS = (
    ("double s;", "{{ s = u[AT(i - 1, j)]; v[AT(i, j)] = s * 0.5; }}", "{total} += s;"),
    ("double s = 0.0;", "{{ s += u[AT(i - 1, j)]; v[AT(i, j)] = s; }}", "{total} += s;"),
    ("double s = 1.0;", STENCIL, "s = 2.0;\n        {total} += s;"),
    (
        "double w[16] = {{0.0}};",
        "{{ w[i] = u[AT(i - 1, 1)]; v[AT(i, j)] = w[i]; }}",
        "std::copy(w + 4, w + 8, v.begin());",
    ),
    ("const double c = counted;", "v[AT(i, j)] = c + u[AT(i - 1, j)];", "{total} += c;"),
    ("double *t = &u[0];", "v[AT(i, j)] = t[AT(i - 1, j)];", "t[AT(3, 3)] = 1.0;"),
    ("int last = 0;", "{{ last = i; v[AT(i, j)] = u[AT(i - 1, j)]; }}", "{total} += last;"),
    ("const int n = ny;", "v[AT(i, j)] = u[AT(i - 1, j)] + n;", "v[AT(n, 1)] = 0.25;"),
    ("largest = 0.0;", LARGEST, "largest = std::sqrt(largest);"),
)
# The objects, how the methods are called on one, the two that are checked, another one from now on.
STYLES = (
    ("{type} h(1), g(3);", "h.", "h", "g", ""),
    ("{type} h(1), g(3);\n    {type} *p = &h;", "p->", "h", "g", "p = p == &h ? &g : &h;"),
    ("{type} many[2] = {{{type}(1), {type}(3)}};\n    int m = 0;", "many[m].", "many[0]", "many[1]",
     "m = 1 - m;"),
)  # fmt: skip


def program(number: int) -> str:
    """The class and the routine of one seed."""
    draw = random.Random(number)
    before, body, behind = "", draw.choice(BODIES), draw.choice((*BEHIND, "", ""))
    if draw.random() < 0.5:
        before, body, last = draw.choice(LOCALS)
        behind = draw.choice((last, last, behind))
    objects, on, first, second, other = draw.choice(STYLES)
    calls = ["{on}exchange();", "{on}step();"]
    if draw.random() < 0.5:
        calls.insert(1, draw.choice((*BETWEEN, other)))
    if draw.random() < 0.6:
        calls.append(draw.choice(("{on}turn();", other)))
    names = {"number": number, "total": f"total_{number}", "on": on, "type": f"Heat{number}"}
    return PROGRAM.format(
        number=number,
        exchange=draw.choice(EXCHANGES),
        finish=draw.choice((*FINISH, "", "", "")),
        low=draw.choice("112"),
        high=draw.choice(("ny", "ny", "ny - 1", "nx")),
        before=before.format(**names),
        body=body.format(**names),
        behind=behind.format(**names),
        objects=objects.format(**names),
        calls="\n        ".join(call.format(**names) for call in calls if call),
        first=first,
        second=second,
    )


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    calls = "\n".join(f"    program_{number}(out);" for number in seeds)
    programs = "".join(_in_a_style(program(number), number) for number in seeds)
    return HEAD + programs + MAIN.format(calls=calls)


def _in_a_style(text: str, number: int) -> str:
    for change in (_by_pointers, _in_layers, _of_rows, _of_a_type, _of_complex, _timed):
        text = change(text, number)
    return text


def _by_pointers(text: str, number: int) -> str:
    """In some programs the step reads the field through a local pointer, to it or to a row."""
    chosen = random.Random(f"pointers {number}").random()
    begin = text.index("        for (int i = ", text.index("    void step()"))
    end = text.index("    void turn()")
    loops = text[begin:end]
    plain = text[:begin].endswith("{\n        \n") and "u[AT(i - 1, j)]" in loops
    if chosen < 0.5 or not plain:
        return text
    if chosen < 0.75:
        loops = "        const double *w = &u[0];\n" + loops.replace(
            "u[AT(i - 1, j)]", "w[AT(i - 1, j)]"
        )
        return text[:begin] + loops + text[end:]
    head, inner, rest = loops.split("\n", 2)
    body, rest = rest.split("\n", 1)
    row = "            const double *w = &u[AT(i, 0)];\n"
    body = body.replace("u[AT(i - 1, j)]", "w[j - (nx + 2)]")
    return f"{text[:begin]}{head} {{\n{row}{inner}\n{body}\n        }}\n{rest}{text[end:]}"


def _in_layers(text: str, number: int) -> str:
    """In some programs another method has the loops, which the step calls."""
    chosen = random.Random(f"layers {number}").random()
    begin = text.index("    void step()")
    begin, end = text.index("    {\n", begin) + 6, text.index("    void turn()")
    first, inside = text[begin:end].split("\n", 1)
    last = inside.index("\n        }\n") + 11 if "i++) {\n" in inside else -1
    if last < 0:
        last = inside.index("\n", inside.index("j <= nx; j++)\n") + 16) + 1
    if chosen < 0.6 or first.strip():
        return text
    loops, behind = inside[:last], inside[last:]
    sweep = f"    void sweep()\n    {{\n{loops}    }}\n"
    turn = text.index("    int nx, ny, counted;")
    calls = f"{text[:begin]}        sweep();\n{behind}{text[end:turn]}"
    return f"{calls}{sweep}{text[turn:]}"


def _of_rows(text: str, number: int) -> str:
    """In some programs the arrays are vectors of rows."""
    if random.Random(f"rows {number}").random() < 0.75 or "*t = " in text or "*w = " in text:
        return text
    for old, new in (
        (r"([uv])\[AT\((.+?), (.+?)\)\]", r"\1[\2][\3]"),
        (r"([uv])\[(\d+|i)\](?!\[)", r"\1[\2 / 16][\2 % 16]"),
        (r"([uv])\(300\)", r"\1(19, std::vector<double>(16))"),
        (r"v\.begin\(\)", "v[0].begin()"),
        (r"std::vector<double> u, v", "std::vector<std::vector<double>> u, v"),
    ):
        text = re.sub(old, new, text)
    return text


def _of_a_type(text: str, number: int) -> str:
    """In some programs the class is a template of the type of its arrays, with one instance.

    In some of these its methods are defined outside of it.
    """
    chosen = random.Random(number + 1).random()
    if chosen < 0.6:
        return text
    name = f"Heat{number}"
    text = re.sub(rf"(?<!explicit ){name}\b", f"{name}<double>", text)
    text = text.replace(f"class {name}<double>", f"template <class T> class {name}")
    text = text.replace("std::vector<double> u, v", "std::vector<T> u, v")
    return text if chosen < 0.8 else _outside(text, name)


def _outside(text: str, name: str) -> str:
    begin, end = text.index("    void exchange()\n"), text.index("    void turn()")
    methods = re.sub("(?m)^    void ", f"template <class T> void {name}<T>::", text[begin:end])
    text = f"{text[:begin]}    void exchange();\n    void step();\n{text[end:]}"
    return text.replace("    double edge[16];\n};\n", f"    double edge[16];\n}};\n{methods}")


def _of_complex(text: str, number: int) -> str:
    """In some programs the numbers are complex ones, which are sent as such or as twice as many."""
    chosen = random.Random(f"complex {number}").random()
    if chosen < 0.7:
        return text
    for old, new in (
        (r"\bdouble(?= (?:\*?[stxw]\b|local\b|sum\b|total_|edge\[))", "Complex"),
        (r"vector<double>", "vector<Complex>"),
        (rf"(Heat{number})<double>", r"\1<Complex>"),
        (r"([uv]\[i\]) = (.*) / (\d\.0);", r"\1 = Complex(\2 / \3, i % 5 - 2.0);"),
        (r"\+ (of\.\w+|counted|n)\b", r"+ 1.0 * \1"),
        (r"\(1 \+ i % 13\)", "(1.0 + i % 13)"),
        (r"std::fabs", "std::abs"),
        (r"%\.17g\\n\", rank, k, sum", r'%.17g %.17g\\n", rank, k, sum.real(), std::imag(sum)'),
    ):
        text = re.sub(old, new, text)
    if chosen < 0.85:
        return text.replace("MPI_DOUBLE", "MPI_CXX_DOUBLE_COMPLEX")
    return re.sub(r"nx,(\s+)MPI_DOUBLE", r"2 * nx,\1MPI_DOUBLE", text)


TIMER = """static std::map<std::string, double> marks_{number};
static std::chrono::duration<double> spent_{number}(0);
static void mark_{number}(const std::string &name, double x)
{{
    marks_{number}[name] = 0.5 * marks_{number}[name] + x;
}}
"""


def _timed(text: str, number: int) -> str:
    """In some programs a timer stands around the exchange, and largest values are by `std::max`."""
    chosen = random.Random(f"timed {number}").random()
    if chosen < 0.6:
        return text
    text = text.replace("if (d > largest) largest = d;", "largest = std::max(largest, d);")
    head = f"static void program_{number}("
    text = text.replace(head, TIMER.format(number=number) + head)
    begin = text.index(head)
    clock = "std::chrono::steady_clock::now()"
    timed = f"spent_{number} += {clock} - since;\n        "
    timed = f"const auto since = {clock};\n        \\1\n        {timed}" if chosen < 0.8 else "\\1 "
    name = '"exchange"' if chosen < 0.9 else '"ex" + std::string("change")'
    routine = re.sub(r"(\S+exchange\(\);)", f"{timed}mark_{number}({name}, 0.25);", text[begin:])
    added = (
        f'sum += marks_{number}["exchange"] + (spent_{number}.count() < 0);\n        std::fprintf('
    )
    return text[:begin] + routine.replace("std::fprintf(", added)
