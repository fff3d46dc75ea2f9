"""The semidefinite relaxation: its value, its proved bound, its rounding."""

from math import inf
from time import perf_counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from bestk import cmi_matrix, solve
from bestk.bqp import BQP
from bestk.bqp.relaxations.sdp import dual_bound, sdp_bound
from bestk.bqp.relaxations.spheres import LowRankFactor, Spheres
from bestk.bqp.solvers import _sdp
from bestk.bqp.solvers._base import Run
from bestk.bqp.solvers._sdp import SDP

from .conftest import load_instance, optimum, problems


def random_problem(n, k, seed=0, signed=False):
    rng = np.random.default_rng(seed)
    Q = rng.normal(size=(n, n)) if signed else rng.random((n, n))
    return BQP(Q + Q.T, k)


def sdp(problem, seed=0, **settings):
    run = Run(np.random.default_rng(seed), deadline=settings.pop("deadline", inf))
    with pytest.MonkeyPatch.context() as patched:
        for name, value in settings.items():
            patched.setattr(_sdp, name.upper(), value)
        return SDP().pick(problem, run), run


def lifted(problem):
    """W of the relaxation, and N whose direction every solution lacks."""
    Q, n, k = problem.Q, problem.n, problem.k
    sums = Q.sum(axis=1)
    W = np.block([[sums.sum(), sums], [sums[:, None], Q]]) / 4
    return W, np.concatenate([[n - 2 * k], np.ones(n)])


def svec(A):
    """The lower triangle of a symmetric matrix, column by column, with <A, B> kept."""
    rows, columns = np.triu_indices(len(A))
    return A[columns, rows] * np.where(rows == columns, 1.0, np.sqrt(2.0))


def conic_data(problem):
    """Maximise <U'WU, R>, diag(U R U') = 1, R psd, where U spans the complement of N."""
    W, N = lifted(problem)
    U = np.linalg.svd(N[None, :])[2][1:].T
    equalities = np.array([svec(np.outer(row, row)) for row in U])
    return svec(U.T @ W @ U), equalities, len(W) - 1


def scs_value(problem):
    scs = pytest.importorskip("scs", reason="the conic solver SCS is not installed")
    c, equalities, side = conic_data(problem)
    size = np.abs(c).max()
    A = sparse.csc_matrix(np.vstack([equalities, -np.eye(len(c))]))
    b = np.concatenate([np.ones(len(equalities)), np.zeros(len(c))])
    solver = scs.SCS(
        {"A": A, "b": b, "c": -c / size},
        {"z": len(equalities), "s": [side]},
        verbose=False,
        eps_abs=1e-7,
        eps_rel=1e-7,
        max_iters=20000,
    )
    return -solver.solve()["info"]["pobj"] * size


def clarabel_value(problem):
    clarabel = pytest.importorskip("clarabel", reason="the conic solver Clarabel is not installed")
    c, equalities, side = conic_data(problem)
    # Clarabel stacks the upper triangle by columns: the same order as the lower one by rows
    rows, columns = np.triu_indices(side)
    order = np.lexsort((rows, columns))
    A = sparse.csc_matrix(np.vstack([equalities, -np.eye(len(c))[order]]))
    b = np.concatenate([np.ones(len(equalities)), np.zeros(len(c))])
    cones = [clarabel.ZeroConeT(len(equalities)), clarabel.PSDTriangleConeT(side)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((len(c), len(c)))
    return -clarabel.DefaultSolver(nothing, -c, A, b, cones, settings).solve().obj_val


def test_one_of_two_items_by_hand():
    # x = (1, 0) or (0, 1), so the value is a diagonal entry and the relaxation is exact
    picked, run = sdp(BQP([[1.0, 7.0], [7.0, 3.0]], k=1))
    assert picked.tolist() == [1]
    np.testing.assert_allclose(run.upper_bound, 3.0, rtol=1e-3)


@given(problem=problems(), seed=st.integers(0, 1000))
def test_a_choice_of_k_items_and_a_bound_above_the_optimum(problem, seed):
    picked, run = sdp(problem, seed)
    assert len(set(picked.tolist())) == len(picked) == problem.k
    best = optimum(problem)
    assert problem.value(np.sort(picked)) <= best
    assert run.upper_bound >= best
    assert sdp_bound(problem).value >= best


@given(problem=problems(), seed=st.integers(0, 1000), size=st.sampled_from([0.0, 1e-3, 1.0, 1e3]))
@example(problem=BQP(np.ones((4, 4)), 4), seed=0, size=0.0)
@example(problem=BQP(np.ones((6, 6)), 1), seed=0, size=1.0)
def test_any_dual_guess_gives_a_valid_bound(problem, seed, size):
    t = np.random.default_rng(seed).normal(size=problem.n + 1)
    bound = dual_bound(problem, t * size * np.abs(problem.Q).max())
    assert optimum(problem) <= bound < inf


@given(problem=problems(max_n=9), seed=st.integers(0, 1000))
def test_the_bound_is_close_to_the_formula_of_the_smallest_eigenvalue(problem, seed):
    W, N = lifted(problem)
    U = np.linalg.svd(N[None, :])[2][1:].T
    size = np.abs(problem.Q).max()
    t = np.random.default_rng(seed).normal(size=problem.n + 1) * size
    least = np.linalg.eigvalsh(U.T @ (np.diag(t) - W) @ U)[0]
    formula = t.sum() - (problem.n + 1) * min(0.0, least)
    bound = dual_bound(problem, t)
    if 4 * problem.k >= problem.n + 1:  # the same shift is used, found to within 30%
        assert bound <= t.sum() + 1.3 * (formula - t.sum()) + 1e-9 * size * problem.n + 1e-280


@pytest.mark.parametrize(("n", "k"), [(12, 3), (30, 15), (30, 27), (60, 6), (100, 20)])
@pytest.mark.parametrize("signed", [False, True])
def test_the_relaxation_equals_a_conic_solver(n, k, signed):
    problem = random_problem(n, k, seed=n + k, signed=signed)
    run = sdp(problem)[1]
    expected = scs_value(problem)
    np.testing.assert_allclose(run.details["relaxation"], expected, rtol=1e-4)
    np.testing.assert_allclose(run.upper_bound, expected, rtol=1e-4)


def test_the_relaxation_equals_an_interior_point_solver():
    problem = random_problem(20, 5, signed=True)
    run = sdp(problem, tolerance=1e-6)[1]
    expected = clarabel_value(problem)
    np.testing.assert_allclose(run.details["relaxation"], expected, rtol=1e-5)
    assert run.upper_bound >= expected * (1 - 1e-7)


def test_real_information_equals_a_conic_solver():
    problem = BQP(load_instance("mi_digits64"), 10)
    np.testing.assert_allclose(sdp(problem)[1].upper_bound, scs_value(problem), rtol=1e-4)


@pytest.mark.parametrize("k", [1, 6, 30, 54, 59])
@pytest.mark.parametrize("signed", [False, True])
def test_the_relaxation_meets_its_bound(k, signed):
    run = sdp(random_problem(60, k, signed=signed), tolerance=1e-5)[1]
    value, bound = run.details["relaxation"], run.upper_bound
    assert value <= bound <= value + 1.1e-5 * abs(value)


def test_large_problems_work_in_single_precision_and_keep_their_promise():
    problem = random_problem(600, 60)
    run = sdp(problem)[1]
    value = run.details["relaxation"]
    assert value <= run.upper_bound <= value * (1 + 1.1e-4)
    sharp = sdp(problem, tolerance=1e-6)[1]  # beyond single precision
    assert value <= sharp.upper_bound <= sharp.details["relaxation"] * (1 + 1.1e-6)


@pytest.mark.parametrize("name", ["MDG-a_1_n500_m50", "GKD-c_1_n500_m50", "airline_usca"])
def test_benchmark_instances_meet_their_bound(name):
    run = sdp(BQP(load_instance(name), 50))[1]
    assert run.upper_bound <= run.details["relaxation"] * (1 + 1.1e-4)


def test_a_constant_added_to_all_pairs_adds_a_constant():
    problem = random_problem(40, 8, signed=True)
    moved = BQP(problem.Q + 1000.0, 8)
    picked, run = sdp(problem)
    again, same = sdp(moved, tolerance=1e-7)
    assert set(picked) == set(again)
    np.testing.assert_allclose(same.details["relaxation"] - 64000, run.details["relaxation"], 1e-3)


def test_equal_seeds_give_equal_answers_and_projections_are_counted():
    problem = random_problem(80, 20)
    first, second = sdp(problem, 3), sdp(problem, 3)
    assert first[0].tolist() == second[0].tolist()
    assert first[1].details == second[1].details
    values = [sdp(problem, 3, projections=m)[1].details["rounded"] for m in (1, 10, 100)]
    assert values == sorted(values)


def wide_information(n, rows=80, seed=0):
    """The paper's objective on few rows of many columns, of which twenty have information."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, n))
    X[:, :20] += np.outer(y, np.linspace(0.2, 1.2, 20))
    return BQP(cmi_matrix((X > 0).astype(int) + (X > 1), y), 20)


@pytest.mark.parametrize("n", [300, 1500])
def test_on_wide_matrices_it_is_within_a_hundredth_of_search(n):
    problem = wide_information(n)
    best = solve(problem, solver="search", random_state=0, bound=None).objective
    found = solve(problem, solver="sdp", random_state=0, bound=None)
    assert found.objective >= 0.99 * best
    assert found.details["rounded"] <= found.objective


def test_the_published_form_has_no_swaps():
    problem = wide_information(1500)
    swapped = solve(problem, solver=SDP(), random_state=0, bound=None)
    published = solve(problem, solver=SDP(swaps=False), random_state=0, bound=None)
    assert published.objective == pytest.approx(swapped.details["rounded"])
    assert published.objective < 0.95 * swapped.objective
    assert published.details["relaxation"] == swapped.details["relaxation"]


def test_a_deadline_is_kept_and_still_gives_a_choice_and_a_valid_bound():
    problem = random_problem(700, 70)
    start = perf_counter()
    picked, run = sdp(problem, tolerance=1e-12, deadline=start + 1.0)
    assert perf_counter() - start < 5.0
    assert len(set(picked.tolist())) == 70
    assert run.upper_bound >= run.details["relaxation"]
    late, nothing = sdp(problem, deadline=start)
    assert len(set(late.tolist())) == 70
    assert nothing.upper_bound == inf


@given(n=st.integers(2, 30), seed=st.integers(0, 1000), data=st.data())
def test_the_start_and_every_retraction_satisfy_the_constraints(n, seed, data):
    k = data.draw(st.integers(1, n - 1))
    spheres, rng = Spheres(n, k, 5), np.random.default_rng(seed)
    V = spheres.start(rng)
    moved = spheres.retract(V + 0.1 * rng.normal(size=V.shape) / n)
    for point in (V, moved):
        if point is not None:
            np.testing.assert_allclose(np.linalg.norm(point, axis=1), 1)
            np.testing.assert_allclose(point.sum(axis=0), [2 * k - n, 0, 0, 0, 0], atol=1e-9 * n)


@given(n=st.integers(3, 20), seed=st.integers(0, 1000), data=st.data())
def test_a_field_is_split_into_what_is_tangent_and_what_is_normal(n, seed, data):
    k = data.draw(st.integers(1, n - 1))
    spheres, rng = Spheres(n, k, 4), np.random.default_rng(seed)
    V = spheres.start(rng)
    field = rng.normal(size=V.shape)
    split = spheres.split(V, field, spheres.normals(V))
    tangent = split.tangent
    normal = split.along[:, None] * V + split.common
    np.testing.assert_allclose(tangent + normal, field, atol=1e-12)
    np.testing.assert_allclose(np.einsum("ij,ij->i", tangent, V), 0, atol=1e-12)
    np.testing.assert_allclose(tangent.sum(axis=0), 0, atol=1e-6 * n)


def test_a_small_tangent_step_is_retracted_by_its_square():
    spheres, rng = Spheres(20, 6, 5), np.random.default_rng(0)
    V = spheres.start(rng)
    tangent = spheres.split(V, rng.normal(size=V.shape), spheres.normals(V)).tangent
    steps = np.array([1e-1, 1e-2, 1e-3])
    moved = [np.linalg.norm(spheres.retract(V + s * tangent) - V - s * tangent) for s in steps]
    np.testing.assert_allclose(moved / steps**2, moved[-1] / steps[-1] ** 2, rtol=0.2)


def test_the_multipliers_add_up_to_the_value_and_a_step_climbs():
    problem = random_problem(40, 9, signed=True)
    relaxation = LowRankFactor(problem, np.random.default_rng(0))
    values = []
    for _ in range(25):
        values.append(relaxation.value)
        np.testing.assert_allclose(relaxation.multipliers.sum(), relaxation.value)
        relaxation.climb(0.0, iterations=relaxation.iterations + 1)
    assert relaxation.iterations == 25
    assert (np.diff(values) >= 0).all()
    lifted_V = np.vstack([np.eye(1, relaxation.V.shape[1]), relaxation.V])
    W, N = lifted(problem)
    np.testing.assert_allclose(np.vdot(lifted_V, W @ lifted_V), relaxation.value)
    np.testing.assert_allclose(N @ lifted_V, 0, atol=1e-8)


def test_the_gradient_is_that_of_the_value():
    relaxation = LowRankFactor(random_problem(15, 4), np.random.default_rng(0))
    V, step = relaxation.V, 1e-6
    direction = np.random.default_rng(1).normal(size=V.shape)
    gradient = relaxation.evaluate(V).gradient
    slope = np.vdot(gradient, direction)
    above, below = (relaxation.evaluate(V + s * direction).value for s in (step, -step))
    np.testing.assert_allclose((above - below) / (2 * step), slope, rtol=1e-6)
