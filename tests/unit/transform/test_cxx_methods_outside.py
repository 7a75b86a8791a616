"""Methods that are defined outside of their class, in a namespace, or with it in a header."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.test_cxx_methods import rewritten, text_of

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow


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


def test_in_a_namespace_without_a_name(tmp_path: Path) -> None:
    """A method there that nothing calls would be reported: the parts take its place."""
    text, methods = split(text_of({}))
    text = text.replace("int main(", f"{methods}\n}}\nint main(").replace(
        "class", "namespace {class"
    )
    after = rewritten(text, tmp_path)
    assert "void Heat::step_boundary()" in after and "void step_interior();" in after
    assert "void Heat::step()" not in after and "void step();" not in after


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
