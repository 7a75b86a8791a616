#define _GNU_SOURCE
#include "job/names.h"

#include <stdlib.h>
#include <string.h>

static int reserve(ix_names *n, size_t more)
{
    if (n->length + more <= n->room)
        return 0;
    size_t room = 2 * n->room + more + 256;
    char *bytes = realloc(n->bytes, room);
    if (!bytes)
        return -1;
    n->bytes = bytes;
    n->room = room;
    return 0;
}

/* Each entry stands behind its length, so that a list can be sent as it is. */
int ix_names_add(ix_names *n, const void *key, size_t length)
{
    uint32_t head = (uint32_t)length;
    if (reserve(n, sizeof head + length))
        return -1;
    memcpy(n->bytes + n->length, &head, sizeof head);
    memcpy(n->bytes + n->length + sizeof head, key, length);
    n->length += sizeof head + length;
    n->count++;
    return 0;
}

static uint32_t length_at(const ix_names *n, uint32_t at)
{
    uint32_t length;
    memcpy(&length, n->bytes + at, sizeof length);
    return length;
}

static int compare_keys(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_key(const void *a, const void *b, void *names)
{
    const ix_names *n = names;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return compare_keys(n->bytes + i + 4, length_at(n, i), n->bytes + j + 4, length_at(n, j));
}

int ix_names_sort(ix_names *n)
{
    uint32_t *at = malloc(sizeof *at * (n->count + 1));
    char *sorted = malloc(n->length + 1);
    if (!at || !sorted) {
        free(at);
        free(sorted);
        return -1;
    }
    uint32_t count = 0;
    for (uint32_t start = 0; start < n->length; start += 4 + length_at(n, start))
        at[count++] = start;
    qsort_r(at, count, sizeof *at, by_key, n);
    uint32_t kept = 0;
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i && by_key(&at[i - 1], &at[i], n) == 0)
            continue;
        size_t entry = 4 + length_at(n, at[i]);
        memcpy(sorted + length, n->bytes + at[i], entry);
        length += entry;
        kept++;
    }
    uint32_t start = 0;
    free(n->bytes);
    n->bytes = sorted;
    n->room = n->length + 1;
    n->length = length;
    n->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        at[i] = start;
        start += 4 + length_at(n, start);
    }
    at[kept] = start;
    free(n->at);
    n->at = at;
    return 0;
}

int32_t ix_names_find(const ix_names *n, const void *key, size_t length)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        uint32_t at = n->at[middle];
        int order = compare_keys(n->bytes + at + 4, length_at(n, at), key, length);
        if (order == 0)
            return (int32_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void ix_names_free(ix_names *n)
{
    free(n->bytes);
    free(n->at);
    memset(n, 0, sizeof *n);
}

/* How many come before the first with a letter behind this one. */
static uint32_t up_to(const ix_names *n, char letter)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (n->bytes[n->at[middle] + 4] <= letter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t ix_names_sections(const ix_names *n)
{
    return up_to(n, IX_SECTION_LETTER);
}

uint32_t ix_names_frames(const ix_names *n)
{
    return up_to(n, IX_SITE_LETTER);
}

#define TAG 77

/* Receive into too small a buffer: the truncation error is what is wanted. */
static void discard(int from, MPI_Comm all)
{
    char piece[64];
    PMPI_Recv(piece, (int)sizeof piece, MPI_BYTE, from, TAG, all, MPI_STATUS_IGNORE);
}

int ix_names_unite(ix_names *mine, int fine, MPI_Comm all)
{
    int rank, ranks;
    fine = fine && ix_names_sort(mine) == 0;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    for (int step = 1; step < ranks; step *= 2) {
        if (rank & step) {
            int length = fine ? (int)mine->length : -1;
            PMPI_Send(&length, 1, MPI_INT, rank - step, TAG, all);
            if (length > 0)
                PMPI_Send(mine->bytes, length, MPI_BYTE, rank - step, TAG, all);
            break;
        }
        if (rank + step >= ranks)
            continue;
        int length = 0;
        PMPI_Recv(&length, 1, MPI_INT, rank + step, TAG, all, MPI_STATUS_IGNORE);
        if (length > 0) {
            char *more = malloc((size_t)length);
            if (!more || reserve(mine, (size_t)length))
                fine = 0;
            /* The sender may wait for its receive: without memory throw it away. */
            if (more)
                PMPI_Recv(more, length, MPI_BYTE, rank + step, TAG, all, MPI_STATUS_IGNORE);
            else
                discard(rank + step, all);
            if (more && fine) {
                memcpy(mine->bytes + mine->length, more, (size_t)length);
                mine->length += (size_t)length;
                for (uint32_t at = 0; at < (uint32_t)length;) {
                    uint32_t entry;
                    memcpy(&entry, more + at, sizeof entry);
                    at += 4 + entry;
                    mine->count++;
                }
                fine = ix_names_sort(mine) == 0;
            }
            free(more);
        } else if (length < 0) {
            fine = 0;
        }
    }
    int length = fine ? (int)mine->length : -1;
    PMPI_Bcast(&length, 1, MPI_INT, 0, all);
    if (length < 0)
        return -1;
    int room = 1;
    if (rank) {
        mine->length = 0;
        room = length == 0 || reserve(mine, (size_t)length) == 0;
    }
    int all_room = 0;
    PMPI_Allreduce(&room, &all_room, 1, MPI_INT, MPI_MIN, all);
    if (!all_room)
        return -1;
    PMPI_Bcast(mine->bytes, length, MPI_BYTE, 0, all);
    mine->length = (size_t)length;
    mine->count = 0;
    for (uint32_t at = 0; at < (uint32_t)length; at += 4 + length_at(mine, at))
        mine->count++;
    return 0;
}
