/* Counting by bit-planes: sixteen features of a tile lie side by side, so that one vector
   instruction counts for many pairs and no sum across a register is ever needed. */
#include "counting.h"

#include <string.h>

#if defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>
#define LEVEL 2
#define BYTES 64
#elif defined(__AVX2__)
#include <immintrin.h>
#define LEVEL 1
#define BYTES 32
#else
#define LEVEL 0
#define BYTES 16
#endif
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef uint32_t V __attribute__((vector_size(BYTES), aligned(4), may_alias));
#define WIDTH (BYTES / 4)
#define COUNTS_LANES (LEVEL == 2) /* else bits are counted by the byte, which holds 31 words */
#if defined(__aarch64__)
#define ADDS_FIRST 0 /* counting bits takes one instruction */
#else
#define ADDS_FIRST (LEVEL < 2)
#endif
#define LONG (COUNTS_LANES ? INT64_MAX : ADDS_FIRST ? 16 : 24) /* words: too many for four() */

/* Bits set: of each lane for AVX-512, of each byte elsewhere. */
static inline V pop(V x) {
#if LEVEL == 2
    return (V)_mm512_popcnt_epi32((__m512i)x);
#elif LEVEL == 1
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
        2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i first = _mm256_and_si256((__m256i)x, low);
    const __m256i second = _mm256_and_si256(_mm256_srli_epi16((__m256i)x, 4), low);
    return (V)_mm256_add_epi8(
        _mm256_shuffle_epi8(table, first), _mm256_shuffle_epi8(table, second));
#elif defined(__aarch64__)
    return (V)vcntq_u8((uint8x16_t)x);
#else
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return (x + (x >> 4)) & 0x0f0f0f0fu;
#endif
}

/* Sums of the four bytes of each lane, where pop counts bytes. */
static inline V fold(V bytes) {
#if LEVEL == 2
    return bytes;
#else
    bytes = (bytes & 0x00ff00ffu) + ((bytes >> 8) & 0x00ff00ffu);
    return (bytes & 0xffffu) + (bytes >> 16);
#endif
}

/* Bits that the words of four planes share with those of WIDTH others, LONG words at most. */
static inline void four(const uint32_t *row, int64_t stride, const uint32_t *tile,
    int64_t n_words, uint32_t *counts, int64_t step) {
    V n0 = {0}, n1 = {0}, n2 = {0}, n3 = {0};
    for (int64_t w = 0; w < n_words; w++) {
        const V x = *(const V *)(tile + w * LANES);
        n0 += pop(x & row[w]);
        n1 += pop(x & row[stride + w]);
        n2 += pop(x & row[2 * stride + w]);
        n3 += pop(x & row[3 * stride + w]);
    }
    *(V *)counts = fold(n0);
    *(V *)(counts + step) = fold(n1);
    *(V *)(counts + 2 * step) = fold(n2);
    *(V *)(counts + 3 * step) = fold(n3);
}

/* Three bits of equal weight added: low has that weight, high twice as much. */
#define ADD(high, low, a, b, c)         \
    do {                                \
        const V a_ = a, b_ = b, c_ = c; \
        const V u_ = a_ ^ b_;           \
        high = (a_ & b_) | (u_ & c_);   \
        low = u_ ^ c_;                  \
    } while (0)

/* The same for one plane of any length. Where bits are counted by the byte, eight words are added
   bit by bit first, and only the carry is counted (Harley and Seal). */
static inline V one(const uint32_t *row, const uint32_t *tile, int64_t n_words) {
    V total = {0}, bytes = {0};
    int64_t w = 0;
#define X(i) (*(const V *)(tile + (w + i) * LANES) & row[w + i])
    if (ADDS_FIRST && n_words >= LONG) {
        V ones = {0}, twos = {0}, fours = {0}, a, b, c, d;
        while (w + 8 <= n_words) {
            const int64_t stop = w + 8 * 31 < n_words ? w + 8 * 31 : n_words; /* bytes hold 255 */
            V eights = {0};
            for (; w + 8 <= stop; w += 8) {
                ADD(a, ones, X(0), X(1), ones);
                ADD(b, ones, X(2), X(3), ones);
                ADD(c, twos, a, b, twos);
                ADD(a, ones, X(4), X(5), ones);
                ADD(b, ones, X(6), X(7), ones);
                ADD(d, twos, a, b, twos);
                ADD(a, fours, c, d, fours);
                eights += pop(a);
            }
            total += fold(eights) * 8;
        }
        bytes = pop(ones) + pop(twos) * 2 + pop(fours) * 4;
    }
    while (w < n_words) {
        const int64_t stop = w + 24 < n_words ? w + 24 : n_words;
        for (; w < stop; w++) bytes += pop(X(0));
        total += fold(bytes);
        bytes ^= bytes;
    }
#undef X
    return total + fold(bytes);
}

/* Samples with both bits set; see counting.h. */
EXPORT int bestk_count_rows(const uint32_t *rows, int64_t n_rows, const uint32_t *tile,
    int64_t n_planes, const int64_t *words, int64_t n_classes, uint32_t *counts) {
    const int64_t n_all_words = words[n_classes];
    const int64_t step = n_planes * LANES;
    for (int64_t c = 0; c < n_classes; c++) {
        const int64_t first = words[c];
        const int64_t n_words = words[c + 1] - first;
        const int64_t by_four = n_words < LONG ? n_rows - n_rows % 4 : 0;
        for (int64_t row = 0; row < n_rows; row += row < by_four ? 4 : 1) {
            const uint32_t *words_of_row = rows + row * n_all_words + first;
            for (int64_t part = 0; part < n_planes * LANES; part += WIDTH) {
                const uint32_t *words_of_tile =
                    tile + (part / LANES * n_all_words + first) * LANES + part % LANES;
                uint32_t *to = counts + (c * n_rows + row) * step + part;
                if (row < by_four)
                    four(words_of_row, n_all_words, words_of_tile, n_words, to, step);
                else
                    *(V *)to = one(words_of_row, words_of_tile, n_words);
            }
        }
    }
    return OK;
}

/* sums[lane] += sum over cells of table[cells[cell][lane]]: single loads are quicker than gathers,
   which compilers are kept from. Two indices are read at once. */
static __attribute__((noinline)) void look_up(
    const uint64_t *table, const uint32_t *cells, int64_t n_cells, uint64_t *sums) {
    for (int lane = 0; lane < LANES; lane += 4) {
        uint64_t s0 = 0;
        uint64_t s1 = 0;
        uint64_t s2 = 0;
        uint64_t s3 = 0;
        uint64_t both[2];
        for (int64_t i = 0; i < n_cells; i++) {
            const uint32_t *at = cells + i * LANES + lane;
            __asm__("" : "+r"(at));
            memcpy(both, at, sizeof both);
            s0 += table[(uint32_t)both[0]];
            s1 += table[both[0] >> 32];
            s2 += table[(uint32_t)both[1]];
            s3 += table[both[1] >> 32];
        }
        sums[lane] += s0;
        sums[lane + 1] += s1;
        sums[lane + 2] += s2;
        sums[lane + 3] += s3;
    }
}

#if LEVEL == 2

/* The same for counts below 16, whose entries of the table are held in two registers. */
static inline void look_up_small(
    const uint64_t *small, const uint32_t *cells, int64_t n_cells, uint64_t *sums) {
    const __m512i t0 = _mm512_loadu_si512(small), t1 = _mm512_loadu_si512(small + 8);
    __m512i low = _mm512_loadu_si512(sums), high = _mm512_loadu_si512(sums + 8);
    for (int64_t cell = 0; cell < n_cells; cell++) {
        const __m512i at = _mm512_loadu_si512(cells + cell * LANES);
        const __m512i at0 = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(at));
        const __m512i at1 = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(at, 1));
        low = _mm512_add_epi64(low, _mm512_permutex2var_epi64(t0, at0, t1));
        high = _mm512_add_epi64(high, _mm512_permutex2var_epi64(t0, at1, t1));
    }
    _mm512_storeu_si512(sums, low);
    _mm512_storeu_si512(sums + 8, high);
}

#endif

/* The same of the table of classes; small: whether most counts are below 16. */
static void sum_classes(
    const Formula *f, int small, const uint32_t *cells, int64_t n_cells, uint64_t *sums) {
#if LEVEL == 2
    for (int64_t n; small && n_cells > 0; n_cells -= n, cells += n * LANES) {
        __m512i seen = _mm512_setzero_si512();
        n = n_cells < CHUNK ? n_cells : CHUNK;
        for (int64_t at = 0; at < n * LANES; at += WIDTH)
            seen = _mm512_or_si512(seen, _mm512_loadu_si512(cells + at));
        if (_mm512_reduce_or_epi32(seen) < 16)
            look_up_small(f->small, cells, n, sums);
        else
            look_up(f->class_table, cells, n, sums);
    }
#endif
    if (LEVEL < 2 || !small) look_up(f->class_table, cells, n_cells, sums);
}

/* The smaller of n and size - n in each lane. */
static inline V smaller(V n, uint32_t size) {
    const V other = size - n;
#if LEVEL == 2
    return (V)_mm512_min_epu32((__m512i)n, (__m512i)other);
#elif LEVEL == 1
    return (V)_mm256_min_epu32((__m256i)n, (__m256i)other);
#else
    return other ^ ((n ^ other) & (V)(n < other));
#endif
}

/* See counting.h: two tables for each class and for the pair, one after the other. */
void bestk_sum_two_level(const Table *t, const Block *b, uint64_t *sums) {
    for (int lane = 0; lane < LANES; lane += WIDTH) {
        V both = {0}, other = {0};
        uint32_t at = 0;
        uint32_t with = 0;
        uint32_t without = 0;
        for (int64_t c = 0; c <= t->n_classes; c++) {
            uint32_t row_margin = with;
            uint32_t size = without;
            V n = both, column_only = other;
            if (c < t->n_classes) {
                row_margin = b->row_margins[c];
                size = (uint32_t)t->sizes[c] - row_margin;
                n = *(const V *)(b->counts + c * b->step + lane);
                column_only = *(const V *)(b->margins + c * LANES + lane) - n;
            }
            *(V *)(b->cells + 2 * c * LANES + lane) = smaller(n, row_margin) + at;
            at += row_margin / 2 + 1;
            *(V *)(b->cells + (2 * c + 1) * LANES + lane) = smaller(column_only, size) + at;
            at += size / 2 + 1;
            both += n;
            other += column_only;
            with += row_margin;
            without += size;
        }
    }
    for (int lane = 0; lane < LANES; lane++) sums[lane] = 0;
    look_up(b->two_level, b->cells, 2 * t->n_classes + 2, sums);
}

/* Joint counts of n_a planes of a row and n_b of a tile, two at most: those of class c times its
   weight. to: [a][b], with a step between two a. */
INLINE void count_joint(const Table *t, const uint32_t *rows, const uint32_t *tile, int n_a,
    int n_b, uint32_t *to, int64_t step) {
    const int64_t n_words = t->words[t->n_classes];
    V total[2][2] = {{{0}}};
    for (int64_t c = t->n_classes - 1; c >= 0; c--) {
        const uint32_t size = (uint32_t)t->sizes[c] + 1;
        for (int a = 0; a < n_a && c + 1 < t->n_classes; a++)
            for (int b = 0; b < n_b; b++) total[a][b] *= size;
        for (int64_t w = t->words[c], stop; w < t->words[c + 1]; w = stop) {
            V bits[2][2] = {{{0}}};
            stop = COUNTS_LANES ? t->words[c + 1] : least_of(w + 24, t->words[c + 1]);
            for (int64_t at = w; at < stop; at++)
                for (int b = 0; b < n_b; b++) {
                    const V x = *(const V *)(tile + (b * n_words + at) * LANES);
                    for (int a = 0; a < n_a; a++) bits[a][b] += pop(x & rows[a * n_words + at]);
                }
            for (int a = 0; a < n_a; a++)
                for (int b = 0; b < n_b; b++) total[a][b] += fold(bits[a][b]);
        }
    }
    for (int a = 0; a < n_a; a++)
        for (int b = 0; b < n_b; b++) *(V *)(to + a * step + b * LANES) = total[a][b];
}

/* See counting.h: a cell is one number, its counts of all classes; the last levels follow. */
void bestk_sum_joint(const Table *t, const Formula *f, const Block *b, const uint32_t *rows,
    const uint32_t *tile, uint64_t *sums) {
    const int64_t n_i = b->n_i;
    const int64_t n_j = b->n_j;
    const int64_t width = n_j + 1;
    const int64_t n_words = t->words[t->n_classes];
    for (int lane = 0; lane < LANES; lane += WIDTH) {
#define AT(a, j) (b->cells + ((a) * width + (j)) * LANES + lane)
#define COUNT(n_a, n_b)                                                                 \
    count_joint(t, rows + a * n_words, tile + j * n_words * LANES + lane, n_a, n_b, AT(a, j), \
        width * LANES)
        for (int64_t a = 0; a < n_i; a += 2)
            for (int64_t j = 0; j < n_j; j += 2) {
                if (a + 1 < n_i && j + 1 < n_j) COUNT(2, 2);
                else if (a + 1 < n_i) COUNT(2, 1);
                else if (j + 1 < n_j) COUNT(1, 2);
                else COUNT(1, 1);
            }
        V corner = (V){0} + b->joint[n_i];
        for (int64_t a = 0; a < n_i; a++) {
            V beside = (V){0} + b->joint[a];
            for (int64_t j = 0; j < n_j; j++) beside -= *(V *)AT(a, j);
            *(V *)AT(a, n_j) = beside;
            corner -= b->joint[a];
        }
        for (int64_t j = 0; j < n_j; j++) {
            V below = {0};
            for (int64_t c = t->n_classes - 1; c >= 0; c--)
                below = below * ((uint32_t)t->sizes[c] + 1) +
                        *(const V *)(b->margins + (c * n_j + j) * LANES + lane);
            for (int64_t a = 0; a < n_i; a++) below -= *(V *)AT(a, j);
            *(V *)AT(n_i, j) = below;
            corner -= below;
        }
        *(V *)AT(n_i, n_j) = corner;
#undef COUNT
#undef AT
    }
    for (int lane = 0; lane < LANES; lane++) sums[lane] = 0;
    look_up(f->joint, b->cells, (n_i + 1) * width, sums);
}

/* See counting.h: the cells of last levels follow from the margins. */
void bestk_sum_cells(
    const Table *t, const Formula *f, const Block *b, uint64_t *sums) {
    const int64_t n_i = b->n_i;
    const int64_t n_j = b->n_j;
    const int64_t width = n_j + 1;
    uint32_t *last_columns = b->cells;
    uint32_t *last_rows = last_columns + n_i * LANES;
    uint32_t *corner = last_rows + n_j * LANES;
    uint32_t *pairs = corner + LANES;
    for (int64_t at = 0; at < (n_i + 1) * width * LANES; at += WIDTH) *(V *)(pairs + at) = (V){0};
    for (int lane = 0; lane < LANES; lane++) sums[lane] = 0;
    for (int64_t c = 0; c < t->n_classes; c++) {
        const uint32_t *cells = b->counts + c * b->step;
        const uint32_t size = (uint32_t)t->sizes[c];
        const uint32_t *whole = b->margins + c * n_j * LANES;
        for (int64_t at = 0; at < n_j * LANES; at += WIDTH)
            *(V *)(last_rows + at) = *(const V *)(whole + at);
        for (int lane = 0; lane < LANES; lane += WIDTH) {
#define AT(array, cell) (*(V *)(array + (cell) * LANES + lane))
            V outside = (V){0} + size;
            for (int64_t a = 0; a < n_i; a++) {
                const uint32_t row_margin = b->row_margins[a * t->n_classes + c];
                V last_column = (V){0} + row_margin;
                for (int64_t j = 0; j < n_j; j++) {
                    const V n = *(const V *)(cells + (a * n_j + j) * LANES + lane);
                    last_column -= n;
                    AT(last_rows, j) -= n;
                    AT(pairs, a * width + j) += n;
                }
                AT(last_columns, a) = last_column;
                AT(pairs, a * width + n_j) += last_column;
                outside -= row_margin;
            }
            for (int64_t j = 0; j < n_j; j++) {
                const V n = AT(last_rows, j);
                outside -= n;
                AT(pairs, n_i * width + j) += n;
            }
            AT(corner, 0) = outside;
            AT(pairs, n_i * width + n_j) += outside;
#undef AT
        }
        const int small = size < 8 * (n_i + 1) * width;
        sum_classes(f, small, cells, n_i * n_j, sums);
        sum_classes(f, small, last_columns, n_i + n_j + 1, sums);
    }
    look_up(f->pair_table, pairs, (n_i + 1) * width, sums);
}
