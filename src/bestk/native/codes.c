/* Columns of whole numbers turned into rows of dense codes. */
#include "bestk.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST = 65534, TILE = 64 }; /* what a look-up table has room for; rows read at once */

/* Number the values that occur 0, 1, ... in order, missing (0) last; return how many occur.
   code: 65536 numbers of scratch. One of codes8 and codes16 is given. */
INLINE int64_t renumber(const uint16_t *raw, int64_t n, uint16_t *code, uint8_t *codes8,
                        uint16_t *codes16) {
    uint16_t most = 0;
    for (int64_t i = 0; i < n; i++) most = raw[i] > most ? raw[i] : most;
    memset(code, 0, ((size_t)most + 1) * sizeof *code);
    if (most < 32) {
        uint32_t seen = 0;
        for (int64_t i = 0; i < n; i++) seen |= (uint32_t)1 << raw[i];
        for (int value = 0; value <= most; value++) code[value] = seen >> value & 1;
    } else {
        for (int64_t i = 0; i < n; i++) code[raw[i]] = 1;
    }
    int64_t count = 0;
    for (int64_t value = 1; value <= most; value++)
        if (code[value]) code[value] = (uint16_t)count++;
    const int dense = !code[0] && count == most; /* then the codes are the values less 1 */
    if (code[0]) code[0] = (uint16_t)count++;
    if (codes8 && dense)
        for (int64_t i = 0; i < n; i++) codes8[i] = (uint8_t)(raw[i] - 1);
    else if (codes8)
        for (int64_t i = 0; i < n; i++) codes8[i] = (uint8_t)code[raw[i]];
    else
        for (int64_t i = 0; i < n; i++) codes16[i] = code[raw[i]];
    return count;
}

/* The arguments of the kernels, which are one for each type of numbers. */
#define TAKES(TYPE)                                                                          \
    const TYPE *flat, int64_t row_step, int64_t column_step, int64_t n_rows,                 \
        const int64_t *places, uint8_t *codes8, int64_t step8, uint16_t *codes16,            \
        int64_t step16, int64_t *levels, uint8_t *odd, int64_t first, int64_t last
#define PASS                                                                                 \
    flat, row_step, column_step, n_rows, places, codes8, step8, codes16, step16, levels, odd, \
        first, last

/* Write the codes of columns first:last, column j to row places[j], their number to levels[j].
   The value in row r is flat[r * row_step + j * column_step]; odd[j]: one of them is neither NaN
   nor a whole number with a place in the look-up table. */
#define WRITE_CODES(NAME, TYPE, WIDE)                                                        \
    INLINE void write_##NAME(TAKES(TYPE), int *status) {                                     \
        const int64_t n_columns = last - first;                                              \
        uint16_t *code = malloc(65536 * sizeof *code);                                       \
        uint16_t *raw = malloc((size_t)(n_columns * n_rows + 1) * sizeof *raw);              \
        for (int64_t start = 0; code && raw && start < n_rows; start += TILE) {              \
            const int64_t size = n_rows - start < TILE ? n_rows - start : TILE;              \
            for (int64_t j = 0; j < n_columns; j++) {                                        \
                const TYPE *from = flat + start * row_step + (first + j) * column_step;      \
                uint16_t *to = raw + j * n_rows + start;                                     \
                WIDE piece[TILE];                                                            \
                int32_t misfit = 0;                                                          \
                for (int64_t r = 0; r < size; r++) piece[r] = from[r * row_step];            \
                for (int64_t r = 0; r < size; r++) {                                         \
                    const WIDE value = piece[r];                                             \
                    const int fits = (value >= 0) & (value <= (WIDE)LARGEST);                \
                    const int32_t whole = (int32_t)(fits ? value : 0);                       \
                    misfit |= ((WIDE)whole != value) & (value == value);                     \
                    to[r] = (uint16_t)(whole + fits);                                        \
                }                                                                            \
                odd[first + j] |= (uint8_t)misfit;                                           \
            }                                                                                \
        }                                                                                    \
        for (int64_t j = 0; code && raw && j < n_columns; j++) {                             \
            const int64_t to = places[first + j];                                            \
            levels[first + j] = renumber(raw + j * n_rows, n_rows, code,                     \
                                         codes8 ? codes8 + to * step8 : NULL,                \
                                         codes8 ? NULL : codes16 + to * step16);             \
        }                                                                                    \
        *status = code && raw ? OK : NO_MEMORY;                                              \
        free(code);                                                                          \
        free(raw);                                                                           \
    }                                                                                        \
    FOR_EACH_CPU(write_##NAME, (TAKES(TYPE), int *status), (PASS, status))                    \
    EXPORT int bestk_write_codes_##NAME(TAKES(TYPE)) {                                       \
        int status;                                                                          \
        write_##NAME##_best(PASS, &status);                                                  \
        return status;                                                                       \
    }

WRITE_CODES(u8, uint8_t, int32_t)
WRITE_CODES(i16, int16_t, int32_t)
WRITE_CODES(i32, int32_t, int32_t)
WRITE_CODES(i64, int64_t, int64_t)
WRITE_CODES(f32, float, float)
WRITE_CODES(f64, double, double)
