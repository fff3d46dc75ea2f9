"""A solver written from the page on adding solvers works on every public path."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from bestk import (
    SOLVERS,
    Quadratic,
    SelectBestK,
    SelectBestKCV,
    error_curves,
    select,
    solve,
    solve_path,
    stability_selection,
)
from bestk.bqp import BQP, CachedColumns, Solver
from bestk.report import make_report

MATRIX = np.array([[1.0, 4.0, 0.0], [4.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


@dataclass(frozen=True)
class LargestColumns(Solver):
    """The k items whose columns have the largest sums of entries to some power."""

    power: int = 1

    name = "largest-columns"
    needs = "columns"

    def pick(self, problem, run):
        """Return the items by falling sum."""
        columns = problem.columns(np.arange(problem.n))
        return np.argsort(-(columns**self.power).sum(axis=0), kind="stable")[: problem.k]


@dataclass(frozen=True)
class LargestDiagonal(Solver):
    """The least that a solver can have: a name and a choice."""

    name = "largest-diagonal"

    def pick(self, problem, run):
        """Return the items by falling diagonal."""
        return np.argsort(-problem.diagonal, kind="stable")[: problem.k]


@pytest.fixture(params=["by name", "as an object", "the least"])
def solver(request, monkeypatch):
    """A solver as a user would pass it."""
    if request.param == "by name":
        monkeypatch.setitem(SOLVERS, "largest-columns", LargestColumns())
        return "largest-columns"
    return LargestColumns(power=3) if request.param == "as an object" else LargestDiagonal()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    X["a"] += 2 * y
    X["d"] += y
    return X, y


@pytest.mark.parametrize("bound", [None, "fast", "tight"])
def test_it_solves_a_problem_with_any_bound(solver, bound):
    solution = solve(MATRIX, 2, solver, bound=bound, time_limit=5)
    assert len(set(solution.support.tolist())) == 2
    assert solution.objective == BQP(MATRIX, 2).value(solution.support)
    assert solution.upper_bound >= 10.0  # what the best choice is worth
    assert bound != "tight" or np.isfinite(solution.upper_bound)
    assert solution.solver.startswith("largest-")


def test_it_solves_a_path(solver):
    assert [solution.k for solution in solve_path(MATRIX, [3, 1, 2], solver)] == [3, 1, 2]


def test_a_solver_that_needs_columns_solves_a_problem_known_by_its_columns():
    lazy = CachedColumns(lambda items: MATRIX[:, items].copy(), MATRIX.diagonal())
    assert solve(lazy, 2, LargestColumns()).support.tolist() == [0, 1]
    with pytest.raises(ValueError, match="'largest-diagonal' needs the whole matrix"):
        solve(lazy, 2, LargestDiagonal())


@pytest.mark.parametrize("objective", ["cmi", "mrmr"])
def test_it_selects_features(solver, objective, table):
    X, y = table
    method = Quadratic(objective, solver)
    solution = SelectBestK(2, method).fit(X, y).solution_
    assert solution.k == 2
    assert "a" in [X.columns[item] for item in solution.support]
    assert select(X, y, 2, method).support.tolist() == solution.support.tolist()
    assert 5 in select(X, y, 3, method, include=["f"]).support
    grouped = SelectBestK(2, method, column_groups=["u", "u", "v", "w", "w", "v"]).fit(X, y)
    assert len(grouped.get_feature_names_out()) == 4


def test_it_selects_for_several_targets(solver, table):
    X, y = table
    targets = np.column_stack([y, X["e"] > 0])
    assert SelectBestK(2, Quadratic("mrmr", solver)).fit(X, targets).solution_.k == 2


def test_the_number_of_features_is_chosen_for_it(solver, table):
    X, y = table
    method = Quadratic("mrmr", solver)
    assert 1 <= SelectBestK("auto", method).fit(X, y).solution_.k <= 6
    chosen = SelectBestKCV(LogisticRegression(), [1, 2], method=method, cv=2).fit(X, y)
    assert chosen.solution_.k in (1, 2)


def test_its_stability_and_its_errors_are_measured(solver, table):
    X, y = table
    method = Quadratic("mrmr", solver)
    assert stability_selection(X, y, 2, method, n_subsamples=3).frequencies.sum() == pytest.approx(
        2
    )
    curves = error_curves(X, y, {"toy": method}, [1, 2], cv=2, random_state=0)
    assert "toy" in str(curves)


def test_it_is_reported(solver, table):
    X, y = table
    selector = SelectBestK(2, Quadratic("mrmr", solver)).fit(X, y)
    report = make_report(selector, X, y, errors=False, stability=0)
    assert "largest-" in report.html


def test_what_is_no_solver_is_refused_with_what_to_pass():
    class Looks:
        name = "looks like one"

        def pick(self, problem, run):
            return np.arange(problem.k)

    for impostor in (Looks(), LargestDiagonal, 3):
        with pytest.raises(
            ValueError, match=r"a name from SOLVERS or a solver.*bestk\.bqp\.Solver"
        ):
            solve(MATRIX, 2, impostor)
    with pytest.raises(ValueError, match="unknown solver 'magic'; choose one of 'linear'"):
        solve(MATRIX, 2, "magic")
