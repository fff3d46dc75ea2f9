"""
The certificate: how far an answer can be from the best one
===========================================================

There are millions of ways to choose ten features among thirty, and a solver that returns one of
them may have missed the best. How does one know by how much? By an upper bound: a number that no
choice exceeds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import BQP, CAIM, cmi_matrix, solve, upper_bound

X, y = load_breast_cancer(return_X_y=True)
Q = cmi_matrix(CAIM().fit_transform(X, y), y, symmetric=True)

# %%
# Every solution comes with its bound, and the ``gap`` between the two.

fast = solve(Q, k=5, solver="tpower")
print(fast)

# %%
# The gap has two parts: what the solver missed, and what the bound is too high. More work takes
# off either of them. ``bound="tight"`` lowers the bound; a better solver raises the answer;
# ``exact`` closes the gap.

print(solve(Q, k=5, solver="tpower", bound="tight"))
print(solve(Q, k=5, solver="exact"))

# %%
# For many k: what TPower's choice misses of the best, which ``exact`` proves, and what is known of
# it without that, from a fast bound and from a tight one.

ks = [2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 25]
found, best, loose, tight = np.array(
    [
        (
            solve(Q, k, "tpower", bound=None).objective,
            solve(Q, k, "exact").objective,
            upper_bound(BQP(Q, k), "fast"),
            upper_bound(BQP(Q, k), "tight"),
        )
        for k in ks
    ]
).T
fig, ax = plt.subplots(layout="constrained")
lines = {"fast bound": (loose, "#E69F00"), "tight bound": (tight, "#56B4E9")}
for name, (bounds, colour) in lines.items():
    ax.plot(ks, bounds / found - 1, "o-", color=colour, label=f"gap by the {name}")
ax.plot(ks, best / found - 1, "--", color="black", label="what TPower misses")
ax.set(xlabel="k", ylabel="share of TPower's value", title="proved gap, and true distance", ylim=0)
ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# The tight bound lies on what is true, or nearly; the fast one, which takes a moment, is
# some way above it. A large gap thus means one of two things, and a small one is a proof.

# %%
missed, excess = best / found - 1, tight / best - 1
print(f"TPower misses up to {missed.max():.1%} of its value, at k = {ks[missed.argmax()]}")
print(f"the tight bound is at most {excess.max():.2%} above the best")

# %%
# The answer is there at once, and the time goes into the proof. Ask for as much of it as you need:
# none inside a grid search, the fast one by default, the tight one before you publish.
