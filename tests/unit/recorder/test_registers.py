"""What the compiler is told of the registers that hooks change, and who is not told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.unit.recorder.hook_library import REGISTERS

from imbrex.recorder.compilers import instrumented
from imbrex.recorder.dependencies import asks_only_for_them, forget_dependency
from imbrex.recorder.linking import RecorderLibrary

FOLDER = Path("folder")
LIBRARY = RecorderLibrary(FOLDER, FOLDER / "a", FOLDER / "exports", FOLDER, REGISTERS)
STENCIL = """
void stencil(double *b, const double *a, const int *mask, int n)
{
    for (int j = 1; j < n; j++)
        if (mask[j])
            b[j] = 0.25 * (a[j] + a[j - 1] + a[j + 1]);
}
"""


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("options", ["-O2 -pedantic", "-O2 -fPIC", "-O0", "-O2 -ansi", "-O3 -g3"])
def test_the_compiler_keeps_values_in_registers(
    tmp_path: Path, language: str, options: str
) -> None:
    words = ["gcc", "-x", language, "-include", str(REGISTERS), "-fsanitize=thread", "-S"]
    words += [*options.split(), "-Wall", "-Wextra", "-Werror", "-", "-o", str(tmp_path / "a.s")]
    if "-ansi" in options:
        words[words.index("-ansi")] = "-std=c11" if language == "c" else "-std=c++20"
    subprocess.run(words, input=STENCIL, text=True, check=True)
    text = (tmp_path / "a.s").read_text()
    assert "\tcall\t__tsan_write8" in text
    if "-O0" not in options and "-fPIC" not in options:
        assert not any("%xmm" in line and "(%rsp)" in line for line in text.split("\n"))
    # Each object has its own.
    line = ["gcc", "-c", str(tmp_path / "a.s"), "-o", str(tmp_path / "a.o")]
    subprocess.run(line, check=True)
    shown = subprocess.run(["nm", tmp_path / "a.o"], capture_output=True, text=True, check=True)
    assert " t __tsan_write8\n" in shown.stdout and "U __tsan_write8" not in shown.stdout


@pytest.mark.parametrize(
    ("language", "clang", "words", "told"),
    [
        ("cc", False, "-c", True),
        ("cxx", False, "-c -O2", True),
        ("cc", False, "-S", True),
        ("cc", True, "-c", False),
        ("fc", False, "-c", False),
        *(
            ("cc", False, f"-c {option}", False)
            for option in (
                "-E",
                "-flto",
                "-flto=auto",
                "-masm=intel",
                "-fno-ipa-ra",
                "-m32",
                "-MM",
                "-fno-asynchronous-unwind-tables",
            )
        ),
    ],
)
def test_who_is_told(language: str, clang: bool, words: str, told: bool) -> None:
    found = instrumented(language, ["a.c", *words.split()], clang, LIBRARY)
    assert (str(REGISTERS) in found) == told


def test_two_codes_of_a_function_change_different_registers() -> None:
    assert str(REGISTERS) not in instrumented("cc", ["-c"], False, LIBRARY, duplicate=True)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("-c a.c -MD", "a.d"),
        ("-c a.c -MMD -o b.o", "b.d"),
        ("-c a.c -MD -MP -MF c.txt", "c.txt"),
        ("-c a.c -MMD -MFc.txt", "c.txt"),
        ("-c a.c -Wp,-MD,d.txt", "d.txt"),
    ],
)
def test_make_does_not_hear_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.h").touch()
    Path("a.c").write_text('#include "a.h"\n' + STENCIL)
    line = ["gcc", "-include", str(REGISTERS), *words.split()]
    subprocess.run(line, check=True)
    assert REGISTERS.name in Path(file).read_text()
    forget_dependency(line[1:], REGISTERS)
    text = Path(file).read_text()
    assert REGISTERS.name not in text
    # Make still reads it, with the rest.
    made = subprocess.run(["make", "-npf", file], capture_output=True, text=True)
    (rule,) = (line for line in made.stdout.split("\n") if line.startswith(("a.o:", "b.o:")))
    assert {"a.c", "a.h"} <= set(rule.split())


def test_dependencies_that_are_all_that_is_asked() -> None:
    assert asks_only_for_them(["-MM", "a.c"]) and asks_only_for_them(["-M", "a.c"])
    assert not asks_only_for_them(["-MMD", "-c", "a.c"])
