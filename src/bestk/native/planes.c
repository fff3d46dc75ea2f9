/* Counting by bit-planes: one bit per sample and level, AND and popcount for a pair.
   A feature of L levels has L - 1 planes; the counts of its last level follow from the margins.
   Sixteen features make a tile, their words side by side, so that one vector instruction counts
   for many pairs and no sum across a register is ever needed. */
#include "counting.h"

#define MAGIC 0x1.00000801p84 /* 2^84 + 2^63 + 2^52 */

#if BESTK_X86
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define LEVEL 0
#define TARGET
#define NAME(name) name##_baseline
#define BYTES 16
#include "planes_level.h"

#if BESTK_X86
#define LEVEL 1
#define TARGET TARGET_AVX2
#define NAME(name) name##_avx2
#define BYTES 32
#include "planes_level.h"

#define LEVEL 2
#define TARGET TARGET_AVX512
#define NAME(name) name##_avx512
#define BYTES 64
#include "planes_level.h"
#endif

#define ALL(level) {count_rows_##level, sum_cells_##level, sum_two_level_##level, scale_##level}
static const PlaneKernels KERNELS[] = {
    ALL(baseline),
#if BESTK_X86
    ALL(avx2),
    ALL(avx512),
#endif
};

const PlaneKernels *bestk_plane_kernels(void) { return KERNELS + bestk_cpu_level; }

/* Count rows against one tile, as in PlaneKernels. */
EXPORT int bestk_count_rows(const uint32_t *rows, int64_t n_rows, const uint32_t *tile,
    int64_t n_planes, const int64_t *words, int64_t n_classes, uint32_t *counts) {
    bestk_plane_kernels()->count_rows(rows, n_rows, tile, n_planes, words, n_classes, counts);
    return OK;
}
