"""Sizes that a C++ object and one that is its member are made with alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "jacobi_class.cpp").read_text()
MADE = ": halo_(comm, n), n_(n), u_((n + 2) * n), v_((n + 2) * n)"
DECLARED = "    Halo halo_;\n    int n_;\n"
SUM = "    double sum() const\n"
OTHER = """    Solver(MPI_Comm comm, int n, int m)
        : halo_(comm, m), n_(n), u_((n + 2) * n), v_((n + 2) * n)
    {
    }
"""
BODY = """            u_[i] = i % 17 / 4.0;
    }
"""
HALO_SIZES = "    MPI_Comm comm_;\n    int n_, left_, right_;\n"
IN_HALO = ": comm_(comm), n_(n), out_(2 * n), in_(2 * n)\n    {\n"

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "by the member": {
        MADE: ": n_(n), halo_(comm, n_), u_((n + 2) * n), v_((n + 2) * n)",
        DECLARED: "    int n_;\n    Halo halo_;\n",
    },
    "named `this`": {"        halo_.exchange(u_);": "        this->halo_.exchange(this->u_);"},
    "two constructors": {BODY: BODY + OTHER.replace("comm, m)", "comm, n)")},
    "two objects": {
        "    double largest = 0.0;\n    for": "    Solver second(MPI_COMM_WORLD, n + 3);\n"
        "    double largest = second.step();\n    for"
    },
    "set in the body": {
        MADE: ": halo_(comm, n), u_((n + 2) * n), v_((n + 2) * n)",
        "        for (int i = 0; i < (n + 2) * n; i++)\n            u_[i]": "        n_ = n;\n"
        "        for (int i = 0; i < (n + 2) * n; i++)\n            u_[i]",
    },
}
STAY: dict[str, dict[str, str]] = {
    "another size": {MADE: MADE.replace("(comm, n)", "(comm, n - 1)")},
    "by another constructor": {BODY: BODY + OTHER},
    "by a template": {
        BODY: BODY
        + OTHER.replace("    Solver", "    template <typename T> Solver", 1).replace(
            "int m", "T m"
        ),
        "    double largest = 0.0;\n": "    Solver second(MPI_COMM_WORLD, n, n - 1L);\n"
        "    double largest = second.step();\n",
    },
    "by one that has no source": {
        DECLARED: "    Halo halo_{MPI_COMM_WORLD, 7};\n    int n_ = 20;\n",
        BODY: BODY + "    Solver() = default;\n",
    },
    "the solver's is set later": {
        SUM: "    void less() { n_ = n_ - 1; }\n" + SUM,
        "        largest = solver.step();": "        largest = solver.step(), solver.less();",
    },
    "the exchange's is set later": {
        "  private:\n" + HALO_SIZES: "    void less() { n_--; }\n  private:\n" + HALO_SIZES,
        SUM: "    void less() { halo_.less(); }\n" + SUM,
        "        largest = solver.step();": "        largest = solver.step(), solver.less();",
    },
    "it is made anew": {
        SUM: "    void less() { halo_ = Halo(MPI_COMM_WORLD, n_ - 1); }\n" + SUM,
        "        largest = solver.step();": "        largest = solver.step(), solver.less();",
    },
    "the parameter is changed": {IN_HALO: IN_HALO + "        n -= 1;\n        n_ = n;\n"},
    "the member is changed": {IN_HALO: IN_HALO + "        n_ -= 1;\n"},
    "a reference reaches it": {
        SUM: "    int &size() { return n_; }\n" + SUM,
        "        largest = solver.step();": "        largest = solver.step(), solver.size() = 9;",
    },
    "two exchange theirs": {
        "class Solver {\n  public:\n": "class Solver {\n  public:\n    void trade(Solver &other) "
        "{ std::swap(halo_, other.halo_); }\n",
        "    double largest = 0.0;\n": "    Solver second(MPI_COMM_WORLD, n + 3);\n"
        "    double largest = 0.0;\n    second.trade(solver);\n",
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_they_are_one(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.cpp", changed(PROGRAM, replaced))
    assert "halo_.exchange_start(" in text
    assert text.index("largest = std::max(") < text.index("exchange_finish(", text.index("step()"))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_may_differ(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.cpp", changed(PROGRAM, replaced))
    assert "halo_.exchange(" in text
