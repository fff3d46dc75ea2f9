"""What cannot be cut is refused with a sentence that helps."""

import numpy as np
import pytest

from bestk.discretize import CAIM, DISCRETIZERS, MDLP, EqualFrequency, EqualWidth, Sigma

X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
every = pytest.mark.parametrize("discretizer", [D() for D in DISCRETIZERS.values()], ids=repr)
supervised = pytest.mark.parametrize("discretizer", [CAIM(), MDLP()], ids=repr)


@every
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_in_fit_and_in_transform(discretizer, value):
    bad = X.copy()
    bad[3, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        discretizer.fit(bad, y)
    with pytest.raises(ValueError, match="infinity"):
        discretizer.fit(X, y).transform(bad)


@every
def test_an_empty_table_is_refused(discretizer):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        discretizer.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        discretizer.fit(X[:, :0], y)


@every
def test_words_are_refused(discretizer):
    with pytest.raises(ValueError, match="could not convert string to float"):
        discretizer.fit([["a"], ["b"]], [0, 1])


@supervised
def test_y_has_a_class_for_each_sample(discretizer):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        discretizer.fit(X, y[:-1])


@supervised
def test_y_is_required_and_complete(discretizer):
    with pytest.raises(ValueError, match="requires y to be passed"):
        discretizer.fit(X, None)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        discretizer.fit(X, [0, 0, 0, 1, 1, np.nan])


@supervised
def test_one_class_is_refused(discretizer):
    with pytest.raises(ValueError, match="y has one class only"):
        discretizer.fit(X, np.zeros(6))


@supervised
def test_a_continuous_y_is_refused(discretizer):
    with pytest.raises(ValueError, match="Unknown label type"):
        discretizer.fit(X, y + 0.25 * np.arange(6))


def test_more_intervals_than_codes_are_refused(monkeypatch):
    monkeypatch.setattr("bestk.discretize._base.MAX_BINS", 7)
    y = np.arange(40) % 8
    with pytest.raises(ValueError, match=r"column 1 has 8 bins.*max_bins"):
        CAIM().fit(np.column_stack([y % 7, y]), y)
    assert CAIM(max_bins=7).fit_transform(y[:, None], y).max() == 6


@pytest.mark.parametrize(
    "discretizer",
    [CAIM(1), CAIM(2**15), MDLP(0), EqualWidth(1), EqualFrequency(2.5), Sigma(-1), Sigma(ddof=2)],
    ids=repr,
)
def test_a_wrong_parameter_is_named_in_fit(discretizer):
    with pytest.raises(ValueError, match=r"The '(max_bins|n_bins|a|ddof)' parameter of"):
        discretizer.fit(X, y)
