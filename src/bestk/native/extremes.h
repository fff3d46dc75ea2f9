/* The lower and higher of numbers; none of them may be NaN. */
#ifndef BESTK_EXTREMES_H
#define BESTK_EXTREMES_H

#include "bestk.h"

static inline double lower(double a, double b) { return a < b ? a : b; }
static inline double higher(double a, double b) { return a > b ? a : b; }

/* The lowest of n numbers, inf if there are none; the highest, -inf if there are none. */
double bestk_lowest(const double *x, int64_t n);
double bestk_highest(const double *x, int64_t n);

#if BESTK_X86
#include <immintrin.h>

TARGET_AVX2 static inline double lowest_lane(__m256d x) {
    const __m128d two = _mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_min_sd(two, _mm_unpackhi_pd(two, two)));
}

TARGET_AVX2 static inline double highest_lane(__m256d x) {
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}
#endif

#endif
