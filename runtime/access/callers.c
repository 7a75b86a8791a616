/* Libraries keep no frame pointers, so return addresses are looked for: words that point behind a
 * call instruction of the user's image which leads, directly or through its procedure linkage
 * table, into another image. What earlier calls left on the stack could be taken for one only if
 * they too led out of the image. */
#include "callers.h"

#include <dlfcn.h>
#include <string.h>

const void *ixa_image_of(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The address that the four bytes before `end` lead to, counted from `end`. */
static const uint8_t *relative(const uint8_t *end)
{
    int32_t distance;
    memcpy(&distance, end - sizeof distance, sizeof distance);
    return end + distance;
}

static const void *slot(const uint8_t *end)
{
    const void *target;
    memcpy(&target, relative(end), sizeof target);
    return target;
}

/* Where the call before `back` leads; NULL if there is none. `image`: of `back`. */
static const void *callee(const uint8_t *back, const void *image)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (back[-6] == 0xff && back[-5] == 0x15 && ixa_image_of(relative(back)) == image)
        return slot(back);
    if (back[-5] != 0xe8)
        return NULL;
    const uint8_t *at = relative(back);
    if (ixa_image_of(at) != image)
        return NULL;
    if (memcmp(at, landing, sizeof landing) == 0)
        at += sizeof landing;
    at += *at == 0xf2;
    return at[0] == 0xff && at[1] == 0x25 ? slot(at + 6) : NULL;
}

const void *ixa_call_on_stack(const uint64_t *stack, size_t words, const void *inside)
{
    const void *image = ixa_image_of(inside);
    for (size_t i = 0; image && i < words; i++) {
        const uint8_t *back = (const uint8_t *)(uintptr_t)stack[i];
        /* A return address lies in code: dladdr knows data of the image too, so look at both ends
         * of what would be the instruction. */
        if (ixa_image_of(back) != image || ixa_image_of(back - 6) != image)
            continue;
        const void *target = callee(back, image);
        if (target && ixa_image_of(target) && ixa_image_of(target) != image)
            return back;
    }
    return NULL;
}
