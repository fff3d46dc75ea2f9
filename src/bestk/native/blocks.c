/* Blocks of columns, one after the other: what a column adds to those before it in its block. */
#include "bestk.h"

/* The place of entry (i, j), j <= i, in the lower triangle of a symmetric matrix, row by row. */
INLINE int64_t entry(int64_t i, int64_t j) { return i * (i + 1) / 2 + j; }

/* Subtract from the covariances of the columns after one what this column explains of them. */
static void subtract_explained(double *covariances, int64_t size, int64_t column, double variance) {
    for (int64_t i = column + 1; i < size; i++) {
        const double with_first = covariances[entry(i, column)];
        for (int64_t j = column + 1; j <= i; j++) {
            const double with_second = covariances[entry(j, column)];
            covariances[entry(i, j)] -= with_first * with_second / variance;
        }
    }
}

/* The variance of each column of each block given those before it in its block, by Cholesky. The
   covariances of the blocks are lower triangles, one after the other, and are overwritten. A column
   of a variance of at most ``smallest`` is rounding, and explains nothing of others. */
EXPORT int bestk_variances_given_earlier(double *covariances, const int64_t *sizes,
    int64_t n_blocks, double smallest, double *restrict variances) {
    for (int64_t block = 0; block < n_blocks; block++) {
        const int64_t size = sizes[block];
        for (int64_t column = 0; column < size; column++) {
            const double variance = covariances[entry(column, column)];
            if (variance > smallest) subtract_explained(covariances, size, column, variance);
            variances[column] = variance;
        }
        covariances += entry(size, 0);
        variances += size;
    }
    return OK;
}

/* Replace the values of each block by the sums of its first 1, 2, ... values. */
EXPORT int bestk_sum_prefixes(double *values, const int64_t *sizes, int64_t n_blocks) {
    for (int64_t block = 0; block < n_blocks; block++) {
        for (int64_t i = 1; i < sizes[block]; i++) values[i] += values[i - 1];
        values += sizes[block];
    }
    return OK;
}

/* Subtract from each row what earlier rows explain: for each of them, in their order, the earlier
   row times its value in one column. rows has the shape [n_rows][n], earlier has [n_earlier][n_rows][n],
   and columns has the column of each row. */
EXPORT int bestk_subtract_explained(double *rows, int64_t n_rows, int64_t n, const double *earlier,
    int64_t n_earlier, const int64_t *columns) {
    for (int64_t row = 0; row < n_rows; row++) {
        double *restrict values = rows + row * n;
        for (int64_t i = 0; i < n_earlier; i++) {
            const double *explaining = earlier + (i * n_rows + row) * n;
            const double factor = explaining[columns[row]];
            for (int64_t j = 0; j < n; j++) values[j] -= factor * explaining[j];
        }
    }
    return OK;
}
