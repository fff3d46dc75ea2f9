/* Branch and bound with the row bound: a depth-first search that can stop and go on anywhere. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { DEPTH, FLOOR, NODES }; /* in state */

/* What is chosen and open at every depth; rows of n at each depth. */
typedef struct {
    const double *Q;        /* items in a fixed order, the most promising first */
    const double *partners; /* [m][p][i]: the m largest Q_ij over j >= p other than i */
    int64_t n, k;
    double *gains;          /* [d][i]: Q_ii + 2 sum of Q_ij over the d chosen */
    int64_t *left;          /* [d][:]: items that may still be chosen */
    int64_t *many, *at;     /* [d]: how many, and where among them the search stands */
    int64_t *chosen, *best; /* [d], and the best choice found */
    double *value;          /* [d]: of the chosen */
    double *worth, *scratch;
} Tree;

/* At sums[m][p][i] the sum of the m largest Q_ij over j >= p other than i, for m < k. */
EXPORT int bestk_branch_partners(const double *Q, int64_t n, int64_t k, double *sums) {
    double *top = malloc((size_t)k * sizeof *top);
    if (!top) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        int64_t held = 0;
        for (int64_t p = n - 1; p >= 0; p--) {
            const double entry = Q[i * n + p];
            if (p != i && k > 1 && (held < k - 1 || entry > top[held - 1])) {
                held = held + 1 < k - 1 ? held + 1 : k - 1;
                int64_t q = held - 1;
                for (; q > 0 && top[q - 1] < entry; q--) top[q] = top[q - 1];
                top[q] = entry;
            }
            double total = 0.0;
            sums[p * n + i] = 0.0;
            for (int64_t m = 1; m < k; m++) {
                if (m <= held) total += top[m - 1];
                sums[(m * n + p) * n + i] = total;
            }
        }
    }
    free(top);
    return OK;
}

/* Try every open item as the last one; return the new floor. */
static double finish(Tree *t, int64_t depth, double floor) {
    for (int64_t q = t->at[depth]; q < t->many[depth]; q++) {
        const int64_t item = t->left[depth * t->n + q];
        const double value = t->value[depth] + t->gains[depth * t->n + item];
        if (!(value > floor)) continue;
        floor = value;
        memcpy(t->best, t->chosen, (size_t)depth * sizeof *t->best);
        t->best[depth] = item;
    }
    return floor;
}

/* Choose the next open item and pass on those worth keeping; 0 if the node is bounded.
   Each open item is worth its gain and at most its best open partners. */
static int descend(Tree *t, int64_t depth, double floor) {
    const int64_t n = t->n, left = t->k - depth, start = t->at[depth], stop = t->many[depth];
    const int64_t *items = t->left + depth * n, first = items[start];
    const double *gains = t->gains + depth * n, *row = t->Q + first * n;
    const double *partners = t->partners + ((left - 1) * n + first) * n;
    double *top = t->scratch; /* descending */
    for (int64_t q = 0; q < left; q++) top[q] = -INFINITY;
    for (int64_t q = start; q < stop; q++) {
        const double worth = t->worth[q] = gains[items[q]] + partners[items[q]];
        if (!(worth > top[left - 1])) continue;
        int64_t at = left - 1;
        for (; at > 0 && top[at - 1] < worth; at--) top[at] = top[at - 1];
        top[at] = worth;
    }
    double total = 0.0;
    for (int64_t q = 0; q < left; q++) total += top[q];
    const double least = top[left - 1], bound = t->value[depth] + total;
    if (bound <= floor) return 0;
    t->at[depth]++;
    t->chosen[depth] = first;
    t->value[depth + 1] = t->value[depth] + gains[first];
    int64_t kept = 0, *next_items = t->left + (depth + 1) * n;
    double *next_gains = t->gains + (depth + 1) * n;
    for (int64_t q = start + 1; q < stop; q++) {
        const double worth = t->worth[q] < least ? t->worth[q] : least;
        if (!(bound - least + worth > floor)) continue;
        const int64_t item = items[q];
        next_items[kept++] = item;
        next_gains[item] = gains[item] + 2 * row[item];
    }
    t->many[depth + 1] = kept;
    t->at[depth + 1] = 0;
    return 1;
}

/* Go on for so many nodes; the tree is exhausted when state[DEPTH] is negative.
   path: four rows of k: many, at, chosen, best. */
EXPORT int bestk_branch_advance(const double *Q, const double *partners, int64_t n, int64_t k,
    int64_t nodes, double *gains, int64_t *left, int64_t *path, double *value, double *state) {
    double *room = malloc(2 * (size_t)n * sizeof *room);
    if (!room) return NO_MEMORY;
    Tree t = {Q, partners, n, k, gains, left, path, path + k, path + 2 * k, path + 3 * k, value, room,
        room + n};
    int64_t depth = (int64_t)state[DEPTH], seen = 0;
    for (; depth >= 0 && seen < nodes; seen++) {
        const int64_t open = t.many[depth] - t.at[depth];
        if (open >= k - depth && depth + 1 == k) state[FLOOR] = finish(&t, depth, state[FLOOR]);
        const int deeper = open >= k - depth && depth + 1 < k && descend(&t, depth, state[FLOOR]);
        depth += deeper ? 1 : -1;
    }
    state[DEPTH] = (double)depth;
    state[NODES] += (double)seen;
    free(room);
    return OK;
}
