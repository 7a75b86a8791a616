/* The rows of one thread: found by their key through a hash of row numbers. */
#include "core/internal.h"

#include <stdlib.h>

static ix_row *append(ix_thread *t, ix_row_key k, uint32_t at)
{
    ix_row *row = t->rows + t->row_used;
    memcpy(row, &k, sizeof k);
    t->row_index[at] = ++t->row_used;
    t->part->rows.used = t->row_used;
    return row;
}

ix_row *ix_row_find(ix_thread *t, ix_row_key k)
{
    uint32_t at = ix_row_home(t, &k);
    for (; t->row_index[at]; at = (at + 1) & t->row_mask) {
        ix_row *row = t->rows + t->row_index[at] - 1;
        if (ix_row_is(row, &k))
            return row;
    }
    if (t->row_used < t->row_capacity)
        return append(t, k, at);
    ix_count(&ix_engine.part->rank.overflow);
    return t->rows;
}

void ix_rows_start(ix_thread *t, ix_row *rows, uint32_t capacity, uint32_t *index,
                   uint32_t index_size)
{
    t->rows = rows;
    t->row_capacity = capacity;
    t->row_index = index;
    t->row_mask = index_size - 1;
    t->row_used = 0;
    ix_row_key other =
        ix_make_key(ix_engine.part->rank.rank, 0, 0, 0, -1, IX_PATH_NONE, IX_SOURCE_CALL);
    append(t, other, ix_row_home(t, &other));
}

/* wait_min that was claimed before a completion showed that data may have been moving. */
void ix_settle_debt(ix_thread *t)
{
    uint64_t owed = atomic_load_explicit(&ix_share.debt_ns, memory_order_relaxed) - t->debt_paid_ns;
    for (uint32_t i = 0; i < t->row_used && owed; i++) {
        int64_t paid = t->rows[i].wait_min_ns;
        if ((uint64_t)paid > owed)
            paid = (int64_t)owed;
        t->rows[i].wait_min_ns -= paid;
        owed -= (uint64_t)paid;
        t->debt_paid_ns += (uint64_t)paid;
    }
}

/* The rows of a rank are those of its threads, summed by their keys. */

static int order(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
    const ix_row *x = a, *y = b;
    int result = order(x->site, y->site);
    result = result ? result : order(x->operation, y->operation);
    result = result ? result : order(x->section, y->section);
    result = result ? result : order(x->size_class, y->size_class);
    result = result ? result : order(x->path, y->path);
    return result ? result : order(x->source, y->source);
}

static void add(ix_row *sum, const ix_row *row)
{
    int64_t *to = &sum->count;
    const int64_t *from = &row->count;
    for (size_t i = 0; i < 16; i++)
        to[i] += from[i];
}

_Static_assert(offsetof(ix_row, unknown_end) - offsetof(ix_row, count) == 15 * sizeof(int64_t),
               "a row holds 16 quantities in a row");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files are little-endian");
_Static_assert(sizeof(ix_row) == 144 && offsetof(ix_row, count) == sizeof(ix_row_key),
               "layout of a row");

size_t ix_collect_rows(ix_row *rows, size_t capacity)
{
    size_t used = 0, limit = 0;
    if (!ix_engine.part)
        return 0;
    uint64_t threads = ix_engine.part->threads.used;
    for (uint64_t i = 0; i < threads; i++) {
        const ix_thread *t = ix_engine.threads + i;
        limit += t->row_used;
        for (uint32_t r = 0; r < t->row_used && used < capacity; r++)
            if (t->rows[r].count || t->rows[r].transfers)
                rows[used++] = t->rows[r];
    }
    if (capacity < limit)
        return limit;
    qsort(rows, used, sizeof *rows, compare);
    size_t merged = 0;
    for (size_t i = 0; i < used; i++) {
        if (merged && !compare(&rows[merged - 1], &rows[i]))
            add(&rows[merged - 1], &rows[i]);
        else
            rows[merged++] = rows[i];
    }
    return merged;
}
