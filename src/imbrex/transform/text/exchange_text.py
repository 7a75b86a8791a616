"""The functions of C by which an MPI_Alltoallv goes on as messages while its pieces are used.

Each rank sends to the rank `step` behind it and receives from the one `step` in front, some steps
at a time, as libraries do inside the collective. The messages go through a communicator of their
own, so that none of the program's receives, and no probe, can take one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

AHEAD = 8  # steps whose messages are under way at the same time

_TEMPLATE = """\
/* An MPI_Alltoallv as messages: each piece is used once it has come, while others travel. */
enum {{ {ahead} = {depth} }}; /* steps that are under way */
{kept}static struct {{
    int size, rank, step, in_turn;
    const {element} *send;
    const int *send_counts, *send_displs;
    {element} *receive;
    const int *receive_counts, *receive_displs;
    MPI_Datatype datatype;
    MPI_Request requests[2 * {ahead}];
}} {state};

static void {post}(int step)
{{
    if (step >= {state}.size)
        return;
    int to = ({state}.rank + step) % {state}.size;
    int from = ({state}.rank - step + {state}.size) % {state}.size;
    const {element} *{alone}sent = {state}.send + {state}.send_displs[to];
    {element} *{alone}came = {state}.receive + {state}.receive_displs[from];
    MPI_Request *requests = &{state}.requests[2 * (step % {ahead})];
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    if (step > 0 && {state}.receive_counts[from] > 0)
        MPI_Irecv(came, {state}.receive_counts[from], {state}.datatype,
                  from, 0, {comm}, &requests[0]);
    if (step > 0 && {state}.send_counts[to] > 0)
        MPI_Isend(sent, {state}.send_counts[to], {state}.datatype,
                  to, 0, {comm}, &requests[1]);
    for (int i = 0; step == 0 && i < {state}.send_counts[to]; i++)
        came[i] = sent[i];
}}

static void {begin}(const {element} *send, const int *send_counts, const int *send_displs,
    {element} *receive, const int *receive_counts, const int *receive_displs,
    MPI_Datatype datatype{given})
{{
{own}    MPI_Comm_size({comm}, &{state}.size);
    MPI_Comm_rank({comm}, &{state}.rank);
    {state}.step = 0;
    {state}.send = send;
    {state}.send_counts = send_counts;
    {state}.send_displs = send_displs;
    {state}.receive = receive;
    {state}.receive_counts = receive_counts;
    {state}.receive_displs = receive_displs;
    {state}.datatype = datatype;
    for (int step = 0; step < {ahead}; step++)
        {post}(step);
}}

/* Whether there is one more piece: of iterations low to high - 1, of {width} each, those from
   span[0] to span[1] - 1. Where the pieces do not follow each other so, the last one is all. */
static int {piece}({index} low, {index} high, {index} *span)
{{
    int step = {state}.step++, size = {state}.size;
    if (step >= size)
        return 0;
    int from = ({state}.rank - step + size) % size;
    MPI_Wait(&{state}.requests[2 * (step % {ahead})], MPI_STATUS_IGNORE);
    MPI_Wait(&{state}.requests[2 * (step % {ahead}) + 1], MPI_STATUS_IGNORE);
    {post}(step + {ahead});
    if (step == 0) {{
        long next = {wide}{long}low;
        {state}.in_turn = 1;
        for (int i = 0; i < size; i++) {{
            if ({state}.receive_displs[i] != next{whole})
                {state}.in_turn = 0;
            next = (long){state}.receive_displs[i] + {state}.receive_counts[i];
        }}
        if (next != {wide}{long}high)
            {state}.in_turn = 0;
    }}
    int last = step == size - 1;
    span[0] = low;
    span[1] = last ? high : low;
    if ({state}.in_turn) {{
        span[0] = {state}.receive_displs[from]{parts};
        span[1] = span[0] + {state}.receive_counts[from]{parts};
    }}
    return 1;
}}

"""

_KEPT_WORLD = """\
static MPI_Comm {comm} = MPI_COMM_NULL;
"""
_OWN_WORLD = """\
    if ({comm} == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &{comm});
"""
# A duplicate goes with its communicator, of which a program may have several.
_KEPT = """\
static MPI_Comm {comm};
static int {key} = MPI_KEYVAL_INVALID;

static int {free}(MPI_Comm of, int key, void *own, void *extra)
{{
    (void)of, (void)key, (void)extra;
    MPI_Comm_free({cast});
    {release};
    return MPI_SUCCESS;
}}

"""
_OWN = """\
    MPI_Comm *own;
    int known;
    if ({key} == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, {free}, &{key}, NULL);
    MPI_Comm_get_attr(of, {key}, &own, &known);
    if (!known) {{
        own = {made};
        MPI_Comm_dup(of, own);
        MPI_Comm_set_attr(of, {key}, own);
    }}
    {comm} = *own;
"""


@dataclass(frozen=True, slots=True)
class ExchangeNames:
    """The names that the functions and what they share have in the file."""

    ahead: str = "imbrex_ahead"
    comm: str = "imbrex_comm"
    state: str = "imbrex_pieces"
    post: str = "imbrex_post"
    begin: str = "imbrex_exchange"
    piece: str = "imbrex_piece"
    span: str = "imbrex_span"
    key: str = "imbrex_key"
    free: str = "imbrex_free"

    @property
    def functions(self) -> tuple[str, ...]:
        return self.post, self.begin, self.piece, self.free


def exchange_functions(
    names: ExchangeNames,
    types: tuple[str, str],
    width: int,
    *,
    world: bool,
    cxx: bool,
) -> str:
    """Their text, to stand at the top level of a file.

    `types`: of the elements, and of the loop's index; `width`: elements that an iteration uses;
    `world`: the communicator is MPI_COMM_WORLD, else one that is given to the function that begins.
    """
    element, index = types
    wide = width > 1
    known = asdict(names) | {
        "element": element,
        "index": index,
        "long": "" if index == "int" else "(long)",
        "depth": AHEAD,
        "alone": "" if cxx else "restrict ",
        "width": f"{width} elements" if wide else "one element",
        "wide": f"{width}L * " if wide else "",
        "whole": f" || next % {width} != 0" if wide else "",
        "parts": f" / {width}" if wide else "",
        "given": "" if world else ", MPI_Comm of",
        "cast": "static_cast<MPI_Comm *>(own)" if cxx else "own",
        "release": "delete static_cast<MPI_Comm *>(own)" if cxx else "free(own)",
        "made": "new MPI_Comm" if cxx else "malloc(sizeof *own)",
    }
    kept, own = (_KEPT_WORLD, _OWN_WORLD) if world else (_KEPT, _OWN)
    return _TEMPLATE.format(kept=kept.format(**known), own=own.format(**known), **known)
