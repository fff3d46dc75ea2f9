/* The lowest and the highest of some numbers; by hand, because compilers do not reorder comparisons
   of floats. */
#include <math.h>

#include "extremes.h"

#if BESTK_X86
/* The extreme of whole vectors; i is moved to the first number after them. */
#define VECTORS(NAME, MINMAX, START)                                                  \
    TARGET_AVX2 static double NAME##_vectors(const double *x, int64_t n, int64_t *i) { \
        __m256d one = _mm256_set1_pd(START), other = one;                             \
        for (; *i + 8 <= n; *i += 8) {                                                \
            one = MINMAX(_mm256_loadu_pd(x + *i), one);                               \
            other = MINMAX(_mm256_loadu_pd(x + *i + 4), other);                       \
        }                                                                             \
        return NAME##_lane(MINMAX(one, other));                                       \
    }
#define START_WITH(NAME) if (bestk_cpu_level >= AVX2) extreme = NAME##_vectors(x, n, &i);
#else
#define VECTORS(NAME, MINMAX, START)
#define START_WITH(NAME)
#endif

#define EXTREME(NAME, MINMAX, BETTER, START)                         \
    VECTORS(NAME, MINMAX, START)                                     \
    double bestk_##NAME(const double *x, int64_t n) {                \
        double extreme = START;                                      \
        int64_t i = 0;                                               \
        START_WITH(NAME)                                             \
        for (; i < n; i++) extreme = BETTER(x[i], extreme);          \
        return extreme;                                              \
    }

EXTREME(lowest, _mm256_min_pd, lower, INFINITY)
EXTREME(highest, _mm256_max_pd, higher, -INFINITY)
