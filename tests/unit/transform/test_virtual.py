"""Virtual methods are read as functions whose address is taken: who calls them is not seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_cxx_methods import STAYS as METHODS
from tests.unit.transform.test_cxx_methods import text_of
from tests.unit.transform.test_sole_instances import compiles

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <vector>
// BEFORE
struct Solver {
    virtual ~Solver() {}
    virtual void run(double *given, double *taken) = 0;
    virtual void hook() {}
};
class Heat : public Solver {
  public:
    Heat() : u(64), v(64), in(9)
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    void run(double *given, double *taken) override
    {
        for (int step = 0; step < 9; step++) {
            // FRONT
            MPI_Sendrecv(SENT, 9, MPI_DOUBLE, (rank + 1) % size, 0, RECEIVED, 9, MPI_DOUBLE,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            // BEHIND
            for (int i = 0; i < 64; i++)
                SET = 0.5 * READ + 1.0;
            for (int i = 0; i < 9; i++)
                u[i] = in[i] + v[i] + given[i] + taken[i];
        }
    }
    void hook() override { u[0] += 1; }
    std::vector<double> u, v, in;
    int rank, size;
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        Heat heat;
        static double a[64], b[64];
        Solver *solver = &heat;
        // CALLED
        solver->run(a, b);
        std::printf("%d %.15g\\n", heat.rank, heat.u[3]);
    }
    MPI_Finalize();
    return 0;
}
"""
PLACES = {"SENT": "u.data()", "RECEIVED": "in.data()", "SET": "v[i]", "READ": "v[i]"}
LOOP = "            for (int i = 0; i < 64; i++)"
GO: dict[str, dict[str, str]] = {
    "its own vectors": {},
    "without the word": {") override\n    {": ")\n    {"},
    "of no base": {
        " : public Solver": "",
        "    void run": "    virtual void run",
        "void hook() override": "virtual void hook()",
        ") override\n    {": ")\n    {",
        "Solver *solver": "Heat *solver",
    },
    "final": {") override\n    {": ") final\n    {"},
    "called on the object": {"solver->run(a, b)": "heat.run(a, b); solver->hook()"},
    "a method that is not virtual": {"// BEHIND": "count();"}
    | {"    std::vector<double> u": "    void count() { size += 0; }\n    std::vector<double> u"},
}
# Not known: what a virtual call does, what the arguments are, where the object's own address is.
STAY: dict[str, dict[str, str]] = {
    "what is given may be its own": {"READ": "given[i]"},
    "it is used at once": {"READ": "in[i]"},
    "it sets what is given": {"SET": "given[i]", "READ": "given[i]"},
    "what comes in goes to what is given": {"RECEIVED": "given", "READ": "taken[i]"},
    "two arguments": {"RECEIVED": "given", "SET": "taken[i]", "READ": "taken[i]"},
    "a virtual call": {"// BEHIND": "hook();"},
    "one of the class's own": {"// BEHIND": "Heat::hook();"},
    "through a pointer to the base": {
        "// BEFORE": "struct Solver; static Solver *other;",
        "// BEHIND": "other->hook();",
        "// CALLED": "other = solver;",
    },
}


def _text(replaced: dict[str, str], tmp_path: Path) -> str:
    source = changed(
        PROGRAM, {**replaced, **{k: v for k, v in PLACES.items() if k not in replaced}}
    )
    return rewritten(tmp_path / "main.cpp", source)


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_it_is_rewritten(replaced: dict[str, str], tmp_path: Path) -> None:
    text = _text(replaced, tmp_path)
    assert text.index("MPI_Irecv") < text.index(LOOP) < text.index("MPI_Wait")
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_nothing_passes_the_loop(replaced: dict[str, str], tmp_path: Path) -> None:
    text = _text(replaced, tmp_path)
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index(LOOP)


TWINS = {"RECEIVED": "given", "SET": "taken[i]", "READ": "taken[i]"}


def test_the_arguments_of_a_plain_method_are_known(tmp_path: Path) -> None:
    """Two arrays, as the one call of it says."""
    plain = {
        " : public Solver": "",
        ") override\n    {": ")\n    {",
        "void hook() override": "void hook()",
        "Solver *solver": "Heat *solver",
    }
    text = _text({**TWINS, **plain}, tmp_path)
    assert text.index("MPI_Irecv") < text.index(LOOP) < text.index("MPI_Wait")


DIRECT = """
struct Watch {
    virtual void look(double *p) { p[0] += 1; }
};
struct Eye : public Watch {
    void look(double *p) override { p[1] += 1; }
};
struct Ear : public Watch {};
struct Pair { Eye left; };
static Eye eye;
static Ear ear;
static Pair pair;
static double seen[9];
static void see(Eye &which) { which.look(seen); }
"""
KNOWN = {
    "a variable": "eye.look(seen);",
    "what its base has": "ear.look(seen);",
    "a member": "pair.left.look(seen);",
}
UNKNOWN = {
    "a reference": "see(eye);",
    "a pointer": "Watch *any = &eye; any->look(seen);",
    "a variable as one of its base": "static_cast<Watch &>(eye).look(seen);",
    "the same in C": "((Watch &)eye).look(seen);",
}


@pytest.mark.parametrize("call", KNOWN.values(), ids=KNOWN)
def test_the_call_on_a_variable_is_known(call: str, tmp_path: Path) -> None:
    text = _text({"// BEFORE": DIRECT, "// BEHIND": call}, tmp_path)
    assert text.index("MPI_Irecv") < text.index(LOOP) < text.index("MPI_Wait")


@pytest.mark.parametrize("call", UNKNOWN.values(), ids=UNKNOWN)
def test_another_may_run_anything(call: str, tmp_path: Path) -> None:
    text = _text({"// BEFORE": DIRECT, "// BEHIND": call}, tmp_path)
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index(call)


TOTAL = "double t; MPI_Allreduce(&in[0], &t, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);"
USED = "            for (int i = 0; i < 9"
HOOK = "void hook() override { u[0] += 1; }"


@pytest.mark.parametrize(
    ("hook", "decision"), [(HOOK, "rewritten"), ("void hook() override;", "refused")]
)
def test_collectives_match_those_in_them(hook: str, decision: str, tmp_path: Path) -> None:
    """Also where a class only declares one: what makes its objects may call it."""
    path = tmp_path / "main.cpp"
    replaced = {**PLACES, "// BEHIND": TOTAL, USED: f"u[1] = t;\n{USED}", HOOK: hook}
    path.write_text(changed(PROGRAM, replaced))
    outcome = transform([path], Options())
    sites = {d.site.call.name: d.decision for d in outcome.decisions}
    assert sites["MPI_Allreduce"] == decision


def test_they_are_not_divided(tmp_path: Path) -> None:
    """Another class may have its own, which the parts would not be."""
    path = tmp_path / "main.cpp"
    path.write_text(text_of(METHODS["a virtual exchange"]))
    outcome = transform([path], Options())
    told = [line for d in outcome.decisions for line in d.details if line.startswith("wrappers")]
    assert told
    assert all("Heat::exchange is virtual: another class may have its own" in line for line in told)
