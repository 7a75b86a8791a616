"""Exchange and step as methods of a class: divided beside each other in it, or left whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>
static double total;
#define AT(i, j) ((i) * (nx + 2) + (j))
{above}
{kind} {name}{bases} {{
public:
    Heat(int n, MPI_Comm c) : nx(n), ny(3 * n), up(MPI_PROC_NULL), down(MPI_PROC_NULL),
        comm(c), u((n + 2) * (3 * n + 2)), v((n + 2) * (3 * n + 2)) {constructed} {{ {first} }}
    {more}
    {exchange}
    {{
        {requests}
        {guard}
        MPI_Irecv(&u[AT(0, 1)], {count}, MPI_DOUBLE, down, 1, comm, &r[0]);
        MPI_Irecv(&u[AT(ny + 1, 1)], nx, MPI_DOUBLE, up, 2, comm, &r[1]);
        MPI_Isend(&u[AT(ny, 1)], nx, MPI_DOUBLE, up, 1, comm, &r[2]);
        MPI_Isend(&u[AT(1, 1)], nx, MPI_DOUBLE, down, 2, comm, &r[3]);
        {wait}
        {result}
    }}
    {step}
    {{
        {before}
        for (int i = {first_row}; i <= {last}; i++)
            for (int j = 1; j <= {columns}; j++) {{
                {body}
            }}
        {behind}
    }}
    void turn() {{ {turn} }}
    void run(int steps)
    {{
        for (int t = 0; t < steps; t++) {{
            {run}
        }}
    }}
    int nx, ny, up, down;
    MPI_Comm comm;
    std::vector<double> u, v;
    {fields}
}};
{below}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    {{
        {objects}
        for (int t = 0; t < 20; t++) {{
            {calls}
        }}
        h.run(5);
        {once}
        std::printf("%g %g\\n", h.u[3], total);
    }}
    MPI_Finalize();
    return 0;
}}
"""
USUAL = {
    "above": "",
    "kind": "class",
    "name": "Heat",
    "bases": "",
    "constructed": "",
    "first": "",
    "more": "",
    "exchange": "void exchange()",
    "requests": "MPI_Request r[4];",
    "guard": "",
    "count": "nx",
    "wait": "MPI_Waitall(4, r, MPI_STATUSES_IGNORE);",
    "result": "",
    "step": "void step()",
    "before": "",
    "first_row": "1",
    "last": "ny",
    "columns": "nx",
    "body": "v[AT(i, j)] = u[AT(i - 1, j)] + u[AT(i + 1, j)];",
    "behind": "",
    "turn": "std::swap(u, v);",
    "run": "total += t;",
    "fields": "",
    "below": "",
    "objects": "Heat h(argc, MPI_COMM_WORLD);",
    "calls": "h.exchange(); h.step(); h.turn();",
    "once": "",
}
MEMBERS = {"requests": "", "fields": "MPI_Request r[4];"}
WAITS = "\n".join(f"MPI_Wait(&r[{n}], MPI_STATUS_IGNORE);" for n in range(4))
GOES: dict[str, dict[str, str]] = {
    "as usual": {},
    "a structure": {"kind": "struct"},
    "on itself": {"calls": "h.turn();", "run": "exchange(); step(); turn();"},
    "on this": {"calls": "h.turn();", "run": "this->exchange(); this->step(); turn();"},
    "through a pointer": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat *p = &h;",
        "calls": "p->exchange(); p->step(); p->turn();",
    },
    "through a reference": {
        "below": "static void solve(Heat &g) { g.exchange(); g.step(); g.turn(); }",
        "calls": "solve(h);",
    },
    "exchanged where it is called": {"calls": "h.exchange(); h.step(); std::swap(h.u, h.v);"},
    "exchanged by a method of theirs": {"turn": "u.swap(v);"},
    "nothing is exchanged": {"turn": ""},
    "without exceptions": {"exchange": "void exchange() noexcept"},
    "a local array in the loop": {
        "body": "double s[2]; s[0] = u[AT(i - 1, j)]; s[1] = 2.0; v[AT(i, j)] = s[0] * s[1];"
    },
    "local coefficients": {
        "before": "const double s[2] = {1.0, 2.0};",
        "body": "v[AT(i, j)] = s[0] * u[AT(i - 1, j)] + s[1];",
    },
    "a local number in front of the loop": {
        "before": "double s;",
        "body": "s = u[AT(i - 1, j)]; v[AT(i, j)] = s * s;",
    },
    "inline": {"step": "inline void step()"},
    "more behind the loops": {"behind": "total += v[5];"},
    "exchanged behind the loops": {
        "behind": "std::swap(u, v);",
        "calls": "h.exchange(); h.step();",
    },
    "exchanged by their method behind the loops": {
        "behind": "u.swap(v);",
        "calls": "h.exchange(); h.step();",
    },
    "unknown code behind the loops": {"above": "void elsewhere(int);", "behind": "elsewhere(nx);"},
    "bounds that have a name": {"before": "const int n = ny; (void)n;"},
    "work between": {"calls": "h.exchange(); total += 1.0; h.step(); h.turn();"},
    "also called as a whole": {"once": "h.step();"},
    "an object beside it": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat g(argc, MPI_COMM_WORLD);",
        "once": "g.step(); g.turn();",
    },
    "a copy of the object": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat g = h;",
        "once": "total += g.u[4];",
    },
    "methods of a base": {
        "below": "class Warm : public Heat { public: using Heat::Heat; int seen = 0; };",
        "objects": "Warm h(argc, MPI_COMM_WORLD);",
    },
    "requests of the object": MEMBERS,
    "each request of the object alone": {**MEMBERS, "wait": WAITS},
    "given what it exchanges": {
        "exchange": "void exchange(std::vector<double> &u)",
        "calls": "h.exchange(h.u); h.step(); h.turn();",
    },
    "given what it computes": {
        "step": "void step(const std::vector<double> &u, std::vector<double> &v)",
        "calls": "h.exchange(); h.step(h.u, h.v); h.turn();",
    },
    "static, given an object": {
        "step": "static void step(Heat &h)",
        "body": "const int nx = h.nx; h.v[AT(i, j)] = h.u[AT(i - 1, j)] + h.u[AT(i + 1, j)];",
        "last": "h.ny",
        "columns": "h.nx",
        "calls": "h.exchange(); Heat::step(h); h.turn();",
    },
    "another class has such names": {
        "above": "class Cold { public: void exchange() { total += 1.0; } void step() {} };",
        "once": "Cold c; c.exchange(); c.step();",
    },
    "a local number for what is behind": {
        "before": "double s;",
        "behind": "s = total; total += s;",
    },
    "behind the loops on their line": {"body": "v[AT(i, j)] = u[AT(i - 1, j)]; } total += 1.0; {"},
    "it communicates behind the loops": {"behind": "MPI_Bcast(&total, 1, MPI_DOUBLE, 0, comm);"},
    "a lambda in it": {"before": "auto f = [this](int i) { return u[i]; };", "behind": "f(3);"},
    "it returns what it gathers": {
        "step": "double step()",
        "before": "double most = 0.0;",
        "body": "v[AT(i, j)] = u[AT(i - 1, j)];\n most = std::fmax(most, std::fabs(u[AT(i, j)]));",
        "behind": "return most;",
        "calls": "h.exchange(); total += h.step(); h.turn();",
    },
    "a class within a template": {
        "above": "template <class T> struct Outer {\n",
        "below": "};\nusing Heat = Outer<int>::Heat;",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "in place": {"body": "u[AT(i, j)] = u[AT(i - 1, j)] + u[AT(i + 1, j)];"},
    "the halo in each": {"body": "v[AT(i, j)] = u[AT(0, j)] + u[AT(i + 1, j)];"},
    "a longer message": {"count": "2 * nx + 4"},
    "a sum": {"body": "total += u[AT(i, j)];"},
    "a member of the object that sums": {"fields": "double s = 0.0;", "body": "s += u[AT(i, j)];"},
    "it returns a sum": {
        "step": "double step()",
        "before": "double sum = 0.0;",
        "body": "v[AT(i, j)] = u[AT(i - 1, j)]; sum += u[AT(i, j)];",
        "behind": "return sum;",
        "calls": "h.exchange(); total += h.step(); h.turn();",
    },
    "a virtual one that returns": {
        "step": "virtual double step()",
        "behind": "return 1.0;",
        "calls": "h.exchange(); total += h.step(); h.turn();",
    },
    "a local sum": {
        "before": "double s = 0.0;",
        "body": "s += u[AT(i - 1, j)]; v[AT(i, j)] = s;",
    },
    "a local maximum": {
        "before": "double s = 0.0;",
        "body": "if (u[AT(i - 1, j)] > s) s = u[AT(i - 1, j)]; v[AT(i, j)] = s;",
    },
    "a local counter": {
        "before": "int s = 0;",
        "body": "v[AT(i, j)] = u[AT(i - 1, j)] + s; s++;",
    },
    "a local array that sums": {
        "before": "double s[1] = {0.0};",
        "body": "s[0] += u[AT(i - 1, j)]; v[AT(i, j)] = s[0];",
    },
    "a local array of the row above": {
        "before": "double s[900] = {0.0};",
        "body": "s[i] = u[AT(i - 1, j)]; v[AT(i, j)] = s[i - 1];",
    },
    "of what is computed before": {"body": "v[AT(i, j)] = v[AT(i - 1, j)] + u[AT(i, j)];"},
    "a name of the same array": {
        "before": "std::vector<double> &w = u;",
        "body": "w[AT(i, j)] = u[AT(i - 1, j)];",
    },
    "a member that is a reference": {
        "fields": "std::vector<double> &w;",
        "constructed": ", w(u)",
        "body": "w[AT(i, j)] = u[AT(i - 1, j)];",
        "turn": "",
    },
    "a pointer to the array": {
        "fields": "double *p;",
        "first": "p = u.data();",
        "turn": "",
        "body": "p[AT(i, j)] = u[AT(i - 1, j)];",
    },
    "two parts of one array": {
        "fields": "double *p, *q;",
        "first": "p = &u[0]; q = &u[nx + 2];",
        "turn": "",
        "body": "q[AT(i, j)] = u[AT(i - 1, j)];",
    },
    "virtual": {"step": "virtual void step()"},
    "a virtual exchange": {"exchange": "virtual void exchange()"},
    "overridden": {
        "above": "struct Base { virtual void step() = 0; virtual ~Base() {} };",
        "bases": " : public Base",
        "step": "void step() override",
    },
    "overridden without a word": {
        "above": "struct Base { virtual void step() = 0; virtual ~Base() {} };",
        "bases": " : public Base",
    },
    "an overload": {"more": "void step(int n) { total += n; }"},
    "an overload that is declared": {"more": "void exchange(int n);"},
    "a template of its name": {"more": "template <class T> void step(T n) { total += n; }"},
    "a value": {"exchange": "int exchange()", "result": "return 0;"},
    "memory of its own": {"body": "static double w; w = u[AT(i, j)]; v[AT(i, j)] = w;"},
    "the size changes between": {"calls": "h.exchange(); h.ny--; h.step(); h.turn();"},
    "the size changes within": {"body": "ny -= 0; v[AT(i, j)] = u[AT(i - 1, j)];"},
    "the array moves between": {
        "calls": "h.exchange(); h.u.resize(h.u.size()); h.step(); h.turn();"
    },
    "exchanged between": {"calls": "h.exchange(); h.turn(); h.step();"},
    "another object is assigned between": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat g(argc, MPI_COMM_WORLD);",
        "calls": "h.exchange(); h = g; h.step();",
    },
    "two references": {
        "below": "static void solve(Heat &a, Heat &b) { a.exchange(); b.step(); b.turn(); }",
        "calls": "solve(h, h);",
    },
    "two pointers": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat *p = &h, *q = &h;",
        "calls": "p->exchange(); q->step(); q->turn();",
    },
    "the pointer moves on": {
        "objects": "Heat h(argc, MPI_COMM_WORLD), g(argc, MPI_COMM_WORLD); Heat *p = &h;",
        "calls": "p->exchange(); p = &g; p->step(); p->turn();",
    },
    "the pointer is set within": {
        "above": "class Heat;\nstatic Heat *now;\nstatic Heat *next;",
        "body": "now = next; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "now = next = &h; now->exchange(); now->step(); h.turn();",
    },
    "the pointer is set by the exchange": {
        "above": "class Heat;\nstatic Heat *now;\nstatic Heat *next;",
        "requests": "MPI_Request r[4]; now = next;",
        "calls": "now = next = &h; now->exchange(); now->step(); h.turn();",
    },
    "given one array twice": {
        "step": "void step(const std::vector<double> &u, std::vector<double> &v)",
        "calls": "h.exchange(); h.step(h.u, h.u); h.turn();",
    },
    "what a call gives": {
        "below": "static Heat *last; static Heat *at() { return last; }",
        "calls": "last = &h; at()->exchange(); at()->step(); h.turn();",
    },
    "a lambda in it that sets": {
        "before": "auto f = [this](int i) { return u[i] = 1.0; };",
        "body": "v[AT(i, j)] = u[AT(i - 1, j)] + f(i);",
    },
    "a return": {"body": "if (u[AT(i, j)] < 0.0) return; v[AT(i, j)] = 1.0;"},
    "the last value is wanted behind the loops": {
        "before": "double s;",
        "body": "s = u[AT(i - 1, j)]; v[AT(i, j)] = s * s;",
        "behind": "total += s;",
    },
    "a local array is wanted behind the loops": {
        "before": "double w[64];",
        "body": "w[i] = u[AT(i - 1, 1)]; v[AT(i, j)] = w[i];",
        "behind": "std::copy(w, w + 64, v.begin());",
    },
    "a local array is wanted through a pointer": {
        "before": "double w[64]; double *p = w;",
        "body": "w[i] = u[AT(i - 1, 1)]; v[AT(i, j)] = w[i];",
        "behind": "total += p[3];",
    },
    "an element of a local array is wanted behind the loops": {
        "before": "double w[64];",
        "body": "w[i] = u[AT(i - 1, 1)]; v[AT(i, j)] = w[i];",
        "behind": "total += w[3];",
    },
    "it may return in front of the end": {"behind": "if (total > 5.0)\n return;\n total += 1.0;"},
    "a declaration reads what comes": {
        "before": "double w = u[AT(0, 1)];",
        "body": "v[AT(i, j)] = w + u[AT(i - 1, j)];",
    },
    "a pointer to the method": {
        "once": "void (Heat::*f)() = &Heat::exchange; (h.*f)();",
    },
    "requests of the object, one begun elsewhere": {
        "requests": "",
        "fields": "MPI_Request r[5];",
        "more": "void begin() { MPI_Irecv(&v[0], 1, MPI_DOUBLE, 0, 9, comm, &r[4]); }",
        "wait": "MPI_Waitall(5, r, MPI_STATUSES_IGNORE);",
        "calls": "h.begin(); h.exchange(); h.step(); h.turn();",
    },
    "requests of the object, one waited for elsewhere": {
        **MEMBERS,
        "more": "void end() { MPI_Wait(&r[3], MPI_STATUS_IGNORE); }",
        "wait": "MPI_Waitall(3, r, MPI_STATUSES_IGNORE);",
        "calls": "h.exchange(); h.end(); h.step(); h.turn();",
    },
    "requests of the object, one begun at times": {**MEMBERS, "guard": "if (down >= 0)"},
    "requests of the object, a count": {
        "requests": "",
        "fields": "MPI_Request r[4]; int k = 4;",
        "wait": "MPI_Waitall(k, r, MPI_STATUSES_IGNORE);",
    },
    "requests of the object, and of another": {
        **MEMBERS,
        "more": "Heat *next = nullptr;",
        "wait": "if (next) MPI_Waitall(4, next->r, MPI_STATUSES_IGNORE);\n"
        "MPI_Waitall(4, r, MPI_STATUSES_IGNORE);",
    },
    "requests of the object that are copied": {
        **MEMBERS,
        "more": "MPI_Request kept;",
        "wait": "kept = r[0];\n MPI_Waitall(4, r, MPI_STATUSES_IGNORE);",
    },
    "called in an expression": {"once": "total += (h.exchange(), 1.0);"},
}


def text_of(changes: dict[str, str]) -> str:
    """The program; each statement of these has a line of its own."""
    values = {**USUAL, **changes}
    for name in ("calls", "run", "below"):
        values[name] = values[name].replace("; ", ";\n").replace("{ ", "{\n")
    return PROGRAM.format(**values)


def rewritten(text: str, folder: Path) -> str:
    path = folder / "program.cpp"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    text = rewritten(text_of(GOES[name]), tmp_path)
    loop = text[text.index("void run(") :]
    names = ["exchange_start(", "step_interior(", "exchange_finish(", "step_boundary("]
    assert sorted(names, key=loop.index) == names
    assert text.count("int i = 2; i <= ") == 1
    again = rewritten(text, tmp_path)
    assert again == text


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(text_of(STAYS[name]), tmp_path)
    assert "step_interior" not in text


def test_given_its_bounds(tmp_path: Path) -> None:
    """The call says which rows: no further method is needed."""
    changes = {
        "step": "void step(int low, int high)",
        "first_row": "low",
        "last": "high",
        "calls": "h.exchange(); h.step(1, h.ny); h.turn();",
    }
    text = rewritten(text_of(changes), tmp_path)
    loop = text[text.index("int main(") :]
    names = ["h.exchange_start(", "h.step(2, h.ny - 1);", "h.exchange_finish(", "h.step(1, 1);"]
    assert sorted(names, key=loop.index) == names
    assert "_interior" not in text


@pytest.mark.parametrize(
    "taken",
    [
        {"more": "void exchange_start() {}"},
        {"above": "static void exchange_start() {}"},
        {
            "below": "class Warm : public Heat { public: using Heat::Heat; "
            "void exchange_start() {} };",
            "objects": "Warm h(argc, MPI_COMM_WORLD);",
        },
    ],
)
def test_names_that_are_taken(taken: dict[str, str], tmp_path: Path) -> None:
    """A class derived from it, or one that it calls, may have them: they are left to those."""
    text = rewritten(text_of(taken), tmp_path)
    assert "h.exchange_start2(exchange_r);" in text
    assert "h.exchange_finish2(exchange_r);" in text
