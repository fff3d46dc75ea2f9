"""Error against k, fold by fold."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestk._typing import Floats
from bestk.errors import ParameterError
from bestk.evaluation._comparison import Comparison, win_tie_loss
from bestk.evaluation._stability import Stability, stability

BASELINE = "all"  # the method name of rows with all features


@dataclass(frozen=True)
class Row:
    """The result of one method, with one k, in one fold."""

    method: str
    k: int
    fold: int
    error: float  # on the test rows: error rate, mean squared error, or minus the score
    n_test: int
    seconds: float  # of the selection, without the estimates
    support: Sequence[int]  # the selected features, best first


@dataclass(frozen=True)
class Curves:
    """Errors of several methods on the same folds, for several k.

    :func:`error_curves` returns it. Its text is a table of mean errors.

    Attributes
    ----------
    rows : tuple of Row
        One for each method, k and fold; those of the baseline have the method "all".
    names : sequence of str
        Names of all features.
    protocol : {"nested", "paper"}
        Where features were selected.
    scoring : str or None
        The name of the score of which errors are the negative values; its text shows scores then.
    """

    rows: tuple[Row, ...]
    names: Sequence[str]
    protocol: str
    scoring: str | None = None

    @property
    def rising(self) -> bool:
        """Whether values are shown as scores, of which larger ones are better."""
        return self.scoring is not None and not self.scoring.startswith("neg_")

    @property
    def measure(self) -> str:
        """The name of the values as they are shown."""
        return (self.scoring or "error").removeprefix("neg_")

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order in which they were given."""
        return list(dict.fromkeys(row.method for row in self.rows if row.method != BASELINE))

    @property
    def ks(self) -> list[int]:
        """Numbers of features, rising."""
        return sorted({row.k for row in self.rows if row.method != BASELINE})

    def errors(self, method: str) -> Floats:
        """Errors of a method, a row for each k and a column for each fold; "all": one row."""
        rows = sorted(self._rows(method), key=lambda row: (row.k, row.fold))
        return np.array([row.error for row in rows]).reshape(len({row.k for row in rows}), -1)

    def mean_error(self) -> dict[str, Floats]:
        """Mean over folds of each method, an error for each k; one for "all", if it is there."""
        names = dict.fromkeys(row.method for row in self.rows)
        return {name: self.errors(name).mean(axis=1) for name in names}

    def compare(
        self, ours: str, other: str, alpha: float = 0.05, *, overlap: float = 0.0
    ) -> Comparison:
        """Count for how many k one method is significantly better than another, or than "all".

        Parameters
        ----------
        ours, other : str
            Names of methods, or "all" for the baseline.
        alpha, overlap : float
            As for :func:`win_tie_loss`.
        """
        first, second = self.errors(ours), self.errors(other)
        n_ks = max(len(first), len(second))
        first, second = (np.repeat(e, n_ks // len(e), axis=0) for e in (first, second))
        return win_tie_loss(first, second, alpha, overlap=overlap)

    def stability(self, confidence: float = 0.95) -> dict[str, list[Stability]]:
        """Stability of the selections over the folds: for each method, a value for each k."""
        if self.protocol == "paper":
            raise ParameterError(
                "with protocol='paper' features are selected once, so there is no stability to "
                "measure; use protocol='nested'"
            )
        return {
            name: [
                stability([r.support for r in self._rows(name) if r.k == k], len(self.names),
                          confidence)
                for k in self.ks
            ]
            for name in self.methods
        }  # fmt: skip

    def to_frame(self) -> Any:
        """All rows as a pandas data frame with a column for each field of :class:`Row`."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas; run: pip install pandas") from error
        return pd.DataFrame([asdict(row) for row in self.rows])

    def _rows(self, method: str) -> list[Row]:
        rows = [row for row in self.rows if row.method == method]
        if not rows:
            known = ", ".join(dict.fromkeys(row.method for row in self.rows))
            raise ParameterError(
                f"there is no method {method!r} in these curves; they have {known}"
            )
        return rows

    def __str__(self) -> str:
        means = {name: -e if self.rising else e for name, e in self.mean_error().items()}
        largest = max(float(np.max(errors)) for errors in means.values())
        width = max(len(f"{largest:.4f}") + 2, *(len(name) + 2 for name in means))
        baseline = means.pop(BASELINE, None)
        n_folds = len({row.fold for row in self.rows})
        lines = [f"mean {self.measure} over {n_folds} folds, protocol {self.protocol!r}"]
        lines.append("     k" + "".join(f"{name:>{width}}" for name in means))
        for k, *errors in zip(self.ks, *means.values(), strict=True):
            lines.append(f"{k:6}" + "".join(f"{error:{width}.4f}" for error in errors))
        if baseline is not None:
            lines.append(f"{BASELINE:>6}{baseline[0]:{width}.4f}")
        return "\n".join(lines)
