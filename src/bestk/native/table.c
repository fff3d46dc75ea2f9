/* Tables of any number type: columns out of them, and codes of their values. */
#include "bestk.h"

/* The types in the order of TABLE_TYPES in _library.py. */
#define TYPES(F)                                                                    \
    F(0, double) F(1, float) F(2, int64_t) F(3, int32_t) F(4, int16_t) F(5, int8_t) \
    F(6, uint64_t) F(7, uint32_t) F(8, uint16_t) F(9, uint8_t) F(10, uint8_t)

enum { GROUP = 64 }; /* columns that are read together */

void bestk_read_numbers(
    const char *data, int64_t step, const int64_t *order, int64_t n, int64_t type, double *out) {
#define READ(number, T)                                                                            \
    case number:                                                                                   \
        if (order)                                                                                 \
            for (int64_t i = 0; i < n; i++) out[i] = (double)*(const T *)(data + order[i] * step); \
        else if (step == (int64_t)sizeof(T))                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = (double)((const T *)data)[i];                 \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = (double)*(const T *)(data + i * step);        \
        break;
    switch (type) { TYPES(READ) }
#undef READ
}

/* Set block[j][i] = X[order[i], j] for up to GROUP columns: a cache line of each at a time. */
static void read_group(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, int64_t width, double *block, int64_t stride) {
    double lines[LINE][GROUP];
    for (int64_t start = 0; start < n_samples; start += LINE) {
        const int64_t depth = least_of(n_samples - start, LINE);
        for (int64_t i = 0; i < depth; i++)
            bestk_read_numbers(
                data + order[start + i] * row_step, column_step, NULL, width, type, lines[i]);
        for (int64_t j = 0; j < width; j++)
            for (int64_t i = 0; i < depth; i++) block[j * stride + start + i] = lines[i][j];
    }
}

/* The columns of a table as the rows of a block, samples in that order. */
EXPORT int bestk_read_columns(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, double *block, int64_t stride, int64_t width) {
    const int by_column = llabs(row_step) < llabs(column_step);
    for (int64_t j = 0; j < width; j += by_column ? 1 : GROUP) {
        const char *from = data + j * column_step;
        if (by_column)
            bestk_read_numbers(from, row_step, order, n_samples, type, block + j * stride);
        else
            read_group(from, row_step, column_step, type, order, n_samples,
                least_of(width - j, GROUP), block + j * stride, stride);
    }
    return OK;
}

/* Codes of a part of a table by cuts; those of column j are cuts[starts[j]] up to starts[j + 1]. */
EXPORT int bestk_encode(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    int64_t n_rows, int64_t n_columns, const double *cuts, const int64_t *starts, int16_t *codes,
    int64_t stride) {
    double lines[LINE][GROUP], values[LINE];
    int64_t found[LINE];
    for (int64_t first = 0; first < n_columns; first += GROUP)
        for (int64_t top = 0; top < n_rows; top += LINE) {
            const int64_t depth = least_of(n_rows - top, LINE);
            const int64_t width = least_of(n_columns - first, GROUP);
            for (int64_t i = 0; i < depth; i++)
                bestk_read_numbers(data + (top + i) * row_step + first * column_step, column_step,
                    NULL, width, type, lines[i]);
            for (int64_t j = 0; j < width; j++) {
                const int64_t start = starts[first + j], n_cuts = starts[first + j + 1] - start;
                for (int64_t i = 0; i < LINE; i++) values[i] = lines[least_of(i, depth - 1)][j];
                code_line(values, cuts + start, n_cuts, found);
                for (int64_t i = 0; i < depth; i++)
                    codes[(top + i) * stride + first + j] = (int16_t)found[i];
            }
        }
    return OK;
}
