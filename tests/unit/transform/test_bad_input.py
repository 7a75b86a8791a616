"""What cannot be read or written: one clear line each, and nothing half edited."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from imbrex.cli.transform import transform as command
from imbrex.errors import ImbrexError
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.text.edits import replace_files

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
MODULE = """program p
  use heat_fields
  use mpi
  implicit none
  real(8) :: a(100), b(100)
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Send({sent}, 100, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr)
  {set} = 2.0d0 * b + 1.0d0
  call MPI_Finalize(ierr)
end program p
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("halo.c", "halo.f90", "interior.c"):
        shutil.copy(CASES / name, name)


def complaint(*words: str) -> str:
    with pytest.raises(ImbrexError) as error:
        CliRunner().invoke(command, list(words), catch_exceptions=False)
    assert "\n" not in str(error.value)
    return str(error.value)


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), catch_exceptions=False)


@pytest.mark.parametrize("statement", ["n = (1 + 2", "n = 1) + 2", "call sub(')', (n)"])
def test_parentheses_that_do_not_match(statement: str) -> None:
    Path("p.f90").write_text(f"program p\ninteger :: n\nn = 0\n{statement}\nend program\n")
    assert complaint("--diff", "p.f90") == "p.f90: line 4: its parentheses do not match"


@pytest.mark.parametrize(
    "statement", ["write(*, 5) ')'", "print *, '((', \"(\"", "5 format(2h((, i4)"]
)
def test_parentheses_in_characters(statement: str) -> None:
    Path("p.f90").write_text(f"program p\ninteger :: n\nn = 0\n{statement}\nend program\n")
    assert run("--diff", "p.f90").exit_code == 0


@pytest.mark.parametrize("name", ["halo.c", "halo.f90"])
def test_utf_16(name: str) -> None:
    text = Path(name).read_text()
    Path(name).write_text(text, encoding="utf-16")
    assert f"{name} is not UTF-8" in complaint("--diff", name)


def test_latin_1() -> None:
    """Its bytes stay as they are."""
    texts = {
        "halo.f90": b"! \xe9\n",
        "halo.c": b'/* \xe9\' */\nconst char *cafe = "caf\xe9"; // \xe9\n',
    }
    for name, beginning in texts.items():
        file = Path(name)
        file.write_bytes(beginning + file.read_bytes())
        assert run("--apply", name).exit_code == 0
        assert file.read_bytes().startswith(beginning)


@pytest.mark.parametrize("code", [b"int caf\xe9;", b"int c = '\xe9';", b"/* */ \xe9", b"\0"])
def test_latin_1_that_is_code(code: bytes) -> None:
    """In C it is looked at in comments and strings alone: elsewhere it may be a number."""
    file = Path("halo.c")
    file.write_bytes(file.read_bytes() + code + b"\n")
    at = file.read_bytes().index(code.strip(b"int caf;='/* "))
    assert f"halo.c is not UTF-8 or Latin-1 (byte {at})" in complaint("--diff", "halo.c")


def test_latin_1_in_a_header() -> None:
    Path("halo.h").write_bytes(b"/* \xe9 */\n")
    file = Path("halo.c")
    file.write_text('#include "halo.h"\n' + file.read_text())
    assert run("--apply", "halo.c").exit_code == 0


def test_c_of_old() -> None:
    """Functions without a type or a declaration are read, but for those of MPI."""
    Path("old.c").write_text("count(n) int n;\n{\n    if (n) return;\n    return other(n);\n}\n")
    assert run("--diff", "old.c").exit_code == 0
    Path("old.c").write_text("void f(int c)\n{\n    MPI_Barrier(c);\n}\n")
    assert "old.c:3: call to undeclared function 'MPI_Barrier'" in complaint("--diff", "old.c")


def test_a_missing_header_is_named_and_the_other_files_are_read() -> None:
    Path("other.c").write_text('#include "missing.h"\nvoid other(void) {}\n')
    answer = run("--diff", "halo.c", "other.c")
    assert answer.exit_code == 2
    assert "other.c:1: 'missing.h' file not found" in answer.stderr
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("sent", ["a", "shared"])
def test_a_missing_module_is_named_and_its_names_are_unknown(sent: str) -> None:
    """What it declares may be pointers to one array; local variables are known all the same."""
    Path("p.f90").write_text(MODULE.format(sent=sent, set="another" if sent == "shared" else "b"))
    answer = run("--diff", "p.f90")
    assert answer.exit_code == 0
    assert "the module heat_fields is not among the files" in answer.stderr
    assert ("MPI_Isend" in answer.stdout) == (sent == "a")


def test_a_database_that_does_not_match() -> None:
    entry = {"directory": ".", "file": "elsewhere.c", "command": "cc -c elsewhere.c"}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    words = ("-p", "compile_commands.json", "halo.c")
    assert complaint(*words) == "compile_commands.json does not mention halo.c"
    Path("compile_commands.json").write_text("[{")
    assert "not a readable compile database" in complaint(*words)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({}, "it is no list of entries"),
        ([{"directory": ".", "command": "cc"}], "entry 1 has no file"),
        ([{"directory": ".", "file": "halo.c"}], "entry 1 has neither a command nor arguments"),
        ([{"directory": ".", "file": "halo.c", "arguments": ["cc", 5]}], "entry 1 has neither"),
        ([{"directory": ".", "file": "a", "command": 'cc "a'}], "the command of entry 1: No cl"),
    ],
)
def test_a_database_that_is_none(entries: object, reason: str) -> None:
    Path("db.json").write_text(json.dumps(entries))
    told = complaint("-p", "db.json", "halo.c")
    assert told.startswith(f"db.json is not a readable compile database: {reason}")


def test_flags_that_libclang_does_not_take(capfd: pytest.CaptureFixture[str]) -> None:
    told = complaint("--diff", "halo.c", "--", "-Wfoo", "-std=bogus")
    assert told.startswith("halo.c cannot be read by libclang with -Wfoo -std=bogus: ")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["halo.c", "halo.f90"])
def test_a_byte_order_mark_changes_nothing(name: str) -> None:
    without = run("--diff", name).stdout
    Path(name).write_bytes(b"\xef\xbb\xbf" + Path(name).read_bytes())
    answer = run("--diff", name)
    assert answer.stdout.replace("\ufeff", "") == without
    assert answer.stderr == ""


def test_lines_that_end_in_cr_alone() -> None:
    Path("halo.f90").write_bytes(Path("halo.f90").read_bytes().replace(b"\n", b"\r"))
    assert complaint("--diff", "halo.f90") == (
        "halo.f90: its lines end in CR alone: convert it first"
    )


def test_a_missing_include_file_is_named() -> None:
    text = Path("halo.f90").read_text()
    Path("halo.f90").write_text(text.replace("none\n", "none\n include 'sizes.inc'\n", 1))
    answer = run("--diff", "halo.f90")
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert "halo.f90:1: the include file sizes.inc is not found" in answer.stderr
    assert answer.stderr.count("\n") == 2  # this, and that the diff is empty


def test_a_form_feed_ends_no_line() -> None:
    text = Path("halo.c").read_text()
    Path("halo.c").write_text(text.replace("MPI_Sendrecv(", "\f MPI_Sendrecv(", 1))
    Path("halo.diff").write_text(run("--diff", "halo.c").stdout)
    assert run("--apply", "halo.c").exit_code == 0
    after = Path("halo.c").read_text()
    Path("halo.c").write_text(text.replace("MPI_Sendrecv(", "\f MPI_Sendrecv(", 1))
    subprocess.run(["git", "apply", "halo.diff"], check=True)
    assert Path("halo.c").read_text() == after != text


def test_deep_nesting_is_read() -> None:
    """Some hundred levels, each several calls of a reader."""
    tests = "\n    else ".join(f"if (argc == {n}) argc = {n + 1};" for n in range(400))
    text = Path("halo.c").read_text()
    before = run("--diff", "halo.c").stdout.count("\n+")
    assert "MPI_Finalize" in text
    Path("halo.c").write_text(text.replace("MPI_Finalize", f"{tests}\n    MPI_Finalize", 1))
    assert run("--diff", "halo.c").stdout.count("\n+") == before
    terms = "\n".join(f"if (n == {n}) then" for n in range(300)) + "\nn = 1" + "\nend if" * 300
    Path("deep.f90").write_text(f"program p\ninteger :: n\nn = 0\n{terms}\nend program\n")
    assert run("--diff", "deep.f90").exit_code == 0


def test_only_where_no_call_is() -> None:
    told = "--only halo.c:1: no call of MPI stands there: those of halo.c are in lines 25, 27"
    assert told in complaint("--only", "halo.c:1", "halo.c")
    Path("a").mkdir()
    for folder in ("a", "."):
        shutil.copy("halo.c", f"{folder}/twin.c")
    assert "--only twin.h:1: twin.h is not among the files" in complaint(
        "--only", "twin.h:1", "a/twin.c"
    )
    Path("b").mkdir()
    shutil.copy("halo.c", "b/twin.c")
    assert "which of a/twin.c, b/twin.c?" in complaint(
        "--only", "twin.c:25", "a/twin.c", "b/twin.c"
    )


def test_a_read_only_file_stops_all_edits() -> None:
    Path("wide.c").write_text(Path("interior.c").read_text().replace("int main(", "int wide("))
    texts = {name: Path(name).read_bytes() for name in ("halo.c", "wide.c")}
    for locked in texts:
        Path(locked).chmod(0o444)
        assert f"{locked} is read-only" in complaint("--apply", "halo.c", "wide.c")
        Path(locked).chmod(0o644)
        assert {name: Path(name).read_bytes() for name in texts} == texts
    assert run("--apply", "halo.c", "wide.c").exit_code == 0
    assert all(Path(name).read_bytes() != text for name, text in texts.items())


def test_a_file_that_changed_meanwhile_stops_all_edits() -> None:
    first, second = Path("first"), Path("second")
    first.write_bytes(b"one")
    second.write_bytes(b"other")
    with pytest.raises(ImbrexError, match="second has changed since it was read"):
        replace_files([(first, b"one", b"1"), (second, b"two", b"2")])
    assert first.read_bytes() == b"one"
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith(".")) == []
    replace_files([(first, b"one", b"1"), (second, b"other", b"2")])
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


COMPONENT = """#include <mpi.h>
typedef struct {{ int x, y, z; }} place;
static double u[100][100], b[100];
static void pack(double *to, double (*g)[100], int k)
{{
    for (int i = 0; i < 100; i++)
        to[(i * k) % 100] = g[k][i];
}}
int main(int argc, char **argv)
{{
    place at, *p = &at;
    MPI_Init(&argc, &argv);
    for ({index} = 0; {index} < 4; {index}++) {{
        pack(b, u, {index});
        MPI_Send(b, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }}
    MPI_Finalize();
    return 0;
}}
"""


@pytest.mark.parametrize("index", ["at.z", "p->z"])
def test_a_loop_over_a_component(index: str) -> None:
    """Its values are not known one by one, and the program is read all the same."""
    Path("a.c").write_text(COMPONENT.format(index=index))
    (decision,) = transform([Path("a.c")], Options()).decisions
    assert decision.decision == "nothing-to-gain"
