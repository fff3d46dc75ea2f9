"""The selectors keep scikit-learn's manners."""

import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import estimator_checks as checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestk import SelectBestK, SelectBestKCV

INSTANCES = [
    SelectBestK(k=1),
    SelectBestK(k=0.5, method="jmi"),
    SelectBestK(k=1, information="gaussian", method="mrmr"),
    SelectBestKCV(DecisionTreeRegressor(random_state=0), ks=[1], cv=2),
]
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


# Weights are importance weights: a constant factor changes nothing, so that a row of weight 2 is
# not two observations. Of these small tables the default selects the same columns all the same.
@parametrize_with_checks(INSTANCES)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")  # they mix both
@pytest.mark.parametrize("check", MORE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
def test_the_checks_that_are_not_in_scikit_learn_s_default_list(estimator, check):
    check(type(estimator).__name__, clone(estimator))
