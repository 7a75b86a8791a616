"""Complex numbers of C and C++, and messages of MPI's other types of numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

CASES = Path(__file__).parent / "cases"
WAVE = (CASES / "wave.cpp").read_text()
SPINORS = (CASES / "spinors.c").read_text()
USING = "using Complex = std::complex<double>;\n"
H = "                Complex h = -0.5 * sum + field_[i * ny_ + j] * psi_[i * ny_ + j];\n"
LOOP = "        for (int i = 1; i <= nx_; i++)\n            for (int j = 1; j < ny_ - 1; j++) {\n"
BEHIND = "        for (int i = 1; i <= nx_; i++)\n            for (int j = 1; j < ny_ - 1; j++)\n"
CLASS = "class Wave {\n"
COUNT = {
    "MPI_DOUBLE, MPI_SUM": "MPI_DOUBLE , MPI_SUM",
    ", ny_, MPI_CXX": ", 2 * ny_, MPI_CXX",
    "ny_,\n                     MPI_CXX": "2 * ny_,\n                     MPI_CXX",
    "                     ny_, MPI_CXX": "                     2 * ny_, MPI_CXX",
    "MPI_CXX_DOUBLE_COMPLEX": "MPI_DOUBLE",
}


GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "the type of C": {"MPI_CXX_DOUBLE_COMPLEX": "MPI_C_DOUBLE_COMPLEX"},
    "twice as many real numbers": COUNT,
    "of one precision": {
        USING: USING.replace("double", "float"),
        "MPI_CXX_DOUBLE_COMPLEX": "MPI_CXX_FLOAT_COMPLEX",
        "-0.5 * sum + field_": "-0.5f * sum + (float)field_",
        "- 4.0 *": "- 4.0f *",
        "std::polar(std::exp(-0.001 * x * x), 0.3 * x)": "Complex(x, 0.3 * x)",
    },
    "set by parts": {
        H: "                Complex h = psi_[i * ny_ + j];\n"
        "                h.real(-0.5 * sum.real());\n"
        "                h.imag(field_[i * ny_ + j] + std::abs(h) - std::arg(sum));\n",
    },
    "by a function of the program's": {
        CLASS: "static Complex times(Complex a, const Complex &b)\n{\n"
        "    return a * std::conj(b) / (1.0 + std::norm(b));\n}\n\n" + CLASS,
        "= psi_[i * ny_ + j] + turn * h;": "= psi_[i * ny_ + j] + times(turn, h);",
    },
    "in arrays of new": {
        "    std::vector<Complex> psi_, next_;\n": "    Complex *psi_, *next_;\n",
        "psi_((rows + 2) * columns), next_((rows + 2) * columns)": (
            "psi_(new Complex[(rows + 2) * columns]), next_(new Complex[(rows + 2) * columns])"
        ),
    },
    "by names of the namespace": {
        USING: "using namespace std;\ntypedef complex<double> Complex;\n",
        "std::norm(psi_[i]) + 0.25": "std::norm(psi_[i]) + pow(psi_[i], 2).real() + 0.25",
    },
    "updated in place": {
        "= psi_[i * ny_ + j] + turn * h;": "= psi_[i * ny_ + j];\n"
        "                next_[i * ny_ + j] += turn * h;\n"
        "                next_[i * ny_ + j] *= 0.5;",
    },
    "made without a name": {"turn * h;": "Complex(0.0, -step) * h + Complex{1.0, 2.0};"},
}
STAY: dict[str, dict[str, str]] = {
    "the last one is read through a pointer": {
        LOOP: "        Complex h, *last = &h;\n" + LOOP,
        "                Complex h =": "                h =",
        BEHIND: "        field_[0] += last->real();\n" + BEHIND,
    },
    "carried from one to the next": {
        LOOP: "        Complex last = 1.0;\n" + LOOP,
        H: "                last *= 0.5;\n" + H.replace(";", " + last;"),
    },
    "given by reference, not made in the loop": {
        CLASS: "static Complex *held;\nstatic Complex keep(Complex &a)\n{\n"
        "    Complex last = held ? *held : 0.0;\n    held = &a;\n    return last;\n}\n\n" + CLASS,
        LOOP: "        Complex h;\n" + LOOP,
        "                Complex h =": "                h =",
        "turn * h;": "turn * keep(h);",
    },
    "half of the numbers": COUNT | {"2 * ny_": "ny_"},
    "a part of what comes is set": {
        LOOP: "        psi_[3].imag(0.5);\n" + LOOP,
    },
    "what comes is scaled": {LOOP: "        psi_[3] *= 0.5;\n" + LOOP},
    "what comes is set": {LOOP: "        psi_[3] = 0.5;\n" + LOOP},
    "what comes is used": {
        LOOP: "        for (int i = 0; i < (nx_ + 2) * ny_; i++)\n"
        "            field_[i] += std::norm(psi_[3]);\n" + LOOP
    },
    "what comes is set through a pointer": {
        LOOP: "        reinterpret_cast<double *>(&psi_[3])[1] = 0.5;\n" + LOOP,
    },
    "what comes is set as an array": {
        LOOP: "        reinterpret_cast<double (&)[2]>(psi_[3])[1] = 0.5;\n" + LOOP,
    },
    "a class of the program's": {
        CLASS: "struct Turn {\n    int n;\n};\n"
        "static int turned;\n"
        "inline Complex operator*(const Turn &a, const Complex &b)\n{\n"
        "    MPI_Comm_size(MPI_COMM_WORLD, &turned);\n    MPI_Barrier(MPI_COMM_WORLD);\n"
        "    return (double)a.n * b;\n}\n\n" + CLASS,
        "turn * h;": "Turn{2} * h;",
    },
    "output of each": {
        H: H + "                std::cout << h;\n",
        USING: f"#include <iostream>\n{USING}",
    },
    "a class of that name": {
        USING: "namespace own {\nint made;\nstruct complex {\n    double re, im;\n"
        "    complex(double a = 0, double b = 0) : re(a), im(b) { MPI_Barrier(MPI_COMM_WORLD); }\n"
        "    double real() const { return re; }\n    double imag() const { return im; }\n};\n"
        "inline complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }\n"
        "inline complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }\n"
        "inline complex operator*(complex a, complex b)\n{\n"
        "    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};\n}\n"
        "inline complex &operator+=(complex &a, complex b) { return a = a + b; }\n}\n"
        "using Complex = own::complex;\n",
        "std::polar(std::exp(-0.001 * x * x), 0.3 * x)": "Complex(x, 0.3 * x)",
        "std::norm(psi_[i])": "psi_[i].real()",
        "std::imag(psi_[i])": "psi_[i].imag()",
    },
}


HOP = "    for (int t = 1; t <= planes; t++)\n"
KAPPA = "kappa * (field"
IN_C: dict[str, dict[str, str]] = {
    "as it is": {},
    "a constant": {
        HOP: f"    const double complex twice = 2.0 * kappa;\n{HOP}",
        KAPPA: "twice * (field",
    },
    "several locals": {
        HOP: f"    double complex unused, twice = 2.0 * kappa;\n{HOP}",
        KAPPA: "twice * (field",
    },
    "by its other name": {
        HOP: f"    double _Complex twice = 2.0 * kappa;\n{HOP}",
        KAPPA: "twice * (field",
    },
    "the complex type of C": {"8 * sites": "4 * sites", "MPI_DOUBLE,": "MPI_C_DOUBLE_COMPLEX,"}
    | {"MPI_C_DOUBLE_COMPLEX, MPI_SUM": "MPI_DOUBLE, MPI_SUM"},
}


def divided(text: str) -> bool:
    """Whether the interior is computed while messages are under way."""
    start, rest = "exchange_start(", "advance_interior("
    main = text[text.index("int main(") :]
    return start in main and rest in main and main.index(start) < main.index(rest)


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_step_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "wave.cpp"
    text = rewritten(path, changed(WAVE, replaced))
    assert divided(text)
    path.write_text(text)
    compiles(path)


@pytest.mark.parametrize("replaced", IN_C.values(), ids=IN_C)
def test_the_hop_of_c_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "spinors.c", changed(SPINORS, replaced))
    assert "borders_start(" in text
    assert "        hop_interior(" in text


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_the_step_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "wave.cpp"
    path.write_text(changed(WAVE, replaced))
    compiles(path)
    assert not divided(rewritten(path, path.read_text()))


def test_vectors_hold_no_variable(tmp_path: Path) -> None:
    """What is set in a vector of complex numbers is no member that is read elsewhere."""
    text = changed(
        WAVE,
        {
            "double mine = wave.norm(), all;": "Wave other(4, 4, rank, size);\n"
            "        const Wave &of = rank > 5 ? other : wave;\n"
            "        double mine = wave.norm() + of.ny_, all;",
            "  private:\n": "  public:\n",
        },
    )
    assert divided(rewritten(tmp_path / "wave.cpp", text))
