"""Tables of new users: durations that nearly repeat each other, pairs, wide tables."""

import warnings

import numpy as np
import pandas as pd
import pytest

from bestk import SelectBestK, SelectionWarning, select


def churn_table(seed=0, n_rows=1500):
    """Customers: three columns tell the same duration, a weak one matters, and a pair."""
    rng = np.random.default_rng(seed)
    months = rng.exponential(24, n_rows)
    days = months * 30.4 + rng.normal(0, 3, n_rows)
    X = pd.DataFrame({f"noise_{j}": rng.normal(size=n_rows) for j in range(8)})
    X["tenure_months"] = months.round(2)
    X["tenure_days"] = days.round()
    X["opened"] = pd.Timestamp("2024-06-01") - pd.to_timedelta(days.round(), unit="D")
    X["support_calls"] = rng.poisson(3, n_rows)
    X["region_score"] = rng.normal(size=n_rows)
    X["plan_score"] = rng.normal(size=n_rows)
    together = np.sign(X["region_score"] * X["plan_score"])
    score = -np.log1p(months) + 0.25 * X["support_calls"] + 0.9 * together
    return X, (score + rng.logistic(scale=0.5, size=n_rows) > score.median()).astype(int)


@pytest.mark.parametrize("seed", range(4))
def test_near_copies_leave_room_for_a_weak_column_and_a_pair_without_a_warning(seed):
    X, y = churn_table(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = SelectBestK(4).fit(X, y)
    names = set(selector.get_feature_names_out())
    assert {"support_calls", "region_score", "plan_score"} <= names
    assert len(names & {"tenure_months", "tenure_days", "opened"}) == 1


def test_a_warning_says_from_which_feature_on_nothing_is_added():
    X, y = churn_table()
    match = r"from the \d+th feature on, nothing is added above chance; use a smaller k"
    with pytest.warns(SelectionWarning, match=match):
        solution = select(X, y, 10)
    assert solution.details["above_chance"] >= 4
    contribution = solution.details["contribution"]
    assert (contribution[solution.details["above_chance"] :] == 0).all()
    assert set(solution.support[-2:]) != set(solution.support[:2])


@pytest.mark.parametrize("regression", [False, True])
def test_pairs_that_a_scan_proves_come_before_copies(regression):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3000))
    together = np.sign(X[:, 1200] * X[:, 2900])
    strong = X[:, 0].copy()
    X[:, 1:9] = strong[:, np.newaxis]
    y = strong + together + 0.5 * rng.normal(size=500)
    solution = select(X, y if regression else (y > 0).astype(int), 6)
    assert set(solution.support[:3]) >= {1200, 2900}
    is_copy = solution.support < 9
    np.testing.assert_allclose(solution.details["contribution"][is_copy][1:], 0, atol=1e-9)


def test_a_note_says_that_pairs_were_not_scanned_and_what_to_pass():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 300))
    y = (X[:, 7] * X[:, 31] > 0).astype(int)
    match = "the pairs of 300 columns were not scanned.*pass time_limit in seconds, or use a GPU"
    with pytest.warns(SelectionWarning, match=match):
        left_out = select(X, y, 2, time_limit=1e-6)
    assert set(left_out.support) != {7, 31}
    scanned = select(X, y, 2, time_limit=10)
    assert set(scanned.support) == {7, 31}
    assert not any("not scanned" in text for text in scanned.warnings)


def test_a_note_says_how_many_of_very_many_columns_were_considered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8193)).astype(np.float32)
    y = (np.sign(np.sin(5 * X[:, 4000])) + 0.3 * rng.normal(size=200) > 0).astype(int)
    with pytest.warns(SelectionWarning, match=r"8,192 of 8,193 columns were considered together"):
        assert select(X, y, 1).support.tolist() == [4000]


def test_columns_that_follow_a_batch_that_is_included_are_not_selected():
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        batch = rng.integers(0, 2, 180)
        y = (rng.random(180) < np.where(batch, 0.75, 0.25)).astype(int)
        X = pd.DataFrame(rng.normal(size=(180, 300))).add_prefix("g")
        X.iloc[:, :5] += 1.2 * y[:, np.newaxis]
        X.iloc[:, 5:150] += 1.0 * batch[:, np.newaxis]
        X["batch"] = np.where(batch, "b", "a")
        names = SelectBestK(6, include=["batch"]).fit(X, y).get_feature_names_out()
        follows = [name for name in names if name != "batch" and 5 <= int(name[1:]) < 150]
        shares.append(len(follows) / 5)
    assert np.mean(shares) <= 0.05
