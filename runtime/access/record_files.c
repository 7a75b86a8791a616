/* What one rank leaves: access.R.json with elements.R.bin, or anchors.R.json of the clean run. */
#include "access/messages.h"
#include "access/phases.h"
#include "access/timeline.h"
#include "access/trace.h"
#include "access/watch.h"
#include "base/json_text.h"
#include "generated/operations.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>

static FILE *create(const char *name, const char *ending)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.%d.%s", ixa_directory, name, ixa_rank, ending);
    FILE *file = fopen(path, "wb");
    if (!file)
        fprintf(stderr, "imbrex: rank %d: %s cannot be written\n", ixa_rank, path);
    return file;
}

static void write_place(FILE *file, const void *site)
{
    Dl_info info = {0};
    uintptr_t offset = (uintptr_t)site;
    if (site && dladdr(site, &info))
        offset -= (uintptr_t)info.dli_fbase;
    fprintf(file, "\"image\": ");
    ix_put_json_string(file, info.dli_fname);
    fprintf(file, ", \"offset\": %" PRIuPTR, offset);
}

static void write_touches(FILE *file, const ixa_message_t *m)
{
    fprintf(file, ", \"touched\": [");
    for (uint32_t i = 0; i < m->touches; i++) {
        fprintf(file, "%s{\"samples\": %u, ", i ? ", " : "", m->touched[i].count);
        write_place(file, m->touched[i].code);
        if (m->touched[i].call) {
            fprintf(file, ", \"call\": {");
            write_place(file, m->touched[i].call);
            fprintf(file, "}");
        }
        fprintf(file, "}");
    }
    fprintf(file, "]");
}

/* By which this rank tells the message's communicator from others: its first message there. */
static size_t communicator_of(const ixa_message_t *m)
{
    size_t first = 0;
    while (ixa_messages[first].comm != m->comm)
        first++;
    return first;
}

static void write_groups(FILE *file)
{
    const ixa_group_t *group;
    fprintf(file, ", \"groups\": [");
    for (size_t i = 0; (group = ixa_group(i)); i++)
        fprintf(file, "%s{\"members\": %" PRIu64 ", \"size\": %d}", i ? ", " : "", group->members,
                (int)group->size);
    fprintf(file, "]");
}

static void write_message(FILE *file, const ixa_message_t *m)
{
    fprintf(file, "{\"thread\": %d, \"kind\": \"%s\", \"operation\": \"%s\", \"collective\": %s, ",
            m->thread, m->is_send ? "send" : "receive", ix_operation_names[m->operation],
            m->collective ? "true" : "false");
    write_place(file, m->site);
    fprintf(file, ", \"peer\": %d, \"tag\": %d, \"communicator\": %zu, \"processes\": %d, ",
            m->world_peer, m->tag, communicator_of(m), (int)m->processes);
    fprintf(file, "\"elements\": %zu, \"element_bytes\": %zu, \"calls\": %" PRIu64, m->elements,
            m->element_bytes, m->calls);
    fprintf(file, ", \"first_ns\": %.1f, \"last_ns\": %.1f", m->first_ns, m->last_ns);
    if (m->before)
        fprintf(file, ", \"before\": %" PRIu64, m->before);
    if (ixa_is_copied(m))
        fprintf(file, ", \"copied\": true");
    if (ixa_mode == IXA_CLEAN) {
        fprintf(file, ", \"anchors\": [");
        for (int a = 0; a < IXA_ANCHORS; a++) {
            fprintf(file, "%s{\"element\": %zu, \"times_ns\": [", a ? ", " : "",
                    ixa_anchor_element(m, a));
            for (uint32_t i = 0; i < m->samples[a] && i < IXA_SAMPLES; i++)
                fprintf(file, "%s%.1f", i ? ", " : "", m->anchor_ns[a][i]);
            fprintf(file, "]}");
        }
        fprintf(file, "]");
        write_touches(file, m);
    } else {
        fprintf(file, ", \"unseen\": %" PRIu64, m->unseen);
    }
    fprintf(file, "}");
}

static int write_image(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    FILE *file = data;
    if (info->dlpi_name && info->dlpi_name[0] == '/') {
        fprintf(file, ", ");
        ix_put_json_string(file, info->dlpi_name);
    }
    return 0;
}

/* What is loaded beside the program: which of it has hooks shows in the files. */
static void write_images(FILE *file)
{
    fprintf(file, ", \"images\": [\"\"");
    dl_iterate_phdr(write_image, file);
    fprintf(file, "]");
}

void ixa_write_results(void)
{
    if (ixa_mode == IXA_OFF)
        return;
    if (ixa_mode == IXA_RECORD) {
        FILE *elements = create("elements", "bin");
        for (size_t i = 0; elements && i < ixa_message_count; i++) {
            const ixa_message_t *m = &ixa_messages[i];
            if (ixa_is_copied(m))
                fwrite(m->copied, sizeof(ixa_element_t), m->elements, elements);
            /* Of a message that is followed through copies: when those were made. */
            fwrite(m->element, sizeof(ixa_element_t), m->elements, elements);
        }
        if (elements && fclose(elements) != 0)
            fprintf(stderr, "imbrex: rank %d: the recording is not complete\n", ixa_rank);
    }
    const ixa_timeline_t *line = ixa_timeline_at(0);
    for (int i = ixa_timelines(); i-- > 0;)
        if (ixa_timeline_at(i)->diverged_at >= 0)
            line = ixa_timeline_at(i);
    FILE *file = create(ixa_mode == IXA_CLEAN ? "anchors" : "access", "json");
    if (!file)
        return;
    fprintf(file,
            "{\"schema_version\": 1, \"rank\": %d, \"compute_ns\": %.1f, \"intervals\": %" PRIu64
            ", \"accesses\": %" PRIu64 ", \"diverged_at\": %" PRId64 ", \"dropped\": %" PRIu64
            ", \"watchpoints\": %s, \"spread_ns\": %.1f, \"threads\": %d, \"diverged_thread\": %d",
            ixa_rank, line->now_ns, line->intervals, line->position, line->diverged_at, ixa_dropped,
            ixa_watch_works() ? "true" : "false", ixa_watch_spread_ns(), ixa_timelines(),
            line->number);
    if (line->diverged_in) {
        fprintf(file, ", \"diverged_in\": {\"function\": ");
        ix_put_json_string(file, line->diverged_in);
        fprintf(file, ", ");
        write_place(file, line->diverged_site);
        fprintf(file, "}");
    }
    ixa_phases_write(file);
    fprintf(file, ", \"collectives_before\": %" PRIu64, ixa_trace_skipped());
    write_images(file);
    write_groups(file);
    fprintf(file, ", \"messages\": [");
    for (size_t i = 0; i < ixa_message_count; i++) {
        fprintf(file, "%s\n", i ? "," : "");
        write_message(file, &ixa_messages[i]);
    }
    fprintf(file, "\n]}\n");
    if (fclose(file) != 0)
        fprintf(stderr, "imbrex: rank %d: the recording is not complete\n", ixa_rank);
}
