/* The rows of one thread: found by their key through a hash of row numbers. */
#include "internal.h"

#include <stdlib.h>

typedef struct key {
    uint64_t words[2];
} key;

static key key_of(const ix_row *row)
{
    key k;
    memcpy(&k, row, sizeof k);
    return k;
}

static uint32_t hash(key k)
{
    uint64_t h = (k.words[0] ^ k.words[1] * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 40);
}

static ix_row *append(ix_thread *t, const ix_row *head, uint32_t at)
{
    ix_row *row = t->rows + t->row_used;
    memcpy(row, head, sizeof(key));
    t->row_index[at] = ++t->row_used;
    t->part->rows.used = t->row_used;
    return row;
}

ix_row *ix_row_of(ix_thread *t, int32_t site, uint32_t operation, uint32_t section, int size_class,
                  uint32_t path, uint32_t source)
{
    ix_row head = {.rank = t->rows->rank,
                   .site = site,
                   .operation = (uint16_t)operation,
                   .section = (uint16_t)section,
                   .size_class = (int8_t)size_class,
                   .path = (uint8_t)path,
                   .source = (uint8_t)source};
    key k = key_of(&head);
    uint32_t at = hash(k) & t->row_mask;
    for (; t->row_index[at]; at = (at + 1) & t->row_mask) {
        ix_row *row = t->rows + t->row_index[at] - 1;
        key other = key_of(row);
        if (other.words[0] == k.words[0] && other.words[1] == k.words[1])
            return row;
    }
    if (t->row_used < t->row_capacity)
        return append(t, &head, at);
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
    ix_row other = {.rank = ix_engine.part->rank.rank, .size_class = -1};
    append(t, &other, hash(key_of(&other)) & t->row_mask);
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

/* ---- Rows of the whole rank */

static int compare(const void *a, const void *b)
{
    const ix_row *x = a, *y = b;
#define BY(field)                                                                                  \
    if (x->field != y->field)                                                                      \
        return x->field < y->field ? -1 : 1;
    BY(site)
    BY(operation) BY(section) BY(size_class) BY(path) BY(source)
#undef BY
        return 0;
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
_Static_assert(sizeof(ix_row) == 144 && offsetof(ix_row, count) == sizeof(key), "layout of a row");

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
