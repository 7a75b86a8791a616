/* Reading a call log. */
#include "core/call_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_POSITION = UINT32_MAX };

static const ix_log_chunk *chunk_at(const ix_log_header *log, uint32_t chunk)
{
    return (const void *)((const char *)log + log->chunk_offset +
                          (size_t)chunk * IX_LOG_CHUNK_BYTES);
}

static int counts(const ix_log_chunk *chunk, uint32_t level)
{
    return chunk->order != 0 && chunk->window % (UINT32_C(1) << level) == 0;
}

static int by_order(const void *a, const void *b)
{
    uint32_t x = ((const ix_log_place *)a)->order, y = ((const ix_log_place *)b)->order;
    return x < y ? -1 : x > y;
}

static int table_fits(const ix_part_table *table, size_t entry_bytes, size_t bytes)
{
    return table->entry_bytes == entry_bytes && table->used <= table->capacity &&
           table->offset <= bytes && table->used <= (bytes - table->offset) / entry_bytes;
}

/* NULL, or what is wrong. */
static const char *fault_of(const ix_log_header *log, size_t bytes)
{
    if (bytes < sizeof *log || memcmp(log->magic, IX_LOG_MAGIC, sizeof log->magic) != 0)
        return "not a call log";
    if (log->version != IX_LOG_VERSION)
        return "a call log of another version of Imbrex";
    if (log->chunk_offset % IX_LOG_CHUNK_BYTES || log->window_shift > 62 || log->level > 31 ||
        log->chunks_used > log->chunks)
        return "damaged";
    if (log->chunk_offset > bytes ||
        log->chunks_used > (bytes - log->chunk_offset) / IX_LOG_CHUNK_BYTES)
        return "cut short";
    if (!table_fits(&log->comms, sizeof(ix_log_comm), bytes) ||
        !table_fits(&log->members, sizeof(int32_t), bytes))
        return "its table of communicators is cut short";
    return NULL;
}

/* Threads are few: a count of each, and their chunks one behind the other. */
static void sort_by_thread(ix_log_reader *reader, uint32_t *next)
{
    const ix_log_header *log = reader->log;
    for (uint32_t i = 0; i < reader->chunk_count; i++)
        next[chunk_at(log, reader->chunks[i].chunk)->thread]++;
    for (uint32_t thread = 0, sum = 0; thread <= UINT16_MAX; thread++) {
        uint32_t count = next[thread];
        next[thread] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < reader->chunk_count; i++)
        reader->by_thread[next[chunk_at(log, reader->chunks[i].chunk)->thread]++] = i;
}

int ix_log_open(ix_log_reader *reader, const void *memory, size_t bytes, uint32_t level,
                char *error, size_t error_bytes)
{
    const ix_log_header *log = memory;
    *reader = (ix_log_reader){.log = log};
    const char *fault = fault_of(log, bytes);
    if (fault) {
        snprintf(error, error_bytes, "%s", fault);
        return -1;
    }
    reader->level = level > log->level ? level : log->level;
    reader->chunks = malloc((log->chunks_used + (size_t)1) * sizeof *reader->chunks);
    reader->by_thread = malloc((log->chunks_used + (size_t)1) * sizeof *reader->by_thread);
    uint32_t *next = calloc(UINT16_MAX + 1, sizeof *next);
    if (!reader->chunks || !reader->by_thread || !next) {
        snprintf(error, error_bytes, "no memory to read the call log");
        free(next);
        ix_log_close(reader);
        return -1;
    }
    for (uint32_t i = 0; i < log->chunks_used; i++)
        if (counts(chunk_at(log, i), reader->level))
            reader->chunks[reader->chunk_count++] = (ix_log_place){chunk_at(log, i)->order, i};
    qsort(reader->chunks, reader->chunk_count, sizeof *reader->chunks, by_order);
    sort_by_thread(reader, next);
    free(next);
    return 0;
}

void ix_log_close(ix_log_reader *reader)
{
    free(reader->chunks);
    free(reader->by_thread);
    *reader = (ix_log_reader){0};
}

static const ix_log_record *records_of(const ix_log_reader *reader, uint32_t position)
{
    return (const void *)chunk_at(reader->log, reader->chunks[position].chunk);
}

static uint32_t used_places(const ix_log_record *records)
{
    uint32_t used = ((const ix_log_chunk *)(const void *)records)->used;
    return used < IX_LOG_CHUNK_RECORDS ? used : IX_LOG_CHUNK_RECORDS;
}

const ix_log_record *ix_log_next(const ix_log_reader *reader, ix_log_cursor *cursor, uint32_t *id)
{
    for (; cursor->chunk < reader->chunk_count; cursor->chunk++, cursor->place = 0) {
        uint32_t position = reader->by_thread[cursor->chunk];
        const ix_log_record *records = records_of(reader, position);
        while (++cursor->place < used_places(records))
            if (records[cursor->place].kind != IX_LOG_NONE) {
                *id = reader->chunks[position].order * IX_LOG_CHUNK_RECORDS + cursor->place;
                return &records[cursor->place];
            }
    }
    return NULL;
}

static uint32_t position_of_order(const ix_log_reader *reader, uint32_t order, uint32_t near)
{
    uint32_t low = 0, high = reader->chunk_count;
    for (uint32_t i = near; i < high && i < near + 2; i++)
        if (reader->chunks[i].order == order)
            return i;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reader->chunks[middle].order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return low < reader->chunk_count && reader->chunks[low].order == order ? low : NO_POSITION;
}

uint32_t ix_log_position(const ix_log_reader *reader, uint32_t id, uint32_t near)
{
    uint32_t place = id % IX_LOG_CHUNK_RECORDS, order = id / IX_LOG_CHUNK_RECORDS;
    uint32_t position = NO_POSITION;
    if (place)
        position = position_of_order(reader, order, near / (IX_LOG_CHUNK_RECORDS - 1));
    if (position == NO_POSITION)
        return NO_POSITION;
    const ix_log_record *records = records_of(reader, position);
    if (place >= used_places(records) || records[place].kind == IX_LOG_NONE)
        return NO_POSITION;
    return position * (IX_LOG_CHUNK_RECORDS - 1) + place - 1;
}

const ix_log_record *ix_log_find(const ix_log_reader *reader, uint32_t id)
{
    uint32_t at = ix_log_position(reader, id, 0);
    if (at == NO_POSITION)
        return NULL;
    return records_of(reader, at / (IX_LOG_CHUNK_RECORDS - 1)) + id % IX_LOG_CHUNK_RECORDS;
}

int ix_log_covers(const ix_log_reader *reader, int64_t time_ns)
{
    const ix_log_header *log = reader->log;
    if (time_ns < log->origin_ns || (log->end_ns && time_ns >= log->end_ns))
        return 0;
    uint64_t window = (uint64_t)(time_ns - log->origin_ns) >> log->window_shift;
    return window % (UINT64_C(1) << reader->level) == 0;
}

int64_t ix_log_covered_ns(const ix_log_reader *reader, int64_t until_ns)
{
    const ix_log_header *log = reader->log;
    uint32_t shift = log->window_shift, period_shift = shift + reader->level;
    if (log->end_ns && until_ns > log->end_ns)
        until_ns = log->end_ns;
    int64_t span = until_ns - log->origin_ns;
    if (span <= 0)
        return 0;
    if (period_shift > 62)
        return span >> shift ? INT64_C(1) << shift : span;
    int64_t whole = span >> period_shift, rest = span & ((INT64_C(1) << period_shift) - 1);
    int64_t window = INT64_C(1) << shift;
    return whole * window + (rest < window ? rest : window);
}

static const void *entries(const ix_log_header *log, const ix_part_table *table)
{
    return (const char *)log + table->offset;
}

const ix_log_comm *ix_log_comm_numbered(const ix_log_header *log, uint32_t number)
{
    const ix_log_comm *comms = entries(log, &log->comms);
    for (uint64_t i = 0; i < log->comms.used; i++)
        if (comms[i].number == number)
            return &comms[i];
    return NULL;
}

static int32_t member(const ix_log_header *log, uint32_t begin, int32_t size, int32_t rank)
{
    const int32_t *members = entries(log, &log->members);
    if (rank < 0 || rank >= size || begin >= log->members.used ||
        (uint64_t)rank >= log->members.used - begin)
        return -1;
    return members[begin + (uint32_t)rank];
}

int32_t ix_log_world_rank(const ix_log_header *log, const ix_log_comm *comm, int32_t peer)
{
    return member(log, comm->remote, comm->peers, peer);
}

int32_t ix_log_own_world_rank(const ix_log_header *log, const ix_log_comm *comm, int32_t rank)
{
    return member(log, comm->own, comm->size, rank);
}
