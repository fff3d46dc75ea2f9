"""
A number to predict: nothing needs to be cut into levels
========================================================

Ten measurements of patients, and how far their diabetes went within a year: a number, not a
class. Which measurements foretell it? The default takes the numbers as they are. Methods that count
need levels, of the measurements and of the target.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import SelectBestK, error_curves, plots

X, y = load_diabetes(return_X_y=True, as_frame=True)

# %%
# This target is a whole number for each patient, which could as well be a class:
# ``target="continuous"`` says that it is not.

selector = SelectBestK(k=5, target="continuous").fit(X, y)
print(selector.solution_.to_frame().drop(columns="item").round(3))

# %%
# The framed cells are the information of each measurement alone; the others that of the column once
# the row is known.

plots.plot_pairs(selector)
plt.show()

# %%
# Against counts: greedy mRMR cuts measurements and target into levels. The same folds, ridge
# regression on what each selects.

ks = range(1, 11)
model = make_pipeline(StandardScaler(), Ridge())
folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
curves = error_curves(
    X, y, ["auto", "mrmr"], ks, estimator=model, cv=folds, target="continuous", bound=None
)
shares = {name: errors / np.var(y) for name, errors in curves.mean_error().items()}

fig, ax = plt.subplots(layout="constrained")
for (name, line), colour in zip(shares.items(), ("#0072B2", "#E69F00"), strict=True):
    ax.plot(ks, line, "o-", color=colour, label=name)
ax.set(xlabel="measurements", ylabel="error, share of the variance", xticks=ks)
ax.set_yticks([0.5, 0.55, 0.6, 0.65, 0.7])
ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(title="method", frameon=False)
plt.show()

# %%
better = [k for k, a, b in zip(ks, *shares.values(), strict=True) if a < b - 1e-9]
worse = [k for k, a, b in zip(ks, *shares.values(), strict=True) if a > b + 1e-9]
print("the default predicts better with", better, "measurements, worse with", worse)

print(f"five leave {shares['auto'][4]:.1%} of the variance, all {shares['auto'][-1]:.1%}")

# %%
# Half of the measurements predict nearly as well as all. From six on, the numbers taken as they
# are did better than their levels; of fewer, levels chose as well or better. It is one small table
# and a linear model.
