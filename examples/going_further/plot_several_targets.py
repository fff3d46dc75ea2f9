"""
Several targets: no digit left behind
=====================================

Which pixels tell the ten digits apart, each from the rest? That is one table with ten targets. The
pixels with the largest sum of information serve the digits that are easy to tell; the digit that is
hardest to tell may get none. ``multioutput="min"`` maximizes the smallest objective instead.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

from bestk import SelectBestK

X, digit = load_digits(return_X_y=True, as_frame=True)
Y = np.eye(10, dtype=int)[digit]  # one column for each digit
print(f"{X.shape[0]} images of {X.shape[1]} pixels, {Y.shape[1]} targets")

# %%
# Six pixels for all digits, by the objective of Venkateswara et al. (2015). Each is a quadratic
# problem, and a weighted sum of them is one too: the bound of the sum for any weights, which add up
# to one, is a bound on the smallest objective. The weights that give the lowest bound are searched.

k = 6
selectors = {
    how: SelectBestK(k, "search", multioutput=how, random_state=0).fit(X, Y)
    for how in ("sum", "min")
}
for how, selector in selectors.items():
    print(f"{how}: {sorted(selector.get_feature_names_out())}, {selector.solution_.quality}")


# %%
# The area under the ROC curve of each digit against the others, cross-validated, shows who gains.
def areas(columns):
    Z = X.to_numpy()[:, columns] / 16
    found = []
    for target in Y.T:
        model = LogisticRegression(max_iter=1000)
        p = cross_val_predict(model, Z, target, cv=5, method="predict_proba")[:, 1]
        found.append(roc_auc_score(target, p))
    return np.array(found)


aucs = {how: areas(selector.support_) for how, selector in selectors.items()}
for how, values in aucs.items():
    print(f"{how}: mean {values.mean():.3f}, worst {values.min():.3f} (digit {values.argmin()})")

# %%
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (how, values), marker in zip(aucs.items(), "os", strict=True):
    ax.plot(values, marker, label=f'multioutput="{how}"')
ax.set(xlabel="digit against the rest", ylabel="area under the ROC curve", xticks=range(10))
ax.legend()
plt.show()

# %%
# ``multioutput="union"`` selects for each target by itself. Two pixels for each of ten digits are
# fewer than twenty, because digits share pixels; ``supports`` has those of each.

union = SelectBestK(2, multioutput="union").fit(X, Y)
print(f"{union.k_} pixels; digit 0: {union.solution_.details['supports'][0]}")
