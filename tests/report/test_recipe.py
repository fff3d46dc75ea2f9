"""The code of a report, run: it selects the same."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import CAIM, Greedy, Quadratic, SelectBestK, SelectBestKCV
from bestk.report.gather import list_settings, write_code
from bestk.report.records import ReportRequest

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]


def code_of(options):
    return write_code(ReportRequest(options))


def run(options, **known):
    names = {"X": X, "y": y, **known}
    exec(code_of(options).replace("print", "str"), names)
    return names["selector"]


@pytest.mark.parametrize(
    "options",
    [SelectBestK(4, random_state=0), SelectBestK(2, Quadratic("mrmr", "search")),
     SelectBestK(3, Greedy("jmi"), discretizer=CAIM(), include=[X.columns[5]]),
     SelectBestK(3, exclude=np.array([0, 7]))],
)  # fmt: skip
def test_code_selects_the_same(options):
    again = run(options)
    np.testing.assert_array_equal(again.solution_.support, options.fit(X, y).solution_.support)


def test_estimators_and_folds_are_left_to_their_names():
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    options = SelectBestKCV(model, ks=[1, 3], cv=folds, rule="one-se")
    again = run(options, estimator=model, cv=folds)
    options.fit(X, y)
    np.testing.assert_array_equal(again.cv_results_["k"], [1, 3])
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_score"], options.cv_results_["mean_test_score"]
    )
    assert "# estimator, which you defined: Pipeline(" in code_of(options)


def test_what_cannot_be_written_is_left_to_its_name_and_said():
    state = np.random.RandomState(0)
    code = code_of(SelectBestK(3, "sdp", random_state=state))
    assert "random_state=random_state" in code
    assert "# random_state, which you defined: RandomState(MT19937)" in code
    selector = run(SelectBestK(3, "sdp", random_state=state), random_state=state)
    assert selector.k_ == 3


def test_a_value_can_not_leave_the_comment_that_tells_of_it():
    class Odd:
        def __repr__(self):
            return "<odd\nimport os"

    lines = code_of(SelectBestK(3, discretizer=Odd())).splitlines()
    assert [line for line in lines if "import os" in line] == [
        r"# discretizer, which you defined: <odd\nimport os"
    ]


def test_builtins_need_no_import():
    code = code_of(SelectBestKCV(LogisticRegression(), ks=range(1, 3)))
    assert "SelectBestKCV(estimator=estimator, ks=range(1, 3))" in code
    assert code.startswith("from bestk import SelectBestKCV\n")


def test_settings_are_all_parameters():
    options = SelectBestKCV(LogisticRegression(), ks=[1, 2])
    assert set(list_settings(options)) == set(options.get_params(deep=False))
