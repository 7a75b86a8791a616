"""One array of C as elements in one routine and in lines in another: what they touch of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

C = (Path(__file__).parent / "cases" / "given_lines.c").read_text()
FIRST = C[: C.index("    double (*x)[w]")] + '    printf("%.15g\\n", first);\n    return 0;\n}\n'
SECOND = C[: C.index("    double *u = malloc")] + "    double first = 0;\n"
SECOND += C[C.index("    double (*x)[w]") :].replace("    free(u);\n    free(v);\n", "")
POST = "        post(n, w, x[0]);\n"
RELAX = "        relax(n, w, (double (*)[w])u, (double (*)[w])v);\n"
SMOOTH = "        smooth(n, w, &y[0][0], &x[0][0]);\n"
INTO = (
    "    for (int i = 1; i <= n; i++)\n        for (int j = 1; j < w - 1; j++)\n            v[i * w"
)

# What is changed where the array is one of elements; the step that is divided.
ELEMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "lines": ("relax_interior", {}),
    "elements": ("smooth_interior", {}),
    "from an element on": (
        "relax_interior",
        {
            "post(n, w, u);": "post(n - 1, w, &u[w]);",
            "relax(n, w, (double (*)[w])u": "relax(n - 1, w, (double (*)[w])(u + w)",
        },
    ),
    "of another type": ("relax_interior", {RELAX: RELAX.replace("(double (*)[w])", "(void *)")}),
}
ELEMENTS_STAY: dict[str, tuple[str, dict[str, str]]] = {
    "longer lines": ("relax_interior", {RELAX: RELAX.replace("relax(n, w", "relax(n, w + 1")}),
    "longer messages": ("relax_interior", {"post(n, w, u)": "post(n, w + 1, u)"}),
    "lines that begin elsewhere": (
        "relax_interior",
        {RELAX: RELAX.replace("(double (*)[w])u", "(double (*)[w])(u + w / 2)")},
    ),
    "lines that it leaves": ("smooth_interior", {INTO: INTO.replace("j < w - 1", "j < 2 * w")}),
}
LINES: dict[str, tuple[str, dict[str, str]]] = {
    "lines": ("relax_interior", {}),
    "elements": ("smooth_interior", {}),
    "from a line on": (
        "relax_interior",
        {
            POST: POST.replace("n, w, x[0]", "n - 1, w, x[1]"),
            "relax(n, w, x, y)": "relax(n - 1, w, &x[1], y)",
        },
    ),
    "messages of the second line on": (
        "for (int i = 3; i <= n; i++)",
        {POST: POST.replace("x[0]", "x[1]")},
    ),
    "the first element": ("relax_interior", {POST: POST.replace("x[0]", "&x[0][0]")}),
    "of another type": ("relax_interior", {POST: POST.replace("x[0]", "(double *)x")}),
}
LINES_STAY: dict[str, tuple[str, dict[str, str]]] = {
    "messages that begin in a line": ("relax_interior", {POST: POST.replace("x[0]", "&x[0][1]")}),
    "shorter messages": ("relax_interior", {POST: POST.replace("w, x", "w - 1, x")}),
    "shorter lines": ("smooth_interior", {SMOOTH: SMOOTH.replace("n, w", "n, w - 1")}),
    "elements from the middle on": (
        "smooth_interior",
        {SMOOTH: SMOOTH.replace("&y[0][0]", "&y[0][w / 2]")},
    ),
    "lines that it leaves": ("smooth_interior", {INTO: INTO.replace("j < w - 1", "j < 2 * w")}),
    "the lines before": ("smooth_interior", {INTO: INTO.replace("j = 1", "j = -w")}),
}


@pytest.mark.parametrize(("sign", "replaced"), ELEMENTS.values(), ids=ELEMENTS)
def test_elements(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign in rewritten(tmp_path / "given_lines.c", changed(FIRST, replaced))


@pytest.mark.parametrize(("sign", "replaced"), ELEMENTS_STAY.values(), ids=ELEMENTS_STAY)
def test_elements_that_stay(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign not in rewritten(tmp_path / "given_lines.c", changed(FIRST, replaced))


@pytest.mark.parametrize(("sign", "replaced"), LINES.values(), ids=LINES)
def test_lines(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign in rewritten(tmp_path / "given_lines.c", changed(SECOND, replaced))


@pytest.mark.parametrize(("sign", "replaced"), LINES_STAY.values(), ids=LINES_STAY)
def test_lines_that_stay(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign not in rewritten(tmp_path / "given_lines.c", changed(SECOND, replaced))
