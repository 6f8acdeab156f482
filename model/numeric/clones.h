/* Marks integer-only hot functions of which the compiler builds an AVX2 and a baseline version, chosen when the program
 * starts. Only for code whose result cannot depend on the choice. The sanitizers instrument the chooser, which runs
 * before they are ready, so their builds have the baseline version alone. */
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(FLITSIM_SANITIZED)
#define VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR_CLONES
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
