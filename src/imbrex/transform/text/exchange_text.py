"""The functions of C by which an MPI_Alltoallv goes on as messages while its pieces are used.

Each rank sends to the rank `step` behind it and receives from the one `step` in front, some steps
at a time, as libraries do inside the collective. The messages go through a communicator of their
own, so that none of the program's receives, and no probe, can take one.
"""

from __future__ import annotations

from dataclasses import dataclass

AHEAD = 8  # steps whose messages are under way at the same time

_TEMPLATE = """\
/* An MPI_Alltoallv as messages: each piece is used once it has come, while others travel. */
enum {{ {ahead} = {depth} }}; /* steps that are under way */
static MPI_Comm {comm} = MPI_COMM_NULL;
static struct {{
    int size, rank, step, in_turn;
    const {element} *send;
    const int *send_counts, *send_displs;
    {element} *receive;
    const int *receive_counts, *receive_displs;
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
        MPI_Irecv(came, {state}.receive_counts[from], {datatype}, from, 0, {comm},
                  &requests[0]);
    if (step > 0 && {state}.send_counts[to] > 0)
        MPI_Isend(sent, {state}.send_counts[to], {datatype}, to, 0, {comm},
                  &requests[1]);
    for (int i = 0; step == 0 && i < {state}.send_counts[to]; i++)
        came[i] = sent[i];
}}

static void {begin}(const {element} *send, const int *send_counts, const int *send_displs,
    {element} *receive, const int *receive_counts, const int *receive_displs)
{{
    if ({comm} == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &{comm});
    MPI_Comm_size({comm}, &{state}.size);
    MPI_Comm_rank({comm}, &{state}.rank);
    {state}.step = 0;
    {state}.send = send;
    {state}.send_counts = send_counts;
    {state}.send_displs = send_displs;
    {state}.receive = receive;
    {state}.receive_counts = receive_counts;
    {state}.receive_displs = receive_displs;
    for (int step = 0; step < {ahead}; step++)
        {post}(step);
}}

/* Whether there is one more piece: of iterations low to high - 1, of {width} each, those from
   span[0] to span[1] - 1. Where the pieces do not follow each other so, the last one is all. */
static int {piece}(int low, int high, int *span)
{{
    int step = {state}.step++, size = {state}.size;
    if (step >= size)
        return 0;
    int from = ({state}.rank - step + size) % size;
    MPI_Wait(&{state}.requests[2 * (step % {ahead})], MPI_STATUS_IGNORE);
    MPI_Wait(&{state}.requests[2 * (step % {ahead}) + 1], MPI_STATUS_IGNORE);
    {post}(step + {ahead});
    if (step == 0) {{
        long next = {wide}low;
        {state}.in_turn = 1;
        for (int i = 0; i < size; i++) {{
            if ({state}.receive_displs[i] != next{whole})
                {state}.in_turn = 0;
            next = (long){state}.receive_displs[i] + {state}.receive_counts[i];
        }}
        if (next != {wide}high)
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

    @property
    def functions(self) -> tuple[str, ...]:
        return self.post, self.begin, self.piece


def exchange_functions(
    names: ExchangeNames, element: str, datatype: str, width: int, *, cxx: bool
) -> str:
    """Their text for elements of this type, to stand at the top level of a file.

    `width`: elements that an iteration of the loop uses.
    """
    wide = width > 1
    return _TEMPLATE.format(
        ahead=names.ahead,
        depth=AHEAD,
        comm=names.comm,
        state=names.state,
        post=names.post,
        begin=names.begin,
        piece=names.piece,
        element=element,
        datatype=datatype,
        alone="" if cxx else "restrict ",
        width=f"{width} elements" if wide else "one element",
        wide=f"{width}L * " if wide else "",
        whole=f" || next % {width} != 0" if wide else "",
        parts=f" / {width}" if wide else "",
    )
