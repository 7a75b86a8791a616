/* What the compiler is told of functions and branches. */
#ifndef IMBREX_BASE_ATTRIBUTES_H
#define IMBREX_BASE_ATTRIBUTES_H

#define IX_HIDDEN __attribute__((visibility("hidden")))
#define IX_EXPORT __attribute__((visibility("default")))
#define IX_APART __attribute__((noinline))
#define IX_COLD __attribute__((cold, noinline))
#define IX_HOT __attribute__((hot))
#define IX_ALWAYS __attribute__((always_inline))
#define IX_LIKELY(x) __builtin_expect(!!(x), 1)
#define IX_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
