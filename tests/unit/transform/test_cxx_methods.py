"""Exchange and step as methods of a class: divided beside each other in it, or left whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Options, transform

PROGRAM = """#include <mpi.h>
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
        MPI_Request r[4];
        MPI_Irecv(&u[AT(0, 1)], {count}, MPI_DOUBLE, down, 1, comm, &r[0]);
        MPI_Irecv(&u[AT(ny + 1, 1)], nx, MPI_DOUBLE, up, 2, comm, &r[1]);
        MPI_Isend(&u[AT(ny, 1)], nx, MPI_DOUBLE, up, 1, comm, &r[2]);
        MPI_Isend(&u[AT(1, 1)], nx, MPI_DOUBLE, down, 2, comm, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        {result}
    }}
    {step}
    {{
        {before}
        for (int i = 1; i <= {last}; i++)
            for (int j = 1; j <= nx; j++) {{
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
    "count": "nx",
    "result": "",
    "step": "void step()",
    "before": "",
    "last": "ny",
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
    "inline": {"step": "inline void step()"},
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
    "another class has such names": {
        "above": "class Cold { public: void exchange() { total += 1.0; } void step() {} };",
        "once": "Cold c; c.exchange(); c.step();",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "in place": {"body": "u[AT(i, j)] = u[AT(i - 1, j)] + u[AT(i + 1, j)];"},
    "the halo in each": {"body": "v[AT(i, j)] = u[AT(0, j)] + u[AT(i + 1, j)];"},
    "a longer message": {"count": "2 * nx + 4"},
    "a sum": {"body": "total += u[AT(i, j)];"},
    "a member of the object that sums": {"fields": "double s = 0.0;", "body": "s += u[AT(i, j)];"},
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
    "hidden by a derived class": {
        "below": "class Warm : public Heat { public: using Heat::Heat; void exchange_start() {} };",
        "objects": "Warm h(argc, MPI_COMM_WORLD);",
    },
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
    "one of many": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); std::vector<Heat> many(3, h);",
        "calls": "many[t % 3].exchange(); many[t % 3].step(); many[t % 3].turn();",
    },
    "what a call gives": {
        "below": "static Heat *last; static Heat *at() { return last; }",
        "calls": "last = &h; at()->exchange(); at()->step(); h.turn();",
    },
    "a lambda in it": {"before": "auto f = [this](int i) { return u[i]; };", "behind": "f(3);"},
    "a return": {"body": "if (u[AT(i, j)] < 0.0) return; v[AT(i, j)] = 1.0;"},
    "more behind the loops": {"behind": "total += v[5];"},
    "a declaration reads what comes": {
        "before": "double w = u[AT(0, 1)];",
        "body": "v[AT(i, j)] = w + u[AT(i - 1, j)];",
    },
    "a name that is taken": {"more": "void exchange_start() {}", "once": "h.exchange_start();"},
    "a pointer to the method": {
        "once": "void (Heat::*f)() = &Heat::exchange; (h.*f)();",
    },
    "called in an expression": {"once": "total += (h.exchange(), 1.0);"},
    "a class within a template": {
        "above": "template <class T> struct Outer {\n",
        "below": "};\nusing Heat = Outer<int>::Heat;",
    },
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
    order = ["exchange_start(exch", "step_interior();", "exchange_finish(exch", "step_boundary();"]
    assert sorted(order, key=text.index) == order
    assert text.count("int i = 2; i <= ny - 1; i++") == 1
    again = rewritten(text, tmp_path)
    assert again == text


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(text_of(STAYS[name]), tmp_path)
    assert "step_interior" not in text


def split(text: str) -> tuple[str, str]:
    """The class with declarations alone, and its methods behind it."""
    methods = []
    for head, stop in (("void exchange()", "    void step()"), ("void step()", "    void turn()")):
        start = text.index(head)
        end = text.index(stop)
        methods.append(text[start:end].replace("void ", "void Heat::", 1))
        text = f"{text[:start]}{head};\n{text[end:]}"
    return text, "\n".join(methods)


def test_defined_outside_the_class(tmp_path: Path) -> None:
    text, methods = split(text_of({}))
    text = text.replace("int main(", f"{methods}\nint main(")
    after = rewritten(text, tmp_path)
    declared, _, rest = after.partition("void Heat::exchange_start(")
    assert "    void exchange_start(MPI_Request r[4]);\n    void exchange_finish(" in declared
    assert "    void step();\n    void step_interior();\n    void step_boundary();\n" in declared
    assert "void exchange();" not in declared
    assert "void Heat::exchange_finish(MPI_Request r[4])" in rest
    assert "void Heat::step_boundary()" in rest


def in_files(folder: Path, header: str) -> tuple[str, str, str]:
    """A header with the class, and two files that include it by the names in `header`."""
    text, methods = split(text_of({}))
    start, end = text.index("class Heat"), text.index("int main(")
    includes = text[: text.index("static double")]
    macro = text[text.index("#define AT") : start]
    (folder / "heat.h").write_text(f"#pragma once\n{includes}{macro}{text[start:end]}")
    own = f'#include "{header}"\n#include <cstdio>\n'
    (folder / "heat.cpp").write_text(own + methods)
    (folder / "main.cpp").write_text(own + "static double total;\n" + text[end:])
    header_text = (folder / "heat.h").read_text().replace("total += t;", "(void)t;")
    (folder / "heat.h").write_text(header_text)
    paths = [folder / "heat.cpp", folder / "main.cpp"]
    outcome = transform(paths, Options())
    assert not outcome.skipped, outcome.skipped
    after = {Path(name).name: data.decode() for name, data in outcome.after.items()}
    return after["heat.cpp"], after["main.cpp"], after.get("heat.h", "")


def test_declared_in_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source, main, header = in_files(Path(), "heat.h")
    assert "void Heat::exchange_start(" in source and "h.step_interior();" in main
    assert "void exchange_finish(MPI_Request r[4]);" in header
    assert "void step_boundary();" in header and "void exchange();" not in header


def test_a_header_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    source, main, _ = in_files(tmp_path, "heat.h")
    assert "exchange_start" not in source and "h.exchange();" in main
