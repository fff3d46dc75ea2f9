"""Discretisers are scikit-learn transformers."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks as checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestk.discretize import CAIM, DISCRETIZERS

INSTANCES = [Discretizer() for Discretizer in DISCRETIZERS.values()]

MORE_CHECKS = [
    checks.check_set_output_transform,
    checks.check_set_output_transform_pandas,
    checks.check_set_output_transform_polars,
    checks.check_global_output_transform_pandas,
    checks.check_global_set_output_transform_polars,
    checks.check_transformer_get_feature_names_out,
    checks.check_transformer_get_feature_names_out_pandas,
    checks.check_get_feature_names_out_error,
    checks.check_dataframe_column_names_consistency,
    checks.check_param_validation,
]


# check_array_api_same_namespace skips itself unless SCIPY_ARRAY_API=1 is set before scipy is loaded
@parametrize_with_checks(INSTANCES)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")  # they mix both
@pytest.mark.parametrize("check", MORE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
def test_the_checks_that_are_not_in_scikit_learn_s_default_list(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
def test_frames_keep_their_names_and_get_int16_codes(estimator):
    X, y = load_iris(return_X_y=True, as_frame=True)
    codes = clone(estimator).set_output(transform="pandas").fit_transform(X, y)
    assert list(codes.columns) == list(X.columns)
    assert (codes.dtypes == np.int16).all()


@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
def test_a_fitted_discretizer_survives_pickling(estimator):
    X, y = load_iris(return_X_y=True)
    fitted = clone(estimator).fit(X, y)
    thawed = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(thawed.transform(X), fitted.transform(X))


def test_a_pipeline_with_caim_learns_iris():
    X, y = load_iris(return_X_y=True)
    assert make_pipeline(CAIM(), DecisionTreeClassifier(random_state=0)).fit(X, y).score(X, y) > 0.9


def test_string_classes_are_kept_in_order():
    fitted = CAIM().fit([[1.0], [2.0], [3.0]], ["b", "a", "b"])
    np.testing.assert_array_equal(fitted.classes_, ["a", "b"])
