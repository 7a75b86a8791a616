/* Libraries keep no frame pointers, so return addresses are looked for: words that point behind a
 * call instruction of the user's image which leads, directly or through its procedure linkage
 * table, into another image. What earlier calls left on the stack could be taken for one only if
 * they too led out of the image. */
#include "access/callers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

enum { MOST_SEGMENTS = 16, CALL = 6, STUB = 11 };

/* What an image has loaded: its code, and all that can be read. */
typedef struct segment {
    uintptr_t from, to;
    int is_code;
} segment_t;

typedef struct loaded {
    uintptr_t inside;
    int count; /* 0: not found yet */
    segment_t segment[MOST_SEGMENTS];
} loaded_t;

const void *ixa_image_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static int lies_in(const loaded_t *image, uintptr_t from, size_t size, int is_code)
{
    for (int i = 0; i < image->count; i++) {
        const segment_t *s = &image->segment[i];
        /* Any word may be asked for: no sum that could go round. */
        if (from >= s->from && from < s->to && size <= s->to - from && s->is_code >= is_code)
            return 1;
    }
    return 0;
}

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    loaded_t *image = data;
    for (int i = 0; i < info->dlpi_phnum && image->count < MOST_SEGMENTS; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_R))
            image->segment[image->count++] =
                (segment_t){from, from + part->p_memsz, (part->p_flags & PF_X) != 0};
    }
    if (lies_in(image, image->inside, 1, 0))
        return 1;
    image->count = 0;
    return 0;
}

/* Where the four bytes before `end` lead to, counted from `end`. */
static uintptr_t relative(uintptr_t end)
{
    int32_t distance;
    memcpy(&distance, (const void *)(end - sizeof distance), sizeof distance);
    return end + (uintptr_t)(intptr_t)distance;
}

static const void *slot(const loaded_t *image, uintptr_t end)
{
    const void *target = NULL;
    uintptr_t at = relative(end);
    if (lies_in(image, at, sizeof target, 0))
        memcpy(&target, (const void *)at, sizeof target);
    return target;
}

/* Where the call before `back` leads out of the image; NULL if there is none. */
static const void *callee(const loaded_t *image, uintptr_t back)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *call = (const uint8_t *)(back - CALL);
    if (call[0] == 0xff && call[1] == 0x15)
        return slot(image, back);
    if (call[1] != 0xe8)
        return NULL;
    uintptr_t at = relative(back);
    if (!lies_in(image, at, STUB, 1))
        return NULL;
    const uint8_t *stub = (const uint8_t *)at;
    if (memcmp(stub, landing, sizeof landing) == 0)
        stub += sizeof landing;
    stub += *stub == 0xf2;
    return stub[0] == 0xff && stub[1] == 0x25 ? slot(image, (uintptr_t)(stub + CALL)) : NULL;
}

const void *ixa_call_on_stack(const uint64_t *stack, size_t words, const void *inside)
{
    const void *base = ixa_image_of(inside);
    loaded_t image = {.inside = (uintptr_t)inside};
    dl_iterate_phdr(find, &image);
    for (size_t i = 0; base && i < words; i++) {
        if (!lies_in(&image, stack[i] - CALL, CALL + 1, 1))
            continue;
        const void *target = callee(&image, stack[i]);
        if (target && ixa_image_of(target) && ixa_image_of(target) != base)
            return (const void *)(uintptr_t)stack[i];
    }
    return NULL;
}
