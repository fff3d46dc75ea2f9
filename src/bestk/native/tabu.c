/* Tabu search: populations of choices of k items, improved by swapping one item for another.
   p_i = Q_ii + 2 sum of Q_ij over the other chosen items j, so swapping u for v changes x'Qx by
   p_v - p_u - 2 Q_uv. A swap costs one pass over two rows of Q, which also finds, in each block of
   items, the lowest p of those that may leave and the highest of those that may enter. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { BLOCK = 32, LANES = 4 }; /* items whose extremes are kept together */
enum { TENURE = 15, TENURES = 15, STEPS_A_TENURE = 100 };
enum { LONGEST = 20 }; /* times the depth: no walk goes on for longer */
enum { RESTART = 20 }; /* walks that leave a population as it is before a new one */
enum { AGAIN = 10 };   /* walks, a fifth of the patience at most, that a walk is worth that starts
                          by itself and ends at the champion */
#define ROUNDING 1e-13 /* relative differences below this are none */
static const int64_t TENURE_TIMES[TENURES] = {1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1};

enum { VALUE, BEST, CROWN, WORTH };                          /* in values */
enum { STEP, IDLE, N_TABU, BORN, YOUNG, SIZE, STALE, WAIT }; /* in counts */

/* A population, the best choice it ever had, and the walk of its newest child. The first part
   lives in arrays of the caller, the second is rebuilt at each call. */
typedef struct {
    const double *Q, *least; /* rows of Q, and the least entry of each off the diagonal */
    double lowest;           /* of those */
    int64_t n, k, blocks, population;
    uint8_t *chosen, *best;         /* the choice of the walk, and its best one */
    uint8_t *champion, *pool;       /* the best choice ever, and the population */
    double *p, *values, *worth;     /* gains, values of choices, values of the population */
    int64_t *until, *tabu, *counts; /* step at which a tabu ends, 0 for none; items under tabu */
    uint64_t *random;

    double *leave, *enter;      /* 0 for items that may leave or enter, else inf and -inf */
    double *low, *high;         /* of each block: the extremes of p over those */
    double lowest_p, highest_p; /* of those */
    int64_t *ins, *outs;        /* scratch: items that a best swap may involve */
} Island;

typedef struct {
    double gain;
    int64_t u, v;
} Exchange;

/* A random whole number below a limit, by xorshift. */
static int64_t draw(uint64_t *state, int64_t below) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (int64_t)((x >> 20) % (uint64_t)below);
}

/* Of items from i on, one a lane: p += 2 (into - out), and the extremes. */
INLINE void update_lanes(const Island *w, const double *out, const double *into, int64_t i,
    int64_t width, double *restrict low, double *restrict high) {
    const double *leave = w->leave + i, *enter = w->enter + i;
    double *p = w->p + i;
#pragma omp simd
    for (int64_t j = 0; j < width; j++) {
        p[j] += 2.0 * (into[i + j] - out[i + j]);
        low[j] = lower(p[j] + leave[j], low[j]);
        high[j] = higher(p[j] + enter[j], high[j]);
    }
}

/* The same of one block of items. */
INLINE void update_block(
    Island *w, const double *out, const double *into, int64_t block, int64_t size) {
    double low[LANES], high[LANES];
    for (int j = 0; j < LANES; j++) low[j] = INFINITY, high[j] = -INFINITY;
    int64_t i = block * BLOCK;
    const int64_t end = i + size;
    for (; i + LANES <= end; i += LANES) update_lanes(w, out, into, i, LANES, low, high);
    update_lanes(w, out, into, i, end - i, low, high);
    for (int j = 1; j < LANES; j++) {
        low[0] = lower(low[j], low[0]);
        high[0] = higher(high[j], high[0]);
    }
    w->low[block] = low[0];
    w->high[block] = high[0];
}

/* The same of all blocks. */
static void update(Island *w, const double *out, const double *into) {
    const int64_t whole = w->n / BLOCK;
    double lowest = INFINITY, highest = -INFINITY;
    for (int64_t block = 0; block < w->blocks; block++) {
        if (block < whole)
            update_block(w, out, into, block, BLOCK);
        else
            update_block(w, out, into, block, w->n % BLOCK);
        lowest = lower(w->low[block], lowest);
        highest = higher(w->high[block], highest);
    }
    w->lowest_p = lowest;
    w->highest_p = highest;
}

/* Swap u for v in p, and find the extremes; u = v: only the latter. */
static void move(Island *w, int64_t u, int64_t v) {
    const double *out = w->Q + u * w->n, *into = w->Q + v * w->n;
    if (u != v) { /* an item does not count itself */
        w->p[u] += 2.0 * out[u];
        w->p[v] -= 2.0 * into[v];
    }
    update(w, out, into);
}

/* Let an item move, or keep it where it is. */
static void set_gate(Island *w, int64_t i, int open) {
    w->leave[i] = open && w->chosen[i] ? 0.0 : INFINITY;
    w->enter[i] = open && !w->chosen[i] ? 0.0 : -INFINITY;
}

/* Keep an item that has moved where it is for so many steps. */
static void forbid(Island *w, int64_t i, int64_t tenure) {
    set_gate(w, i, 1);
    if (tenure <= 0) { /* nothing else may be left to move: an older tabu ends */
        for (int64_t j = 0; j < w->counts[N_TABU]; j++)
            if (w->tabu[j] == i) w->tabu[j] = w->tabu[--w->counts[N_TABU]];
        w->until[i] = 0;
        return;
    }
    set_gate(w, i, 0);
    if (w->until[i] == 0) w->tabu[w->counts[N_TABU]++] = i;
    w->until[i] = w->counts[STEP] + tenure;
}

/* Let those items move whose tabu is over. */
static void expire(Island *w) {
    int64_t j = 0;
    while (j < w->counts[N_TABU]) {
        const int64_t i = w->tabu[j];
        if (w->until[i] > w->counts[STEP]) {
            j++;
            continue;
        }
        w->tabu[j] = w->tabu[--w->counts[N_TABU]];
        w->until[i] = 0;
        set_gate(w, i, 1);
    }
}

/* The first item that may move and has this p. */
static int64_t find_first(
    const double *p, const double *gate, const double *extreme, double wanted) {
    int64_t b = 0;
    while (extreme[b] != wanted) b++;
    int64_t i = b * BLOCK;
    while (p[i] + gate[i] != wanted) i++;
    return i;
}

/* Find the items that may move with sign * p of at most a limit; return their number. */
INLINE int64_t find_near(const Island *w, const double *gate, const double *extreme, double sign,
    double limit, int64_t *found) {
    const double *p = w->p;
    int64_t n_found = 0;
    for (int64_t b = 0; b < w->blocks; b++) {
        if (!(sign * extreme[b] <= limit)) continue;
        const int64_t end = least_of((b + 1) * BLOCK, w->n);
        for (int64_t i = b * BLOCK; i < end; i++) {
            found[n_found] = i;
            n_found += sign * (p[i] + gate[i]) <= limit;
        }
    }
    return n_found;
}

/* The best swap of items that may move, a random one of equals, and its gain.
   Q_uv is not below the least entry of u, of v, nor of all: only a u of low and a v of high p can
   be in the best. */
static Exchange best_exchange(Island *w) {
    const double *p = w->p, *Q = w->Q, floor = 2.0 * w->lowest;
    int64_t *ins = w->ins, *outs = w->outs, n = w->n;
    const double low = w->lowest_p, high = w->highest_p;
    const double rounding = ROUNDING * (fabs(low) + fabs(high));
    int64_t u = find_first(p, w->leave, w->low, low), v = find_first(p, w->enter, w->high, high);
    double best = high - low - 2.0 * Q[u * n + v];
    const int64_t n_in = find_near(w, w->leave, w->low, 1.0, high - floor - best + rounding, ins);
    for (int64_t a = 0; a < n_in; a++)
        best = higher(high - p[ins[a]] - 2.0 * Q[v * n + ins[a]], best);
    const int64_t n_near =
        find_near(w, w->enter, w->high, -1.0, rounding - low - floor - best, outs);
    for (int64_t b = 0; b < n_near; b++)
        best = higher(p[outs[b]] - low - 2.0 * Q[u * n + outs[b]], best);
    int64_t n_out = 0; /* those that, by their own least entry, can reach the best */
    for (int64_t b = 0; b < n_near; b++) {
        const int64_t i = outs[b];
        outs[n_out] = i;
        n_out += p[i] - 2.0 * w->least[i] >= best + low - rounding;
    }
    int64_t ties = 0;
    for (int64_t a = 0; a < n_in; a++) {
        const double p_a = p[ins[a]], *row = Q + ins[a] * n, own_floor = 2.0 * w->least[ins[a]];
        if (high - p_a - own_floor < best - rounding) continue;
        for (int64_t b = 0; b < n_out; b++) {
            const double p_b = p[outs[b]];
            if (p_b - p_a - own_floor < best - rounding) continue;
            const double gain = p_b - p_a - 2.0 * row[outs[b]];
            if (!(gain >= best - rounding)) continue;
            ties = gain <= best + rounding ? ties + 1 : 1;
            best = higher(gain, best);
            if (ties == 1 || draw(w->random, ties) == 0) u = ins[a], v = outs[b];
        }
    }
    return (Exchange){p[v] - p[u] - 2.0 * Q[u * n + v], u, v};
}

/* Whether a swap could gain more than that if there were no tabu. */
static int could_gain(const Island *w, double wanted) {
    double low = w->lowest_p, high = w->highest_p;
    for (int64_t j = 0; j < w->counts[N_TABU]; j++) {
        const int64_t i = w->tabu[j];
        if (w->chosen[i])
            low = lower(w->p[i], low);
        else
            high = higher(w->p[i], high);
    }
    return high - low - 2.0 * w->lowest > wanted;
}

/* The best swap that is allowed, or one under tabu that leads to a new best. */
static Exchange next_exchange(Island *w) {
    const Exchange allowed = best_exchange(w);
    const double best = w->values[BEST];
    const double wanted = best - w->values[VALUE] + ROUNDING * fabs(best);
    if (allowed.gain > wanted || !could_gain(w, wanted)) return allowed;
    for (int64_t j = 0; j < w->counts[N_TABU]; j++) set_gate(w, w->tabu[j], 1);
    move(w, 0, 0);
    const Exchange any = best_exchange(w);
    for (int64_t j = 0; j < w->counts[N_TABU]; j++) set_gate(w, w->tabu[j], 0);
    return any.gain > wanted ? any : allowed;
}

/* Make one swap. */
static void step(Island *w) {
    const Exchange swap = next_exchange(w);
    int64_t *counts = w->counts;
    counts[STEP]++;
    counts[IDLE]++;
    const int64_t tenure = TENURE * TENURE_TIMES[counts[STEP] / STEPS_A_TENURE % TENURES];
    w->chosen[swap.u] = 0;
    w->chosen[swap.v] = 1;
    expire(w);
    forbid(w, swap.u, least_of(tenure, (w->n - w->k) / 2));
    forbid(w, swap.v, least_of(tenure * 7 / 10, w->k / 2));
    move(w, swap.u, swap.v);
    w->values[VALUE] += swap.gain;
    if (w->values[VALUE] > w->values[BEST] + ROUNDING * fabs(w->values[BEST])) {
        w->values[BEST] = w->values[VALUE];
        counts[IDLE] = 0;
        memcpy(w->best, w->chosen, (size_t)w->n);
    }
}

/* p += weight * row of an item. */
static void add_row(Island *w, int64_t item, double weight) {
    const double *restrict row = w->Q + item * w->n;
    double *restrict p = w->p;
    for (int64_t i = 0; i < w->n; i++) p[i] += weight * row[i];
}

/* The objective of a choice; on the way, set p. */
static double value_of(Island *w, const uint8_t *chosen) {
    const int64_t n = w->n;
    for (int64_t i = 0; i < n; i++) w->p[i] = chosen[i] ? -w->Q[i * n + i] : w->Q[i * n + i];
    for (int64_t j = 0; j < n; j++)
        if (chosen[j]) add_row(w, j, 2.0);
    double value = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (chosen[i]) value += (w->p[i] + w->Q[i * n + i]) / 2.0;
    return value;
}

/* How many items are chosen. */
static int64_t n_chosen(const Island *w) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->n; i++) count += w->chosen[i];
    return count;
}

/* Choose the item of the highest p among those allowed; NULL: all are. */
static void add_best(Island *w, const uint8_t *allowed) {
    int64_t best = -1;
    for (int64_t i = 0; i < w->n; i++)
        if (!w->chosen[i] && (!allowed || allowed[i]) && (best < 0 || w->p[i] > w->p[best]))
            best = i;
    w->chosen[best] = 1;
    add_row(w, best, 2.0);
}

/* Drop what is missed least, or add what helps most, until k items are chosen. */
static void repair(Island *w) {
    value_of(w, w->chosen);
    int64_t surplus = n_chosen(w) - w->k;
    for (; surplus > 0; surplus--) {
        int64_t worst = -1;
        for (int64_t i = 0; i < w->n; i++)
            if (w->chosen[i] && (worst < 0 || w->p[i] < w->p[worst])) worst = i;
        w->chosen[worst] = 0;
        add_row(w, worst, -2.0);
    }
    for (; surplus < 0; surplus++) add_best(w, NULL);
}

/* Any k items, by Floyd's rule. */
static void choose_any(Island *w) {
    memset(w->chosen, 0, (size_t)w->n);
    for (int64_t last = w->n - w->k; last < w->n; last++) {
        const int64_t i = draw(w->random, last + 1);
        w->chosen[w->chosen[i] ? last : i] = 1;
    }
}

/* Keep what two parents share; fill up with the best of one or the other, at random. */
static void cross(Island *w) {
    const int64_t size = w->counts[SIZE], mother = draw(w->random, size);
    const int64_t father = (mother + 1 + draw(w->random, size - 1)) % size;
    const uint8_t *one = w->pool + mother * w->n, *other = w->pool + father * w->n;
    for (int64_t i = 0; i < w->n; i++) w->chosen[i] = one[i] & other[i];
    value_of(w, w->chosen);
    for (int64_t left = w->k - n_chosen(w); left > 0; left--)
        add_best(w, draw(w->random, 2) == 0 ? one : other);
}

/* Set out from a start that was given, a random choice, or a child of two parents. */
static void begin(Island *w, const uint8_t *starts, int64_t n_starts) {
    int64_t *counts = w->counts;
    if (counts[STALE] >= RESTART) counts[SIZE] = counts[STALE] = counts[YOUNG] = 0;
    if (counts[BORN] < n_starts) {
        memcpy(w->chosen, starts + counts[BORN] * w->n, (size_t)w->n);
        repair(w);
    } else if (counts[YOUNG] < w->population || counts[SIZE] < 2) {
        choose_any(w);
    } else {
        cross(w);
    }
    counts[BORN]++;
    counts[YOUNG]++;
    w->values[VALUE] = w->values[BEST] = value_of(w, w->chosen);
    memcpy(w->best, w->chosen, (size_t)w->n);
    memset(w->until, 0, (size_t)w->n * sizeof *w->until);
    counts[STEP] = counts[IDLE] = counts[N_TABU] = 0;
    for (int64_t i = 0; i < w->n; i++) set_gate(w, i, 1);
    move(w, 0, 0);
}

/* Let the best of a walk into the population if it is new and good enough. */
static void settle(Island *w, int64_t patience) {
    int64_t *counts = w->counts;
    const double value = value_of(w, w->best), crown = w->values[CROWN];
    const size_t size = (size_t)w->n;
    const double margin = ROUNDING * fabs(crown);
    const int again = counts[YOUNG] <= w->population && value >= crown - margin;
    counts[STALE]++;
    counts[WAIT] += again && patience >= 10 ? least_of(AGAIN, patience / 5) : 1;
    if (value > crown + margin) {
        w->values[CROWN] = value;
        memcpy(w->champion, w->best, size);
        counts[WAIT] = 0;
    }
    for (int64_t member = 0; member < counts[SIZE]; member++)
        if (w->worth[member] == value && !memcmp(w->pool + member * w->n, w->best, size)) return;
    const int full = counts[SIZE] == w->population;
    int64_t place = full ? 0 : counts[SIZE];
    for (int64_t member = 1; full && member < w->population; member++)
        if (w->worth[member] < w->worth[place]) place = member;
    if (full && !(value > w->worth[place])) return;
    memcpy(w->pool + place * w->n, w->best, size);
    w->worth[place] = value;
    counts[SIZE] += !full;
    counts[STALE] = 0;
}

/* Make room for the second part of an island, and rebuild it. */
static void wake(Island *w, Room *room) {
    w->leave = take(room, w->n, sizeof *w->leave);
    w->enter = take(room, w->n, sizeof *w->enter);
    w->low = take(room, w->blocks, sizeof *w->low);
    w->high = take(room, w->blocks, sizeof *w->high);
    w->ins = take(room, w->n, sizeof *w->ins);
    w->outs = take(room, w->n, sizeof *w->outs);
    if (room->status) return;
    for (int64_t i = 0; i < w->n; i++) set_gate(w, i, 1);
    for (int64_t j = 0; j < w->counts[N_TABU]; j++) set_gate(w, w->tabu[j], 0);
    move(w, 0, 0);
}

/* Let an island make so many steps more, or until so many walks brought no new champion.
   masks: rows of n: the choice of the walk, its best one, the champion, the population.
   tabu: two rows of n; values: VALUE, BEST, CROWN, those of the population; counts: 8. */
EXPORT int bestk_tabu_advance(const double *Q, const double *least, int64_t n, int64_t k,
    int64_t depth, int64_t patience, int64_t steps, const uint8_t *starts, int64_t n_starts,
    int64_t population, uint8_t *masks, double *p, int64_t *tabu, double *values, int64_t *counts,
    uint64_t *random) {
    Island w = {Q, least, bestk_range(least, n).low, n, k, (n + BLOCK - 1) / BLOCK, population, masks,
        masks + n, masks + 2 * n, masks + 3 * n, p, values, values + WORTH, tabu, tabu + n, counts,
        random, NULL, NULL, NULL, NULL, 0.0, 0.0, NULL, NULL};
    Room room = {0};
    wake(&w, &room);
    if (room.status) return release(&room);
    if (counts[BORN] == 0) begin(&w, starts, n_starts);
    while (steps > 0 && counts[WAIT] < patience) {
        for (; steps > 0 && counts[IDLE] < depth && counts[STEP] < LONGEST * depth; steps--)
            step(&w);
        if (steps <= 0) break;
        settle(&w, patience); /* no new best came for ``depth`` steps: the walk is over */
        begin(&w, starts, n_starts);
        steps -= k;
    }
    return release(&room);
}
