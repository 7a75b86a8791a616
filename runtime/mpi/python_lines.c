/* The layout of the interpreter's frames differs from version to version and is no part of its
 * interface. It is found by looking: the public functions tell what the frame on top holds (its
 * code object, instruction and line), and the one way from the thread's state to a structure that
 * holds the same is the layout. Where there is none, or more than one, lines are not told.
 *
 * Python 3.11 and later; 3.11 and 3.12 have one pointer more between thread and frame. */
#define _GNU_SOURCE
#include "mpi/python_lines.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/images.h"

enum {
    THREAD_WORDS = 64, /* of the thread's state that are searched */
    FRAME_WORDS = 12,
    STEP_WORDS = 4,
    CODE_WORDS = 40,
    MOST_LOOKS = 100,
    CALLERS = 64
};

/* Of the interpreter's interface. */
static struct {
    void *(*thread_state)(void);
    int (*has_lock)(void), (*is_initialized)(void);
    void *(*top_frame)(void), *(*caller_of)(void *frame);
    void *(*code_of)(void *frame);
    int (*last_instruction)(void *frame), (*line_of)(void *frame);
    int (*line_at)(void *code, int offset);
    void *(*attribute)(void *object, const char *name);
    void (*release)(void *object);
    long (*length)(void *text);
    uint32_t (*character)(void *text, long at);
    const void *code_type;
} python;

/* Offsets, in bytes. */
typedef struct layout {
    size_t frame;  /* in the thread's state */
    size_t step;   /* in what lies between; unused unless `steps` */
    int steps;     /* whether there is something between */
    size_t code;   /* in the frame; its two lowest bits are tags */
    size_t next;   /* in the frame: the instruction */
    size_t caller; /* in the frame: that of its caller; 0: not known */
    size_t first;  /* in the code object: its instructions */
    size_t source; /* in the code object: the name of the file */
} layout;

static layout frames;
static _Atomic int is_asked, is_absent, is_known, looks;

/* The functions of the interpreter are looked up once, since the runtime links with no Python. */

static int find_functions(void)
{
    const struct {
        const char *name;
        void **to;
    } wanted[] = {
        {"PyGILState_GetThisThreadState", (void **)&python.thread_state},
        {"PyGILState_Check", (void **)&python.has_lock},
        {"Py_IsInitialized", (void **)&python.is_initialized},
        {"PyEval_GetFrame", (void **)&python.top_frame},
        {"PyFrame_GetBack", (void **)&python.caller_of},
        {"PyFrame_GetCode", (void **)&python.code_of},
        {"PyFrame_GetLasti", (void **)&python.last_instruction},
        {"PyFrame_GetLineNumber", (void **)&python.line_of},
        {"PyCode_Addr2Line", (void **)&python.line_at},
        {"PyObject_GetAttrString", (void **)&python.attribute},
        {"Py_DecRef", (void **)&python.release},
        {"PyUnicode_GetLength", (void **)&python.length},
        {"PyUnicode_ReadChar", (void **)&python.character},
        {"PyCode_Type", (void **)&python.code_type},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*wanted[i].to = dlsym(RTLD_DEFAULT, wanted[i].name)))
            return 0;
    return 1;
}

int ix_is_without_python(void)
{
    if (!atomic_load_explicit(&is_asked, memory_order_acquire)) {
        atomic_store(&is_absent, !find_functions());
        atomic_store_explicit(&is_asked, 1, memory_order_release);
    }
    return atomic_load_explicit(&is_absent, memory_order_relaxed);
}

static const char *pointer_at(const char *structure, size_t offset)
{
    return *(const char *const *)(const void *)(structure + offset);
}

/* What `words` pointers at an address hold; how many could be read. Any address may be asked. */
static size_t read_words(const void *from, uintptr_t *to, size_t words)
{
    struct iovec here = {to, words * sizeof *to}, there = {(void *)(uintptr_t)from, here.iov_len};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got / sizeof *to;
}

/* What the public functions tell of the frame on top. */
typedef struct known {
    uintptr_t code, source;
    int offset, line;
} known;

/* Whether a frame lies there; then the offsets in it are set. */
static int is_frame(const known *k, uintptr_t address, layout *found)
{
    uintptr_t words[FRAME_WORDS];
    size_t count = read_words((const void *)address, words, FRAME_WORDS);
    size_t code = 0, matches = 0;
    while (code < count && (words[code] & ~(uintptr_t)3) != k->code)
        code++;
    if (code == count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t first = words[i] - (uintptr_t)k->offset;
        if (words[i] % 2 || first <= k->code || first - k->code >= CODE_WORDS * sizeof(void *))
            continue;
        found->code = code * sizeof(void *);
        found->next = i * sizeof(void *);
        found->first = first - k->code;
        matches++;
    }
    return matches == 1;
}

static int find_source(const known *k, layout *found)
{
    uintptr_t words[CODE_WORDS];
    size_t count = read_words((const void *)k->code, words, CODE_WORDS);
    for (size_t i = 0; i < count; i++)
        if (words[i] == k->source) {
            found->source = i * sizeof(void *);
            return 1;
        }
    return 0;
}

/* The ways from the thread's state to the frame on top; `found` is the last of them. */
static int ways(const known *k, const void *thread, layout *found)
{
    uintptr_t words[THREAD_WORDS], between[STEP_WORDS];
    size_t count = read_words(thread, words, THREAD_WORDS);
    int number = 0;
    for (size_t i = 0; i < count; i++) {
        layout l = {.frame = i * sizeof(void *)};
        if (is_frame(k, words[i], &l)) {
            *found = l;
            number++;
            continue;
        }
        size_t few = read_words((const void *)words[i], between, STEP_WORDS);
        for (size_t j = 0; j < few; j++) {
            l.steps = 1;
            l.step = j * sizeof(void *);
            if (is_frame(k, between[j], &l)) {
                *found = l;
                number++;
            }
        }
    }
    return number;
}

/* Where a frame holds its caller's, which `back` is. */
static size_t find_caller(void *back, const layout *found)
{
    uintptr_t words[FRAME_WORDS], frame;
    void *code = python.code_of(back);
    known k = {(uintptr_t)code, 0, python.last_instruction(back), 0};
    const char *thread = python.thread_state();
    frame = (uintptr_t)pointer_at(thread, found->frame);
    if (found->steps)
        frame = (uintptr_t)pointer_at((const char *)frame, found->step);
    size_t count = read_words((const void *)frame, words, FRAME_WORDS), caller = 0;
    for (size_t i = 0; i < count; i++) {
        layout there;
        if (is_frame(&k, words[i], &there) && there.code == found->code &&
            there.next == found->next)
            caller = i * sizeof(void *);
    }
    python.release(code);
    return caller;
}

/* With the interpreter's lock held. */
static void find_layout(void)
{
    void *frame = python.top_frame(), *code = frame ? python.code_of(frame) : NULL;
    void *source = code ? python.attribute(code, "co_filename") : NULL;
    if (source) {
        known k = {(uintptr_t)code, (uintptr_t)source, python.last_instruction(frame),
                   python.line_of(frame)};
        layout found;
        void *back = python.caller_of(frame);
        if (k.offset > 0 && ways(&k, python.thread_state(), &found) == 1 &&
            find_source(&k, &found) && python.line_at(code, k.offset) == k.line) {
            found.caller = back ? find_caller(back, &found) : 0;
            frames = found;
            atomic_store_explicit(&is_known, 1, memory_order_release);
        }
        if (back)
            python.release(back);
        python.release(source);
    }
    if (code)
        python.release(code);
}

static int knows_layout(void)
{
    if (IX_LIKELY(atomic_load_explicit(&is_known, memory_order_acquire)))
        return 1;
    /* An interpreter that has ended says that the lock is held. */
    if (atomic_load_explicit(&looks, memory_order_relaxed) < MOST_LOOKS &&
        python.is_initialized() && python.has_lock() && atomic_fetch_add(&looks, 1) < MOST_LOOKS)
        find_layout();
    return atomic_load_explicit(&is_known, memory_order_acquire);
}

/* The frame on top of this thread's; NULL where there is none. */
static const char *frame_of_thread(void)
{
    const char *thread = python.is_initialized() ? python.thread_state() : NULL;
    const char *frame = thread ? pointer_at(thread, frames.frame) : NULL;
    return frame && frames.steps ? pointer_at(frame, frames.step) : frame;
}

/* Whether an address lies in mpi4py. Addresses that were asked are kept: the lowest bit, in which
 * no two calls differ, is the answer. */
static int is_in_mpi4py(const void *address)
{
    static _Atomic uintptr_t kept[CALLERS];
    uintptr_t key = (uintptr_t)address << 1;
    _Atomic uintptr_t *place = &kept[((uintptr_t)address >> 2) % CALLERS];
    uintptr_t there = atomic_load_explicit(place, memory_order_relaxed);
    if (IX_LIKELY((there & ~(uintptr_t)1) == key))
        return (int)(there & 1);
    Dl_info image;
    int is = dladdr(address, &image) && image.dli_fname && strstr(image.dli_fname, "/mpi4py/");
    atomic_store_explicit(place, key | (uintptr_t)is, memory_order_relaxed);
    return is;
}

const void *ix_python_caller(const void *returns)
{
    if (!ix_interprets || !is_in_mpi4py(returns) || !knows_layout())
        return returns;
    const char *frame = frame_of_thread();
    const char *next = frame ? pointer_at(frame, frames.next) : NULL;
    return next ? next : returns;
}

/* A text of the interpreter's, in UTF-8; 0 where there is not room for it. */
static int copy_text(const char *text, char *to, size_t room)
{
    void *object = (void *)(uintptr_t)text;
    long length = python.length(object);
    size_t used = 0;
    for (long i = 0; i < length; i++) {
        uint32_t c = python.character(object, i);
        if (used + 5 > room)
            return 0;
        if (c < 0x80) {
            to[used++] = (char)c;
            continue;
        }
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        to[used++] = (char)((0xf00u >> more & 0xff) | c >> 6 * more);
        while (more--)
            to[used++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    to[used] = 0;
    return length > 0;
}

/* The interpreter knows a script by the name that it was started with. */
static void make_absolute(char *path, size_t room)
{
    char whole[PATH_MAX];
    if (path[0] != '/' && realpath(path, whole) && strlen(whole) < room)
        strcpy(path, whole);
}

/* The innermost of this thread's frames that is at an address; NULL where none is. */
static const char *frame_at(uint64_t address)
{
    if (!atomic_load_explicit(&is_known, memory_order_acquire))
        return NULL;
    const char *frame = frame_of_thread();
    while (frame && (uintptr_t)pointer_at(frame, frames.next) != address)
        frame = frames.caller ? pointer_at(frame, frames.caller) : NULL;
    return frame;
}

static int source_of(ix_image *image, char *path, size_t room)
{
    const char *frame = frame_at(image->address);
    if (!frame)
        return 0;
    char *code = (char *)((uintptr_t)pointer_at(frame, frames.code) & ~(uintptr_t)3);
    if (pointer_at(code, sizeof(void *)) != python.code_type)
        return 0;
    int line = python.line_at(code, (int)(image->address - (uintptr_t)(code + frames.first)));
    if (line <= 0 || !copy_text(pointer_at(code, frames.source), path, room))
        return 0;
    make_absolute(path, room);
    image->name = path;
    image->base = image->address - (uint64_t)line;
    strcpy(image->build_id, IX_PYTHON_SOURCE);
    image->is_there = 1;
    return 1;
}

static int callers_of(const void *address, void **callers, int room)
{
    const char *frame = frame_at((uint64_t)(uintptr_t)address);
    int count = 0;
    if (!frame || !frames.caller)
        return -1;
    while (count < room && (frame = pointer_at(frame, frames.caller)))
        callers[count++] = (void *)(uintptr_t)pointer_at(frame, frames.next);
    return count;
}

void ix_python_lines_start(void)
{
    static const ix_interpreter interpreter = {source_of, callers_of};
    if (ix_is_without_python())
        return;
    ix_interprets = &interpreter;
    knows_layout();
}
