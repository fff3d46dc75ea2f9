/* Sums of the rows and columns of a strip, in two parts that have no rounding. */
#include "bestk.h"

#include <math.h>

#define SPLIT 268435456.0 /* 2^28: whole numbers are split into multiples of it and a rest */

/* Add to high, for each row or each column, its multiples of SPLIT, and to low the rests. */
INLINE void add(const double *values, int64_t step, int64_t n_rows, int64_t n_columns,
                double *high, double *low, int by_row) {
    for (int64_t row = 0; row < n_rows; row++) {
        const double *own = values + row * step;
        if (by_row) {
            double highs[8] = {0}, lows[8] = {0}; /* sums are exact, in any order */
            int64_t column = 0;
            for (; column + 8 <= n_columns; column += 8)
                for (int i = 0; i < 8; i++) {
                    const double part = floor(own[column + i] / SPLIT);
                    highs[i] += part;
                    lows[i] += own[column + i] - part * SPLIT;
                }
            for (; column < n_columns; column++) {
                const double part = floor(own[column] / SPLIT);
                highs[0] += part;
                lows[0] += own[column] - part * SPLIT;
            }
            for (int i = 0; i < 8; i++) {
                high[row] += highs[i];
                low[row] += lows[i];
            }
        } else {
            for (int64_t column = 0; column < n_columns; column++) {
                const double part = floor(own[column] / SPLIT);
                high[column] += part;
                low[column] += own[column] - part * SPLIT;
            }
        }
    }
}
FOR_EACH_CPU(add, (const double *values, int64_t step, int64_t n_rows, int64_t n_columns,
                   double *high, double *low, int by_row),
             (values, step, n_rows, n_columns, high, low, by_row))

/* Add the sums of each row (by_row) or of each column to high and low. */
EXPORT int bestk_add_sums(const double *values, int64_t step, int64_t n_rows, int64_t n_columns,
                          int64_t by_row, double *high, double *low) {
    add_best(values, step, n_rows, n_columns, high, low, (int)by_row);
    return OK;
}
