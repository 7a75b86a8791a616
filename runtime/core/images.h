/* The images (executable and shared libraries) that call sites lie in. */
#ifndef IMBREX_CORE_IMAGES_H
#define IMBREX_CORE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"

typedef struct ix_image {
    uint64_t address; /* the one looked for */
    uint64_t base;
    const char *name;
    int is_there;
    char build_id[40];
} ix_image;

/* The loaded image that holds an address. */
IX_HIDDEN ix_image ix_image_at(uint64_t address);

/* Where an address lies in no image it may be an instruction of a program that is interpreted. Then
 * this fills the image in, with the source file as its name, written to `path`, the line as the
 * address less the base, and IX_PYTHON_SOURCE for a build-id. 0 where the address is not the one
 * that this thread's program is at. NULL: nothing is interpreted. */
#define IX_PYTHON_SOURCE "python"
extern IX_HIDDEN int (*ix_interpreted_source)(ix_image *image, char *path, size_t room);

/* Number of the image in the part, entered if it is new; UINT32_MAX where there is no room. Under
 * the engine's lock. */
IX_HIDDEN uint32_t ix_image_number(const ix_image *image);

/* One bit per image of the part that is no longer where it was. 0 where the linker has unloaded
 * nothing since the last time. */
IX_HIDDEN uint64_t ix_images_gone(void);

IX_HIDDEN void ix_images_start(void);

#endif
