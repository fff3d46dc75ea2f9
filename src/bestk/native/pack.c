/* A discrete table made ready for counting: sorted by class, cut into planes of bits, tiled. */
#include <string.h>

#include "counting.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* One bit for each of 32 bytes: whether it equals the given one. */
static uint32_t equal_bits(const uint8_t *bytes, int64_t byte) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)byte);
    const __m128i low = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i high = _mm_loadu_si128((const __m128i *)(bytes + 16));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
#else
    uint32_t bits = 0;
    for (int i = 0; i < WORD; i++) bits |= (uint32_t)(bytes[i] == byte) << i;
    return bits;
#endif
}

/* Cut the codes of one feature into planes; one of row8 and row16 is given.
   low, high: scratch for the bytes of the codes sorted by class, each class padded to whole words
   with the last level, which has no plane. to: [plane][word][lane], at the lane of the feature. */
static void pack_feature(const uint8_t *row8, const uint16_t *row16, const uint32_t *samples,
    const int64_t *words, const int64_t *sizes, int64_t n_classes, int64_t last, uint8_t *low,
    uint8_t *high, uint32_t *to) {
    const int64_t n_words = words[n_classes];
    memset(low, (int)(last & 0xff), (size_t)(n_words * WORD));
    if (!row8) memset(high, (int)(last >> 8), (size_t)(n_words * WORD));
    for (int64_t c = 0; c < n_classes; samples += sizes[c++]) {
        uint8_t *low_of_class = low + words[c] * WORD;
        uint8_t *high_of_class = high + words[c] * WORD;
        if (row8 && sizes[c] && samples[sizes[c] - 1] - samples[0] + 1 == sizes[c]) {
            /* Samples ascend: these have no gap. */
            memcpy(low_of_class, row8 + samples[0], (size_t)sizes[c]);
            continue;
        }
        for (int64_t i = 0; row8 && i < sizes[c]; i++) low_of_class[i] = row8[samples[i]];
        for (int64_t i = 0; !row8 && i < sizes[c]; i++) {
            low_of_class[i] = (uint8_t)row16[samples[i]];
            high_of_class[i] = (uint8_t)(row16[samples[i]] >> 8);
        }
    }
    for (int64_t plane = 0; plane < last; plane++)
        for (int64_t w = 0; w < n_words; w++) {
            uint32_t bits = equal_bits(low + w * WORD, plane & 0xff);
            if (!row8) bits &= equal_bits(high + w * WORD, plane >> 8);
            to[(plane * n_words + w) * LANES] = bits;
        }
}

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
    uint8_t *low = take(&room, n_words * WORD, 1);
    uint8_t *high = take(&room, n_words * WORD, 1);
    uint32_t *everyone = take(&room, n_words, sizeof *everyone);
    if (!room.status) memset(everyone, 0xff, (size_t)n_words * sizeof *everyone);
    for (int64_t tile = first; !room.status && tile < last; tile++) {
        if (n_planes[tile] < 1) continue;
        for (int64_t lane = 0; lane < LANES && tile * LANES + lane < n_features; lane++) {
            const int64_t from = order[tile * LANES + lane];
            const int64_t top = levels[tile * LANES + lane] - 1;
            pack_feature(values8 ? values8 + from * step8 : NULL,
                values8 ? NULL : values16 + from * step16, samples, words, sizes, n_classes, top,
                low, high, bits + bits_at[tile] + lane);
        }
        bestk_count_rows(everyone, 1, bits + bits_at[tile], n_planes[tile], words,
            n_classes, margins + margins_at[tile]);
    }
    return release(&room);
}
