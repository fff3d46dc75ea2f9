"""What a job does: select from the training rows of a fold, and count errors on its test rows."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality import peers
from benchmarks.quality.classifiers import Judge, asked
from benchmarks.quality.methods import Picks, select_ours
from benchmarks.quality.sets import Problem, load
from experiments.classification.steps import pack

Indices = NDArray[np.int64]
KS = (5, 10, 20, 50, 100)
FOLDS = 5
FEW_ROWS, REPEATS = 200, 1  # sets of at most so many rows are split so many times


def ks_for(n_features: int) -> list[int]:
    """The numbers of features of which errors are measured; always fewer than there are."""
    return [k for k in KS if k < n_features]


def wanted_ks(problem: Problem) -> list[int]:
    """The same, and the number of groups that matter, where that is known."""
    return sorted({*ks_for(problem.n_features), *([len(problem.groups)] * bool(problem.groups))})


def repeats_for(n_rows: int) -> int:
    """How many times a set is split into folds."""
    return REPEATS if n_rows <= FEW_ROWS else 1


def split(y: Any, repeat: int, fold: int) -> tuple[Indices, Indices]:
    """Training and test rows, shuffled and stratified; a repeat is another shuffle."""
    with catch_warnings(action="ignore"):  # lymphoma has classes of two rows
        splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
        return list(splitter.split(np.zeros(len(y)), y))[fold]


def run_fold(
    name: str, data: str | None, repeat: int, fold: int, methods: Sequence[str]
) -> dict[str, Any]:
    """Errors, choices and seconds of some methods of one group in one fold."""
    problem, judge, train = _fold(name, data, repeat, fold)
    found = choose(methods, rows_of(problem, train), wanted_ks(problem))
    return {"n_test": judge.n_test, "n_features": problem.n_features} | {
        "methods": {
            method: _told(picks, judge, wanted_ks(problem), ks_for(problem.n_features))
            for method, picks in found.items()
        }
    }


def choose(methods: Sequence[str], train: Problem, ks: Sequence[int]) -> dict[str, Picks]:
    """What methods of one group choose, from training rows only."""
    if methods[0] in peers.PEERS:
        return {name: peers.select(name, train, ks) for name in methods}
    return select_ours(methods, train, ks)


def rows_of(problem: Problem, rows: Indices) -> Problem:
    """The problem as those rows show it."""
    return replace(problem, X=problem.X[rows], y=problem.y[rows])


def _told(picks: Picks, judge: Judge, ks: Sequence[int], judged: Sequence[int]) -> dict[str, Any]:
    wrong: dict[str, dict[str, int]] = {}
    for k, support in zip(ks, picks.supports, strict=True):
        if k in judged:
            for classifier, count in judge.wrong(support, asked(k)).items():
                wrong.setdefault(classifier, {})[str(k)] = count
    return {
        "ks": list(ks),
        "picks": pack(picks.supports),
        "seconds": round(picks.seconds, 4),
        "wrong": wrong,
    }


@lru_cache(maxsize=4)
def _fold(name: str, data: str | None, repeat: int, fold: int) -> tuple[Problem, Judge, Indices]:
    """The last folds of this process stay: what one group chose, another may choose too."""
    problem = load(name, data)
    train, test = split(problem.y, repeat, fold)
    return problem, Judge(problem, train, test), train
