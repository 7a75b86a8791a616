"""Exchange and step of objects that an expression picks: elements, members, what pointers name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.test_cxx_methods import rewritten, text_of

pytestmark = pytest.mark.slow

ARRAY = """Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; int k = argc % 3, j = 1;"""
VECTOR = """Heat h(argc, MPI_COMM_WORLD); std::vector<Heat> many(3, h), others(3, h);
int k = argc % 3, j = 1;"""
GOES: dict[str, dict[str, str]] = {
    "an array": {
        "objects": ARRAY,
        "calls": "for (k = 0; k < 3; k++) { many[k].exchange(); many[k].step(); many[k].turn(); }",
    },
    "an element of it": {
        "objects": ARRAY,
        "calls": "many[t % 3].exchange(); many[t % 3].step(); many[t % 3].turn();",
    },
    "a vector": {
        "objects": VECTOR,
        "calls": "for (k = 0; k < 3; k++) { many[k].exchange(); many[k].step(); many[k].turn(); }",
    },
    "a loop over it": {
        "objects": VECTOR,
        "calls": "for (auto &g : many) { g.exchange(); g.step(); g.turn(); }",
    },
    "a loop over an array": {
        "objects": ARRAY,
        "calls": "for (Heat &g : many) { g.exchange(); g.step(); g.turn(); }",
    },
    "a reference to an element": {
        "objects": ARRAY,
        "calls": "Heat &g = many[t % 3]; g.exchange(); g.step(); g.turn();",
    },
    "a reference into a vector": {
        "objects": VECTOR,
        "calls": "Heat &g = many[t % 3]; g.exchange(); g.step(); g.turn();",
    },
    "members": {
        "below": "class Two { public: Two(int n) : left(n, MPI_COMM_WORLD), right(n, "
        "MPI_COMM_WORLD) {} void go() { this->left.exchange(); this->left.step(); "
        "this->left.turn(); right.exchange(); right.step(); right.turn(); } Heat left, "
        "right; };",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Two two(argc);",
        "calls": "two.go();",
    },
    "a member that is an array": {
        "below": "class Two { public: Two(int n) : part{{n, MPI_COMM_WORLD}, {n, "
        "MPI_COMM_WORLD}} {} void go() { for (int k = 0; k < 2; k++) { "
        "part[k].exchange(); part[k].step(); part[k].turn(); } } Heat part[2]; };",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Two two(argc);",
        "calls": "two.go();",
    },
    "a member that is a vector": {
        "below": "class Two { public: Two(int n) : part(2, Heat(n, MPI_COMM_WORLD)) {} void go() "
        "{ for (int k = 0; k < 2; k++) { part[k].exchange(); part[k].step(); "
        "part[k].turn(); } } std::vector<Heat> part; };",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Two two(argc);",
        "calls": "two.go();",
    },
    "a vector that was filled": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); std::vector<Heat> many; int k; for (k = 0; k < "
        "3; k++) many.emplace_back(argc, MPI_COMM_WORLD);",
        "calls": "for (k = 0; k < int(many.size()); k++) { many[k].exchange(); many[k].step(); "
        "many[k].turn(); }",
    },
    "an array of the library": {
        "above": "#include <array>",
        "objects": "Heat h(argc, MPI_COMM_WORLD); std::array<Heat, 2> many = {h, h};",
        "calls": "for (int k = 0; k < 2; k++) { many[k].exchange(); many[k].step(); }",
    },
    "a pointer that owns": {
        "above": "#include <memory>",
        "objects": "Heat h(argc, MPI_COMM_WORLD); auto p = std::make_unique<Heat>(argc, "
        "MPI_COMM_WORLD);",
        "calls": "p->exchange(); p->step(); p->turn();",
    },
    "a pointer to a new one": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat *p = new Heat(argc, MPI_COMM_WORLD);",
        "calls": "p->exchange(); p->step(); p->turn();",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "index set between": {
        "objects": ARRAY,
        "calls": "many[k].exchange(); k = 2 - k; many[k].step(); h.turn();",
    },
    "two indices": {
        "objects": ARRAY,
        "calls": "many[k].exchange(); many[j].step(); h.turn();",
    },
    "index stepped": {
        "objects": ARRAY,
        "calls": "many[k++ % 3].exchange(); many[k % 3].step(); h.turn();",
    },
    "index stepped in both": {
        "objects": ARRAY,
        "calls": "many[k++ % 3].exchange(); many[k++ % 3].step(); h.turn();",
    },
    "step sets index": {
        "above": "static int k;",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; int j = 1;",
        "body": "k = i % 3; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "exchange sets index": {
        "above": "static int k;",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; int j = 1;",
        "requests": "MPI_Request r[4]; k = 1 - k;",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "exchange sets index late": {
        "above": "static int k;",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; int j = 1;",
        "result": "k = 1 - k;",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "pointers exchanged": {
        "objects": ARRAY + " Heat *p[2] = {&many[0], &many[1]};",
        "calls": "p[0]->exchange(); std::swap(p[0], p[1]); p[0]->step(); h.turn();",
    },
    "pointer set between": {
        "objects": ARRAY + " Heat *p[2] = {&many[0], &many[1]};",
        "calls": "p[0]->exchange(); p[0] = &many[j]; p[0]->step(); h.turn();",
    },
    "pointer set in step": {
        "above": "class Heat;\nstatic Heat *p[2];",
        "objects": ARRAY + " p[0] = &many[0]; p[1] = &many[1];",
        "body": "p[0] = p[1]; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "p[0]->exchange(); p[0]->step(); h.turn();",
    },
    "a pointer set where another leads": {
        "above": "class Heat;\nstatic Heat **p;",
        "objects": ARRAY + " Heat *q[2] = {&many[0], &many[1]}; p = q;",
        "body": "p[0] = p[1]; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "p[0]->exchange(); p[0]->step(); h.turn();",
    },
    "a pointer that another names": {
        "above": "class Heat;\nstatic Heat **p;",
        "objects": ARRAY + " Heat *q = &many[0]; p = &q;",
        "body": "*p = nullptr; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "(*p)->exchange(); (*p)->step(); h.turn();",
    },
    "an object where a pointer leads, which is set": {
        "above": "class Heat;\nstatic Heat *p;",
        "objects": ARRAY + " p = many;",
        "body": "p++; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "p[1].exchange(); p[1].step(); h.turn();",
    },
    "an index in an object": {
        "above": "static struct { int now; } chosen;",
        "objects": ARRAY,
        "body": "chosen.now = 0; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "many[chosen.now].exchange(); many[chosen.now].step(); h.turn();",
    },
    "an index that another object has": {
        "above": "struct Now { int at; };\nstatic Now *now;",
        "objects": ARRAY + " Now one{1}; now = &one;",
        "body": "now->at = 0; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "many[one.at].exchange(); many[one.at].step(); h.turn();",
    },
    "two pointers": {
        "objects": ARRAY + " Heat *p[2] = {&many[0], &many[0]};",
        "calls": "p[0]->exchange(); p[1]->step(); h.turn();",
    },
    "pushed": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); many.push_back(h); many[k].step(); h.turn();",
    },
    "assigned": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); many = others; many[k].step(); h.turn();",
    },
    "swapped": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); many.swap(others); many[k].step(); h.turn();",
    },
    "std swapped": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); std::swap(many, others); many[k].step(); h.turn();",
    },
    "elements swapped": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); std::swap(many[0], many[1]); many[k].step(); h.turn();",
    },
    "element assigned": {
        "objects": VECTOR,
        "calls": "many[k].exchange(); many[k] = h; many[k].step(); h.turn();",
    },
    "element of array assigned": {
        "objects": ARRAY,
        "calls": "many[k].exchange(); many[k] = h; many[k].step(); h.turn();",
    },
    "array element moved": {
        "objects": ARRAY,
        "calls": "many[k].exchange(); many[k] = std::move(h); many[k].step(); h.turn();",
    },
    "own container": {
        "above": "static int calls; template <class T> struct Box { T *p; T &operator[](int i) { "
        "calls++; return p[i]; } };",
        "objects": ARRAY + " Box<Heat> box{many};",
        "calls": "box[k].exchange(); box[k].step(); h.turn();",
    },
    "own container plain": {
        "above": "static int calls; class Heat; struct Box { Heat *p; Heat &operator[](int i); };",
        "below": "Heat &Box::operator[](int i) { calls++; return p[i]; }",
        "objects": ARRAY + " Box box{many};",
        "calls": "box[k].exchange(); box[k].step(); h.turn();",
    },
    "own arrow": {
        "above": "static int calls; class Heat; struct Box { Heat *p; Heat *operator->(); };",
        "below": "Heat *Box::operator->() { calls++; return p; }",
        "objects": ARRAY + " Box box{many};",
        "calls": "box->exchange(); box->step(); h.turn();",
    },
    "map": {
        "above": "#include <map>",
        "objects": VECTOR + " std::map<int, Heat> box; box.emplace(k, h);",
        "calls": "box.at(k).exchange(); box.at(k).step(); h.turn();",
    },
    "reset": {
        "above": "#include <memory>",
        "objects": VECTOR + " auto p = std::make_unique<Heat>(h);",
        "calls": "p->exchange(); p.reset(new Heat(h)); p->step(); h.turn();",
    },
    "reference and object": {
        "objects": ARRAY + " Heat &g = h;",
        "calls": "h.exchange(); g.step(); h.turn();",
    },
    "reference to begun beside": {
        "objects": ARRAY,
        "calls": "Heat w(h); Heat &g = w; g.exchange(); w.step(); h.turn();",
    },
    "reference and element": {
        "objects": ARRAY,
        "calls": "Heat &g = many[k]; g.exchange(); many[k].step(); h.turn();",
    },
    "references": {
        "objects": ARRAY,
        "calls": "Heat &g = many[k]; Heat &f = many[j]; g.exchange(); f.step(); h.turn();",
    },
    "index is volatile": {
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; volatile int k = 1; "
        "int j = 1;",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "index is atomic": {
        "above": "#include <atomic>",
        "objects": "Heat h(argc, MPI_COMM_WORLD); Heat many[3] = {h, h, h}; std::atomic<int> k{1}; "
        "int j = 1;",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "index of a call": {
        "above": "static int at; static int next() { return at++ % 3; }",
        "objects": ARRAY,
        "calls": "many[next()].exchange(); many[next()].step(); h.turn();",
    },
    "index of an array, set": {
        "objects": ARRAY + " int list[3] = {0, 1, 2};",
        "calls": "many[list[k]].exchange(); list[k] = 0; many[list[k]].step(); h.turn();",
    },
    "member assigned": {
        "below": "class Two { public: Two(int n) : left(n, MPI_COMM_WORLD), right(n, "
        "MPI_COMM_WORLD) {} void go() { left.exchange(); left = right; left.step(); } "
        "Heat left, right; };",
        "objects": ARRAY + " Two two(argc);",
        "calls": "two.go();",
    },
    "members": {
        "below": "class Two { public: Two(int n) : left(n, MPI_COMM_WORLD), right(left) {} void "
        "go() { left.exchange(); right.step(); right.turn(); } Heat left; Heat &right; "
        "};",
        "objects": ARRAY + " Two two(argc);",
        "calls": "two.go();",
    },
    "member pointer moved": {
        "below": "class Two { public: Two(Heat &h) : now(&h), next(&h) {} void go() { "
        "now->exchange(); now = next; now->step(); } Heat *now, *next; };",
        "objects": ARRAY + " Two two(h);",
        "calls": "two.go();",
    },
    "member pointer moved by step": {
        "above": "class Heat;\nstatic Heat **slot;",
        "below": "class Two { public: Two(Heat &h) : now(&h), next(&h) {} void go() { slot = "
        "&now; now->exchange(); now->step(); } Heat *now, *next; };",
        "body": "*slot = nullptr; v[AT(i, j)] = u[AT(i - 1, j)];",
        "objects": ARRAY + " Two two(h);",
        "calls": "two.go();",
    },
    "index through pointer": {
        "above": "static int *ip;",
        "objects": ARRAY + " ip = &k;",
        "body": "*ip = 0; v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "container grows in step": {
        "above": "#include <vector>\nclass Heat;\nstatic std::vector<Heat> *all; void grow();",
        "below": "void grow() { all->push_back(all->front()); }",
        "objects": VECTOR + " all = &many;",
        "body": "grow(); v[AT(i, j)] = u[AT(i - 1, j)];",
        "calls": "many[k].exchange(); many[k].step(); h.turn();",
    },
    "range, by value": {
        "objects": VECTOR,
        "calls": "for (auto g : many) { g.exchange(); g.step(); g.turn(); }",
    },
    "range, another": {
        "objects": VECTOR,
        "calls": "for (auto &g : many) { g.exchange(); many[0].step(); g.turn(); }",
    },
    "in a loop to the next": {
        "objects": ARRAY,
        "calls": "for (int k = 0; k < 2; k++) { many[k].exchange(); many[k + 1].step(); }",
    },
}


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    text = rewritten(text_of(GOES[name]), tmp_path)
    names = ["exchange_start(", "step_interior(", "exchange_finish(", "step_boundary("]
    last = [text.rindex(part) for part in names]
    assert last == sorted(last)
    assert text.count("int i = 2; i <= ") == 1
    assert rewritten(text, tmp_path) == text


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(text_of(STAYS[name]), tmp_path)
    assert "step_interior" not in text and "exchange_start" not in text
