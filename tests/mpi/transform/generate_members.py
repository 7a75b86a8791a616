"""Random C programs whose exchange and step are given an object with fields, buffers and requests.

The faces are packed and unpacked by their numbers, the requests are members, pointed at, local
arrays or single ones, the exchange returns a constant or nothing, and the object is local or made
by a routine. In some programs a routine touches the interior, sizes change, or arrays are shared:
what is divided then must be divided elsewhere, or not at all.
"""

from __future__ import annotations

import random

from generate_faces import CHECK, HEAD, MAIN  # type: ignore[import-not-found]

ROUTINES = """#define AT_{k}(g, i, j) ((i) * ((g)->ny + 2) + (j))
struct grid_{k} {{
    int nx, ny, ld, nbr[4], len[4];
    double *u, *v, *out[4], *in[4];
    {requests}
}};
static int told_{k};
static void touch_{k}(struct grid_{k} *h, int i)
{{
    double *p = h->u{shifted};
    p[i] = 0.5 * p[i] + 0.125;
}}
static void set_{k}(double *p, int i)
{{
    p[i] = 0.25 * p[i] + 0.5;
}}
static void sets_{k}(double *p, int i)
{{
    double *q = p;
    for (int n = 0; n < 2; n++)
        set_{k}(q + n, i);
}}
static void ends_{k}(const struct grid_{k} *g, int f, int ghost, int *low, int *high)
{{
    low[0] = low[1] = 1;
    high[0] = g->nx;
    high[1] = g->ny;
    {ends}
}}
static void pack_{k}(struct grid_{k} *g, int f)
{{
    int n = 0;
    double *b = g->out[f]{also_u};
    {pack}
    {behind_pack}
}}
static void unpack_{k}(struct grid_{k} *g, int f)
{{
    int n = 0;
    double *b = g->in[f]{also_u};
    {unpack}
    {behind_unpack}
}}
static {kind} exchange_{k}(struct grid_{k} *g)
{{
{exchange}
}}
static void step_{k}(struct grid_{k} *g)
{{
    {pointers}
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++)
            {target}[AT_{k}(g, i, j)] = 0.25 * ({source}[AT_{k}(g, i - 1, j)]
                + {source}[AT_{k}(g, i + 1, j)] + {source}[AT_{k}(g, i, j - 1)]
                + {source}[AT_{k}(g, i, j + 1)]);
    {behind_step}
}}
{maker}
static void program_{k}(void)
{{
    {object}
    {g}.ld = {g}.ny + 2;
    {g}.nbr[0] = {low};
    {g}.nbr[1] = {high};
    {g}.nbr[2] = {g}.nbr[3] = {other};
    {g}.len[0] = {g}.len[1] = {g}.ny > 0 ? {g}.ny : 0;
    {g}.len[2] = {g}.len[3] = {g}.nx > 0 ? {g}.nx : 0;
    {arrays}
    for (int f = 0; f < 4; f++) {{
        {g}.out[f] = calloc(20, sizeof(double));
        {g}.in[f] = calloc(20, sizeof(double));
    }}
    for (int i = 0; i < 100; i++) {{
        {g}.u[i] = pool[0][i];
        {g}.v[i] = pool[0][100 + i];
    }}
    {spoil}
    for (int s = 0; s < 3; s++) {{
        {call}
        {between}
        step_{k}({address});
        {behind}
    }}
    for (int i = 0; i < 100; i++) {{
        pool[0][i] += {g}.u[i];
        pool[1][i] += {g}.v[i] + told_{k};
    }}
    for (int f = 0; f < 4; f++)
        for (int i = 0; i < 20; i++)
            pool[1][200 + i] += {g}.out[f][i] + {g}.in[f][i];
    {end}
}}
"""
BY_CHOICE = """if (f / 2 == 0) {{
        int i = f == 0 ? {first} : g->nx{last};
        for (int j = 1; j <= g->ny; j++)
            {copy};
    }} else {{
        int j = f == 2 ? {first} : g->ny{last};
        for (int i = 1; i <= g->nx; i++)
            {copy};
    }}"""
BY_BRANCHES = """int at;
    if (f % 2 == 0)
        at = {first};
    else
        at = (f == 1 ? g->nx : g->ny){last};
    if (f < 2)
        for (int i = at, j = 1; j <= g->ny; j++)
            {copy};
    else
        for (int j = at, i = 1; i <= g->nx; i++)
            {copy};"""
BY_ENDS = """int low[2], high[2];
    ends_{k}(g, f, {ghost}, low, high);
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            {copy};"""
ENDS = (
    """switch (f) {
    case 0:
        low[0] = high[0] = 1 - ghost;
        break;
    case 1:
        low[0] = high[0] = g->nx + ghost;
        break;
    case 2:
        low[1] = high[1] = 1 - ghost;
        break;
    default:
        low[1] = high[1] = g->ny + ghost;
    }""",
    "low[f / 2] = high[f / 2] = f % 2 ? (f == 1 ? g->nx : g->ny) + ghost : 1 - ghost;",
)
# Of what a routine may do besides, mostly to the interior.
BESIDE = (
    "touch_{k}(g, AT_{k}(g, 0, 1));",
    "touch_{k}(g, AT_{k}(g, 2, 2));",
    "if (f == 2)\n        touch_{k}(g, AT_{k}(g, g->nx / 2 + 1, 2));",
    "g->u[AT_{k}(g, g->nx, 1)] *= 0.5;",
    "for (int i = 1; i < 3; i++)\n        touch_{k}(g, AT_{k}(g, i, 3));",
    "g->v[AT_{k}(g, 2, 2)] += 1;",
    "set_{k}(g->u, AT_{k}(g, 0, 1));",
    "double *w = g->u + 3;\n    set_{k}(w, AT_{k}(g, 2, 2));",
    "for (int i = 1; i < 3; i++) {{\n        double *w = g->u + AT_{k}(g, i, 0);\n"
    "        sets_{k}(w, 2);\n    }}",
    "if (f > 1)\n        sets_{k}(g->u, AT_{k}(g, 1, 1));",
)
# Buffers that two messages share at one time would be wrong in the program itself.
SPOIL = ("{g}.v = {g}.u;", "{g}.v = {g}.u + 3;", "{g}.ny -= 1;")
RECEIVE = (
    "MPI_Irecv(g->in[{f}], g->len[{f}], MPI_DOUBLE, g->nbr[{f}], {f} ^ 1, MPI_COMM_WORLD, {r});"
)
SEND = "MPI_Isend(g->out[{f}], g->len[{f}], MPI_DOUBLE, g->nbr[{f}], {f}, MPI_COMM_WORLD, {r});"
BLOCKING = "MPI_Send(g->out[{f}], g->len[{f}], MPI_DOUBLE, g->nbr[{f}], {f}, MPI_COMM_WORLD);"
EXCHANGED = "double *t = {g}u;\n    {g}u = {g}v;\n    {g}v = t;"


class _Program:
    def __init__(self, seed: int) -> None:
        self.k = seed
        self.random = random.Random(seed)

    def _rarely(self) -> bool:
        return self.random.random() < 0.12

    def _faces(self, *, ghost: bool, copy: str) -> str:
        form = self.random.choice((BY_CHOICE, BY_BRANCHES, BY_ENDS))
        first, last = ("0", " + 1") if ghost else ("1", "")
        if self._rarely():
            first = "2"
        return form.format(k=self.k, first=first, last=last, copy=copy, ghost=int(ghost))

    def _requests(self) -> tuple[str, str, list[str], str]:
        """The member, what the routine declares, the requests, and the wait for all."""
        kind = self.random.choice(("member", "pointed", "local", "counted", "single"))
        array = {"member": "g->req", "pointed": "g->req"}.get(kind, "r")
        member = {"member": "MPI_Request req[8];", "pointed": "MPI_Request *req;"}
        declared = {
            "local": "    MPI_Request r[8];\n",
            "counted": "    MPI_Request r[8];\n    int c = 0;\n",
        }
        names = [f"&{array}[{n}]" for n in range(8)]
        if kind == "counted":
            names = ["&r[c++]"] * 8
        if kind == "single":
            names = [f"&r{n}" for n in range(8)]
            list_of = ", ".join(f"r{n}{' = MPI_REQUEST_NULL' * self._rarely()}" for n in range(8))
            declared["single"] = f"    MPI_Request {list_of};\n"
        count = "c" if kind == "counted" else "8"
        wait = f"    MPI_Waitall({count}, {array}, MPI_STATUSES_IGNORE);\n"
        if kind == "single":
            wait = "".join(f"    MPI_Wait({name}, MPI_STATUS_IGNORE);\n" for name in names)
        self.pointed = kind == "pointed"
        return member.get(kind, ""), declared.get(kind, ""), names, wait

    def _exchange(self) -> tuple[str, str]:
        draw = self.random
        member, declared, names, wait = self._requests()
        loops = names[0].startswith(("&g->", "&r[")) and draw.random() < 0.6
        text = declared
        if loops:
            base = names[0].partition("[")[0]
            first, second = ("c++", "c++") if "c++" in names[0] else ("f", "4 + f")
            each = "    for (int f = 0; f < 4; f++)"
            text += f"{each}\n        {RECEIVE.format(f='f', r=f'{base}[{first}]')}\n"
            text += f"{each} {{\n        pack_{self.k}(g, f);\n"
            text += f"        {SEND.format(f='f', r=f'{base}[{second}]')}\n    }}\n"
        else:
            for f in range(4):
                text += f"    {RECEIVE.format(f=f, r=names[f])}\n"
            for f in range(4):
                text += f"    pack_{self.k}(g, {f});\n    {SEND.format(f=f, r=names[4 + f])}\n"
        text += wait
        if draw.random() < 0.7:
            text += f"    for (int f = 0; f < 4; f++)\n        unpack_{self.k}(g, f);\n"
        else:
            text += "".join(f"    unpack_{self.k}(g, {f});\n" for f in range(4))
        return member, text

    def text(self) -> str:
        draw, k = self.random, self.k
        member, exchange = self._exchange()
        by_pointer = draw.random() < 0.4
        field = "u" if by_pointer else "g->u"
        value = draw.choice(("", "return 0;", "return MPI_SUCCESS;"))
        asked = bool(value) and self._rarely()
        local = draw.random() < 0.6
        g = "g" if local else "(*g)"
        sizes = draw.choices((1, 2, 5, 6), weights=(1, 2, 3, 3), k=2)
        behind = draw.choice((0, 1, 1, 2))  # where the arrays change places
        stepped = draw.random() < 0.4
        call = f"exchange_{k}({'&g' if local else 'g'});"
        listed = f"{{.nx = {sizes[0]}, .ny = {sizes[1]}, .u = calloc(120, sizeof(double)), "
        listed = f"struct grid_{k} g = {listed}.v = calloc(120, sizeof(double))}};"
        plain = f"struct grid_{k} g;\n    g.nx = {sizes[0]};\n    g.ny = {sizes[1]};"
        begun = local and draw.random() < 0.5
        arrays = f"{g}.u = calloc(120, sizeof(double));\n    {g}.v = calloc(120, sizeof(double));"
        if self.pointed:
            arrays = f"{g}.req = malloc(8 * sizeof(MPI_Request));\n    " + (arrays * (not begun))
        elif begun:
            arrays = ""
        maker = "" if local else (
            f"static struct grid_{k} *make_{k}(int nx, int ny)\n{{\n"
            f"    struct grid_{k} *g = malloc(sizeof *g);\n    g->nx = nx;\n    g->ny = ny;\n"
            "    return g;\n}"
        )  # fmt: skip
        made = f"struct grid_{k} *g = make_{k}({sizes[0]}, {sizes[1]});"
        ring = draw.random() < 0.5
        spoil = draw.choice(SPOIL) if self._rarely() else ""
        kept = local or ".v = " in spoil or draw.random() < 0.3
        ended = "" if kept else "free(g->u);\n    free(g->v);\n    free(g);"

        def beside(share: float) -> str:
            return draw.choice(BESIDE).format(k=k) if draw.random() < share else ""

        return ROUTINES.format(
            k=k,
            requests=member,
            shifted=draw.choice(("", "", " + 1")),
            ends=draw.choice(ENDS),
            also_u=", *u = g->u" if by_pointer else "",
            pack=self._faces(ghost=False, copy=f"b[n++] = {field}[AT_{k}(g, i, j)]"),
            unpack=self._faces(ghost=True, copy=f"{field}[AT_{k}(g, i, j)] = b[n++]"),
            behind_pack=beside(0.1),
            behind_unpack=beside(0.25),
            kind="int" if value else "void",
            exchange=exchange + (f"    {value}" if value else ""),
            pointers="double *u = g->u, *v = g->v;" if stepped else "",
            source="u" if stepped else "g->u",
            target="v" if stepped else "g->v",
            behind_step=EXCHANGED.format(g="g->") if behind == 1 else "",
            maker=maker,
            object=(listed if begun else plain) if local else made,
            g=g,
            address="&g" if local else "g",
            low="1 - rank" if ring else "rank ? 0 : MPI_PROC_NULL",
            high="1 - rank" if ring else "rank ? MPI_PROC_NULL : 1",
            other=draw.choice(("rank", "1 - rank", "MPI_PROC_NULL")),
            arrays=arrays,
            spoil=spoil.format(g=g),
            call=f"told_{k} += {call}" if asked else call,
            between="work(pool[1]);" if draw.random() < 0.5 else "",
            behind=EXCHANGED.format(g=f"{g}.") if behind == 2 else "",
            end=ended,
        )


def source(seeds: list[int]) -> str:
    """One program that runs the random exchange of each seed in turn."""
    routines = [_Program(number).text() for number in seeds]
    calls = [CHECK.format(number=number) for number in seeds]
    return HEAD + "\n" + "\n".join(routines) + MAIN.format(calls="\n".join(calls))
