"""A method written from the page in CONTRIBUTING alone works wherever a method can be named."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.naive_bayes import GaussianNB

from bestk import (
    METHODS,
    SelectBestK,
    SelectBestKCV,
    Solution,
    error_curves,
    select,
    stability_selection,
)
from bestk.cli import main
from bestk.methods.method import Method
from bestk.report import make_report


class Spread(Method):
    """Every other feature in the order of relevance, those to include first."""

    information = "discrete"

    def pick(self, estimates, ks, include, effort):
        relevance = estimates.mi()
        order = np.argsort(-relevance, kind="stable")
        order = np.concatenate([order[::2], order[1::2]])
        others = order[~np.isin(order, include)]
        ranking = np.concatenate([np.array(include, np.int64), others])
        return [
            Solution(
                ranking[:k],
                objective=float(relevance[ranking[:k]].sum()),
                solver="spread",
                details={"contribution": relevance[ranking[:k]]},
            )
            for k in ks
        ]


@pytest.fixture(params=["name", "object"])
def method(request, monkeypatch):
    """The name under which the method is registered, or the method itself."""
    if request.param == "object":
        return Spread()
    monkeypatch.setitem(METHODS, "spread", Spread())
    return "spread"


def table(n_rows=200, n_columns=8):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(n_rows, n_columns)), columns=[f"c{j}" for j in range(n_columns)]
    )
    y = (X.to_numpy() @ np.linspace(1.0, 0.1, n_columns) > 0).astype(int)
    return X, y


def ranking(X, y):
    """What the method is to pick, by its definition."""
    relevance = SelectBestK(2, "maxrel").fit(X, y).scores_
    order = np.argsort(-relevance, kind="stable")
    return np.concatenate([order[::2], order[1::2]]).tolist()


def test_a_fit_selects_what_the_method_picks(method):
    X, y = table()
    solution = SelectBestK(3, method).fit(X, y).solution_
    assert (
        solution.support.tolist() == ranking(X, y)[:3] == select(X, y, 3, method).support.tolist()
    )
    assert solution.objective == pytest.approx(solution.details["relevance"].sum())


def test_columns_to_include_come_first_and_excluded_ones_never(method):
    X, y = table()
    options = {"include": ["c7"], "exclude": ["c0"]}
    support = SelectBestK(3, method, **options).fit(X, y).solution_.support.tolist()
    assert support[0] == 7
    assert 0 not in support


def test_the_number_of_features_is_chosen_with_the_method(method):
    X, y = table()
    solution = SelectBestK("auto", method).fit(X, y).solution_
    assert solution.support.tolist() == ranking(X, y)[: solution.k]
    chosen = SelectBestKCV(GaussianNB(), ks=[1, 3], method=method, cv=3).fit(X, y)
    assert chosen.solution_.support.tolist() == ranking(X, y)[: chosen.best_k_]


def test_weights_and_several_targets_reach_the_method(method):
    X, y = table()
    weights = np.where(np.arange(len(y)) < 100, 1.0, 2.0)
    assert SelectBestK(3, method).fit(X, y, weights).solution_.k == 3
    both = np.column_stack([y, y])
    for multioutput in ("sum", "union"):
        selector = SelectBestK(3, method, multioutput=multioutput).fit(X, both)
        assert selector.solution_.support.tolist() == ranking(X, y)[:3]


def test_subsamples_and_curves_of_errors_are_selected_by_the_method(method):
    X, y = table()
    frequencies = stability_selection(X, y, 3, method, n_subsamples=5).frequencies
    assert frequencies.sum() == pytest.approx(3.0)
    curves = error_curves(X, y, {"mine": method}, [3], cv=2, random_state=0)
    assert {len(row.support) for row in curves.rows} == {3}


def test_a_report_of_the_method_is_made(method):
    X, y = table()
    selector = SelectBestK(3, method).fit(X, y)
    report = make_report(selector, X, y, errors=False, stability=3)
    assert report.facts.names == [f"c{j}" for j in ranking(X, y)[:3]]


def test_rows_in_blocks_and_files_are_selected_by_the_method(method, tmp_path):
    X, y = table()
    whole = SelectBestK(3, method).fit(X, y).solution_.support.tolist()
    selector = SelectBestK(3, method)
    for start in range(0, len(y), 50):
        selector.partial_fit(X[start : start + 50], y[start : start + 50])
    assert selector.finalize().solution_.support.tolist() == whole
    path = tmp_path / "table.csv"
    X.assign(y=y).to_csv(path, index=False)
    assert SelectBestK(3, method).fit(path, "y").solution_.support.tolist() == whole
    if isinstance(method, str):
        told = CliRunner().invoke(
            main, ["select", str(path), "-t", "y", "-m", method, "-k", "3", "--json"]
        )
        names = [feature["name"] for feature in json.loads(told.stdout)["features"]]
        assert names == [f"c{j}" for j in whole]


def test_groups_of_columns_name_the_methods_that_take_them(method):
    X, y = table()
    with pytest.raises(ValueError, match="column_groups needs a method of bestk by name"):
        SelectBestK(2, method, column_groups=[0, 0, 1, 1, 2, 2, 3, 3]).fit(X, y)
