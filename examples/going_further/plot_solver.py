"""
A solver of your own gets a certificate too
===========================================

A solver is a dataclass of the base class :class:`bestk.bqp.Solver` with one method, ``pick``. The
referee, :func:`bestk.solve`, checks what it returns, computes its value, times it and proves a
bound, as for any other. How good is simulated annealing in twenty lines?
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import CAIM, Quadratic, SelectBestK, cmi_matrix, solve
from bestk.bqp import Solver

# %%
# Settings are fields. A solver that can do with columns, and not the whole matrix, sets ``needs``.
# ``run`` holds the randomness, the deadline, and a report that becomes ``details``.


@dataclass(frozen=True)
class Annealing(Solver):
    """Swap two items at random; worse choices are taken while it is warm."""

    steps: int = 4000
    warmth: float = 0.2  # at the start, of the largest entry of Q

    name: ClassVar[str] = "annealing"

    def pick(self, problem, run):
        """Return k items, those that add most first."""
        items = run.rng.permutation(problem.n)  # the first k are in
        k, gains, trace = problem.k, problem.gains(items[: problem.k]), []
        value, best = problem.value(items[:k]), (-np.inf, None)
        for step in range(self.steps):
            i, j = run.rng.integers(0, k), run.rng.integers(k, problem.n)
            out, new = items[i], items[j]
            change = gains[new] - gains[out] - 2 * problem.Q[out, new]
            warmth = self.warmth * problem.Q.max() * (1 - step / self.steps)
            if np.log(run.rng.random()) * warmth < change:
                items[[i, j]] = new, out
                value, gains = value + change, problem.gains(items[:k])
                best = max(best, (value, tuple(items[:k])))
            trace.append(value)
        run.details["trace"] = trace
        return sorted(best[1], key=lambda item: -problem.gains(best[1])[item])


# %%
# Thirty measurements, ten to choose. ``exact`` gives the proved best to compare with.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
Q = cmi_matrix(CAIM().fit_transform(X, y), y, symmetric=True)
best = solve(Q, k=10, solver="exact")
ours = solve(Q, k=10, solver=Annealing(), bound="tight", random_state=0)
ours = replace(ours, names=X.columns)
print(ours)

# %%
# What it told in its report: the value at each step. The dashed line is the proved best.

fig, ax = plt.subplots(layout="constrained")
ax.plot(ours.details["trace"], color="#0072B2", linewidth=0.8)
ax.axhline(best.objective, color="black", linestyle="--", linewidth=1)
ax.set(xlabel="step", ylabel="objective $x^T Q x$", title="warm at first, then cold")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Beside the solvers that come with bestk: what each misses of the best.

others = ("linear", "spectral", "tpower", "lowrank", "forward", "swap")
values = {
    name: solve(Q, k=10, solver=name, bound=None, random_state=0).objective for name in others
}
values["annealing"] = ours.objective
missed = {name: max(0.0, 1 - value / best.objective) for name, value in values.items()}
fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
bars = ax.barh(list(missed), list(missed.values()), color="#56B4E9")
ax.bar_label(bars, [f" {share:.1%}" for share in missed.values()])
bars[-1].set_color("#0072B2")
ax.set(xlabel="missed of the best value", xlim=(0, 1.15 * max(missed.values())))
ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# It goes wherever a solver goes, a selector among them; and a solver that cheats is found out.


@dataclass(frozen=True)
class Stubborn(Solver):
    """The best single item, k times."""

    name: ClassVar[str] = "stubborn"
    needs: ClassVar[str] = "columns"

    def pick(self, problem, run):
        """Return what is not allowed."""
        return np.repeat(problem.diagonal.argmax(), problem.k)


selector = SelectBestK(k=10, method=Quadratic("cmi", Annealing()), random_state=0).fit(X, y)
try:
    solve(Q, k=10, solver=Stubborn())
except RuntimeError as refused:
    print(refused)

# %%
certified = best.objective <= ours.upper_bound
print(f"annealing misses {missed['annealing']:.2%}; its certificate says at most {ours.gap:.2%}")
print("the certificate holds:", certified)
print("the same features in a selector:", set(selector.solution_.support) == set(ours.support))

# %%
# The certificate does not depend on the solver: it holds for a good one and a bad one alike, and
# tells which is which without knowing the best choice.
