/* A discrete table made ready for counting: sorted by class, cut into planes of bits, tiled. */
#include <string.h>

#include "counting.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* One bit for each of 32 codes: whether it equals the given one. */
static uint32_t equal_bits8(const uint8_t *codes, int64_t code) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)code);
    const __m128i low = _mm_loadu_si128((const __m128i *)codes);
    const __m128i high = _mm_loadu_si128((const __m128i *)(codes + 16));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
#else
    uint32_t bits = 0;
    for (int i = 0; i < WORD; i++) bits |= (uint32_t)(codes[i] == code) << i;
    return bits;
#endif
}

/* The same for codes of 16 bits. */
static uint32_t equal_bits16(const uint16_t *codes, int64_t code) {
    uint8_t equal[WORD];
    for (int i = 0; i < WORD; i++) equal[i] = (uint8_t)-(codes[i] == code);
    return equal_bits8(equal, 0xff);
}

/* Cut the codes of one feature into planes.
   padded: scratch for the codes sorted by class, each class padded to whole words with the last
   level, which has no plane. to: [plane][word][lane], at the lane of the feature. */
#define PACK_FEATURE(BITS)                                                                      \
    static void pack_feature##BITS(const uint##BITS##_t *row, const uint32_t *samples,          \
        const int64_t *words, const int64_t *sizes, int64_t n_classes, int64_t last,            \
        uint##BITS##_t *padded, uint32_t *to) {                                                 \
        const int64_t n_words = words[n_classes];                                               \
        for (int64_t c = 0; c < n_classes; c++) {                                               \
            uint##BITS##_t *own = padded + words[c] * WORD;                                     \
            for (int64_t i = 0; i < sizes[c]; i++) own[i] = row[samples[i]];                    \
            for (int64_t i = sizes[c]; i < (words[c + 1] - words[c]) * WORD; i++)               \
                own[i] = (uint##BITS##_t)last;                                                  \
            samples += sizes[c];                                                                \
        }                                                                                       \
        for (int64_t plane = 0; plane < last; plane++)                                          \
            for (int64_t w = 0; w < n_words; w++)                                               \
                to[(plane * n_words + w) * LANES] = equal_bits##BITS(padded + w * WORD, plane); \
    }

PACK_FEATURE(8)
PACK_FEATURE(16)

/* Pack tiles first:last of sixteen features each, and count the bits of each plane and class.
   One of values8 and values16 is given, features by samples; order: features by their place;
   samples: sorted by class; tiles of n_planes < 1 have no planes. */
EXPORT int bestk_pack_planes(const uint8_t *values8, int64_t step8, const uint16_t *values16,
    int64_t step16, const int64_t *order, const uint32_t *samples, const int64_t *n_planes,
    const int64_t *bits_at, const int64_t *margins_at, const int64_t *words, const int64_t *sizes,
    const int64_t *levels, int64_t n_features, int64_t n_classes, uint32_t *bits, uint32_t *margins,
    int64_t first, int64_t last) {
    const int64_t n_words = words[n_classes];
    Room room = {0};
    void *padded = take(&room, n_words * WORD, sizeof(uint16_t));
    uint32_t *everyone = take(&room, n_words, sizeof *everyone);
    if (!room.status) memset(everyone, 0xff, (size_t)n_words * sizeof *everyone);
    for (int64_t tile = first; !room.status && tile < last; tile++) {
        if (n_planes[tile] < 1) continue;
        for (int64_t lane = 0; lane < LANES && tile * LANES + lane < n_features; lane++) {
            const int64_t from = order[tile * LANES + lane], top = levels[tile * LANES + lane] - 1;
            uint32_t *to = bits + bits_at[tile] + lane;
            if (values8)
                pack_feature8(
                    values8 + from * step8, samples, words, sizes, n_classes, top, padded, to);
            else
                pack_feature16(
                    values16 + from * step16, samples, words, sizes, n_classes, top, padded, to);
        }
        bestk_count_rows(everyone, 1, bits + bits_at[tile], n_planes[tile], words,
            n_classes, margins + margins_at[tile]);
    }
    return release(&room);
}
