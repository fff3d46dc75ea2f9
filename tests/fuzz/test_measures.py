"""Information as its definition says, and as the slow twin counts it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestk import Entropies, cmi_matrix, encode, joint_mi_matrix, mutual_information
from bestk.tables.target import read_classes

from ..information.conftest import brute_cmi_matrix
from .law import REFUSED, attempt, budget
from .oddities import odd_scalars
from .tables import DISCRETE, classes, plains

SQUARE = {"joint": joint_mi_matrix, "cmi": cmi_matrix}


@st.composite
def discrete(draw, **options):
    plain = draw(plains(kinds=DISCRETE, min_rows=2, **options))
    return plain, draw(classes(plain.m))


@budget(0.5)
@given(table=discrete())
def test_information_is_what_its_definition_says(table):
    plain, y = table
    codes = encode(plain.objects).values.T
    Q = attempt(cmi_matrix, plain.objects, y)
    assert (Q is REFUSED) == (len(np.unique(y)) < 2)
    if Q is not REFUSED:
        np.testing.assert_allclose(Q, brute_cmi_matrix(codes, y), atol=1e-12)


@budget(0.5)
@given(table=discrete(), correction=st.sampled_from([None, "miller-madow", "chance"]),
       symmetric=st.booleans(), dtype=st.sampled_from(["f4", "f8"]))  # fmt: skip
def test_the_fast_way_counts_as_the_slow_one(table, correction, symmetric, dtype):
    plain, y = table
    options = {"correction": correction, "symmetric": symmetric, "dtype": dtype}
    fast = attempt(cmi_matrix, plain.objects, y, backend="native", **options)
    slow = attempt(cmi_matrix, plain.objects, y, backend="numpy", **options)
    assert (fast is REFUSED) == (slow is REFUSED)
    if fast is not REFUSED:
        np.testing.assert_allclose(fast, slow, atol=1e-6 if dtype == "f4" else 1e-12)


@budget(0.5)
@given(table=discrete(), rows=st.lists(st.integers(-1, 4), max_size=3))
def test_a_part_of_a_matrix_is_a_part_of_it(table, rows):
    plain, y = table
    entropies = attempt(Entropies.count, encode(plain.objects), read_classes(y, plain.m))
    found = attempt(entropies.cmi, rows=rows)
    assert (found is REFUSED) == any(not 0 <= row < plain.n for row in rows)
    if found is not REFUSED:
        np.testing.assert_array_equal(found, entropies.cmi()[rows])


@budget(1)
@given(
    name=st.sampled_from(["information", "target", "correction", "backend", "n_jobs", "dtype",
                          "symmetric"]),
    value=odd_scalars(),
    measure=st.sampled_from(sorted(SQUARE)),
)  # fmt: skip
def test_an_odd_option_of_a_measure_is_taken_or_refused_with_advice(name, value, measure):
    options = {name: value} if measure == "cmi" or name != "symmetric" else {}
    Q = attempt(SQUARE[measure], [[0, 1], [1, 0], [1, 1], [0, 1]], [0, 1, 0, 1], **options)
    assert Q is REFUSED or np.isfinite(Q).all()


@budget(0.5)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-300, 1.0, 1e150, 1e300]),
       gaps=st.booleans(), continuous=st.booleans())  # fmt: skip
def test_gaussian_information_does_not_depend_on_the_unit(seed, scale, gaps, continuous):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 3))
    y = X[:, 0] + rng.normal(size=15) if continuous else rng.permutation(np.arange(15) % 3)
    X[rng.random(X.shape) < 0.2 * gaps] = np.nan
    found = attempt(mutual_information, X * scale, y, information="gaussian")
    wanted = attempt(mutual_information, X, y, information="gaussian")
    np.testing.assert_allclose(found, wanted, atol=1e-9)
