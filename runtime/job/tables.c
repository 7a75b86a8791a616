#define _GNU_SOURCE
#include "job/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "analysis/rows.h"
#include "job/call_path_rows.h"

#define HEADER_BYTES 2048

static const char row_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('section','<u2'),('size_class','i1'),"
    "('path','u1'),('source','u1'),('reserved','u1'),('count','<i8'),('transfers','<i8'),"
    "('bytes','<i8'),('transfer_min_ns','<i8'),('transfer_max_ns','<i8'),"
    "('overlap_min_ns','<i8'),('overlap_max_ns','<i8'),('exposed_min_ns','<i8'),"
    "('exposed_max_ns','<i8'),('call_ns','<i8'),('wait_min_ns','<i8'),('wait_max_ns','<i8'),"
    "('undetermined','<i8'),('contradicted','<i8'),('uncalibrated','<i8'),('unknown_end','<i8')]";

static const char rank_type[] =
    "[('rank','<i4'),('ended','u1'),('threads','u1'),('reserved','<u2'),('host','S64'),"
    "('wall_ns','<i8'),('compute_ns','<i8'),('call_ns','<i8'),('calls','<i8'),"
    "('overhead_ns','<i8'),('memory_bytes','<i8'),('dropped','<i8'),('overflow','<i8'),"
    "('section_errors','<i8')]";

#define PAIR(name) ",('" name "_min_ns','<i8'),('" name "_max_ns','<i8')"
#define BOUNDS(kind) PAIR(kind "_overlap") PAIR(kind "_exposed")

static const char evidence_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('section','<u2'),('size_class','i1'),"
    "('path','u1'),('reserved','<u2'),('transfers','<i8'),('matched','<i8'),('expected','<i8'),"
    "('contradicted','<i8'),('bytes','<i8')" PAIR("transfer") BOUNDS("call") BOUNDS("matched")
        BOUNDS("expected") "]";

static const char causes_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('section','<u2'),('reserved','<u4'),"
    "('count','<i8'),('logged','<i8'),('call_ns','<i8')" PAIR("late_sender") PAIR("late_receiver")
        PAIR("late_collective") PAIR("transfer") PAIR("stalled") PAIR("library") PAIR("file_io")
            PAIR("unattributed") PAIR("gainable") PAIR("lost_overlap") PAIR("undriven") "]";

static const char waits_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('start_operation','<u2'),"
    "('start_site','<i4'),('count','<i8')" PAIR("late") PAIR("moving") "]";

static const char partners_type[] =
    "[('rank','<i4'),('peer','<i4'),('messages','<i8'),('bytes','<i8')" PAIR("late") "]";

static const char timeline_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('section','<u2'),('kind','u1'),"
    "('path','u1'),('thread','u1'),('flags','u1'),('peer','<i4'),('comm','<u4'),('tag','<i4'),"
    "('sequence','<u4'),('match','<u4'),('reserved','<u4'),('bytes','<i8'),('enter_ns','<i8'),"
    "('exit_ns','<i8'),('end_enter_ns','<i8'),('end_exit_ns','<i8'),('peer_enter_ns','<i8'),"
    "('peer_exit_ns','<i8'),('error_ns','<i8'),('x_lo_ns','<i8'),('x_hi_ns','<i8')" PAIR("hidden")
        PAIR("exposed") PAIR("late_sender") PAIR("late_receiver") PAIR("late_collective")
            PAIR("transfer") PAIR("stalled") PAIR("library") PAIR("file_io") PAIR("unattributed")
                PAIR("lost_overlap") "]";

static const char overview_type[] =
    "[('rank','<i4'),('reserved','<i4'),('begin_ns','<i8'),('length_ns','<i8'),"
    "('logged_ns','<i8'),('call_ns','<i8'),('late_sender_ns','<i8'),('late_receiver_ns','<i8'),"
    "('late_collective_ns','<i8'),('transfer_ns','<i8'),('stalled_ns','<i8'),('library_ns','<i8'),"
    "('file_io_ns','<i8'),('unattributed_ns','<i8')]";

static const char call_paths_type[] =
    "[('rank','<i4'),('site','<i4'),('call_path','<u2'),('level','<u2'),('frame','<i4'),"
    "('samples','<i8')]";

static const char *const types[IX_TABLES] = {row_type,      rank_type,     evidence_type,
                                             causes_type,   waits_type,    partners_type,
                                             timeline_type, overview_type, call_paths_type};
static const size_t row_bytes[IX_TABLES] = {
    sizeof(ix_row),          sizeof(ix_rank_row),     sizeof(ix_evidence_row),
    sizeof(ix_causes_row),   sizeof(ix_waits_row),    sizeof(ix_partners_row),
    sizeof(ix_timeline_row), sizeof(ix_overview_row), sizeof(ix_call_path_row)};

_Static_assert(sizeof(ix_row) == 16 + 16 * 8, "a row of measures.npy has no padding");
_Static_assert(sizeof(ix_rank_row) == 8 + 64 + 9 * 8, "a row of ranks.npy has no padding");

/* Format version 1.0: magic, version, length of the rest, a Python dict, spaces, newline. */
static void npy_header(char out[HEADER_BYTES], const char *type, long long count)
{
    memset(out, ' ', HEADER_BYTES);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((HEADER_BYTES - 10) & 0xff);
    out[9] = (char)((HEADER_BYTES - 10) >> 8);
    int n = snprintf(out + 10, HEADER_BYTES - 11,
                     "{'descr': %s, 'fortran_order': False, 'shape': (%lld,), }", type, count);
    out[10 + n] = ' ';
    out[HEADER_BYTES - 1] = '\n';
}

int ix_create_table(const char *path, enum ix_table table, const void *rows, size_t here,
                    size_t total)
{
    char header[HEADER_BYTES];
    npy_header(header, types[table], (long long)total);
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fwrite(header, 1, HEADER_BYTES, f);
    if (here)
        fwrite(rows, row_bytes[table], here, f);
    /* The others write into room that is there: a full disk shows here, not as a torn file. */
    int error = 0;
    if (!fflush(f) && here < total)
        error = posix_fallocate(fileno(f), 0, (off_t)(HEADER_BYTES + total * row_bytes[table]));
    int bad = ferror(f) || error == ENOSPC || error == EDQUOT || error == EFBIG;
    return fclose(f) || bad ? -1 : 0;
}

/* On NFS a write ends up where other nodes see it, and takes nothing of their neighbouring bytes
 * with it, when the range is locked; 0, or -1 where it cannot be. */
static int lock_on_nfs(int file, off_t at, size_t bytes)
{
    struct statfs system;
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = (off_t)bytes};
    if (fstatfs(file, &system) || system.f_type != NFS_SUPER_MAGIC)
        return 0;
    return fcntl(file, F_SETLKW, &range);
}

int ix_write_rows(const char *path, enum ix_table table, const void *rows, size_t count,
                  size_t before)
{
    const char *data = rows;
    size_t bytes = count * row_bytes[table];
    off_t at = (off_t)(HEADER_BYTES + before * row_bytes[table]);
    if (count == 0)
        return 0;
    int file = open(path, O_WRONLY | O_CLOEXEC), fine = file >= 0 && !lock_on_nfs(file, at, bytes);
    while (fine && bytes) {
        ssize_t done = pwrite(file, data, bytes, at);
        fine = done > 0 || (done < 0 && errno == EINTR);
        if (done > 0) {
            data += done;
            at += done;
            bytes -= (size_t)done;
        }
    }
    return file >= 0 && close(file) == 0 && fine ? 0 : -1;
}
