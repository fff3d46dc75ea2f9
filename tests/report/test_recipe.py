"""The code of a report, run: it selects the same."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from bestk import CAIM, Greedy, Quadratic, SelectBestK, SelectBestKCV
from bestk.report.gather import list_settings, write_code
from bestk.report.records import ReportRequest

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]


@pytest.mark.parametrize(
    "options",
    [SelectBestK(4, random_state=0), SelectBestK(2, Quadratic("mrmr", "search")),
     SelectBestK(3, Greedy("jmi"), discretizer=CAIM(), include=list(X.columns[[5]])),
     SelectBestK(3, exclude=[0, 7])],
)  # fmt: skip
def test_code_selects_the_same(options):
    kinds = (SelectBestK, Quadratic, Greedy, CAIM)
    names = {"X": X, "y": y} | {kind.__name__: kind for kind in kinds}
    exec(write_code(ReportRequest(options)), names)
    again = names["selector"].solution_.support
    np.testing.assert_array_equal(again, options.fit(X, y).solution_.support)


def test_settings_are_all_parameters():
    options = SelectBestKCV(LogisticRegression(), ks=[1, 2])
    assert set(list_settings(options)) == set(options.get_params(deep=False))
