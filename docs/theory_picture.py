"""The picture of the page of theory: ``python -m docs.theory_picture``.

For every k of two small matrices: what the appendix of the paper promises, what Linear and TPower
find, and the upper bounds, all over the optimum.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine

from benchmarks.pictures import pyplot, save
from bestk import BQP, CAIM, cmi_matrix, solve, upper_bound
from bestk.bqp.bounds import BOUNDS

Floats = NDArray[np.float64]
FILE = Path(__file__).with_name("pictures") / "theory.png"
SOLVERS = ("linear", "tpower")
LOOKS = {
    "appendix": ("#b2182b", "-", "appendix: 2 optimum - sum of Q"),
    "linear found": ("#ef8a62", "-", "Linear finds"),
    "tpower found": ("#1b7837", "-", "TPower finds"),
    "linear": ("#ef8a62", "--", "bound: linear (LP2)"),
    "rows": ("#2166ac", "--", "bound: rows"),
    "sdp": ("#67a9cf", ":", "bound: sdp"),
    "dnn": ("#000000", ":", "bound: dnn"),
}


def over_the_optimum(Q: Floats, k: int) -> dict[str, float]:
    """Every guarantee, answer and bound, as a multiple of the best value."""
    problem = BQP(Q, k)
    best = solve(problem, solver="exact").objective
    values = {"appendix": 2 * best - problem.Q.sum()}
    for name in SOLVERS:
        values[f"{name} found"] = solve(problem, solver=name, bound=None).objective
    values |= {name: upper_bound(problem, name) for name in BOUNDS}
    return {name: value / best for name, value in values.items()}


def matrices() -> dict[str, Floats]:
    """At random, as in the paper's simulation, and of information."""
    A = np.random.default_rng(0).random((20, 20))
    X, y = load_wine(return_X_y=True)
    return {
        "random, n = 20": (A + A.T) / 2,
        "wine, n = 13": cmi_matrix(CAIM().fit_transform(X, y), y, symmetric=True),
    }


def draw() -> Any:
    """Both matrices side by side."""
    figure, axes = pyplot().subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    for axis, (title, Q) in zip(axes, matrices().items(), strict=True):
        ks = range(1, len(Q))
        lines = [over_the_optimum(Q, k) for k in ks]
        for name, (colour, style, label) in LOOKS.items():
            axis.plot(ks, [line[name] for line in lines], style, color=colour, label=label)
        axis.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
        axis.set(title=title, xlabel="k", ylim=(0, 2.5), xlim=(1, len(Q) - 1))
        axis.xaxis.get_major_locator().set_params(integer=True)
    axes[0].set_ylabel("multiple of the optimum")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    save(draw(), FILE)
