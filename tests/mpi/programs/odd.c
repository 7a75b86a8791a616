/* Odd but legal uses, chosen by the argument. */
#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "expect.h"

#define W MPI_COMM_WORLD

static void before(void)
{
    int flag, version, subversion;
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Get_version(&version, &subversion);
    CHECK(version >= 3);
}

/* Six eager sends in flight share one handle in some libraries. */
static void shared_handles(void)
{
    double out[6] = {0}, in[6];
    MPI_Request s[6], r[6];
    for (int k = 0; k < 50; k++) {
        for (int i = 0; i < 6; i++)
            MPI_Isend(&out[i], 1, MPI_DOUBLE, 1 - rank_, i, W, &s[i]);
        for (int i = 0; i < 6; i++)
            MPI_Irecv(&in[i], 1, MPI_DOUBLE, 1 - rank_, i, W, &r[i]);
        MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
        MPI_Waitall(6, s, MPI_STATUSES_IGNORE);
    }
}

/* As the destructor of a static object that finalizes when main is over. */
static void finalize_late(void)
{
    double x = 0;
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    MPI_Finalize();
}

static void paused(void)
{
    double x = 0;
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    MPI_Pcontrol(0);
    for (int i = 0; i < 5; i++)
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    MPI_Pcontrol(1);
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
}

static void forked(void)
{
    double x = 0;
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    pid_t child = fork();
    if (child == 0)
        exit(0); /* runs the handlers of exit: must not end the parent's profile */
    waitpid(child, NULL, 0);
    if (system("true"))
        exit(9); /* sh has the object loaded too */
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
}

static void multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    /* A callback that calls MPI: counted as part of the call that it is in. */
    MPI_Type_size(*type, &size);
    MPI_Pack_size(1, *type, W, &size);
    double packed[2];
    int position = 0;
    MPI_Pack(in, 1, *type, packed, sizeof packed, &position, W);
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] *= ((double *)in)[i];
}

static void nested(void)
{
    MPI_Op op;
    double x = 2, y = 0;
    MPI_Op_create(multiply, 1, &op);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, op, W);
    CHECK(y == 4);
    MPI_Op_free(&op);
}

static void *thread(void *number)
{
    long k = (long)number;
    double x = 0;
    for (int i = 0; i < 200; i++) {
        MPI_Request r[2];
        MPI_Irecv(&x, 1, MPI_DOUBLE, 1 - rank_, (int)k, W, &r[0]);
        MPI_Isend(&x, 1, MPI_DOUBLE, 1 - rank_, (int)k, W, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[3];
    for (long k = 0; k < 3; k++)
        pthread_create(&t[k], NULL, thread, (void *)k);
    for (int k = 0; k < 3; k++)
        pthread_join(t[k], NULL);
}

static jmp_buf landing;

static void leap(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(landing, 1);
}

static void fail_further_down(double *x)
{
    MPI_Send(x, 1, MPI_DOUBLE, 99, 0, W);
}

/* An error handler that does not return into MPI, as one that throws an exception of C++. */
static void jumped(void)
{
    MPI_Errhandler handler;
    double x = 0, y;
    MPI_Comm_create_errhandler(leap, &handler);
    MPI_Comm_set_errhandler(W, handler);
    for (volatile int i = 0; i < 3; i++) {
        if (!setjmp(landing))
            fail_further_down(&x);
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, 1 - rank_, 0, &y, 1, MPI_DOUBLE, 1 - rank_, 0, W,
                     MPI_STATUS_IGNORE);
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    }
    MPI_Errhandler_free(&handler);
}

/* No file may grow any more, on pain of a signal. */
static void limited(void)
{
    struct rlimit none = {0, 0};
    double x = 0;
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    fclose(expect_);
    setrlimit(RLIMIT_FSIZE, &none);
}

static ucontext_t here_, there_;

static int wander(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    swapcontext(&there_, &here_);
    return MPI_SUCCESS;
}

static void free_on_another_stack(void)
{
    MPI_Comm copy;
    int key;
    MPI_Comm_dup(W, &copy);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wander, &key, NULL);
    MPI_Comm_set_attr(copy, key, NULL);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&key);
}

/* A callback that goes on on another stack, above that of its call. */
static void elsewhere(void)
{
    enum { STACK_BYTES = 1 << 20 };
    double x = 0;
    getcontext(&there_);
    there_.uc_stack.ss_sp = malloc(STACK_BYTES);
    there_.uc_stack.ss_size = STACK_BYTES;
    there_.uc_link = &here_;
    makecontext(&there_, free_on_another_stack, 0);
    swapcontext(&here_, &there_); /* until the callback */
    MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    swapcontext(&here_, &there_);
    for (int i = 0; i < 3; i++)
        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, W);
    free(there_.uc_stack.ss_sp);
}

/* An error that is returned: nothing moved, nothing is recorded as moved. */
static void errors(void)
{
    double x = 0;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&x, 1, MPI_DOUBLE, 99, 0, W) != MPI_SUCCESS);
    CHECK(MPI_Isend(&x, -1, MPI_DOUBLE, 0, 0, W, &(MPI_Request){0}) != MPI_SUCCESS);
}

/* Of a call that fails the number of requests and their places are what stood there before. */
static void failing_some(void)
{
    int count = 2, places[3] = {1 << 28, 1 << 29, -(1 << 28)};
    MPI_Request r[3] = {0}; /* no request, nor MPI_REQUEST_NULL */
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    r[1] = r[2] = MPI_REQUEST_NULL;
    CHECK(MPI_Waitsome(3, r, &count, places, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Testsome(3, r, &count, places, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
}

/* A message that is longer than the room of a persistent receive, and then others that are not. */
static void truncated(void)
{
    char room[10], data[100] = {0};
    MPI_Request r = MPI_REQUEST_NULL;
    int starts = 0;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    if (rank_ == 0)
        MPI_Recv_init(room, 10, MPI_BYTE, 1, 1, W, &r);
    for (int i = 0; i < 4; i++) {
        if (rank_ == 0)
            starts += MPI_Start(&r) == MPI_SUCCESS;
        MPI_Barrier(W);
        if (rank_ == 1)
            MPI_Send(data, i == 1 ? 100 : 10, MPI_BYTE, 0, 1, W);
        else if (r != MPI_REQUEST_NULL)
            CHECK((MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS) == (i != 1));
    }
    EXPECT("MPI_Start", 4, starts, 0);
}

/* Communicators may be freed while receives on them are open. */
static void freed(void)
{
    char in[100], out[60] = {0};
    MPI_Request r[2];
    MPI_Comm comm;
    for (int i = 0; i < 50; i++) {
        MPI_Comm_dup(W, &comm);
        MPI_Irecv(in, 100, MPI_BYTE, MPI_ANY_SOURCE, 1, comm, &r[0]);
        MPI_Isend(out, 60, MPI_BYTE, 1 - rank_, 1, comm, &r[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
}

/* Windows that were freed leave the room of the table of requests to others. */
static void windows(void)
{
    enum { WINDOWS = 600, RECEIVES = 3800 };
    static MPI_Win win[WINDOWS];
    static MPI_Request r[RECEIVES];
    static double memory[2];
    double x = 1;
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_create(memory, sizeof memory, sizeof x, MPI_INFO_NULL, W, &win[i]);
        MPI_Win_fence(0, win[i]);
        MPI_Put(&x, 1, MPI_DOUBLE, 1 - rank_, 0, 1, MPI_DOUBLE, win[i]);
        MPI_Win_fence(0, win[i]);
    }
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&win[i]);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&x, 1, MPI_DOUBLE, 1 - rank_, i, W, &r[i]);
    for (int i = 0; i < RECEIVES; i++)
        MPI_Send(memory, 1, MPI_DOUBLE, 1 - rank_, i, W);
    MPI_Waitall(RECEIVES, r, MPI_STATUSES_IGNORE);
}

/* As many communicators at a time as the library gives, up to a limit. */
static void communicators(void)
{
    enum { MOST = 4300 };
    static MPI_Comm comm[MOST];
    int n = 0, x = 1;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    while (n < MOST && MPI_Comm_dup(W, &comm[n]) == MPI_SUCCESS)
        n++;
    for (int i = 0; i < n; i++)
        MPI_Bcast(&x, 1, MPI_INT, 0, comm[i]);
    EXPECT("MPI_Bcast", n, n, 4 * n);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comm[i]);
}

/* More requests in one call than fit on the stack of a wrapper. */
static void many(void)
{
    enum { N = 700 };
    static MPI_Request r[2 * N];
    static int in[N], out[N];
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank_, i, W, &r[2 * i]);
        out[i] = i;
        MPI_Isend(&out[i], 1, MPI_INT, 1 - rank_, i, W, &r[2 * i + 1]);
    }
    MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
    CHECK(in[N - 1] == N - 1);
}

#if MPI_VERSION >= 4
static void sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    double x = 1, y;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

static void partitions(void)
{
    double in[40] = {0}, out[40] = {0};
    MPI_Request r;
    int flag, some[2] = {2, 3};
    if (rank_ == 0)
        MPI_Psend_init(out, 4, 10, MPI_DOUBLE, 1, 0, W, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(in, 4, 10, MPI_DOUBLE, 0, 0, W, MPI_INFO_NULL, &r);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r);
        if (rank_ == 0) {
            MPI_Pready(1, r);
            MPI_Pready_range(0, 0, r);
            MPI_Pready_list(2, some, r);
        } else {
            MPI_Parrived(r, 1, &flag);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}
#endif

int main(int argc, char **argv)
{
    const char *scenario = argv[1];
    int provided;
    before();
#if MPI_VERSION >= 4
    if (!strcmp(scenario, "sessions")) {
        sessions();
        return 0;
    }
#endif
    if (!strcmp(scenario, "threads")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        MPI_Comm_rank(W, &rank_);
        if (provided == MPI_THREAD_MULTIPLE)
            threads();
        else
            printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(scenario, "late"))
        atexit(finalize_late); /* before anything that MPI_Init registers: runs after that */
    start(&argc, &argv);
    if (!strcmp(scenario, "late"))
        return 0;
    if (!strcmp(scenario, "shared"))
        shared_handles();
    else if (!strcmp(scenario, "paused"))
        paused();
    else if (!strcmp(scenario, "forked"))
        forked();
    else if (!strcmp(scenario, "nested"))
        nested();
    else if (!strcmp(scenario, "jumped"))
        jumped();
    else if (!strcmp(scenario, "elsewhere"))
        elsewhere();
    else if (!strcmp(scenario, "limited"))
        limited();
    else if (!strcmp(scenario, "errors"))
        errors();
    else if (!strcmp(scenario, "some"))
        failing_some();
    else if (!strcmp(scenario, "truncated"))
        truncated();
    else if (!strcmp(scenario, "freed"))
        freed();
    else if (!strcmp(scenario, "communicators"))
        communicators();
    else if (!strcmp(scenario, "windows"))
        windows();
    else if (!strcmp(scenario, "many"))
        many();
#if MPI_VERSION >= 4
    else if (!strcmp(scenario, "partitions"))
        partitions();
#endif
    else
        printf("not with this library\n");
    MPI_Finalize();
    int flag;
    MPI_Finalized(&flag);
    return !flag;
}
