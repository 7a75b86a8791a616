/* Start and stop. */
#include "core/call_logging.h"
#include "core/call_paths.h"
#include "core/images.h"
#include "core/plans.h"

#include <errno.h>
#include <stdio.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SAME_PLACE(field)                                                                          \
    _Static_assert(offsetof(ix_thread, field) == offsetof(ix_part_standing, field), #field)
SAME_PLACE(last_ns);
SAME_PLACE(compute_ns);
SAME_PLACE(call_ns);
SAME_PLACE(address);
SAME_PLACE(key);
SAME_PLACE(state);

ix_engine_state ix_engine;
ix_shared ix_share;

/* Tables lie one behind the other in the part, which goes to the file, and in the working memory.
 */

static size_t place(size_t *end, size_t bytes)
{
    size_t at = *end;
    *end = (at + bytes + 63) & ~(size_t)63;
    return at;
}

static ix_part_table make_table(size_t *end, size_t entry_bytes, uint64_t capacity)
{
    size_t at = place(end, entry_bytes * capacity);
    return (ix_part_table){at, entry_bytes, capacity, 0};
}

static void fill_limits(const ix_options *options, ix_limits *limits)
{
    *limits = options->limits;
#define DEFAULT(field, value)                                                                      \
    if (!limits->field)                                                                            \
        limits->field = value;
    DEFAULT(main_rows, 8192)
    DEFAULT(thread_rows, 183)
    DEFAULT(threads, options->threading == IX_ONE_THREAD ? 4 : 128)
    DEFAULT(sites, 4096)
    DEFAULT(images, 48)
    DEFAULT(sections, 512)
    DEFAULT(requests, 4096)
#undef DEFAULT
    if (limits->main_rows < 2)
        limits->main_rows = 2;
    if (limits->thread_rows < 2)
        limits->thread_rows = 2;
}

static uint32_t rows_of(const ix_limits *limits, uint32_t thread)
{
    return thread ? limits->thread_rows : limits->main_rows;
}

static size_t lay_out_part(const ix_options *options, const ix_limits *limits, ix_part_header *part)
{
    size_t end = 0;
    place(&end, sizeof *part);
    part->header_bytes = sizeof *part;
    part->threads = make_table(&end, sizeof(ix_part_thread), limits->threads);
    part->standing = make_table(&end, sizeof(ix_thread), limits->threads);
    part->standing.used = limits->threads;
    part->awaited_offset = offsetof(ix_thread, awaited);
    part->sites = make_table(&end, sizeof(ix_part_site), limits->sites);
    part->sections = make_table(&end, sizeof(ix_part_name), limits->sections);
    part->operations = make_table(&end, 48, options->operation_count);
    part->call_paths = make_table(&end, sizeof(ix_part_call_path), IX_CALL_PATHS);
    part->images = make_table(&end, sizeof(ix_part_image), limits->images);
    place(&end, sizeof(ix_row) *
                    (limits->main_rows + (size_t)(limits->threads - 1) * limits->thread_rows));
    end = (end + 4095) & ~(size_t)4095;
    part->file_bytes = end;
    return end;
}

static void fill_part(const ix_options *options)
{
    const ix_limits *limits = &ix_engine.limits;
    ix_part_header *part = ix_engine.part;
    lay_out_part(options, limits, part);
    part->version = IX_PART_VERSION;
    part->ranks = options->ranks;
    part->rank.rank = options->rank;
    part->rank.ended = IX_DIED;
    snprintf(part->rank.host, sizeof part->rank.host, "%s", options->host ? options->host : "");
    snprintf(part->library, sizeof part->library, "%s", options->library ? options->library : "");
    char *names = (char *)part + part->operations.offset;
    for (uint32_t i = 0; i < options->operation_count; i++)
        snprintf(names + (size_t)48 * i, 48, "%s",
                 options->operations[i] ? options->operations[i] : "");
    part->operations.used = options->operation_count;
    size_t rows = part->images.offset + part->images.entry_bytes * part->images.capacity;
    rows = (rows + 63) & ~(size_t)63;
    ix_part_thread *threads = (void *)((char *)part + part->threads.offset);
    for (uint32_t i = 0; i < limits->threads; i++) {
        threads[i].rows = (ix_part_table){rows, sizeof(ix_row), rows_of(limits, i), 0};
        rows += sizeof(ix_row) * rows_of(limits, i);
    }
    memcpy(part->magic, IX_PART_MAGIC, sizeof part->magic);
}

typedef struct work_layout {
    size_t plans, used, indices, sites, sections, requests, end;
} work_layout;

static uint32_t index_size(const ix_limits *limits, uint32_t thread)
{
    return ix_power_of_two(2 * rows_of(limits, thread));
}

static work_layout lay_out_work(const ix_limits *limits)
{
    work_layout w = {0};
    size_t indices = index_size(limits, 0) + (size_t)(limits->threads - 1) * index_size(limits, 1);
    size_t plans = IX_MAIN_PLANS + (size_t)(limits->threads - 1) * IX_THREAD_PLANS;
    w.plans = place(&w.end, plans * sizeof(ix_plan));
    w.used = place(&w.end, limits->threads * sizeof(uint32_t));
    w.indices = place(&w.end, indices * sizeof(uint32_t));
    w.sites = place(&w.end, ix_sites_bytes(limits->sites));
    w.sections = place(&w.end, ix_sections_bytes(limits->sections));
    w.requests = place(&w.end, ix_requests_bytes(limits->requests));
    return w;
}

static void fill_work(const work_layout *w)
{
    const ix_limits *limits = &ix_engine.limits;
    ix_engine.threads = (void *)((char *)ix_engine.part + ix_engine.part->standing.offset);
    ix_engine.thread_used = (void *)(ix_engine.work + w->used);
    uint32_t *indices = (void *)(ix_engine.work + w->indices);
    ix_plan *plans = (void *)(ix_engine.work + w->plans);
    ix_part_thread *parts = (void *)((char *)ix_engine.part + ix_engine.part->threads.offset);
    for (uint32_t i = 0; i < limits->threads; i++) {
        ix_thread *t = &ix_engine.threads[i];
        uint32_t plan_count = i ? IX_THREAD_PLANS : IX_MAIN_PLANS;
        t->slot = i;
        t->part = &parts[i];
        t->plans = (char *)plans;
        t->plan_mask = ix_plan_mask(plan_count);
        plans += plan_count;
        t->rows = (void *)((char *)ix_engine.part + parts[i].rows.offset);
        t->row_index = indices;
        indices += index_size(limits, i);
    }
    ix_sites_start(ix_engine.work + w->sites, limits->sites);
    ix_images_enter_program();
    ix_sections_start(ix_engine.work + w->sections, limits->sections);
    ix_requests_start(ix_engine.work + w->requests, limits->requests);
}

int64_t ix_memory_bytes(void)
{
    return (int64_t)(ix_engine.part_bytes + ix_engine.work_bytes + sizeof ix_engine +
                     ix_times_bytes()) +
           ix_log_memory_bytes();
}

void ix_exposed(ix_thread *t, int delta)
{
    (void)t;
    atomic_fetch_add(&ix_share.exposed, (uint32_t)delta);
}

void ix_leave_to_source(uint32_t path_bits)
{
    ix_engine.source_paths = path_bits;
    ix_plans_forget_all(); /* they hold what was left to it before */
}

enum ix_started ix_start(const ix_options *options)
{
    enum ix_started how = IX_START_FAILED;
    if (ix_engine.part || !options)
        return how;
    if (ix_the_clock.kind == IX_CLOCK_NONE)
        ix_clock_start(NULL);
    fill_limits(options, &ix_engine.limits);
    ix_part_header draft;
    size_t part_bytes = lay_out_part(options, &ix_engine.limits, &draft);
    work_layout layout = lay_out_work(&ix_engine.limits);
    enum ix_started ignored;
    char *work = ix_map(NULL, layout.end, &ignored);
    if (!work)
        return how;
    const char *path = options->part_path;
    if (path && strlen(path) >= sizeof ix_engine.part_path)
        path = "";
    void *part = ix_map(path, part_bytes, &how);
    int error = errno;
    if (!part) {
        munmap(work, layout.end);
        return how;
    }
    ix_engine.part = part;
    ix_engine.part_bytes = part_bytes;
    ix_engine.work = work;
    ix_engine.work_bytes = layout.end;
    ix_engine.pid = getpid();
    ix_share.concurrent = options->threading == IX_CONCURRENT;
    ix_engine.asks_sites = options->asks_sites;
    ix_engine.mapped_file = how == IX_START_FILE;
    if (ix_engine.mapped_file)
        strcpy(ix_engine.part_path, path);
    fill_part(options);
    fill_work(&layout);
    ix_engine.part->rank.memory_bytes = ix_memory_bytes();
    ix_threads_start();
    atomic_store(&ix_engine.running, 1);
    ix_self = NULL;
    ix_thread *t = ix_attach();
    ix_engine.start_ns = t->last_ns;
    ix_engine.part->started_ns = t->last_ns;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    ix_engine.part->started_unix_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    ix_unpaused(t, t->last_ns);
    errno = error;
    return how;
}

static void add_up(void)
{
    ix_rank_row *rank = &ix_engine.part->rank;
    const ix_part_thread *threads =
        (void *)((char *)ix_engine.part + ix_engine.part->threads.offset);
    rank->compute_ns = rank->call_ns = rank->calls = 0;
    for (uint64_t i = 0; i < ix_engine.part->threads.used; i++) {
        rank->compute_ns += threads[i].compute_ns;
        rank->call_ns += threads[i].call_ns;
        rank->calls += threads[i].calls;
    }
    rank->overhead_ns =
        (int64_t)(ix_engine.call_cost_ns * (double)rank->calls) + ix_call_paths_ns();
}

void ix_stop(void)
{
    if (!atomic_load(&ix_engine.running))
        return;
    ix_thread *t = ix_current();
    int64_t now = ix_now();
    if (t) {
        t->compute_ns += ix_unpaused(t, now);
        t->part->compute_ns = t->compute_ns;
        t->part->last_exit_ns = now - ix_engine.start_ns;
    }
    atomic_store(&ix_engine.running, 0);
    atomic_fetch_add(&ix_share.epoch, 2);
    ix_log_stop(now);
    ix_part_header *part = ix_engine.part;
    part->rank.wall_ns = now - ix_engine.start_ns;
    part->rank.memory_bytes = ix_memory_bytes();
    if (t)
        ix_requests_stop(t);
    if (t && t->outside_ns) {
        ix_add(&ix_share.debt_ns, (uint64_t)t->outside_ns);
        t->outside_ns = 0;
    }
    for (uint64_t i = 0; i < part->threads.used; i++) {
        ix_settle_debt(&ix_engine.threads[i]);
        if (atomic_load(&ix_engine.thread_used[i]))
            part->rank.section_errors +=
                ix_engine.threads[i].section_depth + ix_engine.threads[i].section_overflow;
    }
    add_up();
}

void ix_mark_ended(enum ix_ended ended)
{
    if (ix_engine.part && getpid() == ix_engine.pid)
        ix_engine.part->rank.ended = (uint8_t)ended;
}

void ix_mark_ending(enum ix_ending call, const void *site)
{
    if (!ix_engine.part || getpid() != ix_engine.pid)
        return;
    ix_engine.part->ending_address = (uint64_t)(uintptr_t)site;
    ix_engine.part->ending = (uint32_t)call;
}

ix_part_header *ix_part(void)
{
    return ix_engine.part;
}

void ix_release(int unlink_part)
{
    if (!ix_engine.part)
        return;
    atomic_store(&ix_engine.running, 0);
    ix_part_header *part = ix_engine.part;
    ix_engine.part = NULL;
    ix_call_paths_stop();
    ix_log_release();
    munmap(part, ix_engine.part_bytes);
    munmap(ix_engine.work, ix_engine.work_bytes);
    if (unlink_part && ix_engine.mapped_file)
        unlink(ix_engine.part_path);
    memset(&ix_engine, 0, sizeof ix_engine);
    memset(&ix_share, 0, sizeof ix_share);
    ix_self = NULL;
    ix_threads_end();
}
