/* What random labels give on average: E[sum over classes of n log n] of a cell. */
#include "bestk.h"

#include <math.h>

/* n log n, from a table or by itself. */
static double n_log_n(int64_t n, const double *table) {
    if (table) return table[n];
    return n > 1 ? (double)n * log((double)n) : 0.0;
}

/* E[s log s], s hypergeometric: of m samples, size are of the class and t in the cell.
   Summed over the counts that are likely, from the mode outwards, then normalised. */
static double expect_by_sum(int64_t t, int64_t m, int64_t size, const double *table, int64_t mode) {
    const int64_t low = t + size > m ? t + size - m : 0;
    const int64_t high = t < size ? t : size;
    mode = least_of(most_of(mode, low), high);
    double weight = 1.0;
    double value = n_log_n(mode, table);
    double p = 1.0;
    for (int64_t s = mode; s < high && p > 1e-20;) {
        p *= (double)((size - s) * (t - s)) / ((double)(s + 1) * (double)(m - size - t + s + 1));
        s++;
        weight += p;
        value += p * n_log_n(s, table);
    }
    p = 1.0;
    for (int64_t s = mode; s > low && p > 1e-20;) {
        p *= (double)(s * (m - size - t + s)) / ((double)(size - s + 1) * ((double)(t - s) + 1.0));
        s--;
        weight += p;
        value += p * n_log_n(s, table);
    }
    return value / weight;
}

/* Expand s log s about the mean of a hypergeometric s; what is left out is below mean**-2. */
static double expect_by_moments(double t, double m, double size) {
    const double p = size / m;
    const double mean = t * p;
    const double variance = t * p * (1.0 - p) * (m - t) / (m - 1.0);
    const double third = variance * (1.0 - 2.0 * p) * (m - 2.0 * t) / (m - 2.0);
    const double fourth = 3.0 * variance * variance;
    return mean * log(mean) + variance / (2.0 * mean) - third / (6.0 * (mean * mean)) +
           fourth / (12.0 * (mean * mean * mean));
}

/* Cells of totals[first:last] samples; classes of more than so many expected ones by moments.
   table: n log n for all n, or NULL. Neighboring classes of the same size take the time of one. */
EXPORT int bestk_expect(const int64_t *totals, const int64_t *sizes, int64_t n_classes, int64_t m,
    double large, const double *table, double *out, int64_t first, int64_t last) {
    for (int64_t place = first; place < last; place++) {
        const int64_t t = totals[place];
        double of_class = 0.0;
        out[place] = 0.0;
        for (int64_t c = 0; c < n_classes && t > 0; c++) {
            if (c > 0 && sizes[c] == sizes[c - 1]) {
                out[place] += of_class;
                continue;
            }
            const double size = (double)sizes[c];
            const double mean = (double)t * (size / (double)m);
            const double mode = ((double)t + 1.0) * (size + 1.0) / ((double)m + 2.0);
            of_class = mean > large ? expect_by_moments((double)t, (double)m, size)
                                    : expect_by_sum(t, m, sizes[c], table, (int64_t)mode);
            out[place] += of_class;
        }
    }
    return OK;
}
