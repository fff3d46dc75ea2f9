"""The words of the page; every number in them is computed from the rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality import peers, tables, times
from benchmarks.quality.classifiers import (
    BOOSTED,
    CLASSIFIERS,
    LABELS,
    LEAVES,
    NEIGHBOURS,
    ROUNDS,
)
from benchmarks.quality.comparisons import REGION, against_each, ranks
from benchmarks.quality.folds import FEW_ROWS, FOLDS, KS, REPEATS
from benchmarks.quality.generated import MAKERS
from benchmarks.quality.methods import DEFAULT, FEW_DRAWS, LARGE, group_of
from benchmarks.quality.plan import fits, is_ours
from benchmarks.quality.results import Results
from benchmarks.quality.sets import HALVES, MOST_ROWS
from experiments.statistics import Ranks

SURE = 0.95
HOW_SURE = (
    "A data set counts once: its error is the mean over folds, k and classifiers. *Difference* is "
    "the default's error less the other's, so negative is better. The p-value is that of "
    "Wilcoxon's signed-rank test, adjusted by Holm for all rows of a table. The last three "
    "columns are the Bayesian signed-rank test: how probable it is that on another such set the "
    f"default is better by more than {REGION:g} point, that the two are within {REGION:g} point, "
    "and that it is worse."
)
PLANTED = (
    "In these sets it is known which columns decide. `hypercube` is made like Madelon, `xor` has "
    "three pairs that say nothing alone, `copies` repeats each of eight columns five times with "
    "noise, `chains` bends five hidden numbers by four monotone rules each, `levels` hides "
    "columns of few levels among noise of 30 to 100 levels, and `wide` has 20 weak columns among "
    "3000. Each method chooses as many columns as there are to be found; of copies one is enough."
)


def answer(results: Results) -> list[str]:
    """What wins, where, and how sure that is."""
    found = ranks(results, results.everywhere)
    if found is None:
        return ["Too little has been run for an answer."]
    order = found.order
    first = ", ".join(f"{name} ({found.rank(name):.2f})" for name in order[:3])
    others = [name for name in order if not is_ours(name)]
    text = [
        f"Over {found.n_sets} data sets and {len(order)} methods that ran on all of them, the "
        f"lowest mean ranks of the error on held-out rows are those of {first}."
    ]
    if others:
        place = order.index(others[0]) + 1
        text.append(f"The best of the other packages, {others[0]}, is number {place} with "
                    f"{found.rank(others[0]):.2f}.")  # fmt: skip
    if DEFAULT in order:
        text.append(f"What `SelectBestK()` does by default is number {order.index(DEFAULT) + 1} "
                    f"with {found.rank(DEFAULT):.2f}.")  # fmt: skip
    return [
        " ".join(text),
        _by_classifier(results),
        *_by_half(results),
        *_sureness(results, others),
    ]


def _by_classifier(results: Results) -> str:
    parts = []
    for classifier in CLASSIFIERS:
        found = ranks(results, results.everywhere, classifier=classifier)
        if found is not None:
            best = found.order[0]
            words = f"with {LABELS[classifier]} {best} ({found.rank(best):.2f}"
            if DEFAULT in found.names and best != DEFAULT:
                words += f"; the default {found.rank(DEFAULT):.2f}"
            parts.append(words + ")")
    return f"The lowest mean rank has, {'; '.join(parts)}."


def _by_half(results: Results) -> list[str]:
    """The default was chosen on one half; the other judges it."""
    parts = []
    for half in HALVES:
        found = ranks(results, results.everywhere, results.half(half))
        if found is not None:
            best, order = found.order[0], found.order
            words = f"on `{half}` ({found.n_sets} sets) {best} is first ({found.rank(best):.2f})"
            if DEFAULT in order:
                place = order.index(DEFAULT) + 1
                words += f" and the default number {place} ({found.rank(DEFAULT):.2f})"
            if others := [name for name in order if not is_ours(name)]:
                words += f", the best other package {others[0]} ({found.rank(others[0]):.2f})"
            parts.append(words)
    if not parts:
        return []
    return [
        f"By halves: {'; '.join(parts)}. The default was chosen on `tune`: which estimates to "
        "average, and the weight of three quarters. So only `judge` says what to expect of it. "
        "That Gaussian information and other levels than CAIM's deserve a trial was known before, "
        "from trials on sets of both halves."
    ]


def _sureness(results: Results, others: Sequence[str]) -> list[str]:
    if not results.has_default or not others:
        return []
    against = {each.other: each for each in against_each(results, DEFAULT, tables.others(results))}
    clear = [name for name, each in against.items() if each.pvalue < 1 - SURE]
    better = [name for name in clear if against[name].difference < 0]
    worse = [name for name in clear if against[name].difference > 0]
    one = against[others[0]]
    return [
        f"Against {one.other} the default won {one.wins}, tied {one.ties} and lost {one.losses} "
        f"sets, with a mean difference of {one.difference:+.2f} points; the probability that it "
        f"is better by more than {REGION:g} point is {one.belief.below:.2f}, that they are within "
        f"{REGION:g} point {one.belief.within:.2f}, that it is worse {one.belief.above:.2f}. "
        f"Of {len(against)} methods, the default is clearly better (Wilcoxon, Holm, 5%) than "
        f"{_listed(better)}, and clearly worse than {_listed(worse)}; from the others it is not "
        "told apart."
    ]


def protocol(results: Results) -> list[str]:
    """How errors were measured."""
    halves = "; ".join(f"`{half}`: {', '.join(results.half(half))}" for half in HALVES)
    often = f"; sets of up to {FEW_ROWS} rows are split {REPEATS} times" if REPEATS > 1 else ""
    installed = sorted({f"{p.package} {p.version}" for p in peers.PEERS.values() if p.version})
    settings = "; ".join(f"{name}: {peer.settings}" for name, peer in peers.PEERS.items())
    return [
        f"- **Nested.** {FOLDS} folds, stratified{often}. Discretising, measuring and "
        "selecting see the training rows alone. Of "
        f"sets with more than {MOST_ROWS} rows, {MOST_ROWS} are drawn, stratified.\n"
        f"- **k.** {', '.join(map(str, KS))}, as far as a set has more columns than that.\n"
        f"- **Classifiers.** A linear SVM with C = 1, {NEIGHBOURS} nearest neighbours, both on "
        f"standardised columns, and gradient boosting ({ROUNDS} rounds of trees with {LEAVES} "
        f"leaves; k = {' and '.join(map(str, BOOSTED))} only). Categories stand as indicators for "
        "the classifiers, and k counts the columns before that.\n"
        f"- **Halves.** Written down before any result, so that a default can be chosen on one "
        f"and judged on the other. {halves}. `gisette` is left out for its size.\n"
        f"- **bestk.** `default` is `SelectBestK(k)` ({group_of(DEFAULT)}). Plain names are the "
        "methods on CAIM's codes, as in the paper; others begin with how numbers are read: "
        "`gaussian` by covariances, `mdlp` by counts of MDLP's codes corrected for chance, "
        "`blend` by the mean of such counts and covariances. Tables of categories are counted "
        f"by all. LowRank makes {FEW_DRAWS:,} draws, and SDP is run up to {LARGE} columns.\n"
        f"- **Others.** {settings}. One ranking in a fold serves all k. Categories stand as "
        "indicators, and a column ranks as its best one, for those that cannot read categories. "
        f"Versions: {', '.join(installed)}."
    ]


def where(results: Results, timed: Path) -> list[str]:
    """Machine, date, commit and command."""
    starts = results.store.starts
    if not starts:
        return []
    last = starts[-1]
    folds = sum(len(next(iter(own.values()))) for own in results.folds.values() if own)
    text = (
        f"`python -m benchmarks.quality` made this page: {folds} folds of {len(results.sets)} "
        f"sets on {last['cpu']}, commit {last['commit']}, {last['date']}, in processes of one "
        "thread."
    )
    if results.unfinished:
        text += f" **Not complete:** {', '.join(results.unfinished)}."
    if found := times.where(timed):
        text += f" Times: {found}."
    return [text]


def tested(found: Ranks) -> str:
    """What Friedman's test says of all methods."""
    return (
        f"Friedman: chi square {found.chi_square:.1f}, p = {found.pvalue:.2g}; Iman and Davenport: "
        f"F = {found.f_statistic:.2f}, p = {found.f_pvalue:.2g}. Two methods differ by Nemenyi's "
        f"test at 5% if their mean ranks are {found.critical_difference:.2f} apart, which with "
        f"{len(found.names)} methods and {found.n_sets} sets is much: what stands in the band of "
        "the figure is not proved worse than the first, nor as good."
    )


def missing(results: Results) -> list[str]:
    """Which cells are not there, and why."""
    wide, waiting = dict[str, list[str]](), dict[str, list[str]]()
    for method in results.methods:
        lacking = results.missing(method)
        too_wide = [name for name in lacking if not fits(method, results.n_features(name))]
        rest = [name for name in lacking if name not in too_wide]
        for names, found in ((too_wide, wide), (rest, waiting)):
            if names:
                found.setdefault(", ".join(names), []).append(method)
    if not wide and not waiting:
        return ["No cell is missing."]
    told = [
        f"{why}: {'; '.join(f'{_listed(who)} on {sets}' for sets, who in found.items())}."
        for why, found in (("Left out of wide sets, being slow", wide), ("Not run yet", waiting))
        if found
    ]
    return [
        f"{' '.join(told)} Methods with such gaps are not ranked above; below they are compared "
        "on the sets that they have."
    ]


def where_it_loses(results: Results) -> list[str]:
    """Sets on which another method is better by more than matters."""
    rows = []
    for name in results.sets:
        own = results.error(name, DEFAULT)
        errors = {method: results.error(name, method) for method in results.everywhere}
        best = min(errors, key=lambda method: errors[method])
        if np.isfinite(own) and own - errors[best] > REGION:
            rows.append((own - errors[best], f"{name} ({own:.1f}, {best} {errors[best]:.1f})"))
    if not rows:
        return [f"On no set is another method better by more than {REGION:g} point."]
    told = ", ".join(text for _, text in sorted(rows, reverse=True))
    return [
        f"On {len(rows)} of {len(results.sets)} sets some method is better than the default by "
        f"more than {REGION:g} point (its error, then the best): {told}. The best of many is "
        "chosen here after the fact, which flatters it."
    ]


def recall_words(results: Results) -> list[str]:
    """Who finds most in each made-up set."""
    recalls = {method: results.recalls(method) for method in results.methods}
    told = []
    for name in (name for name in MAKERS if name in results.folds):
        own = {method: found[name] for method, found in recalls.items() if name in found}
        most = max(own.values())
        best = [method for method in own if own[method] >= most - 1e-9]
        words = f"{name}: {100 * most:.0f}% by {_listed(best)}"
        if DEFAULT in own and DEFAULT not in best:
            words += f" (the default {100 * own[DEFAULT]:.0f}%)"
        told.append(words)
    return [f"Most is found in {'; in '.join(told)}."]


def time_words(results: Results, seconds: times.Seconds) -> list[str]:
    """How stability and seconds are measured, and what the default takes."""
    text = [
        "Stability is Nogueira's index over the folds, 1 for the same choice in each and 0 for "
        "choices at random, mean over k and sets."
    ]
    one, simple = tables.median(seconds, DEFAULT), tables.median(seconds, "SelectKBest f_classif")
    if seconds:
        text.append(f"Seconds are of one selection of {times.K} columns from all rows of "
                    f"{len(seconds)} real sets, the best of several in one process.")  # fmt: skip
    if one is not None and simple is not None:
        text.append(
            f"The default takes {one:.3g} s in the median, `SelectKBest(f_classif)` {simple:.3g} "
            f"s, {one / simple:.0f} times less: the default sorts every column twice, measures all "
            "pairs and proves a bound; with `bound=None` it measures few of them in wide tables."
        )
    if few := [name for name in results.methods if _times_of(seconds, name) < len(seconds)]:
        text.append(f"Timed on some of these sets only, the small ones: {_listed(few)}.")
    return [" ".join(text)]


def _times_of(seconds: times.Seconds, method: str) -> int:
    return sum(method in own for own in seconds.values())


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    if len(names) > 6:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return ", ".join(names)
