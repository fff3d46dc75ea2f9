/* Sums of the rows and columns of a strip, in two parts that have no rounding. */
#include <math.h>

#include "bestk.h"

#define SPLIT 268435456.0 /* 2^28: whole numbers are split into multiples of it and a rest */

/* Add to high, for each row or each column, its multiples of SPLIT, and to low the rests. Sums are
   exact, in any order. */
INLINE void add(const double *values, int64_t step, int64_t n_rows, int64_t n_columns,
    int64_t by_row, double *restrict high, double *restrict low) {
    for (int64_t row = 0; row < n_rows; row++, values += step) {
        double highs = 0.0, lows = 0.0;
        if (by_row) {
#pragma omp simd reduction(+ : highs, lows)
            for (int64_t column = 0; column < n_columns; column++) {
                const double part = floor(values[column] / SPLIT);
                highs += part;
                lows += values[column] - part * SPLIT;
            }
            high[row] += highs;
            low[row] += lows;
        }
        for (int64_t column = 0; column < n_columns && !by_row; column++) {
            const double part = floor(values[column] / SPLIT);
            high[column] += part;
            low[column] += values[column] - part * SPLIT;
        }
    }
}
FOR_EACH_CPU(add,
    (const double *values, int64_t step, int64_t n_rows, int64_t n_columns, int64_t by_row,
        double *high, double *low),
    (values, step, n_rows, n_columns, by_row, high, low))

/* Add the sums of each row (by_row) or of each column to high and low. */
EXPORT int bestk_add_sums(const double *values, int64_t step, int64_t n_rows, int64_t n_columns,
    int64_t by_row, double *high, double *low) {
    add_best(values, step, n_rows, n_columns, by_row, high, low);
    return OK;
}
