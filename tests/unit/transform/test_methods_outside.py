"""Methods of class templates that are defined outside of the class: `void Field<T>::exchange()`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = (Path(__file__).parent / "cases" / "outside.cpp").read_text()
CLASS = "template <typename T>\nclass Field {\n"
OBJECT = "        Field<double> f(MPI_COMM_WORLD, 64, 48);\n"
SMOOTH = "template <typename T>\nvoid Field<T>::smooth()\n"
EXCHANGE = "template <typename T>\nvoid Field<T>::exchange()\n"
MAIN = "int main("
ANOTHER = "    MPI_Finalize();\n"


GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "with blanks": {"void Field<T>::": "void Field < T > :: "},
    "a structure": {"class Field {\npublic:": "struct Field {", "private:\n": ""},
    "another name for the type": {
        EXCHANGE: EXCHANGE.replace("typename T", "class Real").replace("<T>", "<Real>"),
        "mpi_type<T>::get(), up_": "mpi_type<Real>::get(), up_",
        "mpi_type<T>::get(), down_": "mpi_type<Real>::get(), down_",
    },
    "two parameters": {
        "template <typename T>\nclass": "template <typename T, int N>\nclass",
        "template <typename T>\nvoid": "template <typename T, int N>\nvoid",
        "template <typename T>\nT ": "template <typename T, int N>\nT ",
        "template <typename T>\nField": "template <typename T, int N>\nField",
        "Field<T>": "Field<T, N>",
        "Field<double>": "Field<double, 1>",
    },
    "in a namespace": {
        CLASS: f"namespace grid {{\n{CLASS}",
        MAIN: f"}}\n{MAIN}",
        OBJECT: OBJECT.replace("Field", "grid::Field"),
    },
    "in a namespace, by the whole name": {
        CLASS: f"namespace grid {{\n{CLASS}",
        "std::vector<T> u_, v_;\n};\n": "std::vector<T> u_, v_;\n};\n}\n",
        "\nField<T>::": "\ngrid::Field<T>::",
        "void Field<T>::": "void grid::Field<T>::",
        "T Field<T>::": "T grid::Field<T>::",
        OBJECT: OBJECT.replace("Field", "grid::Field"),
    },
}
STAY: dict[str, dict[str, str]] = {
    "two instances": {
        ANOTHER: f"    {{\n        Field<float> g(MPI_COMM_WORLD, 8, 8);\n        g."
        f"exchange();\n        g.smooth();\n    }}\n{ANOTHER}"
    },
    "another instance in full": {MAIN: f"template class Field<float>;\n{MAIN}"},
    "a method for one type": {
        EXCHANGE: EXCHANGE.replace("typename T", "").replace("<T>", "<double>"),
        "mpi_type<T>::get(), up_": "MPI_DOUBLE, up_",
        "mpi_type<T>::get(), down_": "MPI_DOUBLE, down_",
    },
    "a comment in the head": {EXCHANGE: EXCHANGE.replace("()", "(/* all */)")},
    "another method of that name": {
        "    void exchange();\n": "    void exchange();\n    void exchange(int) { nx_ = 0; }\n"
    },
    "a virtual method": {"    void exchange();\n": "    virtual void exchange();\n"},
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_halves_stand_beside_it(replaced: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "field.cpp"
    text = rewritten(path, changed(PROGRAM, replaced))
    assert "f.exchange_start(exchange_req);" in text
    assert "f.smooth_interior();" in text
    assert "    void exchange_start(MPI_Request req[4]);\n" in text
    path.write_text(text)
    compiles(path)


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_it_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "field.cpp"
    text = rewritten(path, changed(PROGRAM, replaced))
    compiles(path)
    assert "_start(" not in text
