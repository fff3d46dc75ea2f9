/* Greedy selection: a row of pairs for each feature that is picked, and scores of all others. */
#include <math.h>
#include <string.h>

#include "counting.h"

/* Scores that are looked at together. */
enum { SCORES = 128 };

/* How features are scored; the same fields as PickRule in backends/_source.py. Flags are 0 or 1. */
typedef struct {
    double relevance_weight;
    double pair_weight;
    double largest_pair;     /* more is not counted */
    double smallest_divisor; /* of quotients */
    double takes_mean;       /* over the picks, of what they say */
    double takes_quotient;   /* of relevance and what the picks say */
    double takes_minimum;    /* over the picks, and not the sum */
} PickRule;

/* Scores after `size` picks: of relevance, and of what was gathered from the picks. */
static void score(const PickRule *rule, const double *relevance, const double *gathered, int64_t n,
    int64_t size, double *restrict scores) {
    const int takes_mean = rule->takes_mean != 0.0;
    const int takes_quotient = rule->takes_quotient != 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double value = takes_mean ? gathered[i] / (double)size : gathered[i];
        scores[i] = takes_quotient
            ? relevance[i] / higher(value, rule->smallest_divisor)
            : rule->relevance_weight * relevance[i] + rule->pair_weight * value;
    }
}

/* The place of the largest score, of equal ones that of the feature that comes first. */
static int64_t best_place(const double *scores, const int64_t *features, int64_t n) {
    const double highest = bestk_range(scores, n).high;
    int64_t best = -1;
    for (int64_t start = 0; start < n; start += SCORES) {
        const int64_t stop = least_of(start + SCORES, n);
        int64_t has_highest = 0;
        for (int64_t i = start; i < stop; i++) has_highest |= scores[i] == highest;
        if (!has_highest) continue;
        for (int64_t i = start; i < stop; i++)
            if (scores[i] == highest && (best < 0 || features[i] < features[best])) best = i;
    }
    return best;
}

/* Add what a pick says of every feature to what the picks before it said. */
static void gather(
    const PickRule *rule, const double *row, int64_t n, int is_first, double *gathered) {
    const int takes_minimum = rule->takes_minimum != 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double value = lower(row[i], rule->largest_pair);
        if (is_first)
            gathered[i] = value;
        else if (takes_minimum)
            gathered[i] = lower(value, gathered[i]);
        else
            gathered[i] += value;
    }
}

/* Picks first:last of k, by place; those before n_given are in picked.

   rule                  a PickRule
   features, relevance   by place
   picked, scores        the place and the score of each pick
   gathered              what the picks so far said of each feature */
EXPORT int bestk_pick(COUNTED, const double *rule_fields, const int64_t *features,
    const double *relevance, int64_t k, int64_t n_given, int64_t *picked, double *scores,
    double *gathered, int64_t first, int64_t last) {
    PickRule rule;
    memcpy(&rule, rule_fields, sizeof rule);
    Table t = TABLE;
    Formula f = FORMULA;
    Room room = {0};
    const int64_t n = n_features;
    const int64_t n_tiles = (n + LANES - 1) / LANES;
    double *row = take(&room, n, sizeof *row);
    double *scores_of_all = take(&room, n, sizeof *scores_of_all);
    int64_t *tiles = take(&room, n_tiles, sizeof *tiles);
    bestk_start_formula(&t, &f, &room);
    for (int64_t i = 0; tiles && i < n_tiles; i++) tiles[i] = i;
    for (int64_t step = first; !room.status && step < last; step++) {
        if (step)
            score(&rule, relevance, gathered, n, step, scores_of_all);
        else
            memcpy(scores_of_all, relevance, (size_t)n * sizeof *scores_of_all);
        for (int64_t s = 0; s < step; s++) scores_of_all[picked[s]] = -INFINITY;
        if (step >= n_given) picked[step] = best_place(scores_of_all, features, n);
        scores[step] = scores_of_all[picked[step]];
        if (step + 1 == k) break;
        room.status = bestk_fill_row(&t, &f, tiles, n_tiles, picked[step], row);
        gather(&rule, row, n, step == 0, gathered);
    }
    return release(&room);
}
