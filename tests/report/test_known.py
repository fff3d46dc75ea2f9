"""Reports of selectors that were fitted on blocks, with some of the rows."""

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


def test_rows_in_memory_tell_the_rest_of_a_selector_of_blocks(streamed):
    made = make_report(streamed, X, y, errors=False)
    assert not [c for c in made.facts.cautions if "is not that of the fit" in c.text]
    relevance = {place: relevance for place, relevance, *_ in made.facts.runners_up}
    assert relevance == pytest.approx({j: streamed.scores_[j] for j in relevance})


@pytest.mark.parametrize("rows", [slice(None, None, 2), slice(0, 300)])
def test_other_rows_than_those_of_the_fit_are_noted(streamed, rows):
    made = make_report(streamed, X.iloc[rows], y.iloc[rows], errors=False)
    assert [c.kind for c in made.facts.cautions if "is not that of the fit" in c.text] == ["note"]


def test_blocks_one_by_one_have_a_report():
    selector = SelectBestK(3, "mrmr")
    for table, goal in blocks():
        selector.partial_fit(table, goal)
    assert make_report(selector, X, y, errors=False).facts.measured.dataset.table.n_samples == len(
        X
    )
