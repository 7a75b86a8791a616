"""Classes and functions in headers: changed there where all that include one agree, else whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.test_cxx_methods import GOES, STAYS, text_of

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS, compiler_headers
from imbrex.transform.site_map import site_map

pytestmark = pytest.mark.slow

OTHER = '#include "heat.hpp"\nvoid other(Heat &h)\n{\n    h.exchange();\n    h.step();\n}\n'
IN_ORDER = ["exchange_start(", "step_interior(", "exchange_finish(", "step_boundary("]


def files_of(changes: dict[str, str]) -> dict[str, str]:
    """The program with its class in a header, and with its main routine in a file."""
    text = text_of(changes)
    start = text.index("int main(")
    return {"heat.hpp": f"#pragma once\n{text[:start]}", "main.cpp": MAIN + text[start:]}


MAIN = '#include "heat.hpp"\n'


def transformed(files: dict[str, str], flags: list[str] | None = None) -> Outcome:
    """What becomes of a program in the current folder."""
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    paths = [Path(name) for name in files if name.endswith((".cpp", ".c"))]
    outcome = transform(paths, Options(flags=flags or []))
    assert not outcome.skipped, outcome.skipped
    return outcome


def compiles(outcome: Outcome, flags: list[str] | None = None) -> None:
    for name, data in outcome.after.items():
        Path(name).write_bytes(data)
    for name in outcome.after:
        if name.endswith((".cpp", ".c")):
            command = ["c++" if name.endswith(".cpp") else "cc", "-fsyntax-only", "-w"]
            command += [*(flags or []), f"-I{HEADERS}", "-I", "mpi", name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


def is_divided(outcome: Outcome) -> bool:
    return any(b"step_interior" in data for data in outcome.after.values())


def reasons(outcome: Outcome) -> set[str]:
    return {str(decision.reason.kind) for decision in outcome.decisions}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str) -> None:
    """That a second run changes nothing is asked of these classes in test_cxx_methods.py."""
    outcome = transformed(files_of(GOES[name]))
    text = outcome.after["heat.hpp"] + outcome.after["main.cpp"]
    assert text.count(b"int i = 2; i <= ") == 1


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    assert not is_divided(transformed(files_of(STAYS[name])))


def test_all_files_that_include_it_are_changed_with_it() -> None:
    files = {**files_of({}), "other.cpp": OTHER}
    outcome = transformed(files)
    for name in ("main.cpp", "other.cpp"):
        text = outcome.after[name].decode()
        assert sorted(IN_ORDER, key=text.index) == IN_ORDER
    header = outcome.after["heat.hpp"].decode()
    assert "void exchange()" not in header and "void exchange_finish(MPI_Request r[4])" in header
    compiles(outcome)
    again = transformed({name: data.decode() for name, data in outcome.after.items()})
    assert again.after == outcome.after


def test_a_call_in_another_file_that_cannot_be_divided() -> None:
    other = OTHER.replace("h.exchange();", "int k = (h.exchange(), 1); (void)k;")
    outcome = transformed({**files_of({}), "other.cpp": other})
    assert b"exchange_start" not in b"".join(outcome.after.values())


VARIANTS = {
    "more of it": "\n#ifdef MORE\n        MPI_Barrier(comm);\n#endif\n",
    "another message": "\n#ifndef COUNT\n#define COUNT nx\n#endif\n",
}


@pytest.mark.parametrize("place", VARIANTS)
def test_files_that_do_not_agree(place: str) -> None:
    """A header of C++ may not differ so; the compiler does not see it, and no edit fits both."""
    changes = {"guard": VARIANTS[place], "count": "COUNT" if "COUNT" in VARIANTS[place] else "nx"}
    files = files_of(changes)
    other = f"#define MORE\n#define COUNT (nx / 2)\n{OTHER}"
    alone = transformed(files)
    outcome = transformed({**files, "other.cpp": other})
    assert b"exchange_start" not in b"".join(outcome.after.values())
    assert str(ReasonKind.HEADER_DIFFERS) in reasons(outcome)
    assert str(ReasonKind.HEADER_DIFFERS) not in reasons(alone)


def test_a_header_of_two_names() -> None:
    files = {**files_of({}), "other.cpp": OTHER.replace("heat.hpp", "same.hpp")}
    Path("heat.hpp").write_text(files["heat.hpp"])
    Path("same.hpp").symlink_to("heat.hpp")
    outcome = transformed(files)
    assert outcome.after == outcome.before


def test_a_header_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler_headers()  # found by os.access, and kept for all tests of a process
    monkeypatch.setattr("os.access", lambda path, mode: False)
    outcome = transformed(files_of({}))
    assert outcome.after == outcome.before
    assert str(ReasonKind.IN_HEADER) in reasons(outcome)


def test_a_header_elsewhere_than_the_program(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    for name, text in files_of({}).items():
        Path(name).write_text(text)
    outcome = transform([Path("main.cpp")], Options(root=tmp_path / "program"))
    assert outcome.after == outcome.before


def test_a_system_header() -> None:
    files = files_of({})
    files["main.cpp"] = files["main.cpp"].replace('"heat.hpp"', "<heat.hpp>")
    outcome = transformed(
        {"lib/heat.hpp": files["heat.hpp"], "main.cpp": files["main.cpp"]},
        [
            "-isystem",
            "lib",
        ],
    )
    assert outcome.after == outcome.before


def test_by_folders_of_headers() -> None:
    files = files_of({})
    files = {"include/heat.hpp": files["heat.hpp"], "src/main.cpp": files["main.cpp"]}
    outcome = transformed({**files, "src/other.cpp": OTHER}, ["-Iinclude"])
    assert is_divided(outcome) and b"exchange_start" in outcome.after["include/heat.hpp"]
    compiles(outcome, ["-Iinclude"])
    again = transform([Path("src/main.cpp"), Path("src/other.cpp")], Options(flags=["-Iinclude"]))
    assert again.after == outcome.after


def test_one_text_in_two_namespaces() -> None:
    """Two classes have one text: what is right for one need not be for the other."""
    files = files_of({"constructed": ""})
    head, _, rest = files["heat.hpp"].removeprefix("#pragma once\n").partition("static double")
    rest = rest.replace("total", "part").replace(" part;", "", 1)
    files["heat.hpp"] = rest
    files["main.cpp"] = (
        f'{head}\nstatic double total, part;\nnamespace a {{\n#include "heat.hpp"\n}}\n'
        f'#undef AT\nnamespace b {{\n#include "heat.hpp"\n}}\nusing a::Heat;\n'
        + files["main.cpp"].removeprefix(MAIN)
    )
    outcome = transformed(files)
    assert outcome.after == outcome.before
    assert str(ReasonKind.HEADER_DIFFERS) in reasons(outcome)


def test_a_function_whose_name_is_a_macro() -> None:
    body = "static void NAME(double *u)\n{\n    MPI_Request r;\n    WORK\n"
    body += "    MPI_Irecv(u, 5, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r);\n    WORK\n"
    body += "    for (int i = 0; i < 9; i++)\n        v[i] = v[i] * 2 + i;\n"
    body += "    MPI_Wait(&r, MPI_STATUS_IGNORE);\n}\n"
    main = "#include <mpi.h>\nstatic double u[9], v[9];\n"
    for name in ("one", "two"):
        main += f'#define NAME {name}\n#define WORK\n#include "part.h"\n#undef NAME\n#undef WORK\n'
    main += "int main(int c, char **a)\n{\n    MPI_Init(&c, &a);\n    one(u);\n    two(u);\n"
    main += "    MPI_Finalize();\n    return 0;\n}\n"
    outcome = transformed({"part.h": body, "main.c": main})
    assert outcome.after == outcome.before
    assert str(ReasonKind.HEADER_DIFFERS) in reasons(outcome)


C_HEADER = """#ifndef HALO_H
#define HALO_H
#include <mpi.h>
{above}
typedef struct { int n, left, right; double *u, *v; } halo_t;
{lead} void exchange(halo_t *h)
{
    MPI_Sendrecv(&h->u[h->n], 1, MPI_DOUBLE, h->right, 1, &h->u[0], 1, MPI_DOUBLE, h->left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&h->u[1], 1, MPI_DOUBLE, h->left, 2, &h->u[h->n + 1], 1, MPI_DOUBLE, h->right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
{lead} void step(halo_t *h)
{
    for (int i = 1; i <= h->n; i++)
        h->v[i] = h->u[i - 1] + h->u[i + 1];
}
#endif
"""
C_MAIN = """#include <stdlib.h>
#include "halo.h"
int main(int argc, char **argv)
{
    halo_t h;
    MPI_Init(&argc, &argv);
    h.n = 100;
    h.left = 0;
    h.right = 0;
    h.u = calloc(102, sizeof(double));
    h.v = calloc(102, sizeof(double));
    for (int t = 0; t < 10; t++) {
        exchange(&h);
        step(&h);
        double *w = h.u;
        h.u = h.v;
        h.v = w;
    }
    MPI_Finalize();
    return 0;
}
"""


def c_files(above: str = "", lead: str = "static inline") -> dict[str, str]:
    header = C_HEADER.replace("{above}", above).replace("{lead}", lead)
    return {"halo.h": header, "main.c": C_MAIN}


def test_functions_of_c() -> None:
    outcome = transformed(c_files())
    text = outcome.after["main.c"].decode()
    assert sorted(IN_ORDER, key=text.index) == IN_ORDER and "inline" not in text
    assert b"static inline void exchange_finish(" in outcome.after["halo.h"]
    compiles(outcome)


def test_a_bound_that_is_unsigned() -> None:
    files = c_files()
    files["halo.h"] = files["halo.h"].replace("{ int n, left", "{ size_t n; int left")
    outcome = transformed({**files, "main.c": "#include <stddef.h>\n" + files["main.c"]})
    assert is_divided(outcome)
    compiles(outcome)


def test_a_function_that_another_file_declares() -> None:
    """It may be called in front of the header, where its parts are not known."""
    files = c_files(lead="inline")
    files["main.c"] = "struct halo;\nvoid exchange();\n" + files["main.c"]
    outcome = transformed(files)
    assert b"exchange_start" not in b"".join(outcome.after.values())


def test_code_of_its_own_moves_in_a_header() -> None:
    """What is rewritten within one function stays within it."""
    files = c_files()
    work = "    for (int i = 0; i < 90; i++)\n        h->v[i] = i;\n"
    end = files["halo.h"].index("}\n{lead}".replace("{lead}", "static inline"))
    files["halo.h"] = files["halo.h"][:end] + work + files["halo.h"][end:]
    outcome = transformed(files)
    assert b"MPI_Irecv" in outcome.after["halo.h"]
    compiles(outcome)


def test_the_map_of_sites_has_the_header() -> None:
    files = c_files()
    outcome = transformed(files)
    Path("main.c").write_bytes(outcome.after["main.c"])
    made = site_map([Path("main.c")], Options(), outcome)
    assert {place[0] for place in made.before_of} >= {"halo.h"}
    assert "MPI_Sendrecv" in {place[2] for place in made.before_of.values()}
