/* What is left of the variance of one feature given another: from products to 1 - r^2. */
#include <string.h>

#include "bestk.h"

/* One row; mine: [term][step], the entries of its feature; yours: [term][n]. */
static void unexplained(const double *products, int64_t n, const double *mine, int64_t step,
    double my_scale, const double *yours, const double *scale, const double *weights,
    int64_t n_terms, double *restrict out) {
    memcpy(out, products, sizeof *out * (size_t)n);
    for (int64_t k = 0; k < n_terms; k++, mine += step, yours += n) {
        const double entry = *mine, weight = weights[k];
        for (int64_t j = 0; j < n; j++) out[j] -= entry * yours[j] * weight;
    }
    for (int64_t j = 0; j < n; j++) {
        const double r = my_scale * scale[j] * out[j];
        out[j] = 1.0 - r * r;
    }
}

/* out[i][j] = 1 - (left_scale[i] right_scale[j] (products[i][j] - sum over terms of
   weight left[term][i] right[term][j]))^2. */
EXPORT int bestk_unexplained(const double *products, int64_t n_rows, int64_t n_columns,
    const double *left, const double *left_scale, const double *right, const double *right_scale,
    const double *weights, int64_t n_terms, double *out) {
    for (int64_t i = 0; i < n_rows; i++, products += n_columns, out += n_columns)
        unexplained(products, n_columns, left + i, n_rows, left_scale[i], right, right_scale,
            weights, n_terms, out);
    return OK;
}
