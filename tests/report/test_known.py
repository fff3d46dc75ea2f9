"""Reports without a table in memory, and with some of its rows."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bestk import SelectBestK
from bestk.report import make_report

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :12]


def blocks():
    return [(X.iloc[i::3], y.iloc[i::3]) for i in range(3)]


@pytest.fixture(scope="module")
def streamed():
    return SelectBestK(4).fit(blocks)


def test_a_solution_alone_tells_what_it_holds(streamed, read_page, tmp_path):
    made = streamed.solution_.report(tmp_path / "alone.html", target="diagnosis")
    assert (tmp_path / "alone.html").read_text("utf-8") == made.html
    names = [X.columns[i] for i in streamed.solution_.support]
    assert read_page(made.html).data["names"] == names
    assert made.facts.choices is None
    assert "use selector.report(X, y)" in made.html


@pytest.mark.parametrize("given", [(), (blocks, None)])
def test_a_selector_of_blocks_tells_what_it_holds_and_what_to_do_for_more(streamed, given):
    made = streamed.report(*given)
    reading = made.facts.table
    assert (reading.n_samples, reading.n_features) == (len(X), 12)
    assert "pass some of them, in memory, as in selector.report(X, y)" in made.html
    assert 'id="prediction"' not in made.html


def test_rows_in_memory_tell_the_rest_of_a_selector_of_blocks(streamed):
    made = streamed.report(X, y, errors=False)
    assert made.facts.choices is not None
    assert not [c for c in made.facts.cautions if "is not that of the fit" in c.text]
    relevance = {f.place: f.relevance for f in made.facts.runners_up}
    assert relevance == pytest.approx({j: streamed.scores_[j] for j in relevance})


@pytest.mark.parametrize("rows", [slice(None, None, 2), slice(0, 300)])
def test_other_rows_than_those_of_the_fit_are_noted(streamed, rows):
    made = streamed.report(X.iloc[rows], y.iloc[rows], errors=False)
    assert [c.kind for c in made.facts.cautions if "is not that of the fit" in c.text] == ["note"]


def test_a_selector_of_a_file_names_it_in_its_code(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table's.parquet"
    X.assign(kind=y).to_parquet(path)
    selector = SelectBestK(3).fit(path, "kind")
    made = selector.report(path, "kind")
    assert made.facts.target == "kind"
    names = {}
    exec(made.facts.code.replace("print", "str"), names)
    np.testing.assert_array_equal(names["selector"].support_, selector.support_)


def test_blocks_one_by_one_have_a_report():
    selector = SelectBestK(3, "mrmr")
    for table, goal in blocks():
        selector.partial_fit(table, goal)
    assert selector.report().facts.table.n_samples == len(X)


def test_a_selector_of_a_table_has_a_report_without_it():
    made = make_report(SelectBestK(3, information="gaussian").fit(X, y))
    assert made.facts.table.n_samples is None
    assert made.facts.table.columns == ()
    assert "pass those of the fit, as in selector.report(X, y)" in made.html
