/* Tables of any number type: columns out of them, codes of their values. */

#include "bestk.h"

/* The types in the order of TABLE_TYPES in _library.py. */
#define TYPES(F)                                                                    \
    F(0, double) F(1, float) F(2, int64_t) F(3, int32_t) F(4, int16_t) F(5, int8_t) \
    F(6, uint64_t) F(7, uint32_t) F(8, uint16_t) F(9, uint8_t) F(10, uint8_t)

enum { GROUP = 64 }; /* columns that are read together */
enum { AHEAD = 32 }; /* rows that are fetched early */

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

/* Set block[j][i] = X[order[i], j], or X[i, j] without an order, for up to GROUP columns: a cache
   line of each at a time. */
static void read_group(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, int64_t width, double *block, int64_t stride) {
    double lines[LINE][GROUP];
    for (int64_t start = 0; start < n_samples; start += LINE) {
        const int64_t depth = least_of(n_samples - start, LINE);
        for (int64_t i = start + AHEAD; order && i < least_of(n_samples, start + AHEAD + LINE); i++)
            __builtin_prefetch(data + order[i] * row_step);
        for (int64_t i = 0; i < depth; i++)
            bestk_read_numbers(data + (order ? order[start + i] : start + i) * row_step,
                column_step, NULL, width, type, lines[i]);
        for (int64_t j = 0; j < width; j++)
            for (int64_t i = 0; i < depth; i++) block[j * stride + start + i] = lines[i][j];
    }
}

/* The columns of a table as the rows of a block, samples in an order, or NULL for their own. */
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

/* Codes of the rows of a block by cuts; those of row j are cuts[starts[j]] up to starts[j + 1]. */
EXPORT int bestk_encode(const double *block, int64_t stride, int64_t n_rows, int64_t n,
    const double *cuts, const int64_t *starts, int16_t *codes, int64_t code_stride) {
    double values[LINE];
    int64_t line_codes[LINE];
    for (int64_t j = 0; j < n_rows; j++, block += stride, codes += code_stride)
        for (int64_t start = 0; start < n; start += LINE) {
            const int64_t size = least_of(n - start, LINE);
            for (int64_t i = 0; i < LINE; i++) values[i] = block[start + least_of(i, size - 1)];
            code_line(values, cuts + starts[j], starts[j + 1] - starts[j], line_codes);
            for (int64_t i = 0; i < size; i++) codes[start + i] = (int16_t)line_codes[i];
        }
    return OK;
}

/* Codes in rows of a block, given in an order of the samples, in that of the samples themselves. */
EXPORT int bestk_reorder(const uint8_t *block, int64_t stride, int64_t n_rows, int64_t n,
    const int64_t *order, int16_t *codes, int64_t code_stride) {
    for (int64_t j = 0; j < n_rows; j++, block += stride, codes += code_stride)
        for (int64_t i = 0; i < n; i++) codes[order[i]] = block[i];
    return OK;
}
