/* Greedy selection: a row of pairs for each feature that is picked, and the scores of all others. */
#include <math.h>
#include <string.h>

#include "counting.h"

enum { BLOCK = 128 }; /* scores that are looked at together */

/* How features are scored; see Criterion in criteria.py. */
typedef struct {
    double own, shared, most, least; /* weights; limits of a pair, and of what divides */
    int mean, quotient, minimum;
} Criterion;

/* Scores after some picks: of relevance, and of what the picks said of each feature. */
static void score(const Criterion *c, const double *relevance, const double *gathered, int64_t n,
    int64_t size, double *restrict scores) {
    for (int64_t i = 0; i < n; i++) {
        const double value = c->mean ? gathered[i] / (double)size : gathered[i];
        scores[i] = c->quotient ? relevance[i] / higher(value, c->least)
                                : c->own * relevance[i] + c->shared * value;
    }
}

/* The place of the largest score, of equal ones that of the feature that comes first. */
static int64_t best_place(const double *scores, const int64_t *features, int64_t n) {
    const double highest = bestk_range(scores, n).high;
    int64_t best = -1;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t stop = least_of(start + BLOCK, n);
        int64_t found = 0;
        for (int64_t i = start; i < stop; i++) found |= scores[i] == highest;
        for (int64_t i = start; i < stop && found; i++)
            if (scores[i] == highest && (best < 0 || features[i] < features[best])) best = i;
    }
    return best;
}

/* Add what a pick says of every feature to what the picks before it said. */
static void gather(const Criterion *c, const double *row, int64_t n, int first, double *gathered) {
    for (int64_t i = 0; i < n; i++) {
        const double value = lower(row[i], c->most);
        gathered[i] = first ? value : c->minimum ? lower(value, gathered[i]) : gathered[i] + value;
    }
}

/* Picks first:last of k, by place; those before n_given are in picked. weights: of the criterion;
   features, relevance: by place; gathered: what picks said so far. scores: of each pick. */
EXPORT int bestk_pick(COUNTED, /* request */ const double *weights, const int64_t *features,
    const double *relevance, int64_t k, int64_t n_given, int64_t *picked, double *scores,
    double *gathered, int64_t first, int64_t last) {
    const Criterion c = {weights[0], weights[1], weights[2], weights[3], weights[4] != 0.0,
        weights[5] != 0.0, weights[6] != 0.0};
    Table t = TABLE;
    Formula f = FORMULA;
    Room room = {0};
    const int64_t n = n_features, n_tiles = (n + LANES - 1) / LANES;
    double *row = take(&room, n, sizeof *row), *worth = take(&room, n, sizeof *worth);
    int64_t *tiles = take(&room, n_tiles, sizeof *tiles);
    bestk_start_formula(&t, &f, &room);
    for (int64_t i = 0; tiles && i < n_tiles; i++) tiles[i] = i;
    for (int64_t step = first; !room.status && step < last; step++) {
        if (step)
            score(&c, relevance, gathered, n, step, worth);
        else
            memcpy(worth, relevance, (size_t)n * sizeof *worth);
        for (int64_t s = 0; s < step; s++) worth[picked[s]] = -INFINITY;
        if (step >= n_given) picked[step] = best_place(worth, features, n);
        scores[step] = worth[picked[step]];
        if (step + 1 == k) break;
        room.status = bestk_fill_row(&t, &f, tiles, n_tiles, picked[step], row);
        gather(&c, row, n, !step, gathered);
    }
    return release(&room);
}
