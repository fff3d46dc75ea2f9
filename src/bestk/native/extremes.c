/* The lowest and the highest of some numbers; by hand, because compilers do not reorder comparisons
   of floats. */
#include <math.h>

#include "extremes.h"

static double lowest_baseline(const double *x, int64_t n) {
    double low = INFINITY;
    for (int64_t i = 0; i < n; i++) low = lower(x[i], low);
    return low;
}

static double highest_baseline(const double *x, int64_t n) {
    double high = -INFINITY;
    for (int64_t i = 0; i < n; i++) high = higher(x[i], high);
    return high;
}

#if BESTK_X86
TARGET_AVX2 static double lowest_avx2(const double *x, int64_t n) {
    __m256d low = _mm256_set1_pd(INFINITY), other = low;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        low = _mm256_min_pd(_mm256_loadu_pd(x + i), low);
        other = _mm256_min_pd(_mm256_loadu_pd(x + i + 4), other);
    }
    double least = lowest_lane(_mm256_min_pd(low, other));
    for (; i < n; i++) least = lower(x[i], least);
    return least;
}

TARGET_AVX2 static double highest_avx2(const double *x, int64_t n) {
    __m256d high = _mm256_set1_pd(-INFINITY), other = high;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        high = _mm256_max_pd(_mm256_loadu_pd(x + i), high);
        other = _mm256_max_pd(_mm256_loadu_pd(x + i + 4), other);
    }
    double most = highest_lane(_mm256_max_pd(high, other));
    for (; i < n; i++) most = higher(x[i], most);
    return most;
}
#endif

double bestk_lowest(const double *x, int64_t n) {
#if BESTK_X86
    if (bestk_cpu_level >= AVX2) return lowest_avx2(x, n);
#endif
    return lowest_baseline(x, n);
}

double bestk_highest(const double *x, int64_t n) {
#if BESTK_X86
    if (bestk_cpu_level >= AVX2) return highest_avx2(x, n);
#endif
    return highest_baseline(x, n);
}
