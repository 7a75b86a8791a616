#include "job/json.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/warnings.h"
#include "generated/operations.h"
#include "transport/sources.h"

static int finish(FILE *f)
{
    int bad = ferror(f);
    return fclose(f) || bad ? -1 : 0;
}

void ix_put_matching(FILE *f, const ix_matching_facts *m)
{
    if (m->budget_bytes)
        fprintf(f,
                " \"log\": {\"budget_bytes\": %llu, \"logged_share\": %.6f, \"windows\": %lld, "
                "\"level\": %u},\n",
                (unsigned long long)m->budget_bytes, m->logged_share, (long long)m->windows,
                m->level);
    if (m->reason) {
        fputs(" \"matching\": {\"matched\": 0, \"unmatched\": {}, \"reason\": ", f);
        ix_put_json_string(f, m->reason);
        fputs("},\n", f);
        return;
    }
    fprintf(f, " \"clocks\": {\"error_s\": %.9f, \"violations\": %lld},\n",
            (double)m->error_ns * 1e-9, (long long)m->violations);
    if (m->kept_to_ns > m->kept_from_ns)
        fprintf(f, " \"timeline\": {\"begin_s\": %.9f, \"end_s\": %.9f},\n",
                (double)m->kept_from_ns * 1e-9, (double)m->kept_to_ns * 1e-9);
    fprintf(f, " \"matching\": {\"matched\": %lld, \"seconds\": %.6f, \"unmatched\": {",
            (long long)m->matched, m->seconds);
    for (int i = 0, some = 0; i < IX_MATCH_STATES; i++)
        if (m->unmatched[i]) {
            fputs(some++ ? ", " : "", f);
            ix_put_json_string(f, ix_match_state_name(i));
            fprintf(f, ": %lld", (long long)m->unmatched[i]);
        }
    fputs("}},\n", f);
}

static void put_progress(FILE *f, const ix_progress_report *p)
{
    if (!p->ranks)
        return;
    fprintf(f,
            " \"progress\": {\"ranks\": %lld, \"interval_s\": %.9f, \"share\": %.6f, "
            "\"looks\": %lld, \"moving_looks\": %lld, \"looking_s\": %.9f, \"moving_s\": %.9f, "
            "\"waits\": %lld, \"rests\": %lld, \"sites\": [",
            (long long)p->ranks, (double)p->interval_ns * 1e-9, p->share, (long long)p->looks,
            (long long)p->moving_looks, (double)p->looking_ns * 1e-9, (double)p->moving_ns * 1e-9,
            (long long)p->waits, (long long)p->rests);
    for (int i = 0; i < IX_PROGRESS_SITES && p->sites[i].site; i++)
        fprintf(f, "%s{\"site\": %lld, \"looks\": %lld, \"completed\": %lld, \"moving_s\": %.9f}",
                i ? ", " : "", (long long)p->sites[i].site, (long long)p->sites[i].looks,
                (long long)p->sites[i].completed, (double)p->sites[i].moving_ns * 1e-9);
    fputs("]},\n", f);
}

int ix_write_job(const char *path, const ix_job_facts *facts, const ix_names *names)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fprintf(f, "{\"format\": \"imbrex-run\", \"schema_version\": 1, \"ranks\": %d, ", facts->ranks);
    fprintf(f, "\"hosts\": [");
    for (int i = 0; i < facts->host_count; i++) {
        fputs(i ? ", " : "", f);
        ix_put_json_string(f, facts->hosts + 64 * (size_t)i);
    }
    fprintf(f, "],\n \"library\": {\"version\": ");
    ix_put_json_string(f, facts->library);
    fprintf(f, "}, \"wall_s\": %.9f, \"event_overhead_ns\": %.1f, \"clock\": ", facts->wall_s,
            facts->event_overhead_ns);
    ix_put_json_string(f, facts->clock);
    if (facts->core_wait_share >= 0)
        fprintf(f, ", \"core_wait_share\": %.6f", facts->core_wait_share);
    fprintf(f,
            ",\n \"events\": {\"self\": \"%s\", \"intra-node\": \"%s\", "
            "\"inter-node\": \"%s\"},\n",
            ix_source_of(IX_PATH_SELF), ix_source_of(IX_PATH_INTRA), ix_source_of(IX_PATH_INTER));
    if (ix_sources_reason()) {
        fputs(" \"events_reason\": ", f);
        ix_put_json_string(f, ix_sources_reason());
        fputs(",\n", f);
    }
    ix_put_matching(f, facts->matching);
    put_progress(f, facts->progress);
    fprintf(f, " \"paths\": [\"none\", \"self\", \"intra-node\", \"inter-node\"],\n");
    fprintf(f, " \"operations\": [");
    for (int i = 0; i < IX_OP_COUNT; i++) {
        fputs(i ? ", " : "", f);
        ix_put_json_string(f, ix_operation_names[i]);
    }
    fprintf(f, "],\n \"sections\": [\"\"");
    for (uint32_t i = 0, count = ix_names_sections(names); i < count; i++) {
        fputs(", ", f);
        ix_put_json_string(f, ix_name_at(names, i));
    }
    fprintf(f, "],\n \"warnings\": [");
    ix_warnings warnings = ix_kept_warnings();
    for (int i = 0; i < warnings.count; i++) {
        fputs(i ? ", " : "", f);
        ix_put_json_string(f, warnings.lines[i]);
    }
    fprintf(f, "]}\n");
    return finish(f);
}

/* An entry of sites.json: a site or a frame. */
static void put_place(FILE *f, uint32_t id, const char *key)
{
    uint64_t offset = 0;
    char build_id[41] = {0};
    for (int b = 0; b < 8; b++)
        offset = offset << 8 | (unsigned char)key[b];
    memcpy(build_id, key + 8, 40);
    fprintf(f, "{\"id\": %u, \"image\": ", id);
    if (key[IX_SITE_KEY_HEAD - 1])
        ix_put_json_string(f, key + IX_SITE_KEY_HEAD - 1);
    else
        fputs("null", f);
    fputs(", \"build_id\": ", f);
    if (build_id[0])
        ix_put_json_string(f, build_id);
    else
        fputs("null", f);
    fprintf(f, ", \"offset\": \"0x%llx\"}", (unsigned long long)offset);
}

int ix_write_sites(const char *path, const ix_names *names)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fprintf(f, "{\"schema_version\": 1, \"sites\": [\n"
               "{\"id\": 0, \"image\": null, \"build_id\": null, \"offset\": null}");
    const uint32_t first = ix_names_sections(names), frames = ix_names_frames(names);
    for (uint32_t i = first; i < frames; i++) {
        fputs(",\n", f);
        put_place(f, i - first + 1, ix_name_at(names, i));
    }
    fputs("\n], \"frames\": [", f);
    for (uint32_t i = frames; i < names->count; i++) {
        fputs(i > frames ? ",\n" : "\n", f);
        put_place(f, i - frames + 1, ix_name_at(names, i));
    }
    fprintf(f, "\n]}\n");
    return finish(f);
}
