"""What a user can do about each reason.

`docs/reference/transform-refusals.md` says the same beside each reason; a test holds the two
together. A line that is not indented has kinds of reasons, the lines below it what helps.
"""

from __future__ import annotations

from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.reasons import ReasonKind

_TABLE = """
value-used error-code
    leave errors to the handler `MPI_ERRORS_ARE_FATAL`, give all files or `--errors-are-fatal`, and
    use a variable for error codes alone: then its checks are passed
call-of-macro call-from-macro call-amid-macro preprocessor-line line declarations-hold
    write that part without the macro or the `#if`
buffered-send
    use `MPI_Send`, which may overlap
one-buffer
    the rewrite `private-buffers` gives it a copy where it is a local array of fixed size, or
    receives it apart where all of it goes around in a loop
argument-count
    mend the call; a compiler with the interface of `mpi_f08` says what is wrong
mpi-unknown
    `include 'mpif.h'`, `use mpi` or `use mpi, only:` without other names for them in the routine or
    the unit around it; or `use mpi` in a module that it uses as a whole and that keeps none of
    these names private: the rewrite needs further names
mismatch
    `use mpi`
call-ends-loop
    end the loop with a `continue` or `end do` of its own
call-belongs call-in-directed-loop call-inside statement-kind
    move communication out of the region or the construct
named-construct
    write the calls and loops that stand in it without the construct, with the names in full
not-statement not-braced-statement no-room-before no-declarations
    give the call lines of its own, in C in braces
argument-effects argument-calls keyword-argument
    compute the argument into a variable first; give all arguments by position
buffer-unknown overlaid
    use a plain variable or array as buffer, request, status or argument
volatile
    use a plain variable or array for messages, and in computation that a message shall pass
argument-problem about call-does
    the reason behind the colon
may-be-noncontiguous noncontiguous
    copy into a contiguous buffer first, or declare the argument `contiguous`
asked-once
    put the answer into a variable that nothing changes: `int parallel = size > 1;`
called-in-turn
    give it all of the array in one call, and let it have the loop: a loop of messages starts all of
    them
called-amid
    write the calls one by one, in plain conditionals where need be: `exchange(u); exchange(v);`
asked-amid
    ask for its value in a statement of its own: `s = dot(r, r, n);`
call-of
    nothing, if that call communicates, prints or waits; else call it elsewhere
call-unread
    give that file too
pointer-call
    call the function by its name
recursion
    write the recursion as a loop, or keep it out of the window
unknown-memory-used
    say what a pointer reaches: distinct allocations, no shared pool, no pointer into a structure
used set
    nothing, if it must be there: else move that use behind the work, or fill two buffers in turn
declared
    nothing, if it gets its value there, or stands at the beginning of a routine or a loop; else
    declare it further up
may-be-used may-be-set may-be-used-through may-be-set-through
    separate what the pointers reach; parts of an array that a structure holds are told apart
    through a local pointer: `double *u = g->u;`
leaves c-goto go-to named-exit alternate-return alternate-returns entry arithmetic-if case-label
label program-end
    restructure the window: one way in, one way out
input-output
    move it out of the window: the order of output may be what the messages are for
allocation
    allocate before the message
several-on-line
    one statement to a line
no-better-place block-begins declarations
    nothing: the start stands as early as it can
block-ends loop-end next-iteration branch
    the next iteration or a branch needs the buffer: fill two buffers in turn
its-start
    nothing: the wait cannot come before it
its-wait
    nothing: it stays behind the wait that completes it in the next iteration
construct object vector-moves vector-method statement if select call parenthesis own-operator
assignment-to statement-function derived-assignment derived-operator own-assignment bound-function
    keep such code out of the window, or write it plainly; size a `std::vector` before the
    message, use `v[i]`
derived-component
    components are told apart where no object of the type, of one that it extends, or that extends
    it, is a pointer, a target or in a common block, and pointers in it get memory by `allocate`
    alone: declare components allocatable, leave `target` out; or pass the component to a routine
    that communicates and computes on a plain dummy array: `call step(g%u, g%w, g%nx)`
derived-object derived-argument object-ends component-elsewhere
    send components, not whole objects; declare objects in the main program or a module, pass them
    `intent(inout)`; start and complete messages on components in one routine
in-construct
    write the exchange as a function of its own, or as a method that is not virtual, and call it
    from there; a template is rewritten where the program has one instance of it
macro
    put the code into the source file
in-header header-differs
    include the header by one name, let it be written, and let macros around the includes not change
    what it says
included-unread included-code include-missing no-interface-body twice-defined
function-twice-defined name-twice
function-name-twice name-changes
    give the file's folder with `-- -I`, put statements into the source, give each routine a name
    of its own
if-without-end do-without-end named-twice do-without-label select-without-end closes-nothing
    the reader lost the structure there, mostly by `#ifdef`: give the preprocessed form
common-layouts
    declare the block alike in all units
no-window
    nothing, if it is so; else what follows "before it" and "behind it"
only-unpacks
    nothing: two more calls would cost more
receive-order send-order
    give the two messages different constant tags or ranks
other-communication call-and program-uses
    timing may decide results there (`MPI_Probe`, `MPI_Test`, windows, threads, ready sends, ...),
    so receives stay put next to other communication
threads
    `--single-thread`, if one thread calls MPI and uses what it communicates; without threads give
    all files of the program
no-main file-unread hidden-code
    give all files of the program
stored-wildcard
    name the sources and the tags, so that receives may also pass other communication
ready-send
    use `MPI_Send`
call-operates own-operation call-while-operating
    a reduction by an operation of the program's own runs its function, nobody knows when: use one
    of MPI's, by its name
completes also-calls
    nothing: what that call completes is not known
collective-order
    nothing: the order is fixed by the program
collective-left
    write scans as another operation
neighbours-left
    write the exchange between neighbours as `MPI_Isend` and `MPI_Irecv`
barrier
    remove it if nothing needs it
matching-stays matching-not-chosen
    remove what stops that call; choose it too with `--only`
unread-may-match unread-pointer dummy-may-match
    give that file too
named-elsewhere
    write that place as a plain call, or remove it
inexact
    one of MPI's own operations that give one value alone, on one of MPI's own types
reassociation
    `--allow-reassociation`, if you accept other last digits
sum-order
    `--allow-reassociation`, if you accept other last digits; else a loop of its own for the sum
extreme-order
    `--allow-reassociation`, if no NaN comes up and the sign of a zero does not matter; or
    `if (abs(x) > m) m = abs(x)`
signed-zero
    `--allow-reassociation`, if you accept another sign of a zero
matching-rewritten
    nothing: the call is rewritten where it stands
not-earlier not-later
    the reason behind the colon
no-start
    give the file with the start; pass the request itself, not its value
request-foreign request-not-local request-pointer request-copied request-passed request-used
    set the handle by starts and to `MPI_REQUEST_NULL` alone, copy it nowhere; keep what
    structures hold beside it in another structure if that is assigned as a whole
request-persistent
    make the handle by `MPI_Send_init` or `MPI_Recv_init` in a variable, start it, wait for it by
    `MPI_Wait` or `MPI_Waitall` and free it, nothing else
request-unseen
    give all files of the program, or keep the handle in a local variable of the routine that
    starts and waits
request-languages
    keep the handle in a local variable of the routine that starts and waits
request-kept
    `use mpi_f08`, or declare the buffer in a module
result-not-local result-address result-read result-may-be-read result-passed status-checked
    use `MPI_STATUS_IGNORE`, or a local status or error variable
no-own-copy values-from-elsewhere used-in-condition used-in-construct read-beyond set-unknown
null-source
    fill the buffer as a whole in front of each message, or declare one for each message; receive
    where a condition says `… != MPI_PROC_NULL`
buffer-not-local buffer-address buffer-known buffer-shared declaration too-many-copies
    declare one local array for each message
one-message
    nothing: no second message waits for it
no-copy not-whole not-whole-copy not-fixed dimensions too-large not-one-loop not-all-sent
other-elements elements
    send whole arrays of constant size, or fill two in turn; declare a local array for
    `MPI_Sendrecv_replace`, or use `MPI_Sendrecv`
iterations iterations-unknown carried
    nothing, if it is so; else a scalar that is set in each iteration, two arrays instead of one
    (time levels `u(:,:,old)`, `u(:,:,new)`: pass them as two arguments)
one-part
    nothing, if it is so; else take the recurrence or the sum into a loop of its own
loop-calls bound-changes header
    count by one, with bounds that are set before the loop
bound-unsigned
    count from a number, with an index whose type is written, to a bound without `-`, or outside of
    conditions; or with signed numbers alone
not-counted
    count by a constant, with bounds of integer type that are plain variables
no-second
    allocate it in front of the loop by one `malloc`, `calloc`, `new` or `allocate`, in the routine
    with the loop, or declare an array of one dimension
loop-allocates
    allocate in front of the loop, in the routine with the loop
not-copied
    write it without macros that name the buffer or the index, without directives, on lines of its
    own
each-iteration
    receive into a buffer of its own, the same in each iteration, and unpack it
ends-with-iteration
    declare it in front of the loop
loop-directive loop-labels loop-line loop-statement-line
    divide the loop by hand; `END DO` in the place of labels; one statement to a line
both-use both-use-unknown
    nothing, if it is so; else give each its own variable
declaration-passed may-be-directed directed-or-labelled of-macro has-label shares-line
    move the statement by hand, or give it a line without label or directive
other-language
    let the other language call a routine of its own that calls this one
address-taken virtual generic conditional call-not-statement not-editable other-file
name-listed names-taken
requests-taken not-plain-function not-plain-subroutine parameters
    make the wrapper a plain routine that its callers call by name, visible in their files
by-its-type
    declare the object as `type(…)` where it has that type, so that one procedure is meant
not-given-out
    use the module of the procedure where it is called, and list it nowhere as `private`
bound-to-type
    leave it out of the type, and call it by its own name: `call exchange(g)`
own-interface
    put it into a module
overloaded
    give the method a name of its own
declared-elsewhere
    declare the class in a file that is given, or in a header of the program that is included by
    one name
object-computed
    call it on a variable, a reference or a pointer: `Heat &h = grids[level];`
expression
    assign it to a variable that lives on, and pass that
kept-type
    `use` the module of its kind there, under the same name
local-unsized local-saved inner-local
    pass the buffer, or make it global
carried-to-finish
    compute it in both, or pass it
ends-with-start
    send from a number or an array that is declared plainly, or from what the caller has and passes
    by its address
inner-guarded
    call the wrapper once for each message
used-behind used-behind-through unknown-behind
    nothing, if it is so; else put work that needs nothing of the message between the call and
    that place, pass arrays with declared bounds, or separate what the pointers reach
elements-behind
    name what the message has: in Fortran a section (`f%a(:, j)`) or an array with declared bounds,
    in C its first element (`&u[i * n]`) and a count of elements
messages-guarded status-read
    write the messages one after the other; ask in an `if` what no branch of it sets, without a
    call; declare variables in front of it; use `MPI_STATUS_IGNORE`
null-status
    ask it only behind a receive from somebody (`if (left != MPI_PROC_NULL)`), or by
    `MPI_Get_count`
callers-compute begins-before
    nothing: the callers' windows, or those of the iteration before, are used instead
no-long-loop
    nothing: the message is waited for before a call would be due
short-messages
    nothing where they move by themselves, as short ones do; else give `--progress` a shorter
    interval
parallel-regions
    put the calls in by hand, in the thread that may call MPI
progress-made
    nothing
no-mpi-header routine-without-mpi no-place-for-declarations routine-unread
    make MPI known there, in front of the loop
pure
    the loop's routine may not call MPI: drop `pure`, or call from its caller's loop
loop-amid-macro directed-loop loop-body-line
    give the loop lines of its own
loop-indivisible loop-left index-read
    count by one and do not leave the loop, or put the call in by hand
not-measured
    measure a run that does
not-worth
    `--worth` sets the threshold
"""


def _read(table: str) -> dict[str, str]:
    found: dict[str, str] = {}
    sections: list[str] = []
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            sections = ([] if sections and sections[0] in found else sections) + line.split()
            continue
        for kind in sections:
            found[kind] = f"{found.get(kind, '')} {line.strip()}".strip()
    return found


ADVICE = _read(_TABLE)
"""By the name of a kind, as JSON has it."""
# The reason within one of these tells more.
_OUTER = (
    ReasonKind.ABOUT,
    ReasonKind.ARGUMENT_PROBLEM,
    ReasonKind.CALL_DOES,
    ReasonKind.NOT_EARLIER,
    ReasonKind.NOT_LATER,
    ReasonKind.NEXT_ITERATION,
    ReasonKind.BRANCH,
)
_EDGES = (ReasonKind.BLOCK_BEGINS, ReasonKind.BLOCK_ENDS, ReasonKind.DECLARATIONS)


def advice(cause: Cause) -> str:
    """What a user can do about a reason; "" where nothing is known."""
    inner = dict(cause.parameters).get("cause")
    if cause.kind in _OUTER and isinstance(inner, Cause):
        return advice(inner)
    return ADVICE.get(cause.name, "")


def in_the_way(reason: Reason) -> Reason:
    """Of a call without a window, what stands between it and the work beside it."""
    parts = dict(reason.cause.parameters)
    before, behind = parts.get("before"), parts.get("behind")
    if not (isinstance(before, Reason) and isinstance(behind, Reason)):
        return reason
    return before if behind.kind in _EDGES else behind
