/* From products of scores to measures of pairs: correlations before the logarithm, writes after.

   Operations stand in the same order for both members of a pair, so that results do not depend on
   how pairs are cut into tiles. */
#include <string.h>

#include "bestk.h"

enum { STRIPE = 8 }; /* columns of a tile that are turned into rows at once: a cache line */

/* The features along one side of a tile; see Side in _gaussian.py. */
typedef struct {
    int64_t size;
    const double *sums, *terms, *scale, *scale_within;
} Side;

/* 1 - r^2 of one feature with all on the right. */
INLINE void share_total(const double *products, double sum, double my_scale, const Side *right,
    double n_inverse, double *restrict total) {
    for (int64_t j = 0; j < right->size; j++) {
        const double r =
            my_scale * right->scale[j] * (products[j] - sum * right->sums[j] * n_inverse);
        total[j] = 1.0 - r * r;
    }
}

/* The same within y: each term takes its weight times the entries of both off the product. */
INLINE void share_within(const double *products, int64_t i, const Side *left, const Side *right,
    const double *weights, int64_t n_terms, double *restrict within) {
    memcpy(within, products, sizeof *within * (size_t)right->size);
    for (int64_t k = 0; k < n_terms; k++) {
        const double mine = left->terms[k * left->size + i], weight = weights[k];
        const double *terms = right->terms + k * right->size;
        for (int64_t j = 0; j < right->size; j++) within[j] -= mine * terms[j] * weight;
    }
    const double my_scale = left->scale_within[i];
    for (int64_t j = 0; j < right->size; j++) {
        const double r = my_scale * right->scale_within[j] * within[j];
        within[j] = 1.0 - r * r;
    }
}

/* Tiles of products, and what their correlations take; a and b say which shares are needed. */
typedef struct {
    Side left, right;
    double n_inverse, a, b;
    const double *weights;
    int64_t n_terms;
    double *total, *within; /* scratch: a row of each share, ones at first */
} Tile;

/* Put shares in place of one row of products; rest: where the second goes, if both are needed. */
INLINE void correlate_row(
    const Tile *t, int64_t i, double *restrict products, double *restrict rest) {
    const int64_t n = t->right.size;
    double *restrict total = t->total, *restrict within = t->within;
    if (t->a != 0.0)
        share_total(products, t->left.sums[i], t->left.scale[i], &t->right, t->n_inverse, total);
    if (t->b != 0.0) share_within(products, i, &t->left, &t->right, t->weights, t->n_terms, within);
    if (t->a == -t->b) {
        for (int64_t j = 0; j < n; j++) products[j] = total[j] / within[j];
    } else {
        memcpy(products, t->a == 0.0 ? within : total, sizeof *products * (size_t)n);
        if (rest) memcpy(rest, within, sizeof *rest * (size_t)n);
    }
}
FOR_EACH_CPU(correlate_row, (const Tile *t, int64_t i, double *products, double *rest),
    (t, i, products, rest))

/* Put shares in place of products: what a log(1 - r^2) + b log(1 - s^2) is to take. That is one of
   them, or their ratio, where one logarithm is enough; else the second of them goes to rest. */
EXPORT int bestk_correlate(double *products, int64_t n_rows, int64_t n_columns,
    const double *left_sums, const double *left_terms, const double *left_scale,
    const double *left_scale_within, const double *right_sums, const double *right_terms,
    const double *right_scale, const double *right_scale_within, double n_inverse,
    const double *weights, int64_t n_terms, double a, double b, double *rest) {
    Room room = {0};
    double *total = take(&room, n_columns, sizeof *total);
    double *within = take(&room, n_columns, sizeof *within);
    const Tile t = {{n_rows, left_sums, left_terms, left_scale, left_scale_within},
        {n_columns, right_sums, right_terms, right_scale, right_scale_within}, n_inverse, a, b,
        weights, n_terms, total, within};
    for (int64_t j = 0; j < n_columns && !room.status; j++) total[j] = within[j] = 1.0;
    for (int64_t i = 0; i < n_rows && !room.status; i++)
        correlate_row_best(&t, i, products + i * n_columns, rest ? rest + i * n_columns : NULL);
    return release(&room);
}

/* out[j] = max(scale * part[j] + (mine + terms[j]), lowest), in one precision or the other. */
INLINE void write_row(const double *part, int64_t n, double scale, double mine, const double *terms,
    double lowest, double *restrict out64, float *restrict out32) {
    for (int64_t j = 0; j < n && out64; j++)
        out64[j] = higher(lowest, scale * part[j] + (mine + terms[j]));
    for (int64_t j = 0; j < n && !out64; j++)
        out32[j] = (float)higher(lowest, scale * part[j] + (mine + terms[j]));
}
FOR_EACH_CPU(write_row,
    (const double *part, int64_t n, double scale, double mine, const double *terms, double lowest,
        double *out64, float *out32),
    (part, n, scale, mine, terms, lowest, out64, out32))

/* Write a tile: the part of each pair and those of its features, or the measure of a feature with
   itself. One of out64 and out32 is given. */
EXPORT int bestk_write_pairs(const double *part, int64_t n_rows, int64_t n_columns, double scale,
    const int64_t *left_features, const double *row_term, const double *diagonal,
    const int64_t *right_features, const double *column_term, double lowest, double *out64,
    int64_t stride64, float *out32, int64_t stride32) {
    for (int64_t i = 0; i < n_rows; i++) {
        double *row64 = out64 ? out64 + i * stride64 : NULL;
        float *row32 = out64 ? NULL : out32 + i * stride32;
        write_row_best(
            part + i * n_columns, n_columns, scale, row_term[i], column_term, lowest, row64, row32);
        for (int64_t j = 0; j < n_columns; j++) {
            if (right_features[j] != left_features[i]) continue;
            if (row64)
                row64[j] = higher(lowest, diagonal[i]);
            else
                row32[j] = (float)higher(lowest, diagonal[i]);
        }
    }
    return OK;
}

/* Write a tile, from column first on, across the diagonal. */
EXPORT int bestk_write_mirrored(const double *part, int64_t n_rows, int64_t n_columns, double scale,
    const double *row_term, const double *column_term, double lowest, int64_t first, double *out64,
    int64_t stride64, float *out32, int64_t stride32) {
    double *turned = malloc(sizeof *turned * STRIPE * (size_t)(n_rows + 1));
    if (!turned) return NO_MEMORY;
    for (int64_t start = first; start < n_columns; start += STRIPE) {
        const int64_t width = least_of(n_columns - start, STRIPE);
        for (int64_t i = 0; i < n_rows; i++)
            for (int64_t j = 0; j < width; j++)
                turned[j * n_rows + i] = part[i * n_columns + start + j];
        for (int64_t j = start; j < start + width; j++)
            write_row_best(turned + (j - start) * n_rows, n_rows, scale, row_term[j], column_term,
                lowest, out64 ? out64 + j * stride64 : NULL, out64 ? NULL : out32 + j * stride32);
    }
    free(turned);
    return OK;
}
