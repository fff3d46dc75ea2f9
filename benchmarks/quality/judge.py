"""One cell of the benchmark: select from training rows, fit models, score them on test rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from benchmarks.quality.encode import Split
from benchmarks.quality.problem import Problem
from benchmarks.quality.sets import MADE_FOLDS
from benchmarks.quality.ways import select

KS = (5, 10, 20, 50)
FOLDS = 5  # of real sets
MODELS = ("linear", "neighbours", "trees")
TREES_KS = (10, 50)  # boosted trees are fitted for these k only: they take the most time
MAX_TREES_CLASSES = 10  # boosting fits one tree per class and round
ROUNDS = 60  # of boosting
NEIGHBOURS = 5
SEED = 0
PROBABILITY = 1e-6  # the least that the log loss takes for a class


def ks_for(problem: Problem) -> list[int]:
    """Numbers of columns to select: fewer than there are."""
    return [k for k in KS if k < problem.X.shape[1]]


def folds_of(problem: Problem) -> int:
    """How many folds a table has."""
    return MADE_FOLDS if problem.made_up else FOLDS


def split(problem: Problem, repeat: int, fold: int) -> Split:
    """Training and test rows of a fold.

    A made-up table is trained on one of three folds and tested on the others, so that training
    rows of folds are independent and scores have small errors.
    """
    train, test = rows_of(problem, repeat, fold)
    X = problem.X
    y = problem.y
    return Split(X.iloc[train], y[train], X.iloc[test], y[test], problem.kind)


def rows_of(problem: Problem, repeat: int, fold: int) -> Sequence[NDArray[np.int64]]:
    """The numbers of the training and of the test rows."""
    make = StratifiedKFold if problem.kind == "classes" else KFold
    splitter = make(folds_of(problem), shuffle=True, random_state=repeat)
    with catch_warnings(action="ignore"):  # classes of fewer rows than folds
        rows = list(splitter.split(problem.X, problem.y))[fold]
    return rows[::-1] if problem.made_up else rows


@dataclass
class Judge:
    """Scores of selections in one fold; a selection that was scored before is not fitted again."""

    problem: Problem

    rows: Split

    known: dict[tuple[str, tuple[int, ...]], dict[str, float]] = field(default_factory=dict)
    """Scores by model and selected places, in increasing order."""

    def run(self, way: str) -> dict[str, Any]:
        """Seconds of the processor, and for every k what was selected and its scores."""
        ks = ks_for(self.problem)
        self.rows.matrix  # noqa: B018, made once, at no way's cost
        start = process_time()
        selected = select(way, self.rows, ks)
        middle = process_time()
        scores = self.describe(selected)
        end = process_time()
        return {
            "seconds": round(middle - start, 4),
            "judging": round(end - middle, 4),
            "ks": scores,
        }

    def describe(self, selected: Mapping[int, list[int]]) -> dict[str, Any]:
        """Scores, noise and recall of the columns that were selected for every k."""
        return {str(k): self._describe_one(columns) for k, columns in selected.items()}

    def _describe_one(self, selected: list[int]) -> dict[str, Any]:
        """Scores by model, and the share of noise and the recall where they are known."""
        described: dict[str, Any] = {"selected": selected}
        for model in self._models(selected):
            described[model] = self.score(model, tuple(sorted(selected)))
        if self.problem.groups:
            names = [self.problem.X.columns[i] for i in selected]
            described["noise"] = self.problem.noise_share(names)
            described["recall"] = self.problem.recall(names)
        return described

    def _models(self, selected: Sequence[int]) -> Sequence[str]:
        n_classes = len(np.unique(self.rows.y)) if self.rows.kind == "classes" else 1
        is_boosted = len(selected) in TREES_KS and n_classes <= MAX_TREES_CLASSES
        return MODELS if is_boosted else MODELS[:2]

    def score(self, model: str, selected: tuple[int, ...]) -> dict[str, float]:
        """Scores of a model on the test rows."""
        if (model, selected) not in self.known:
            matrix = self.rows.matrix.keep(selected)
            with catch_warnings(action="ignore"):
                fitted = make_model(model, self.rows).fit(matrix.train, self.rows.y)
                scores = measure(fitted, matrix.test, self.rows)
            self.known[model, selected] = {name: round(x, 5) for name, x in scores.items()}
        return self.known[model, selected]


def make_model(name: str, rows: Split) -> BaseEstimator:
    """A model for the kind of target."""
    is_classes = rows.kind == "classes"
    if name == "linear":
        return LogisticRegression(max_iter=200) if is_classes else RidgeCV(np.logspace(-2, 4, 13))
    if name == "neighbours":
        n_neighbors = min(NEIGHBOURS, len(rows.y))
        make = KNeighborsClassifier if is_classes else KNeighborsRegressor
        return make(n_neighbors)
    return boosted_trees(is_classes, len(rows.y))


def boosted_trees(classes: bool, n_rows: int) -> BaseEstimator:
    """LightGBM if it is installed, scikit-learn's own otherwise."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError:
        import sklearn.ensemble as trees

        name = f"HistGradientBoosting{'Classifier' if classes else 'Regressor'}"
        make = getattr(trees, name)
        return make(max_iter=ROUNDS, max_leaf_nodes=15, early_stopping=False, random_state=SEED)
    make = LGBMClassifier if classes else LGBMRegressor
    return make(
        n_estimators=ROUNDS,
        num_leaves=15,
        n_jobs=1,
        random_state=SEED,
        verbose=-1,
        min_child_samples=min(20, max(2, n_rows // 20)),
    )


def measure(model: Any, X: NDArray[np.float64], rows: Split) -> dict[str, float]:
    """Error rate, log loss and AUC (of two classes), or R2."""
    if rows.kind == "numbers":
        return {"r2": float(r2_score(rows.y_test, model.predict(X)))}
    probabilities = model.predict_proba(X)
    place_of_class = {label: i for i, label in enumerate(model.classes_)}
    truth = np.array([place_of_class.get(label, -1) for label in rows.y_test])
    of_truth = probabilities[np.arange(len(truth)), truth]
    of_truth = np.where(truth >= 0, of_truth, 0.0)  # a class that no training row has
    scores = {
        "error": float(np.mean(probabilities.argmax(axis=1) != truth)),
        "log_loss": float(-np.log(np.clip(of_truth, PROBABILITY, 1.0)).mean()),
    }
    if len(place_of_class) == 2 and len(np.unique(truth)) == 2:
        scores["auc"] = float(roc_auc_score(truth, probabilities[:, 1]))
    return scores
