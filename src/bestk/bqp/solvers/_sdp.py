"""The semidefinite relaxation with its proved bound, rounded by random projections."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.bqp.problem import BQP, best_first, improve, top_k
from bestk.bqp.relaxations.sdp import only_choice, relax
from bestk.bqp.relaxations.spheres import LowRankFactor
from bestk.bqp.solvers._base import Run, Solver
from bestk.native.threads import calm_blas

# Random projections that the relaxation is rounded by.
PROJECTIONS = 100
# Roundings that are improved by swaps. With ten of them the objective was that of ``search`` on
# information matrices of 300 to 7,000 items (benchmarks/results/sdp_width.csv), with one up to 0.8%
# below it; all of them took less than a tenth of a second.
IMPROVED = 10
# Operations, see ``Budget``, of a step of the relaxation, for each number that the product of Q and
# its factor adds up.
OPERATIONS_OF_PRODUCT = 0.15
# The relaxation and its bound may differ by this, relative to its value.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class SDP(Solver):
    """Semidefinite relaxation: rounded by projections, and swaps (Nguyen et al. 2014).

    With y = 2x - 1, z = (1, y) and W = 1/4 [e'Qe, (Qe)'; Qe, Q], the value of x is z'Wz. The
    relaxation replaces zz' by a matrix Z:

        maximise <W, Z>  over  Z psd, diag Z = 1, sum_i Z_0i = 2k - n, sum_ij Y_ij = (2k - n)^2.

    It is solved for Z = VV' with few columns, and its multipliers prove a bound on the optimum of
    the problem, ``Solution.upper_bound``. A projection draws a Gaussian direction g and takes the
    k largest (Vg)_i sign((Vg)_0). The ten best of a hundred such choices, by x'Qx, are improved:
    one item is swapped for another as long as that helps. The best result is the answer.

    The swaps are not part of the published method, which fails on wide matrices. The relaxation
    may choose an item in part, so the more items compete, the more of them share its k places. Each
    then has a small share, and a projection is mostly noise: the value of the best of them,
    ``details["rounded"]``, falls towards that of a random choice.

    Parameters
    ----------
    swaps : bool, default=True
        Whether roundings are improved by swaps. The published method has none.

    X. V. Nguyen, J. Chan, S. Romano, J. Bailey, "Effective global approaches for mutual
    information based feature selection", KDD 2014.

    T. Naghibi, S. Hoffmann, B. Pfister, "A semidefinite programming based search strategy for
    feature selection with mutual information measure", IEEE PAMI 37, 2015.

    Examples
    --------
    >>> run = Run(np.random.default_rng(0))
    >>> problem = BQP([[0.0, 3.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]], k=2)
    >>> SDP().pick(problem, run), round(run.upper_bound, 2)
    (array([0, 1]), 6.0)
    """

    swaps: bool = True

    name: ClassVar[str] = "sdp"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the best rounding, best item first; the bound is stored in the run."""
        if problem.k == problem.n:
            run.upper_bound = only_choice(problem).value
            return best_first(problem, range(problem.n))
        with calm_blas():
            factor = LowRankFactor(problem, run.rng)
            run.upper_bound = relax(factor, TOLERANCE, run.deadline)
            run.spend(OPERATIONS_OF_PRODUCT * factor.iterations * problem.n * factor.V.size)
            choices = _round(problem, factor.V, run.rng)
            run.details["relaxation"] = factor.value
            run.details["iterations"] = factor.iterations
            run.details["rounded"] = problem.value(choices[0])
            if self.swaps:
                improved = [improve(problem, choice, run.deadline) for choice in choices]
                choices = [np.sort(choice) for choice in improved]
            return best_first(problem, max(choices, key=problem.value))


def _round(problem: BQP, V: Floats, rng: np.random.Generator) -> list[Indices]:
    """The best choices among random projections of V, best first; of equals, the first drawn.

    V: the factor of the relaxation, one row for each item; v_0 is the first axis.
    """
    directions = rng.standard_normal((V.shape[1], PROJECTIONS))
    scores = (V @ directions) * np.sign(directions[0])
    choices = [np.sort(top_k(column, problem.k)) for column in scores.T]
    choices.sort(key=problem.value, reverse=True)  # stable
    return choices[:IMPROVED]
