"""A selector that predicts with its estimator, and routes metadata to it, as RFECV does."""

from copy import deepcopy
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import Bunch, _safe_indexing, get_tags
from sklearn.utils._metadata_requests import _raise_for_params
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bestk.data.frames import as_array
from bestk.selection.base import TableSelector


def _estimator_has(name: str) -> Any:
    """Whether the fitted estimator, or the one to be fitted, has a method; as RFECV has it."""

    def check(selector: Any) -> bool:
        getattr(getattr(selector, "estimator_", selector.estimator), name)
        return True

    return available_if(check)


class PredictingSelector(TableSelector):
    """A selector whose ``estimator_`` is fitted to the selected columns."""

    estimator: Any
    estimator_: Any
    cv: Any
    scoring: Any

    def _read(self, X: Any) -> Any:
        """The selected columns, in the container type of X."""
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        X = as_array(X) if isinstance(X, list | tuple) else X
        return _safe_indexing(X, np.flatnonzero(self.support_), axis=1)

    @_estimator_has("predict")
    def predict(self, X: Any) -> Any:
        """Predict with the estimator from the selected features."""
        X = self._read(X)
        return self.estimator_.predict(X)

    @_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities."""
        X = self._read(X)
        return self.estimator_.predict_proba(X)

    @_estimator_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """The decision function of the estimator."""
        X = self._read(X)
        return self.estimator_.decision_function(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """The score of the predictions, by ``scoring``."""
        routed, X = self._route("score", params), self._read(X)
        return float(self._scorer()(self.estimator_, X, y, **routed.scorer.score))

    @property
    def classes_(self) -> Any:
        """The classes of the fitted classifier."""
        return self.estimator_.classes_

    def _scorer(self) -> Any:
        return check_scoring(self.estimator, scoring=self.scoring)

    def get_metadata_routing(self) -> MetadataRouter:
        """Where the arguments of ``fit`` and ``score`` go."""
        numbered = self.cv is None or isinstance(self.cv, Integral)
        fit, split, score = (
            MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split", "score")
        )
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=fit)
        splitter = GroupKFold() if numbered else check_cv(self.cv)
        router.add(splitter=splitter, method_mapping=split)
        score.add(caller="score", callee="score")
        return router.add(scorer=self._scorer(), method_mapping=score)

    def _route(self, method: str, params: dict[str, Any]) -> Any:
        """Arguments by the object that they are for; only groups, unless routing is enabled."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, method, **params)
        groups = params.pop("groups", None)
        params.pop("sample_weight", None)
        _raise_for_params(params, self, method)
        splitter = Bunch(split={"groups": groups})
        return Bunch(estimator=Bunch(fit={}), scorer=Bunch(score={}), splitter=splitter)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = deepcopy(own.classifier_tags)
        tags.regressor_tags = deepcopy(own.regressor_tags)
        return tags
