"""Any matrix is solved rightly, or refused with advice."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk import BQP, SOLVERS, solve, solve_path, upper_bound
from bestk.bqp.bounds import BOUNDS
from bestk.bqp.problem import MAX_ENTRY, MIN_ENTRY

from .law import REFUSED, attempt, budget, refused
from .oddities import TABLES, odd_scalars, odd_tables
from .tables import LAYOUTS

SCALES = [0.0, 1.0, -1.0, 5e-324, 1e-300, 1e-74, 1e-12, 1e12, 1e74, 1e300, 1.7e308]
BIGGEST = np.finfo(float).max


@st.composite
def matrices(draw, max_n=6):
    """Square matrices of every temper and size, whole and fractional, with ties or without."""
    n = draw(st.integers(1, max_n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Q = {
        "normal": lambda: rng.normal(size=(n, n)),
        "whole": lambda: rng.integers(-3, 4, (n, n)),
        "truths": lambda: rng.random((n, n)) < 0.5,
        "single": lambda: rng.normal(size=(n, n)).astype(np.float32),
        "half": lambda: rng.normal(size=(n, n)).astype(np.float16),
        "long": lambda: rng.normal(size=(n, n)).astype(np.longdouble),
        "uneven": lambda: 10.0 ** rng.uniform(-90, 74, (n, n)),
        "diagonal": lambda: np.diag(rng.normal(size=n)),
        "rank one": lambda: np.outer(*rng.normal(size=(2, n))),
    }[draw(st.sampled_from(["normal", "whole", "truths", "single", "half", "long", "uneven",
                            "diagonal", "rank one"]))]()  # fmt: skip
    if Q.dtype == np.float64:
        with np.errstate(over="ignore"):
            Q = np.clip(Q * draw(st.sampled_from(SCALES)), -BIGGEST, BIGGEST)
    return Q


def best_value(Q, k):
    """The optimum, over all choices, of the symmetric part."""
    Q = Q.astype(np.float64) / 2 + Q.astype(np.float64).T / 2
    return max(Q[np.ix_(c, c)].sum() for c in combinations(range(len(Q)), k))


def check(solution, Q, k):
    """A choice of k, its value, and a bound that holds."""
    support, size = solution.support, k**2 * max(1e-300, float(np.abs(Q).max()))
    assert len(np.unique(support)) == len(support) == k
    assert ((support >= 0) & (support < len(Q))).all()
    value = Q.astype(np.float64)[np.ix_(support, support)].sum()
    assert abs(solution.objective - value) <= 1e-9 * size
    best = best_value(Q, k)
    assert solution.objective <= best + 1e-9 * size
    assert solution.upper_bound >= solution.objective
    assert solution.upper_bound >= best - 1e-9 * size
    assert not np.isnan(solution.gap)
    assert str(solution)


@budget(1)
@given(Q=matrices(), data=st.data(), solver=st.sampled_from(sorted(SOLVERS)),
       bound=st.sampled_from([None, "fast", "fast", "tight"]))  # fmt: skip
def test_every_solver_is_right_on_every_matrix(Q, data, solver, bound):
    k = data.draw(st.integers(1, len(Q)))
    solution = attempt(solve, Q, k, solver, bound=bound, random_state=0)
    if solution is not REFUSED:
        check(solution, Q, k)
    else:
        assert not MIN_ENTRY <= np.abs(Q.astype(float)).max() <= MAX_ENTRY


@budget(1)
@given(Q=matrices(), data=st.data(), solver=st.sampled_from(sorted(SOLVERS)))
def test_every_k_of_a_path_is_solved_rightly(Q, data, solver):
    ks = data.draw(st.lists(st.integers(1, len(Q)), max_size=4))
    solutions = attempt(solve_path, Q, ks, solver, random_state=0)
    if solutions is not REFUSED:
        assert [solution.k for solution in solutions] == ks
        for solution in solutions:
            check(solution, Q, solution.k)


@budget(1)
@given(Q=matrices(), data=st.data(), method=st.sampled_from(sorted(BOUNDS)))
def test_every_bound_holds_for_every_matrix(Q, data, method):
    k = data.draw(st.integers(1, len(Q)))
    problem = attempt(BQP, Q, k)
    if problem is not REFUSED:
        bound = attempt(upper_bound, problem, method)
        size = k**2 * max(1e-300, float(np.abs(Q).max()))
        assert bound >= best_value(Q, k) - 1e-9 * size


@budget(0.5)
@given(Q=matrices(), layout=st.sampled_from(sorted(LAYOUTS)), data=st.data())
def test_the_layout_of_a_matrix_changes_nothing(Q, layout, data):
    k = data.draw(st.integers(1, len(Q)))
    found = attempt(solve, LAYOUTS[layout](Q), k, "swap")
    wanted = attempt(solve, Q, k, "swap")
    assert (found is REFUSED) == (wanted is REFUSED)
    if wanted is not REFUSED:
        np.testing.assert_array_equal(found.support, wanted.support)
        assert found.objective == wanted.objective


@budget(1)
@given(Q=odd_tables(), call=st.sampled_from([solve, BQP, lambda Q, k: solve_path(Q, [k]),
                                             lambda Q, k: upper_bound(Q)]))  # fmt: skip
def test_what_is_no_matrix_is_refused_with_advice(Q, call):
    attempt(call, TABLES[Q](), 1)


@budget(0.5)
@given(where=st.tuples(st.integers(0, 2), st.integers(0, 2)),
       odd=st.sampled_from([np.nan, np.inf, -np.inf]))  # fmt: skip
def test_a_matrix_with_a_hole_is_refused(where, odd):
    Q = np.ones((3, 3))
    Q[where] = odd
    for call in (BQP, solve):
        refused(call, Q, 2)


@budget(1.5)
@given(
    name=st.sampled_from(["k", "solver", "random_state", "time_limit", "bound"]),
    value=odd_scalars(),
)
def test_every_option_of_solve_is_taken_or_refused_with_advice(name, value):
    Q = np.array([[1.0, 4.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    options = {"k": 2, name: value}
    solution = attempt(solve, Q, **options)
    if solution is not REFUSED:
        check(solution, Q, solution.k)


@budget(1)
@given(name=st.sampled_from(["ks", "solver", "random_state", "time_limit", "bound"]),
       value=odd_scalars())  # fmt: skip
def test_every_option_of_a_path_is_taken_or_refused_with_advice(name, value):
    attempt(solve_path, np.eye(3), **{"ks": [1, 2], name: value})


@budget(0.5)
@given(name=st.sampled_from(["method", "time_limit", "best_known"]), value=odd_scalars())
def test_every_option_of_a_bound_is_taken_or_refused_with_advice(name, value):
    bound = attempt(upper_bound, BQP(np.eye(3), 2), **{"method": "tight", name: value})
    assert bound is REFUSED or bound >= 2
