"""The semidefinite relaxation with its proved bound, rounded by random projections."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bestk._typing import Floats, Indices
from bestk.native.threads import calm_blas
from bestk.problem.problem import BQP, best_first, top_k
from bestk.relaxations.sdp import only_choice, relax
from bestk.relaxations.spheres import LowRankFactor
from bestk.solvers._base import Needs, Run

PROJECTIONS = 100
# Operations, see ``Budget``, of a step of the relaxation, for each number that the product of Q and
# its factor adds up.
OPERATIONS_OF_PRODUCT = 0.15
TOLERANCE = 1e-4  # of the distance between the relaxation and its bound, relative to its value


@dataclass(frozen=True)
class SDP:
    """Semidefinite relaxation: rounded by random projections (Nguyen et al. 2014).

    With y = 2x - 1, z = (1, y) and W = 1/4 [e'Qe, (Qe)'; Qe, Q], the value of x is z'Wz. The
    relaxation replaces zz' by a matrix Z:

        maximise <W, Z>  over  Z psd, diag Z = 1, sum_i Z_0i = 2k - n, sum_ij Y_ij = (2k - n)^2.

    It is solved for Z = VV' with few columns, and its multipliers prove a bound on the optimum of
    the problem, ``Solution.upper_bound``. A projection draws a Gaussian direction g and takes the
    k largest (Vg)_i sign((Vg)_0); the best of them by x'Qx is the answer.

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

    name: ClassVar[str] = "sdp"
    needs: ClassVar[Needs] = "matrix"

    def pick(self, problem: BQP, run: Run) -> Indices:
        """Return the best rounding, best item first; the bound is stored in the run."""
        if problem.k == problem.n:
            run.upper_bound = only_choice(problem).value
            return best_first(problem, range(problem.n))
        with calm_blas():
            factor = LowRankFactor(problem, run.rng)
            run.upper_bound = relax(factor, TOLERANCE, run.deadline)
            run.spend(OPERATIONS_OF_PRODUCT * factor.iterations * problem.n * factor.V.size)
            run.details.update(relaxation=factor.value, iterations=factor.iterations)
            return best_first(problem, self._round(problem, factor.V, run.rng))

    def _round(self, problem: BQP, V: Floats, rng: np.random.Generator) -> Indices:
        """The best choice among the projections of V; the first of equals."""
        drawn = rng.standard_normal((V.shape[1], PROJECTIONS))
        scores = (V @ drawn) * np.sign(drawn[0])  # v_0 is the first axis
        return max((np.sort(top_k(column, problem.k)) for column in scores.T), key=problem.value)
