"""Other packages on PyPI that estimate mutual information of discrete columns.

Most return the information of one pair and are called in a loop. Those without a conditional
measure get I(xi, xj; y) from the two columns written as one: what a careful user would do.
"""

from typing import Any

import numpy as np

from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job, by_matrix, by_pair
from benchmarks.counting.definition import CMI, JOINT_MI, MI, entropy
from benchmarks.timing import clock

BIT = np.log(2.0)


def merge(x: Any, z: Any) -> Any:
    """Two columns as one."""
    return x * (z.max() + 1) + z


def sklearn_mi() -> Any:
    from sklearn.metrics import mutual_info_score

    return lambda x, z, y: mutual_info_score(x, z)


def sklearn_joint_mi() -> Any:
    from sklearn.metrics import mutual_info_score

    return lambda x, z, y: mutual_info_score(merge(x, z), y)


def pyinform_mi() -> Any:
    from pyinform import mutual_info

    return lambda x, z, y: mutual_info(x, z) * BIT


def pyinform_joint_mi() -> Any:
    from pyinform import mutual_info

    return lambda x, z, y: mutual_info(merge(x, z), y) * BIT


def pyitlib_mi() -> Any:
    from pyitlib.discrete_random_variable import information_mutual

    return lambda x, z, y: float(information_mutual(x, z)) * BIT


def pyitlib_cmi() -> Any:
    from pyitlib.discrete_random_variable import information_mutual_conditional

    return lambda x, z, y: float(information_mutual_conditional(z, y, x)) * BIT


def infomeasure_mi() -> Any:
    from infomeasure import mutual_information

    return lambda x, z, y: mutual_information(x, z, approach="discrete")


def infomeasure_cmi() -> Any:
    from infomeasure import conditional_mutual_information

    return lambda x, z, y: conditional_mutual_information(z, y, cond=x, approach="discrete")


def npeet_cmi() -> Any:
    from npeet_plus import cmidd

    return lambda x, z, y: cmidd(z[:, None], y[:, None], x[:, None]) * BIT


def ennemi_cmi() -> Any:
    from ennemi import estimate_mi

    return lambda x, z, y: float(estimate_mi(y, z, cond=x, discrete_x=True, discrete_y=True)[0, 0])


def dit_cmi() -> Any:
    from dit.inference import distribution_from_data
    from dit.multivariate import coinformation

    def measure(x: Any, z: Any, y: Any) -> float:
        joint = distribution_from_data(np.stack([z, y, x], axis=1), L=1, base="linear")
        return float(coinformation(joint, [[0], [1]], [2])) * BIT

    return measure


def skfeature_cmi() -> Any:
    from skfeature.utility.entropy_estimators import cmidd

    return lambda x, z, y: cmidd(z.tolist(), y.tolist(), x.tolist()) * BIT


def seleqt_mi() -> Any:
    from seleqt.stats import pairwise_mutual_information

    return lambda X, y: pairwise_mutual_information(X) * BIT


def fast_select_joint_mi() -> Any:
    from fast_select.mutual_information import calculate_mi_single_pair

    return lambda x, z, y: calculate_mi_single_pair(merge(x, z), y, backend="cpu", unit="nat")


def fast_select_mi() -> Any:
    from fast_select.mutual_information import calculate_mi_matrices

    return lambda X, y: calculate_mi_matrices(X, y, backend="cpu", unit="nat")[1]


def _classif(case: Case, budget: float) -> Job:
    from sklearn.feature_selection import mutual_info_classif

    def score(n: int) -> Any:
        return mutual_info_classif(case.X[:, :n], case.y, discrete_features=True)

    expected = [entropy(x) + entropy(case.y) - entropy(x, case.y) for x in case.X[:, :5].T]
    error = np.abs(score(5) - expected).max()
    n = int(np.clip(5 * budget / clock(lambda: score(5)), 5, case.n_features))
    return Job(lambda: score(n), n, float(error))


PEERS: tuple[Contender, ...] = (
    by_matrix("fast-select", "fast-select", "peer", MI, fast_select_mi),
    by_matrix("fast-select, F order", "fast-select", "peer", MI, fast_select_mi, order="F"),
    by_pair("fast-select, merged", "fast-select", JOINT_MI, fast_select_joint_mi),
    by_pair("pyinform", "pyinform", MI, pyinform_mi),
    by_pair("pyinform, merged", "pyinform", JOINT_MI, pyinform_joint_mi),
    by_pair("scikit-learn", "scikit-learn", MI, sklearn_mi),
    by_pair("scikit-learn, merged", "scikit-learn", JOINT_MI, sklearn_joint_mi),
    by_pair("infomeasure", "infomeasure", MI, infomeasure_mi),
    by_pair("infomeasure, cond.", "infomeasure", CMI, infomeasure_cmi),
    by_pair("pyitlib", "pyitlib", MI, pyitlib_mi),
    by_pair("pyitlib, cond.", "pyitlib", CMI, pyitlib_cmi),
    by_matrix("seleqt", "seleqt", "peer", MI, seleqt_mi),
    by_pair("scikit-feature, cond.", "skfeature-chappers", CMI, skfeature_cmi),
    by_pair("ennemi, cond.", "ennemi", CMI, ennemi_cmi),
    by_pair("dit, cond.", "dit", CMI, dit_cmi),
    by_pair("npeet-plus, cond.", "npeet-plus", CMI, npeet_cmi),
    Contender("mutual_info_classif", "scikit-learn", "peer", "I(xi; y)", _classif, unit="column"),
)
