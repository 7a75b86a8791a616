"""The kinds of reasons, each with its sentence.

`docs/reference/transform-refusals.md` says of each what a user can do; a test holds the two
together.
"""

from __future__ import annotations

from enum import unique

from imbrex.transform.model.causes import Sentence


@unique
class ReasonKind(Sentence):
    """The kinds, each with its sentence; what stands in braces are its parameters."""

    # What the source holds that is not analysed
    CONSTRUCT = "a construct that is not analysed"
    OBJECT = "the code of an object that begins or ends, over which nothing moves"
    STATEMENT = "a statement that is not analysed"
    NAMED_CONSTRUCT = "the construct {name} is not read"
    IF = "an IF that is not analysed"
    SELECT = "a SELECT that is not analysed"
    CALL = "a call that is not analysed"
    PARENTHESIS = "a parenthesis that does not close"
    IF_WITHOUT_END = "an IF without END IF"
    DO_WITHOUT_END = "a DO without END DO"
    NAMED_TWICE = "two loops of the name {name}"
    DO_WITHOUT_LABEL = "a DO without its end {label}"
    SELECT_WITHOUT_END = "a SELECT without END SELECT"
    CLOSES_NOTHING = "`{line}` closes nothing that is open here"
    SEVERAL_ON_LINE = "several statements on one line"
    MACRO = "a macro"
    PREPROCESSOR_LINE = "the preprocessor line `{line}`"
    LINE = "the line `{line}`"
    DECLARATIONS_HOLD = "its declarations hold `{line}`"
    IN_HEADER = "it is defined in {file}, a header that may not be changed"
    HEADER_DIFFERS = "it is not the same wherever {file} is included"
    IN_CONSTRUCT = "it is in {construct}, which is not analysed"
    INCLUDED_UNREAD = "an included file is not read"
    INCLUDED_CODE = "{file} holds more than declarations"
    INCLUDE_MISSING = "the include file {file} is not found"
    NO_INTERFACE_BODY = "the interface body of `module procedure {routine}` is not understood"
    TWICE_DEFINED = "two routines have this name"
    FUNCTION_TWICE_DEFINED = "two functions have this name"
    FUNCTION_NAME_TWICE = "two functions are called {routine}"
    NAME_TWICE = "two routines are called {routine}"
    NAME_CHANGES = "{routine} may stand for another routine where a list of names says so"
    COMMON_LAYOUTS = "the common block /{block}/, which is laid out in two ways"
    VECTOR_MOVES = "`{vector}.{method}` may move its elements"
    VECTOR_METHOD = "`{vector}.{method}` is not analysed"
    BOUND_FUNCTION = "`%{name}(`, which may be a function"
    OWN_OPERATOR = "the operator .{operator}."
    DERIVED_OPERATOR = "an operator on a derived type"
    DERIVED_ASSIGNMENT = "an assignment of a derived type"
    ASSIGNMENT_TO = "an assignment to {name}"
    OWN_ASSIGNMENT = "an assignment that the program may define"
    STATEMENT_FUNCTION = "the statement function {name}"
    DERIVED_COMPONENT = "a component of a derived type: {why}"
    DERIVED_ARGUMENT = "an argument of {routine} is of another derived type there"
    OBJECT_ENDS = "an object of a derived type that begins or ends with the routine is passed on"
    COMPONENT_ELSEWHERE = "the component `{variable}` is in a message of another routine"
    DERIVED_OBJECT = "an object of a derived type, or a component of one that may be absent"
    KEYWORD_ARGUMENT = "a keyword argument"
    VOLATILE = "{variable} is volatile"

    # Control flow
    CASE_LABEL = "a case label"
    LABEL = "the label {label}: control may enter here"
    C_GOTO = "a goto"
    GO_TO = "a GO TO"
    NAMED_EXIT = "a jump out of a named loop"
    ARITHMETIC_IF = "an arithmetic IF"
    ALTERNATE_RETURN = "an alternate return"
    ALTERNATE_RETURNS = "it has alternate returns"
    ENTRY = "it has an ENTRY"
    PROGRAM_END = "the end of the program"
    LEAVES = "control may leave by {statement}"

    # What a statement does
    INPUT_OUTPUT = "input or output"
    ALLOCATION = "an allocation"
    POINTER_CALL = "a call through a pointer"
    CALL_OF = "the call of {routine}"
    CALL_UNREAD = "the call of {routine}, whose source is not among the files"
    CALL_DOES = "the call of {routine}: {cause}"
    CALL_OPERATES = "the call of {routine}: `{operation}` may be an operation of the program"
    CALL_WHILE_OPERATING = "the call of {routine}: an operation of the program may be under way"
    RECURSION = "{routine} calls itself"
    OWN_OPERATION = "`{operation}` may be an operation of the program"

    # What stands between a transfer and a better place
    USED = "`{variable}` is used or set"
    SET = "`{variable}` is set"
    DECLARED = "`{variable}` is declared there"
    MAY_BE_USED = "`{variable}` may be used or set"
    MAY_BE_SET = "`{variable}` may be set"
    MAY_BE_USED_THROUGH = "`{variable}` may be used or set through `{other}`"
    MAY_BE_SET_THROUGH = "`{variable}` may be set through `{other}`"
    UNKNOWN_MEMORY_USED = "memory that is not known may be used"
    BLOCK_BEGINS = "the beginning of the block"
    BLOCK_ENDS = "the end of the block"
    DECLARATIONS = "the declarations"
    LOOP_END = "the statement that ends the loop"
    ITS_START = "its start"
    ITS_WAIT = "its wait, which the next iteration does"
    NEXT_ITERATION = "in the next iteration {cause}"
    BRANCH = "a branch needs it, and behind that {cause}"
    READY_SEND = "a ready send must not start early"
    COLLECTIVE_ORDER = "another collective: their order must be the same on every rank"
    RECEIVE_ORDER = "another receive that may take the same message"
    SEND_ORDER = "another send, whose message may have to stay ahead"
    COMPLETES = "{call} completes transfers"
    OTHER_COMMUNICATION = "other communication, and {because}"
    CALL_AND = "{call}, and {because}"
    ABOUT = "{subject}: {cause}"
    NO_BETTER_PLACE = "no better place"
    WAIT_MOVES = "its wait moves"

    # What holds of the whole program
    PROGRAM_USES = "the program uses {name}"
    THREADS = "the program uses {name}: other threads may act"
    FILE_UNREAD = "a file could not be read"
    HIDDEN_CODE = "not all of its code is known: {cause}"
    NO_MAIN = "the main program is not among the files"
    STORED_WILDCARD = "a wildcard is stored or defined"

    # In the call itself
    BUFFERED_SEND = "a buffered send is local already: its copy is made in the call"
    ONE_BUFFER = "it sends and receives in one buffer; nonblocking it would need two"
    BARRIER = "a barrier has no data, so data flow cannot justify moving it"
    VALUE_USED = "the value of the call is used (its error code is checked)"
    STATUS_CHECKED = "the variable for error codes is set or asked for as a status"
    ERROR_CODE = "the error code may be checked: {cause}"
    CALL_OF_MACRO = "the call comes from the macro {macro}"
    CALL_FROM_MACRO = "the call comes from a macro"
    CALL_AMID_MACRO = "the code around the call comes from a macro or a header"
    CALL_ENDS_LOOP = "the call is the statement that ends a loop"
    CALL_BELONGS = "the call belongs to {cause}"
    CALL_IN_DIRECTED_LOOP = "the call is inside a parallel or directed loop"
    CALL_INSIDE = "the call is inside {cause}"
    STATEMENT_KIND = "a {kind}"
    ARGUMENT_COUNT = "the call has an unexpected number of arguments"
    NOT_STATEMENT = "the call is not a plain statement"
    NOT_BRACED_STATEMENT = "the call is not a plain statement in braces"
    NO_ROOM_BEFORE = "no statement can be put in front of the call"
    NO_DECLARATIONS = "the routine has no declarations"
    MPI_UNKNOWN = (
        "neither mpif.h nor a module of MPI is known here, as a whole or by a list of names"
    )
    MISMATCH = (
        "nonblocking calls with buffers of two types need `use mpi` instead of mpif.h: "
        "compilers reject the mismatch"
    )
    ARGUMENT_EFFECTS = "an argument has side effects"
    ARGUMENT_CALLS = "an argument calls {routine}, which may have side effects"
    BUFFER_UNKNOWN = "the memory that `{argument}` names is not known"
    OVERLAID = "`{variable}` is in {how}"
    ARGUMENT_PROBLEM = "`{argument}`: {cause}"
    MAY_BE_NONCONTIGUOUS = "an array that may not be contiguous becomes a temporary copy"
    NONCONTIGUOUS = "a noncontiguous section becomes a temporary copy"

    # Windows
    NO_WINDOW = "no computation in the window: before it {before}; behind it {behind}"
    ONLY_UNPACKS = (
        "only the end of the send could wait, and only while values are copied: both "
        "directions are under way together as it is"
    )
    BESIDE = "other messages are under way at the same time"
    WINDOW = "{count} computing statement{plural} in the window"
    WIDER_WINDOW = "{count} computing statement{plural} more in the window"
    MOVED_WITH = "it is moved with all of {routine}"
    BEGINS_BEFORE = "its window begins in the iteration before"
    CALLERS_COMPUTE = "its callers have the computation"
    NOT_MEASURED = "not worth it: the measured run did not come here"
    NOT_WORTH = (
        "not worth it: at most {share} % of the ranks' time can be saved here, the "
        "threshold is {threshold} %"
    )

    # Collectives
    COLLECTIVE_LEFT = "{call} is not among the collectives that are rewritten"
    NEIGHBOURS_LEFT = (
        "the nonblocking form of {call} mixes blocks up in Open MPI where two neighbours are one "
        "process"
    )
    UNREAD_MAY_MATCH = "{routine}, whose source is not among the files, may communicate"
    UNREAD_POINTER = "{routine}, whose source is not among the files, is called through a pointer"
    DUMMY_MAY_MATCH = "a dummy procedure may communicate"
    NAMED_ELSEWHERE = "{call} also stands where it is not read as a call"
    INEXACT = "`{operation}` on `{datatype}` is not known to be exact in any order"
    REASSOCIATION = (
        "a nonblocking reduction may add floating-point numbers in another order: "
        "--allow-reassociation permits that"
    )
    SIGNED_ZERO = (
        "a nonblocking reduction may take the other of two zeros that differ in their signs: "
        "--allow-reassociation permits that"
    )
    MATCHING_NOT_CHOSEN = "a call that may match it is not chosen"
    MATCHING_STAYS = "a call that may match it would have to change too: {cause}"
    MATCHING_REWRITTEN = (
        "no computation in its own window, but calls that may match it are rewritten"
    )

    # Existing requests, statuses and error codes
    NOT_EARLIER = "it cannot be started earlier: {cause}"
    NOT_LATER = "it cannot be waited for later: {cause}"
    NO_START = "no start of this request is seen"
    REQUEST_FOREIGN = "the request is not a variable of this routine"
    REQUEST_NOT_LOCAL = "the request `{request}` is not a local variable: other routines may use it"
    REQUEST_POINTER = "the request `{request}` is a pointer, a target or of a derived type"
    REQUEST_COPIED = "the request `{request}` is copied, or its address is kept"
    REQUEST_PERSISTENT = "the request `{request}` is persistent: {call} made it"
    REQUEST_PASSED = "the request `{request}` is passed to {routine}"
    REQUEST_USED = "the request `{request}` is used otherwise than in a start or a wait"
    REQUEST_UNSEEN = "the request `{request}` outlives its routine, and not all is seen: {cause}"
    REQUEST_LANGUAGES = "the request `{request}` outlives its routine in a program of two languages"
    REQUEST_KEPT = "`{variable}` is local, and nothing can keep it out of registers over the wait"
    RESULT_NOT_LOCAL = "`{variable}` is not a local variable: other routines may read it"
    RESULT_ADDRESS = "the address of `{variable}` is kept"
    RESULT_READ = "`{variable}` is read"
    RESULT_MAY_BE_READ = "`{variable}` may be read"
    RESULT_PASSED = "`{variable}` is passed to {routine}"

    # Copies of buffers
    NO_OWN_COPY = "`{variable}` has no copy of its own: {cause}"
    NO_COPY = "`{variable}` has no copy: {cause}"
    VALUES_FROM_ELSEWHERE = "it holds values from elsewhere"
    USED_IN_CONDITION = "it is used in a condition"
    USED_IN_CONSTRUCT = "it is used inside a construct that is not analysed"
    READ_BEYOND = "more is read of it than was set just before"
    SET_UNKNOWN = "not all of what is set in it is known"
    NULL_SOURCE = "a receive from MPI_PROC_NULL leaves what it held before"
    BUFFER_NOT_LOCAL = (
        "it is not a local array, so other routines or later calls may see its values"
    )
    BUFFER_ADDRESS = "its address is kept"
    BUFFER_KNOWN = "its address is known elsewhere"
    BUFFER_SHARED = "it shares its memory"
    DECLARATION = "the declaration of `{variable}` is not a plain one"
    TOO_MANY_COPIES = "`{variable}` would need more than {most} copies"
    ONE_MESSAGE = "`{variable}` is used for one message at a time only"
    NOT_WHOLE = "`{argument}` is not a whole array"
    NOT_WHOLE_COPY = "`{argument}` is not a whole array that could be copied"
    NOT_FIXED = "`{variable}` is not a local array of fixed size"
    DIMENSIONS = "`{variable}` has more than one dimension"
    TOO_LARGE = "a copy of `{variable}` would be too large for the stack"
    NOT_ONE_LOOP = "it is not of a fixed size that one loop copies and the stack holds"
    NOT_ALL_SENT = "not all of it is sent, as far as is known"
    OTHER_ELEMENTS = "its elements are not of the type that is sent"
    ELEMENTS = "the elements of `{variable}` are not of a plain type"

    # Divided, distributed and moved loops
    ITERATIONS = "iterations may depend on each other through `{variable}`"
    ITERATIONS_UNKNOWN = "iterations may depend on each other through memory that is not known"
    SUM_ORDER = (
        "the sum `{variable}` would be rounded in another order: --allow-reassociation permits that"
    )
    EXTREME_ORDER = (
        "`{variable}` may become another of two zeros, or of a number and a NaN, in another order: "
        "--allow-reassociation permits that"
    )
    CARRIED = "`{variable}` carries a value from one iteration to the next, or out of them"
    ONE_PART = (
        "the part of the loop that communicates and the rest depend on each other "
        "through `{variable}`"
    )
    LOOP_CALLS = "the loop calls {call}"
    BOUND_CHANGES = "a bound of the loop may change in it"
    BOUND_UNSIGNED = (
        "the loop counts without a sign, and not from a constant, or to what may be below 0"
    )
    HEADER = "the header of the loop is not a plain count by one"
    NOT_COUNTED = "the header of the loop does not tell which iteration is the last"
    NO_SECOND = "no second buffer can be made for `{variable}`: its size is not told"
    LOOP_ALLOCATES = "the loop allocates arrays, or frees them"
    NOT_COPIED = "what fills the buffer cannot be written once more, for another iteration"
    EACH_ITERATION = "the receive depends on `{variable}`, which each iteration changes"
    ENDS_WITH_ITERATION = "`{variable}` ends with the iteration"
    LOOP_DIRECTIVE = "a directive belongs to the loop"
    LOOP_LABELS = "the loop has statement labels, which cannot stand twice"
    LOOP_LINE = "the loop shares its line with other statements"
    LOOP_STATEMENT_LINE = "a statement of the loop shares its line"
    BOTH_USE = "it and what it would pass both use `{variable}`"
    BOTH_USE_UNKNOWN = "it and what it would pass both use memory that is not known"
    DECLARATION_PASSED = "a declaration"
    MAY_BE_DIRECTED = "a directive may belong to it"
    DIRECTED_OR_LABELLED = "a directive or a label belongs to it"
    OF_MACRO = "it comes from the macro {macro}"
    HAS_LABEL = "it has a statement label"
    SHARES_LINE = "it shares its line with other statements"

    # Wrappers
    ADDRESS_TAKEN = "the address of {routine} is taken"
    OTHER_LANGUAGE = "{routine} is called from another language"
    VIRTUAL = "{routine} is virtual: another class may have its own"
    GENERIC = "{routine} is known by a generic name too"
    BOUND_TO_TYPE = "{routine} is bound to a type, and calls by that (`call g%…`) are not followed"
    CONDITIONAL = "{routine} depends on `#if`: another build may have another one, or call it"
    BY_ITS_TYPE = "{routine} is called where the type that an object has at run time says so"
    NOT_GIVEN_OUT = "procedures beside {routine} cannot be made known where another name calls it"
    CALL_NOT_STATEMENT = "a call of {routine} is not a statement of its own"
    ASKED_ONCE = "a call of {routine} stands under a condition that may not be asked again"
    CALLED_IN_TURN = (
        "{caller} calls it in a loop: the messages of each call end before the next one begins"
    )
    CALLED_AMID = "{caller} calls it in a loop or a choice, and the work is behind {caller}"
    ASKED_AMID = "a call of {routine} stands where it cannot be made first"
    NOT_EDITABLE = "{routine} may not be changed"
    OTHER_FILE = "{routine} is called from another file: its interface is not at hand"
    EXPRESSION = "{argument} is passed in a copy, which ends with the call"
    NAME_LISTED = "a list of names gives {routine} another name, or has no room for two"
    NAMES_TAKEN = "the names {start} and {finish} are taken"
    REQUESTS_TAKEN = "the name imbrex_requests is taken"
    NOT_PLAIN_FUNCTION = "{routine} is not a plain function without a value"
    OVERLOADED = "the class of {routine} has another member of its name"
    DECLARED_ELSEWHERE = "{routine} is declared in {file}, which may not be changed"
    OBJECT_COMPUTED = "{routine} is called on an object that no plain name names"
    NOT_PLAIN_SUBROUTINE = "{routine} is not a plain subroutine"
    OWN_INTERFACE = "{routine} stands in no module: its callers write its interface themselves"
    PARAMETERS = "the parameters of {routine} are not plain ones"
    KEPT_TYPE = "the type of `{variable}` has another name, or none, in {routine}"
    LOCAL_UNSIZED = "`{variable}` is local and of no fixed size"
    LOCAL_SAVED = "`{variable}` is local and saved: each half would have one of its own"
    INNER_LOCAL = "a buffer of {inner}, which {outer} calls, is local"
    ENDS_WITH_START = "a message uses `{variable}`, which would end with the start"
    CARRIED_TO_FINISH = "`{variable}` carries a value from the start to the finish"
    INNER_GUARDED = "a call of {inner} is inside a loop or a condition"
    USED_BEHIND = "behind its call `{variable}` is used or set"
    ELEMENTS_BEHIND = "{cause}, and which elements of it the message has is not known"
    USED_BEHIND_THROUGH = "behind its call `{variable}` may be used or set through `{other}`"
    UNKNOWN_BEHIND = "behind its call memory that is not known may be used"
    MESSAGES_GUARDED = "its messages stand in loops, or in an `if` that cannot be asked twice"
    STATUS_READ = "a status is read"
    NULL_STATUS = (
        "the status is read of a receive that may be from MPI_PROC_NULL, of which MPICH tells "
        "another source where it is nonblocking"
    )
    ALSO_CALLS = "the routine also calls {call}"

    # Progress calls
    NO_LONG_LOOP = "no loop in the window takes as long as the interval of progress calls"
    SHORT_MESSAGES = (
        "the messages there take at most {longest_us} us, less than the {interval_us} us "
        "between progress calls"
    )
    PARALLEL_REGIONS = "the program has parallel regions: only one thread may call MPI there"
    PROGRESS_MADE = "{call} makes progress there"
    ROUTINE_UNREAD = "the routine is not in the files"
    NO_MPI_HEADER = "mpi.h is not included in {file}"
    ROUTINE_WITHOUT_MPI = "{routine} knows neither mpif.h nor the whole of a module of MPI"
    PURE = "{routine} is pure"
    NO_PLACE_FOR_DECLARATIONS = "{routine} has no place for declarations"
    LOOP_AMID_MACRO = "the code around the loop comes from a macro or a header"
    DIRECTED_LOOP = "a directed loop"
    LOOP_BODY_LINE = "the loop does not begin a line, or its body shares one"
    LOOP_INDIVISIBLE = "the innermost loop is not one that can be divided"
    LOOP_LEFT = "the innermost loop may be left by {statement}"
    INDEX_READ = "the loop's index is read outside its loops"

    # What is told of a rewrite
    OWN_ARRAYS = "each message in `{variable}` gets an array of its own: {names}"
    OWN_REQUESTS = "each receive by `{variable}` gets a request and a buffer of its own: {names}"
    COPIED_TO = "what is sent of `{variable}` is copied to an array of its own, {name}"
    RECEIVED_IN = "what comes for `{variable}` is received in memory of its own, {name}"
    IN_PIECES = "the loop at line {line} uses each rank's piece once it has come; others travel on"
    CODE_APART = "the call stands alone, and its error code is asked for behind it"
    JUMPS_GO = "jumps of {routine} that only an error leads to become the end that an error has"
    SENT_FROM = "`{variable}` is sent from a copy, {name}"
    POSTED_AHEAD = "posted in the iteration before, ahead of {count} computing statement{plural}"
    BROUGHT_AHEAD = "brought in the iteration before, to memory of its own: {names}"
    BOUNDARY_FIRST = "the loop is divided: the boundary before the interior"
    INTERIOR_FIRST = "the loop is divided: the interior first"
    STARTED_IN_LOOP = "all messages of the loop are under way at once"
    SENT_FIRST = "the loop is distributed: what is sent first"
    INDEPENDENT_FIRST = "the loop is distributed: what needs no message first"
    MOVED_UP = "{statement} goes in front of line {line}"
    GUARDED = (
        "{statement} goes in front of line {line}, unless {condition}: then all stays as it is"
    )
    STATED = "line {line} leaves the message in `{variable}` alone by your word, not by proof"
    HOISTED = "the call of {call} goes from {routine} to its callers: {callers}"
    NO_RESULT = "no call asks for the value of {routine}, which is a constant"
    VALUE_HANDED = "{routine} hands its value to an argument"
    CHECKS_GO = "{routine} always returns success: its value and checks of it go"
    SUNK = "the call of {call} goes from {callers} into {routine}"
    SPLIT = "{wrapper} is split into a start and a finish around work of {callers}"
    SPLIT_SEQUENCE = "{wrappers} are split into starts and finishes around work of {callers}"
    SIDE_BY_SIDE = "calls of {wrappers} have their messages under way together in {callers}"
    SPLIT_NEST = "{outer}, with {inner}, is split around work of {callers}"
    PROGRESS_STRIPS = (
        "progress: the loop at {place}, strips of {iterations} iterations (about {strip_us} us)"
    )
    PROGRESS_EVERY = (
        "progress: the loop at {place}, every {iterations} iterations (about {strip_us} us)"
    )
    PROGRESS_CLOCK = "progress: the loop at {place}, every {interval_us} us by the clock"
    PROGRESS_CLOCK_READ = (
        "progress: the loop at {place}, every {interval_us} us by the clock, "
        "read every {iterations} iterations"
    )
    PROGRESS_CALLS = "a progress call in each loop of the window"


TWICE = ReasonKind.FUNCTION_TWICE_DEFINED()
IN_TEMPLATE = ReasonKind.IN_CONSTRUCT(construct="a template")
NOT_ANALYSED = frozenset(
    kind for kind in ReasonKind if kind.value.endswith("that is not analysed")
) | {ReasonKind.VECTOR_METHOD}
"""What stands for code that may do anything."""
UNPLACED = NOT_ANALYSED | {ReasonKind.OBJECT}
"""What stands for code of which it is not told where it runs: that of objects is read."""
PERMISSIONS = frozenset({ReasonKind.REASSOCIATION, ReasonKind.SIGNED_ZERO})
"""What the user may permit, and stands in the way of nothing else."""
ORDERS = frozenset({ReasonKind.SUM_ORDER, ReasonKind.EXTREME_ORDER})
"""What keeps a loop whole that the user may permit to be divided."""
