"""The linear SVM of each data set, made for thousands of fits on the columns of one fold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn import config_context
from sklearn.svm import SVC, LinearSVC

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Split = tuple[Labels, Labels]  # training and test rows
C, TOLERANCE = 1.0, 0.1  # LIBLINEAR's defaults
FEW_ROWS = 500  # of a class, up to which libsvm, which trains pairs of classes, is quick
STEPS, HALVINGS = 100, 30
SMALL = 1e-6  # norm of the gradient at the end, relative to that at zero weights


def is_small(m: int, c: int) -> bool:
    """Whether a set is one for ``SVC(kernel="linear")``; if not, it is one for ``LinearSVC``."""
    return m <= FEW_ROWS * c


def make_svm(kind: str, m: int, c: int) -> Any:
    """The classifier of a set.

    ``liblinear`` has the defaults of LIBLINEAR's dual solver, one class against the others with a
    regularised bias; ``svc`` is LIBSVM's, pairs of classes; ``mixed`` is either, by size.
    """
    if kind == "liblinear":
        return LinearSVC(C=C, dual=True, tol=TOLERANCE, random_state=0)
    if kind == "svc" or is_small(m, c):
        return SVC(C=C, kernel="linear")
    return LinearSVC(C=C, dual="auto", max_iter=2000)


def standardise(X: Any, rows: Any) -> Floats:
    """Every column less its mean over some rows, by its deviation over them."""
    Z = np.asarray(X, np.float64)
    mean, scale = Z[rows].mean(axis=0), Z[rows].std(axis=0)
    return (Z - mean) / np.where(scale == 0, 1.0, scale)


class Fold:
    """The training and test rows of a fold, and the errors of a linear SVM on some columns.

    A choice of columns is fitted once, whoever asks for it. Columns are standardised by the
    training rows, or by ``all`` rows. Where there are many rows, LIBLINEAR's problem is solved by
    Newton's method.
    """

    def __init__(
        self, X: Any, y: Labels, split: Split, kind: str = "mixed", scaling: str = "train"
    ) -> None:
        train, test = split
        Z = standardise(X, train if scaling == "train" else slice(None))
        self.train = np.asfortranarray(Z[train])
        self.test = np.asfortranarray(Z[test])
        self.y, self.y_test = y[train], y[test]
        self.fits = 0
        m, c = len(y), len(np.unique(y))
        self._by_newton = m > FEW_ROWS if kind == "liblinear" else not is_small(m, c)
        self._svm = make_svm(kind, m, c)
        self._known: dict[bytes, int] = {}
        self._newton = NewtonSVM(Z.shape[1])

    def wrong(self, columns: Any) -> int:
        """How many test rows an SVM on those columns gets wrong."""
        support = np.sort(np.asarray(columns, np.int64))
        name = support.tobytes()
        if name not in self._known:
            self._known[name] = int((self._predict(support) != self.y_test).sum())
            self.fits += 1
        return self._known[name]

    def _predict(self, support: Labels) -> Labels:
        train, test = self.train[:, support], self.test[:, support]
        if self._by_newton:
            return self._newton.fit(train, self.y, support).predict(test, support)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return np.asarray(self._svm.fit(train, self.y).predict(test))


class NewtonSVM:
    """``LinearSVC()`` by Newton's method, from the weights of the fit before.

    Minimises ``|w|^2 / 2 + C sum max(0, 1 - y (x'w))^2`` with x ending in a 1, for each class
    against the others. The problem has one solution, which liblinear approaches too; with far
    more rows than columns, steps with the whole Hessian take a tenth of its time.
    """

    def __init__(self, n_features: int) -> None:
        self._n = n_features
        self._weights: Floats = np.empty((0, n_features + 1))
        self.classes: Labels = np.empty(0, np.int64)

    def fit(self, X: Floats, y: Labels, support: Labels) -> "NewtonSVM":
        """Fit the columns of X, which are features ``support`` of all."""
        classes = np.unique(y)
        if not np.array_equal(classes, self.classes):
            self.classes = classes
            self._weights = np.zeros((len(classes) if len(classes) > 2 else 1, self._n + 1))
        places = np.append(support, self._n)
        A = np.column_stack([X, np.ones(len(X))])
        targets = classes if len(classes) > 2 else classes[1:]
        for weights, target in zip(self._weights, targets, strict=True):
            solution = self._solve(A, np.where(y == target, 1.0, -1.0), weights[places])
            weights[:] = 0.0  # a feature that comes back has changed its part by then
            weights[places] = solution
        return self

    def predict(self, X: Floats, support: Labels) -> Labels:
        """The class of the largest value."""
        values = X @ self._weights[:, support].T + self._weights[:, -1]
        if len(self.classes) == 2:
            return self.classes[(values[:, 0] > 0).astype(np.int64)]
        return self.classes[values.argmax(axis=1)]

    def _solve(self, A: Floats, signs: Floats, w: Floats) -> Floats:
        margin = signs * (A @ w)  # should exceed 1
        enough = SMALL * max(1.0, float(np.linalg.norm(2 * C * (signs @ A))))
        for _ in range(STEPS):
            short = margin < 1.0
            inside = A[short]
            gradient = w - 2 * C * ((signs[short] * (1.0 - margin[short])) @ inside)
            if np.linalg.norm(gradient) <= enough:
                break
            hessian = 2 * C * (inside.T @ inside)
            hessian.flat[:: len(w) + 1] += 1.0
            step = -cho_solve(cho_factor(hessian, lower=True), gradient)
            w, margin = self._search((w, margin), step, signs * (A @ step), float(gradient @ step))
        return w

    def _search(
        self, start: tuple[Floats, Floats], step: Floats, along: Floats, slope: float
    ) -> tuple[Floats, Floats]:
        """Halve the step until the value falls enough."""
        (w, margin), size = start, 1.0
        before = self._value(w, margin)
        for _ in range(HALVINGS):
            new, new_margin = w + size * step, margin + size * along
            if self._value(new, new_margin) <= before + 1e-4 * size * slope:
                break
            size /= 2
        return new, new_margin

    def _value(self, w: Floats, margin: Floats) -> float:
        return float(w @ w) / 2 + C * float((np.maximum(0.0, 1.0 - margin) ** 2).sum())
