"""What notebooks show: solutions, reports, and scikit-learn's diagrams of selectors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bestk import SelectBestK, SelectBestKCV, Solution, select, solve
from bestk.bqp.solution import MAX_HTML_ROWS
from bestk.report import make_report

X, y = load_iris(return_X_y=True, as_frame=True)


def test_a_report_is_a_frame_of_its_own(read_page):
    report = make_report(SelectBestK(2).fit(X, y), X, y, errors=False)
    page = read_page(report._repr_html_())
    assert [tag for tag, _ in page.structure] == ["iframe"]
    assert ("srcdoc", report.html) in page.attributes
    assert ("sandbox", "allow-scripts") in page.attributes


def test_a_solution_is_a_table_of_its_features_with_their_numbers(read_page):
    solution = select(X, y, k=2, method="exact")
    page = read_page(solution._repr_html_())
    assert page.names == [X.columns[i] for i in solution.support]
    assert f"{solution.details['relevance'][0]:.4f}" in page.texts
    assert "2 features by exact" in page.texts
    assert any("proved optimal" in text for text in page.texts)


@pytest.mark.parametrize(
    ("solution", "said"),
    [(Solution(np.array([1, 0]), 2.0, solver="forward"), "no bound requested"),
     (Solution(np.array([1, 0]), 2.0, 2.5, "swap"), "optimality gap: 25% (objective 2.00, "),
     (Solution(np.array([0]), 0.0, 1.0, "swap"), "optimality gap: infinite"),
     (solve(np.eye(3), k=2), "proved optimal")],
)  # fmt: skip
def test_a_solution_says_how_good_it_is(read_page, solution, said):
    assert said in "".join(read_page(solution._repr_html_()).texts)


def test_colours_are_left_to_the_notebook():
    html = select(X, y, k=2)._repr_html_()
    assert "color" not in html
    assert "background" not in html


def test_a_long_solution_is_cut_and_says_so(read_page):
    wide = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (20, 80)))
    solution = select(wide, np.arange(20) % 2, k=70, method="maxrel")
    page = read_page(solution._repr_html_())
    assert len(page.names) == MAX_HTML_ROWS
    assert "20 more: to_frame() has all." in page.texts


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize(
    "make",
    [lambda: SelectBestK(k="auto"), lambda: SelectBestK(2, "mrmr"),
     lambda: make_pipeline(SelectBestK(2), LogisticRegression(max_iter=1000)),
     lambda: SelectBestKCV(LogisticRegression(max_iter=1000), ks=[1, 2])],
)  # fmt: skip
def test_scikit_learn_draws_selectors_alone_and_in_pipelines(make, fitted):
    drawn = make()
    html = (drawn.fit(X, y) if fitted else drawn)._repr_html_()
    assert "SelectBestK" in html


def test_a_selector_that_has_seen_blocks_is_drawn():
    assert "SelectBestK" in SelectBestK(2, "mrmr").partial_fit(X, y)._repr_html_()
