"""`std::unique_ptr` to arrays of numbers: memory of its own, as that of a vector."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>
static double pool[64], *known;
static int count;
// BEFORE
class Heat {
  public:
    explicit Heat(int n) : in(new double[n]), v(std::make_unique<double[]>(64)), u(64) {}
    void run()
    {
        int rank, size;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (int step = 0; step < 9; step++) {
            MPI_Sendrecv(&u[0], 9, MPI_DOUBLE, (rank + 1) % size, 0, RECEIVED, 9, MPI_DOUBLE,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            // BEHIND
            for (int i = 0; i < 64; i++)
                SET = 0.5 * READ + 1.0;
            for (int i = 0; i < 9; i++)
                u[i] = in[i] + v[i] + pool[i];
        }
    }
    std::unique_ptr<double[]> in, v;
    std::vector<double> u;
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    {
        Heat heat(9), other(9);
        heat.v[3] = other.v[4];
        // FRONT
        heat.run();
        // END
        std::printf("%.15g\\n", heat.u[3]);
    }
    MPI_Finalize();
    return 0;
}
"""
PLACES = {"RECEIVED": "in.get()", "SET": "v[i]", "READ": "v[i]"}
LOOP = "            for (int i = 0; i < 64; i++)"
MADE = "in(new double[n])"
LAST = "    std::unique_ptr<double[]> in, v;"
GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "by its first element": {"in.get()": "&in[0]"},
    "an array of another": {"SET": "pool[i]", "READ": "pool[i]"},
    "through a pointer that is known": {"// FRONT": "known = pool;", "SET": "known[i]"},
    "no memory at first": {MADE: "in()", "// FRONT": "heat.in.reset(new double[9]);"},
    "null at first": {MADE: "in(nullptr)", "// FRONT": "heat.in = std::make_unique<double[]>(9);"},
    "assigned what is new": {
        "// FRONT": "heat.in = std::unique_ptr<double[]>(new double[9]);",
    },
    "given up": {"// END": "heat.in.reset(); heat.v = nullptr;"},
    "it is swapped": {"// FRONT": "std::swap(heat.in, other.in);"},
    "it is swapped by its method": {"// FRONT": "heat.in.swap(other.in);"},
    "objects are swapped": {"// FRONT": "std::swap(heat, other);"},
    "by iterators": {"// FRONT": "heat.in[0] = heat.v.get()[1];"},
}
STAY: dict[str, dict[str, str]] = {
    "it is used at once": {"READ": "in[i % 9]"},
    "it is used through what get gives": {"READ": "in.get()[i % 9]"},
    "it is set at once": {"SET": "in[i % 9]"},
    "it is given new memory": {"// BEHIND": "in.reset(new double[9]);"},
    "it is given away": {"// BEHIND": "known = in.release();"},
    "it is swapped": {"// BEHIND": "std::swap(in, v);"},
    "it had other memory": {MADE: "in(pool)", "SET": "pool[i]"},
    "it was made of what is known": {
        "// FRONT": "heat.in.reset(known);",
        "// END": "heat.in.release();",
        "heat.v[3] =": "known = pool; heat.v[3] =",
        "SET": "pool[i]",
    },
    "it was assigned what is known": {
        "// FRONT": "heat.in = std::unique_ptr<double[]>(known);",
        "SET": "known[i]",
    },
    "its memory is at a given place": {
        MADE: "in(new (pool) double[n])",
        "#include <memory>": "#include <memory>\n#include <new>",
        "SET": "pool[i]",
    },
    "its memory is known": {"// FRONT": "known = heat.in.get();", "SET": "known[i]"},
    "its memory was released": {"// FRONT": "known = heat.in.release();", "SET": "known[i]"},
    "a lambda that is not read sets it": {
        "// FRONT": "auto set = [&](double *p) { heat.in = std::unique_ptr<double[]>(p); };\n"
        "        set(pool);",
        "SET": "pool[i]",
    },
    "it deletes in another way": {
        "// BEFORE": "struct Keep { void operator()(double *p) { known = p; } };",
        LAST: "    std::unique_ptr<double[], Keep> in; std::unique_ptr<double[]> v;",
        "READ": "known[i]",
    },
    "objects are swapped": {"// BEHIND": "Heat more(9); std::swap(*this, more);"},
}


def _text(replaced: dict[str, str], tmp_path: Path) -> str:
    rest = {old: new for old, new in PLACES.items() if old not in replaced}
    return rewritten(tmp_path / "main.cpp", changed(changed(PROGRAM, rest), replaced))


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_it_is_rewritten(replaced: dict[str, str], tmp_path: Path) -> None:
    text = _text(replaced, tmp_path)
    assert text.index("MPI_Irecv") < text.index(LOOP) < text.index("MPI_Wait")
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_nothing_passes_the_loop(replaced: dict[str, str], tmp_path: Path) -> None:
    text = _text(replaced, tmp_path)
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index(LOOP)
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


FIELDS = """#include <mpi.h>
#include <cstdio>
#include <utility>
#include <vector>
class Field {
  public:
    explicit Field(int n) : n_(n), u_(n) {}
    double *data() { return u_.data(); }
    double &operator[](int i) { return u_[i]; }
    // MORE
    int n_;
    std::vector<double> u_;
};
static double out[9], in[9];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Field f(64), g(64);
        for (int step = 0; step < 9; step++) {
            MPI_Bcast(in, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            for (int i = 0; i < 64; i++)
                g[i] = 0.5 * f[i] + 1.0;
            f[step] += in[step];
            std::swap(f, g);
        }
        out[0] = f[3];
        std::printf("%.15g\\n", out[0]);
    }
    MPI_Finalize();
    return 0;
}
"""
BARRIER = "MPI_Barrier(MPI_COMM_WORLD);"
OWN_CODE = {
    "a copy of its own": f"Field(const Field &f) : n_(f.n_), u_(f.u_) {{ {BARRIER} }}\n"
    "Field &operator=(const Field &f) = default;",
    "an assignment": "Field(const Field &f) = default;\n"
    f"Field &operator=(const Field &f) {{ u_ = f.u_; {BARRIER} return *this; }}",
    "an end": f"~Field() {{ {BARRIER} }}",
    "a member with an end": f"struct Part {{ ~Part() {{ {BARRIER} }} }} part;",
}


def test_nothing_of_the_program_runs_in_a_swap(tmp_path: Path) -> None:
    """So collectives may become nonblocking, and no memory of the objects gets known."""
    text = rewritten(tmp_path / "main.cpp", FIELDS)
    assert text.index("MPI_Ibcast") < text.index("g[i] = 0.5") < text.index("MPI_Wait")
    compiles(tmp_path / "main.cpp")


DEFAULTED = "Field(Field &&) = default;\nField &operator=(Field &&) = default;\n~Field() = default;"


def test_nor_where_its_class_says_so(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(FIELDS, {"// MORE": DEFAULTED}))
    assert text.index("MPI_Ibcast") < text.index("g[i] = 0.5") < text.index("MPI_Wait")


@pytest.mark.parametrize("more", OWN_CODE.values(), ids=OWN_CODE)
def test_code_of_its_own_may_run(more: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(FIELDS, {"// MORE": more}))
    assert "MPI_Ibcast" not in text
