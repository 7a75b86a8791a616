/* Functions that go through a row, for the widest vectors of the machine that runs them. */
#ifndef IMBREX_REPLAY_ENGINE_WIDE_H
#define IMBREX_REPLAY_ENGINE_WIDE_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif
