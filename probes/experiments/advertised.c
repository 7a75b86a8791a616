/* The message-size limits that the library itself names, through MPI's tool interface. */
#include "engine/engine.h"

#include <string.h>

static int names_a_limit(const char *name)
{
    static const char *const parts[] = {"eager_limit", "eager_max", "EAGER",
                                        "rndv",        "RNDV",      "eager_size"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(name, parts[i]))
            return !strstr(name, "CTXID"); /* numbers of communicators, not bytes */
    return 0;
}

static void print_variable(engine *e, int index)
{
    char name[256], text[4096];
    int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, count = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_handle handle;
    union {
        int i;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        char room[4096];
    } value;
    if (MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumeration, text,
                            &text_length, &bind, &scope) != MPI_SUCCESS ||
        bind != MPI_T_BIND_NO_OBJECT || !names_a_limit(name) || type == MPI_CHAR)
        return;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) {
        if (type == MPI_INT)
            row(e, "advertised %s %d", name, value.i);
        else if (type == MPI_UNSIGNED)
            row(e, "advertised %s %u", name, value.u);
        else if (type == MPI_UNSIGNED_LONG)
            row(e, "advertised %s %lu", name, value.ul);
        else if (type == MPI_UNSIGNED_LONG_LONG)
            row(e, "advertised %s %llu", name, value.ull);
    }
    MPI_T_cvar_handle_free(&handle);
}

void run_advertised(engine *e)
{
    int provided, variables = 0;
    if (e->rank != 0 || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    MPI_T_cvar_get_num(&variables);
    for (int i = 0; i < variables; i++)
        print_variable(e, i);
    MPI_T_finalize();
}
