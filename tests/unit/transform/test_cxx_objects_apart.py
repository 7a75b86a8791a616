"""Strings, streams and times of the C++ library hold no request and no array of the program's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten

PROGRAM = """#include <mpi.h>
#include <chrono>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
static int left = 0, right = 0;
static void begin(double *u, int to, int from, MPI_Request *r, MPI_Request *q)
{{
    MPI_Irecv(&u[to], 5, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, r);
    MPI_Isend(&u[from], 5, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, q);
}}
static void each(double *x, double *y)
{{
    MPI_Request r[4];
    int n = 0;
    begin(x, 380, 10, &r[n], &r[n + 1]);
    n += 2;
    begin(y, 380, 10, &r[n], &r[n + 1]);
    n += 2;
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    {in_each}
}}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    const int n = 400;
    std::vector<double> u(n, 1.0), v(n, 2.0), w(n, 3.0);
    for (int it = 0; it < 10; it++) {{
        each(u.data(), v.data());
        for (int i = 0; i < n; i++) w[i] = 0.5 * w[i] + 0.25;
        for (int i = 1; i < n - 1; i++) w[i] += u[i - 1] * v[i + 1];
    }}
    {code}
    std::cout << w[3] << std::endl;
    MPI_Finalize();
    return 0;
}}
"""
GO = (
    'std::string name = "it"; name += "x"; std::cout << name;',
    'std::string name = "a" + std::to_string(n) + ".txt"; std::ofstream log(name); log << n;',
    "std::ostringstream text; text << std::setw(10) << w[0]; std::cout << text.str();",
    "auto start = std::chrono::steady_clock::now(); std::chrono::duration<double> gone = "
    "std::chrono::steady_clock::now() - start; std::cout << gone.count();",
    'if (argc > 1 && std::string(argv[1]) == "-v") std::cout << n;',
    'std::ifstream in("x"); std::string line; while (std::getline(in, line)) std::cout << line;',
    'std::map<std::string, double> gone; gone["a"] = MPI_Wtime(); gone["b"] += gone["a"]; '
    "w[1] = gone[std::to_string(n)];",
    "std::mt19937 engine(3); std::uniform_real_distribution<double> any(0.0, 1.0); "
    "w[1] = any(engine);",
    'if (w[0] < 0) throw std::runtime_error(std::string("bad ") + argv[0]);',
)
# What is a container, or names memory of the program, may hold what the program put there.
STAY = (
    ("std::vector<MPI_Request> saved(r, r + n), more = saved; MPI_Test(&more[0], &n, "
     "MPI_STATUS_IGNORE);", ""),
    ("std::function<void()> late = [&r]() { r[0] = r[1]; }; late();", ""),
    ("std::reference_wrapper<MPI_Request> one(r[0]); one.get() = r[1];", ""),
)  # fmt: skip


@pytest.mark.parametrize("code", GO)
def test_they_are_apart(code: str, tmp_path: Path) -> None:
    text = PROGRAM.format(code=code, in_each="")
    assert "each_start(" in rewritten(tmp_path / "p.cpp", text)


@pytest.mark.parametrize(("in_each", "code"), STAY)
def test_others_may_hold_a_request(in_each: str, code: str, tmp_path: Path) -> None:
    text = PROGRAM.format(code=code, in_each=in_each)
    assert "each_start(" not in rewritten(tmp_path / "p.cpp", text)


BETWEEN = """#include <mpi.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>
#include <algorithm>
#include <string>
static double u[1000], v[1000];
static std::map<std::string, double> gone;
static std::map<int, int> counts;
static std::chrono::steady_clock::time_point since;
static void note(const std::string &name, double x) {{ gone[name] += x; }}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    double in = 0.0, sum = 0.0;
    {message}
    {code}
    for (int i = 1; i < 999; i++)
        v[i] = u[i - 1] + 1.0;
    {use}
    std::printf("%g %g %g\\n", in, sum, v[3] + gone["in"]);
    MPI_Finalize();
    return 0;
}}
"""
RECEIVED = """MPI_Request r;
    MPI_Irecv({to}, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);"""
PASSED = (
    *("v[3] = std::max(u[1], 2.0);", "v[3] = std::min({u[1], u[2], 3.0});"),
    *("v[3] = std::pow(u[1], 2);", "sum = std::numeric_limits<double>::max();"),
    *("v[3] = std::clamp(u[1], 0.0, 1.0);", "v[3] = std::max(1, std::min(argc, 3));"),
    *("v[std::gcd(argc, 3)] = 1.0;", "v[3] = std::atan2(u[1], 1);"),
    *('gone["a"] += 1.0;', 'note("a", u[1]);', 'note("a" + std::to_string(argc), u[1]);'),
    "since = std::chrono::steady_clock::now();",
    "auto t0 = std::chrono::steady_clock::now(); v[3] += 1.0; std::chrono::duration<double> t1 = "
    "std::chrono::steady_clock::now() - t0; sum += t1.count();",
    "auto t0 = std::chrono::steady_clock::now(); sum += std::chrono::duration<double>("
    "std::chrono::steady_clock::now() - t0).count();",
)
# A map of what may be a request, and what keeps a reference to one of two numbers.
NOT_PASSED = ("counts[argc] += 1;", "const double &x = std::max(in, sum); v[3] = x;")


@pytest.mark.parametrize("code", PASSED)
def test_a_message_passes_them(code: str, tmp_path: Path) -> None:
    text = BETWEEN.format(message=RECEIVED.format(to="&in"), code=code, use="sum += in;")
    after = rewritten(tmp_path / "p.cpp", text)
    assert after.index("MPI_Wait(") > after.index("v[i] = u[i - 1]")


@pytest.mark.parametrize("code", NOT_PASSED)
def test_a_message_does_not_pass_them(code: str, tmp_path: Path) -> None:
    text = BETWEEN.format(message=RECEIVED.format(to="&in"), code=code, use="sum += in;")
    after = rewritten(tmp_path / "p.cpp", text)
    assert after.index("MPI_Wait(") < after.index(code)


@pytest.mark.parametrize("code", ['gone["a"] += 1.0;', 'note("a", u[1]);', 'sum += gone["in"];'])
@pytest.mark.parametrize("to", ['&gone["in"]', "of"])
def test_what_comes_into_a_map_is_waited_for(code: str, to: str, tmp_path: Path) -> None:
    message = 'double *of = &gone["in"];\n    ' + RECEIVED.format(to=to)
    text = BETWEEN.format(message=message, code=code, use="")
    after = rewritten(tmp_path / "p.cpp", text)
    assert after.index("MPI_Wait(") < after.index(code)


TEXT = """#include <mpi.h>
#include <iostream>
#include <string>
static double w[2000];
static void work()
{{
    for (int i = 0; i < 2000; i++) w[i] = 0.5 * w[i] + 0.25;
}}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    std::string in(20, ' ');
    char *to = {to};
    MPI_Request r;
    MPI_Irecv(to, 20, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    work();
    {use}
    work();
    std::cout << in << w[3] << std::endl;
    MPI_Finalize();
    return 0;
}}
"""


@pytest.mark.parametrize("to", ["&in[0]", "const_cast<char *>(in.data())"])
@pytest.mark.parametrize(
    "use", ["std::cout << in;", 'std::string copy = in + "x";', "std::string copy(in);"]
)
def test_text_that_is_received_is_waited_for(to: str, use: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.cpp", TEXT.format(to=to, use=use))
    assert text.index("MPI_Wait(") < text.index(use)
