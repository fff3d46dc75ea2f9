"""A form of numbers of one's own, added as the page for contributors says, is read everywhere."""

import re

import numpy as np
import pandas as pd
import pytest

from bestk import SelectBestK, SelectionWarning, select, stability_selection
from bestk.cli import main
from bestk.report import make_report
from bestk.tables.text import FORMS, TextForm

DURATION = re.compile(r"(\d+) h (\d+) min")
ROWS = 120


def read_duration(text):
    """Hours of a text such as "3 h 05 min"."""
    match = DURATION.fullmatch(text)
    return np.nan if match is None else int(match[1]) + int(match[2]) / 60


@pytest.fixture
def table(monkeypatch):
    """Two columns, of which "waited" has durations that say what y is, and y."""
    monkeypatch.setitem(FORMS, "durations", TextForm("numbers", read_duration))
    rng = np.random.default_rng(0)
    minutes = rng.permutation(np.arange(60, 60 + 5 * ROWS, 5))
    waited = [f"{total // 60} h {total % 60:02d} min" for total in minutes]
    X = pd.DataFrame({"noise": rng.normal(size=ROWS), "waited": waited})
    y = np.where(minutes > np.median(minutes), "late", "early")
    return X, y


def test_a_form_from_outside_is_read_in_memory(table):
    X, y = table
    with pytest.warns(SelectionWarning, match="'waited': numbers written as text, such as"):
        selector = SelectBestK(1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["waited"]
    hours = X.assign(waited=[read_duration(text) for text in X["waited"]])
    expected = SelectBestK(1).fit(hours, y)
    assert selector.solution_.objective == expected.solution_.objective


@pytest.mark.filterwarnings("ignore")
def test_a_form_from_outside_is_read_on_every_path(table, tmp_path):
    X, y = table
    expected = select(X, y, 1)
    path = tmp_path / "t.csv"
    X.assign(y=y).to_csv(path, index=False)
    frames = [part.assign(y=y[part.index]) for part in (X[:50], X[50:])]
    for found in (
        SelectBestK(1).fit(path, "y").solution_,
        SelectBestK(1).fit(frames, "y").solution_,
    ):
        assert found.objective == expected.objective
        assert any("'waited': numbers written as text" in text for text in found.warnings)
    assert SelectBestK("auto").fit(X, y).support_[1]
    assert stability_selection(X, y, 1, n_subsamples=4).frequencies.argmax() == 1
    assert "waited" in make_report(SelectBestK(1).fit(X, y), X, y, stability=0).html


@pytest.mark.filterwarnings("ignore")
def test_a_target_in_a_file_may_have_a_form_from_outside(table, tmp_path, capsys):
    X, _ = table
    path = tmp_path / "t.csv"
    X.assign(hours=[read_duration(text) for text in X["waited"]]).to_csv(path, index=False)
    with pytest.raises(SystemExit):
        main(["select", str(path), "--target", "waited", "-k", "1"])
    said = capsys.readouterr()
    assert "'waited': numbers written as text" in said.err
    assert "hours" in said.out
