"""A model that is fitted to some columns of the training rows, and scored on the test rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from bestk._compat import take_items, take_rows_of_params
from bestk._typing import Indices
from bestk.errors import ParameterError
from bestk.selectors.folds import Fold
from bestk.tables.weights import RowWeights


@dataclass(frozen=True)
class Trial:
    """An estimator, the table and target that it is fitted on, and how it is scored."""

    estimator: Any

    scorer: Any
    """A function of a model, a table and its target; larger values are better."""

    X: Any
    y: Any

    fit_params: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of ``fit``; those with a value for each row are split with the rows."""

    score_params: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the scorer."""

    weights: RowWeights | None = None
    """Of all rows: the model is fitted and scored with them. None: the rows count alike."""

    def score(self, columns: Sequence[int] | Indices, fold: Fold) -> float:
        """The score on the test rows of a model fitted to some columns of the training rows."""
        train, test = fold
        table = take_items(self.X, columns, axis=1)
        fit_params = take_rows_of_params(self.X, self.fit_params, train)
        if self.weights is not None:
            name = weight_parameter(self.estimator)
            fit_params = {**fit_params, name: self.weights.of_mean_one[train]}
        with np.errstate(invalid="ignore", over="ignore"):  # where a column has no value in a fold
            model = clone(self.estimator)
            model.fit(take_items(table, train), take_items(self.y, train), **fit_params)
            return self._score_model(model, table, test)

    def _score_model(self, model: Any, table: Any, test: Indices) -> float:
        """The score of a fitted model on the test rows of a table of some columns."""
        score_params = take_rows_of_params(self.X, self.score_params, test)
        if self.weights is not None:
            score_params = {**score_params, "sample_weight": self.weights.of_mean_one[test]}
        rows = take_items(table, test)
        values = take_items(self.y, test)
        try:
            return float(self.scorer(model, rows, values, **score_params))
        except TypeError as error:
            if self.weights is None or "sample_weight" not in str(error):
                raise
            raise ParameterError(
                f"the scorer takes no sample_weight: {error}; use another scoring, or pass no "
                "sample_weight"
            ) from error
        except ValueError as error:
            raise ParameterError(
                f"predictions cannot be scored: {error}; use another scoring, such as "
                "'roc_auc' for two classes, 'f1_macro' for more, or 'r2' for numbers"
            ) from error


def weight_parameter(estimator: Any) -> str:
    """The parameter of ``fit`` that takes the weights of rows; of a pipeline, its last step's."""
    steps = getattr(estimator, "steps", None)
    if steps:
        name, last = steps[-1]
        return f"{name}__{weight_parameter(last)}"
    parameters = signature(estimator.fit).parameters.values()
    if any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        return "sample_weight"
    raise ParameterError(
        f"{type(estimator).__name__}.fit takes no sample_weight; use an estimator that does, or "
        "pass no sample_weight"
    )
