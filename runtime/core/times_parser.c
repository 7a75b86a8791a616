/* The transfer-time table: parser. Format: docs/reference/machine-profile.md. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/needing.h"
#include "core/plans.h"
#include "core/times_table.h"

enum { MAX_TOKENS = 12 };

typedef struct token {
    const char *text;
    size_t length;
} token;

typedef struct parser {
    const char *at, *end;
    unsigned line;
    token tokens[MAX_TOKENS];
    int count;
    char *error;
    size_t error_bytes;
    const char *const *operations;
    uint32_t operation_count;
    ix_curve *open; /* the curve that points go to */
    ix_curve skipped;
    int64_t last_size;
} parser;

__attribute__((format(printf, 2, 3))) static int fail(parser *p, const char *format, ...)
{
    if (p->error && p->error_bytes) {
        int used = snprintf(p->error, p->error_bytes, "transfer-time table, line %u: ", p->line);
        va_list arguments;
        va_start(arguments, format);
        if (used > 0 && (size_t)used < p->error_bytes)
            vsnprintf(p->error + used, p->error_bytes - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return -1;
}

/* The next line that is not empty: 1, or 0 at the end, or -1. */
static int next_line(parser *p)
{
    while (p->at < p->end) {
        p->line++;
        p->count = 0;
        while (p->at < p->end && *p->at != '\n') {
            char c = *p->at;
            if (c == ' ' || c == '\t' || c == '\r') {
                p->at++;
            } else if (c == '#') {
                while (p->at < p->end && *p->at != '\n')
                    p->at++;
            } else {
                const char *start = p->at;
                while (p->at < p->end && !strchr(" \t\r\n#", *p->at))
                    p->at++;
                if (p->at == start) /* a NUL byte: strchr finds the end of its string */
                    return fail(p, "a NUL byte");
                if (p->count == MAX_TOKENS)
                    return fail(p, "too many words");
                p->tokens[p->count++] = (token){start, (size_t)(p->at - start)};
            }
        }
        if (p->at < p->end)
            p->at++;
        if (p->count)
            return 1;
    }
    return 0;
}

static int is(token t, const char *keyword)
{
    return t.length == strlen(keyword) && !memcmp(t.text, keyword, t.length);
}

static int number(token t, int64_t low, int64_t *value)
{
    if (low < 0 && is(t, "-1")) {
        *value = -1;
        return 1;
    }
    if (t.length == 0 || t.length > 16)
        return 0;
    int64_t sum = 0;
    for (size_t i = 0; i < t.length; i++) {
        if (t.text[i] < '0' || t.text[i] > '9')
            return 0;
        sum = sum * 10 + (t.text[i] - '0');
    }
    *value = sum;
    return sum >= low && sum <= IX_LONGEST_NS;
}

static int path_of(token t)
{
    static const char *const names[] = {"self", "intra-node", "inter-node"};
    for (int i = 0; i < 3; i++)
        if (is(t, names[i]))
            return IX_PATH_SELF + i;
    return -1;
}

static int close_curve(parser *p)
{
    if (p->open && p->open->count == 0)
        return fail(p, "the curve before this line has no points");
    if (p->open && p->open != &p->skipped) {
        const ix_point *points = ix_times.points + p->open->first;
        int16_t i = -1;
        for (int k = 0; k < 64; k++) {
            while (i + 1 < (int16_t)p->open->count && points[i + 1].size <= (int64_t)1 << k &&
                   k < 63)
                i++;
            p->open->below[k] = i;
        }
    }
    p->open = NULL;
    return 0;
}

static ix_curve *new_curve(parser *p)
{
    if (ix_times.curve_count == IX_MAX_CURVES)
        return NULL;
    ix_curve *c = ix_times.curves + ix_times.curve_count++;
    memset(c, 0, sizeof *c);
    c->operation = -1;
    c->first = ix_times.point_count;
    p->last_size = 0;
    return p->open = c;
}

static int parse_path(parser *p)
{
    int path = p->count == 2 ? path_of(p->tokens[1]) : -1;
    if (path < 0)
        return fail(p, "expected: path self|intra-node|inter-node");
    if (close_curve(p))
        return -1;
    if (ix_times.path_curve[path])
        return fail(p, "this path was given before");
    ix_curve *c = new_curve(p);
    if (!c)
        return fail(p, "more than %d curves", IX_MAX_CURVES);
    c->path = (uint8_t)path;
    ix_times.path_curve[path] = (int16_t)ix_times.curve_count;
    return 0;
}

static int parse_collective(parser *p)
{
    static const char *const roles[] = {"any", "root", "other"};
    int64_t ranks = 0;
    int role = 0;
    while (p->count == 5 && role < 3 && !is(p->tokens[3], roles[role]))
        role++;
    int path = p->count == 5 ? path_of(p->tokens[4]) : -1;
    if (p->count != 5 || role == 3 || path < 0 || !number(p->tokens[2], 1, &ranks) ||
        ranks > INT32_MAX)
        return fail(p, "expected: collective OPERATION RANKS any|root|other PATH");
    if (close_curve(p))
        return -1;
    uint32_t operation = 0;
    while (operation < p->operation_count &&
           !(p->operations[operation] && is(p->tokens[1], p->operations[operation])))
        operation++;
    if (operation == p->operation_count) {
        p->skipped.count = 0;
        p->last_size = 0;
        p->open = &p->skipped;
        return 0;
    }
    if (ix_find_collective(operation, (int32_t)ranks, (uint8_t)role, (uint8_t)path))
        return fail(p, "this collective was given before");
    ix_curve *c = new_curve(p);
    if (!c)
        return fail(p, "more than %d curves", IX_MAX_CURVES);
    c->operation = (int32_t)operation;
    c->ranks = (int32_t)ranks;
    c->role = (uint8_t)role;
    c->path = (uint8_t)path;
    uint32_t h = ix_collective_hash(operation, c->ranks, c->role, c->path);
    while (ix_times.hash[h])
        h = (h + 1) & (IX_TIMES_HASH - 1);
    ix_times.hash[h] = (int16_t)ix_times.curve_count;
    return 0;
}

static int parse_point(parser *p)
{
    ix_point new = {0};
    if (p->count < 6 || p->count > 7 || !number(p->tokens[1], 1, &new.size) ||
        !number(p->tokens[2], 0, &new.x_lo) || !number(p->tokens[3], 0, &new.x_hi) ||
        !number(p->tokens[4], -1, &new.tail) || !number(p->tokens[5], -1, &new.head) ||
        (p->count == 7 && !number(p->tokens[6], 0, &new.least)))
        return fail(p, "expected: point SIZE X_LO X_HI TAIL HEAD [LEAST] (whole numbers up to "
                       "2^50, size at least 1, -1 only for an unknown tail or head)");
    if (!p->open)
        return fail(p, "a point before any path or collective");
    if (new.size <= p->last_size)
        return fail(p, "sizes must grow from point to point");
    if (new.x_lo > new.x_hi)
        return fail(p, "x_lo is greater than x_hi");
    if (new.least > new.x_hi)
        return fail(p, "the least one-way time is greater than x_hi");
    p->last_size = new.size;
    if (p->open == &p->skipped) {
        p->skipped.count = 1;
        return 0;
    }
    if (ix_times.point_count == IX_MAX_POINTS)
        return fail(p, "more than %d points", IX_MAX_POINTS);
    new.most = new.x_hi;
    if (p->open->count && ix_times.points[ix_times.point_count - 1].most > new.most)
        new.most = ix_times.points[ix_times.point_count - 1].most;
    ix_times.points[ix_times.point_count++] = new;
    p->open->count++;
    return 0;
}

/* Rates of nobody, the sender, the receiver and both inside MPI: in the order of ix_class. */
static int parse_class(parser *p)
{
    ix_class_point new = {0};
    int64_t returns = 0, rates[8] = {0};
    int fine = p->count == 11 && number(p->tokens[1], 0, &new.size) &&
               number(p->tokens[2], -1, &returns) && returns <= 1;
    for (int i = 0; fine && i < 8; i++)
        fine = number(p->tokens[3 + i], 0, &rates[i]) && rates[i] <= IX_RATE_ONE &&
               (i % 2 == 0 || rates[i - 1] <= rates[i]);
    if (!fine)
        return fail(p,
                    "expected: class SIZE RETURNS, then LOWEST and HIGHEST rate with nobody, the "
                    "sender, the receiver and both inside MPI (0 to 1000; RETURNS -1, 0 or 1)");
    if (!p->open || p->open == &p->skipped || p->open->operation >= 0)
        return fail(p, "a class outside of a path");
    uint8_t path = p->open->path, count = ix_times.class_count[path];
    if (count == IX_MAX_CLASSES)
        return fail(p, "more than %d classes of a path", IX_MAX_CLASSES);
    if (count && ix_times.classes[path][count - 1].size >= new.size)
        return fail(p, "sizes of classes must grow");
    new.of_size.returns = (int8_t)returns;
    for (int i = 0; i < 4; i++) {
        new.of_size.rate_lo[i] = (int16_t)rates[2 * i];
        new.of_size.rate_hi[i] = (int16_t)rates[2 * i + 1];
        new.of_size.known |= rates[2 * i] > 0 || rates[2 * i + 1] < IX_RATE_ONE;
    }
    ix_times.classes[path][count] = new;
    ix_times.class_count[path]++;
    return 0;
}

static int parse_handshake(parser *p)
{
    ix_handshake_point new = {0};
    int64_t needs = 0;
    if (p->count != 5 || !number(p->tokens[1], 0, &new.size) || !number(p->tokens[2], 0, &needs) ||
        needs > (IX_SENDER_IN | IX_RECEIVER_IN) ||
        !number(p->tokens[3], 0, &new.of_size.before_ns) ||
        !number(p->tokens[4], 0, &new.of_size.latency_ns))
        return fail(p, "expected: handshake SIZE NEEDS BEFORE LATENCY (NEEDS: 1 the sender, 2 the "
                       "receiver, 3 both, 0 unknown)");
    if (!p->open || p->open == &p->skipped || p->open->operation >= 0)
        return fail(p, "a handshake outside of a path");
    uint8_t path = p->open->path, count = ix_times.handshake_count[path];
    if (count == IX_MAX_HANDSHAKES)
        return fail(p, "more than %d handshakes of a path", IX_MAX_HANDSHAKES);
    if (count && ix_times.handshakes[path][count - 1].size >= new.size)
        return fail(p, "sizes of handshakes must grow");
    new.of_size.needs = (uint8_t)needs;
    ix_times.handshakes[path][count] = new;
    ix_times.handshake_count[path]++;
    return 0;
}

static int parse_progress(parser *p)
{
    if (ix_times.progress_ns)
        return fail(p, "the interval of progress was given before");
    if (p->count != 2 || !number(p->tokens[1], 1, &ix_times.progress_ns))
        return fail(p, "expected: progress INTERVAL (a whole number from 1 to 2^50)");
    return 0;
}

static int parse(parser *p)
{
    int line = next_line(p);
    if (line <= 0 || p->count != 2 || !is(p->tokens[0], "imbrex-table"))
        return line < 0 ? -1 : fail(p, "not a transfer-time table (no \"imbrex-table 1\")");
    if (!is(p->tokens[1], "1"))
        return fail(p, "this version of the table is not known here (only 1 is)");
    while ((line = next_line(p)) > 0) {
        token keyword = p->tokens[0];
        int result;
        if (is(keyword, "point")) {
            result = parse_point(p);
        } else if (is(keyword, "class")) {
            result = parse_class(p);
        } else if (is(keyword, "handshake")) {
            result = parse_handshake(p);
        } else if (is(keyword, "progress")) {
            result = parse_progress(p);
        } else if (is(keyword, "path")) {
            result = parse_path(p);
        } else if (is(keyword, "collective")) {
            result = parse_collective(p);
        } else if (is(keyword, "end")) {
            if (p->count != 1 || close_curve(p))
                return p->count != 1 ? fail(p, "more than the word end") : -1;
            line = next_line(p);
            return line > 0 ? fail(p, "something after end") : line;
        } else {
            int shown = keyword.length > 20 ? 20 : (int)keyword.length;
            return fail(p, "unknown word \"%.*s\"", shown, keyword.text);
        }
        if (result)
            return -1;
    }
    return line < 0 ? -1 : fail(p, "the table is cut off (no end)");
}

static void clear(void)
{
    ix_times.point_count = ix_times.curve_count = 0;
    memset(ix_times.path_curve, 0, sizeof ix_times.path_curve);
    memset(ix_times.hash, 0, sizeof ix_times.hash);
    memset(ix_times.class_count, 0, sizeof ix_times.class_count);
    memset(ix_times.handshake_count, 0, sizeof ix_times.handshake_count);
    ix_times.progress_ns = 0;
}

int ix_load_times(const char *text, size_t length, const char *const *operations,
                  uint32_t operation_count, char *error, size_t error_bytes)
{
    parser p = {.at = text,
                .end = text + length,
                .error = error,
                .error_bytes = error_bytes,
                .operations = operations,
                .operation_count = operation_count};
    ix_plans_forget_all(); /* they hold times of the table before */
    ix_forget_sizes_without_need();
    clear();
    if (length == 0)
        return 0;
    if (parse(&p) == 0)
        return 0;
    clear();
    return -1;
}
