/* The images (executable and shared libraries) that call sites lie in. */
#ifndef IMBREX_CORE_IMAGES_H
#define IMBREX_CORE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"

typedef struct ix_image {
    uint64_t address; /* the one looked for */
    uint64_t base;
    uint64_t start, end; /* the addresses that it takes */
    const char *name;
    int is_there;
    char build_id[40];
} ix_image;

/* The loaded image that holds an address. */
IX_HIDDEN ix_image ix_image_at(uint64_t address);

/* Where an address lies in no image it may be an instruction of a program that is interpreted, in
 * the call of it in progress or in one of its callers. */
#define IX_PYTHON_SOURCE "python"
typedef struct ix_interpreter {
    /* Fill an image in, with the source file as its name, written to `path`, the line as the
     * address less the base, and IX_PYTHON_SOURCE for a build-id. 0 where this thread's program is
     * at no such address. */
    int (*source)(ix_image *image, char *path, size_t room);
    /* The callers of the function that is at an address, the innermost first; how many. -1 where
     * this thread's program is not at that address. */
    int (*callers)(const void *address, void **callers, int room);
} ix_interpreter;

/* NULL: nothing is interpreted. */
extern IX_HIDDEN const ix_interpreter *ix_interprets;

/* Number of the image in the part, entered if it is new; UINT32_MAX where there is no room. Under
 * the engine's lock. */
IX_HIDDEN uint32_t ix_image_number(const ix_image *image);

/* One bit per image of the part that is no longer where it was. 0 where the linker has unloaded
 * nothing since the last time. */
IX_HIDDEN uint64_t ix_images_gone(void);

IX_HIDDEN void ix_images_start(void);

/* Enter the program itself: of a call that never returns only the address is known, and most calls
 * are made by the program. */
IX_HIDDEN void ix_images_enter_program(void);

#endif
