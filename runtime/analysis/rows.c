#include "analysis/rows.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ix_evidence_row) == 16 + 19 * 8, "a row of evidence.npy has no padding");
_Static_assert(sizeof(ix_causes_row) == 16 + 25 * 8, "a row of causes.npy has no padding");
_Static_assert(sizeof(ix_waits_row) == 16 + 5 * 8, "a row of waits.npy has no padding");
_Static_assert(sizeof(ix_partners_row) == 8 + 4 * 8, "a row of partners.npy has no padding");
_Static_assert(sizeof(ix_timeline_row) == 40 + 32 * 8, "a row of timeline.npy has no padding");
_Static_assert(sizeof(ix_overview_row) == 8 + 12 * 8, "a row of overview.npy has no padding");

void ix_rows_init(ix_rows *table, int which)
{
    static const size_t row_bytes[IX_ROW_TABLES] = {
        sizeof(ix_evidence_row), sizeof(ix_causes_row),   sizeof(ix_waits_row),
        sizeof(ix_partners_row), sizeof(ix_timeline_row), sizeof(ix_overview_row)};
    static const size_t key_bytes[IX_ROW_TABLES] = {16, 16, 16, 8, 0, 0};
    *table = (ix_rows){.row_bytes = row_bytes[which], .key_bytes = key_bytes[which]};
}

void ix_rows_free(ix_rows *table)
{
    free(table->rows);
    free(table->places);
    *table = (ix_rows){.row_bytes = table->row_bytes, .key_bytes = table->key_bytes};
}

/* Keys are whole words. */
static uint64_t field_of(const void *key, size_t i)
{
    uint64_t field;
    memcpy(&field, (const char *)key + i * sizeof field, sizeof field);
    return field;
}

static size_t hash(const void *key, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes / sizeof value; i++) {
        value = (value ^ field_of(key, i)) * UINT64_C(0x9e3779b97f4a7c15);
        value ^= value >> 32;
    }
    return (size_t)value;
}

static int is_like(const void *row, const void *key, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        if (field_of(row, i) != field_of(key, i))
            return 0;
    return 1;
}

static size_t place_of(const ix_rows *table, const void *key)
{
    size_t place = hash(key, table->key_bytes) & (table->place_count - 1);
    while (table->places[place] &&
           !is_like(table->rows + (table->places[place] - 1) * table->row_bytes, key,
                    table->key_bytes))
        place = (place + 1) & (table->place_count - 1);
    return place;
}

/* Room for one more row, at most half of the places in use. 0, or -1. */
static int grow(ix_rows *table)
{
    if (table->count < table->capacity)
        return 0;
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    char *rows = realloc(table->rows, capacity * table->row_bytes);
    if (!rows)
        return -1;
    table->rows = rows;
    uint32_t *places = calloc(2 * capacity, sizeof *places);
    if (!places)
        return -1;
    free(table->places);
    table->places = places;
    table->place_count = 2 * capacity;
    table->capacity = capacity;
    for (size_t i = 0; i < table->count; i++)
        places[place_of(table, rows + i * table->row_bytes)] = (uint32_t)i + 1;
    return 0;
}

void *ix_rows_find(const ix_rows *table, const void *like)
{
    uint32_t number = table->count ? table->places[place_of(table, like)] : 0;
    return number ? table->rows + (number - 1) * table->row_bytes : NULL;
}

void *ix_rows_at(ix_rows *table, const void *like)
{
    if (grow(table))
        return NULL;
    size_t place = place_of(table, like);
    if (!table->places[place]) {
        char *row = table->rows + table->count * table->row_bytes;
        memset(row, 0, table->row_bytes);
        memcpy(row, like, table->key_bytes);
        table->places[place] = (uint32_t)++table->count;
    }
    return table->rows + (table->places[place] - 1) * table->row_bytes;
}

void *ix_rows_append(ix_rows *table)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char *rows = realloc(table->rows, capacity * table->row_bytes);
        if (!rows)
            return NULL;
        table->rows = rows;
        table->capacity = capacity;
    }
    return memset(table->rows + table->count++ * table->row_bytes, 0, table->row_bytes);
}
