/* The lowest and the highest of some numbers. */
#include <math.h>

#include "extremes.h"

/* Four lanes, because compilers do not reorder comparisons of floats by themselves. */
static double lowest_baseline(const double *x, int64_t n) {
    double low[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++) low[l] = lower(x[i + l], low[l]);
    for (; i < n; i++) low[0] = lower(x[i], low[0]);
    return lower(lower(low[0], low[1]), lower(low[2], low[3]));
}

static double highest_baseline(const double *x, int64_t n) {
    double high[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++) high[l] = higher(x[i + l], high[l]);
    for (; i < n; i++) high[0] = higher(x[i], high[0]);
    return higher(higher(high[0], high[1]), higher(high[2], high[3]));
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
