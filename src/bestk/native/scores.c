/* Normal scores: ranks, standardised whole numbers, and what one score leaves of another. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* The nearest whole number, halves to even, for |x| < 2^51: what rint gives, -0.0 included. */
INLINE double round_even(double x) {
    const double large = copysign(0x1p52, x);
    return copysign((x + large) - large, x);
}

enum { FEW = 128, LANES = 16 }; /* few values are ranked by comparing all */

/* Add to ranks how many of few values are less than each, or no more; return the sum of all. */
INLINE int64_t compare_all(const double *x, int64_t n, int equal, int64_t *ranks) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i += LANES) {
        int64_t less[LANES] = {0};
        for (int64_t j = 0; j < n; j++)
#pragma omp simd
            for (int lane = 0; lane < LANES; lane++)
                less[lane] += equal ? x[j] <= x[i + lane] : x[j] < x[i + lane];
        for (int lane = 0; lane < LANES; lane++) ranks[i + lane] += less[lane];
        for (int64_t lane = 0; lane < least_of(LANES, n - i); lane++) total += less[lane];
    }
    return total;
}

/* The first and the last rank of each of few values, from 0, added. */
static void rank_few(const double *values, int64_t n, int64_t n_known, int64_t *ranks) {
    double x[FEW] = {0};
    memcpy(x, values, sizeof *x * (size_t)n);
    memset(ranks, 0, FEW * sizeof *ranks);
    if (compare_all(x, n, 0, ranks) == n_known * (n_known - 1) / 2) /* all differ */
        for (int64_t i = 0; i < n; i++) ranks[i] *= 2;
    else if (compare_all(x, n, 1, ranks))
        for (int64_t i = 0; i < n; i++) ranks[i] -= 1; /* itself */
}

/* Put scores in place of the values of each row of a block. Full rows: table[first + last], of the
   first and the last rank, from 0, that a value has. Others: the probability of which that is the
   quantile; NaN stays. */
EXPORT int bestk_rank_rows(
    double *block, int64_t stride, int64_t n_rows, int64_t n, const double *table) {
    uint64_t *pairs = malloc(2 * sizeof *pairs * (size_t)(n + 1));
    uint64_t *spare = pairs + n;
    double *scores = (double *)spare; /* free once pairs are sorted */
    int64_t ranks[FEW];
    if (!pairs) return NO_MEMORY;
    for (int64_t row = 0; row < n_rows; row++, block += stride) {
        const Range range = bestk_range(block, n);
        const int64_t m = range.n_known;
        if (n <= FEW) {
            rank_few(block, n, m, ranks);
            for (int64_t i = 0; i < n; i++)
                if (block[i] == block[i])
                    block[i] = m == n ? table[ranks[i]] : (double)(ranks[i] + 1) / (double)(2 * m);
            continue;
        }
        bestk_sort_column(block, n, range, pairs, spare);
        for (int64_t first = 0, last; first < m; first = last + 1) {
            const double value = block[row_of(pairs[first])];
            for (last = first; last + 1 < m && block[row_of(pairs[last + 1])] == value;) last++;
            const int64_t rank = first + last;
            const double score = m == n ? table[rank] : (double)(rank + 1) / (double)(2 * m);
            for (int64_t k = first; k <= last; k++) scores[k] = score;
        }
        for (int64_t k = 0; k < m; k++) block[row_of(pairs[k])] = scores[k];
    }
    free(pairs);
    return OK;
}

/* Sums over a row that holds distances from its middle, NaN where missing: of the distances less
   the mean times a scale, rounded; and of their squares. All are whole numbers, so that any order
   of adding gives the same. */
INLINE void add_rounded(const double *row, int64_t n, double mean, double scale, double *sums) {
    double total = 0.0;
    double squares = 0.0;
#pragma omp simd reduction(+ : total, squares)
    for (int64_t i = 0; i < n; i++) {
        const double x = round_even((row[i] - mean) * scale);
        const double value = x == x ? x : 0.0;
        total += value;
        squares += value * value;
    }
    sums[0] = total;
    sums[1] = squares;
}

/* Centre, scale and round each row: whole numbers of mean 0 and variance one^2, 0 where the value
   is missing, over all n values. */
EXPORT int bestk_standardise_rows(const double *block, int64_t stride, int64_t n_rows, int64_t n,
    double one, double *restrict out, int64_t out_stride) {
    for (int64_t row = 0; row < n_rows; row++, block += stride, out += out_stride) {
        const Range range = bestk_range(block, n);
        const double middle = 0.5 * range.low + 0.5 * range.high;
        const double half = 0.5 * range.high - 0.5 * range.low;
        double sums[2];
        memset(out, 0, sizeof *out * (size_t)n);
        if (!(half > 0.0)) continue;
        for (int64_t i = 0; i < n; i++) out[i] = (block[i] - middle) / half;
        add_rounded(out, n, 0.0, one, sums);
        const double mean = sums[0] / (one * (double)range.n_known);
        add_rounded(out, n, mean, 0.5 * one, sums);
        const double scale = one * sqrt((double)n / sums[1]) * (0.5 * one);
        for (int64_t i = 0; i < n; i++) {
            const double score = round_even((out[i] - mean) * scale);
            out[i] = score == score ? score : 0.0;
        }
    }
    return OK;
}

/* The squares of scores, cut at a largest score, less what a straight line in the score explains of
   them: centered, scaled and rounded as scores are, to variance one^2. Missing values have score 0
   and stay 0; there are n_known others in each row. A square of which the line leaves a variance below
   ``smallest`` becomes 0. Squares are rounded first, to units of 4 / one: their sums, and those of
   their products with scores, are whole numbers, so that the order of rows changes nothing. */
EXPORT int bestk_curve_rows(const double *scores, int64_t stride, int64_t n_rows, int64_t n,
    const uint8_t *missing, const int64_t *n_known, double one, double largest, double smallest,
    double *restrict out, int64_t out_stride) {
    const double square_one = 0.25 * one;
    for (int64_t row = 0; row < n_rows; row++) {
        double total = 0.0;
        double with_score = 0.0;
        double score_squares = 0.0;
        double squares = 0.0;
#pragma omp simd reduction(+ : total, with_score, score_squares, squares)
        for (int64_t i = 0; i < n; i++) {
            const double size = lower(fabs(scores[i]) / one, largest);
            const double square = missing[i] ? 0.0 : round_even(size * size * square_one);
            out[i] = square;
            total += square;
            with_score += square * scores[i];
            score_squares += scores[i] * scores[i];
            squares += square * square;
        }
        const double mean = n_known[row] > 0 ? total / (double)n_known[row] : 0.0;
        const double slope = score_squares > 0.0 ? with_score / score_squares : 0.0;
        const double unexplained = squares - total * mean - with_score * slope;
        const double variance = unexplained / ((double)n * square_one * square_one);
        const double scale = variance < smallest ? 0.0 : one / (square_one * sqrt(variance));
        for (int64_t i = 0; i < n; i++) {
            const double curve = out[i] - mean - slope * scores[i];
            out[i] = missing[i] ? 0.0 : round_even(curve * scale);
        }
        scores += stride;
        missing += n;
        out += out_stride;
    }
    return OK;
}

enum { MAX_BINS = 16 };

/* The bin of a value: how many of MAX_BINS - 1 rising limits are at most the value. */
INLINE int64_t bin_of(double value, const double *limits) {
    int64_t bin = 0;
    for (int64_t step = MAX_BINS / 2; step > 0; step /= 2)
        bin += value >= limits[bin + step - 1] ? step : 0;
    return bin;
}

/* For each row of scores, sums of weights of the samples in each bin, and of the values of the
   samples of each class in each bin. Limits that are not needed are infinite; all rows have the
   same.
   sizes has the shape [n_rows][MAX_BINS], sums has [n_rows][MAX_BINS][n_classes]. */
EXPORT int bestk_sum_bins(const double *scores, int64_t stride, int64_t n_rows, int64_t n,
    const double *limits, const int64_t *classes, const double *weights, const double *values,
    int64_t n_classes, double *restrict sizes, double *restrict sums) {
    memset(sizes, 0, sizeof *sizes * (size_t)(n_rows * MAX_BINS));
    memset(sums, 0, sizeof *sums * (size_t)(n_rows * MAX_BINS * n_classes));
    for (int64_t row = 0; row < n_rows; row++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t bin = bin_of(scores[i], limits);
            sizes[bin] += weights[i];
            sums[bin * n_classes + classes[i]] += values[i];
        }
        scores += stride;
        sizes += MAX_BINS;
        sums += MAX_BINS * n_classes;
    }
    return OK;
}

/* out[j] = 1 - r^2, where r = scale * scales[j] * (products[j] - sum over terms of
   weights[term] * left_entries[term] * right_entries[term][j]),
   where the entries of two terms of one column are left_step apart, and those of others step. */
INLINE void leave(const double *products, int64_t n, const double *left_entries, int64_t left_step,
    double scale, const double *right_entries, int64_t step, const double *scales,
    const double *weights,
    int64_t n_terms, double *restrict out) {
    memcpy(out, products, sizeof *out * (size_t)n);
    for (int64_t k = 0; k < n_terms; k++) {
        const double entry = left_entries[k * left_step];
        const double weight = weights[k];
        const double *row = right_entries + k * step;
        for (int64_t j = 0; j < n; j++) out[j] -= entry * row[j] * weight;
    }
    for (int64_t j = 0; j < n; j++) {
        const double r = scale * scales[j] * out[j];
        out[j] = 1.0 - r * r;
    }
}

/* What is left of the pairs of some columns with n. Tables of n columns may stand one below the
   other, as many as there are n in n_right: each has its own part of the rows, and of the right. */
EXPORT int bestk_unexplained(const double *products, int64_t n_rows, int64_t n, int64_t n_right,
    const double *left, const double *left_scale, const double *right, const double *right_scale,
    const double *weights, int64_t n_terms, double *restrict out) {
    for (int64_t i = 0; i < n_rows; i++) {
        const int64_t first = n_right > n ? i * (n_right / n) / n_rows * n : 0;
        leave(products + i * n, n, left + i, n_rows, left_scale[i], right + first, n_right,
            right_scale + first, weights, n_terms, out + i * n);
    }
    return OK;
}
