"""
Rows that stand for more people than others
===========================================

A sample is often not like the population. In the breast cancer table 37 percent of the tumors are
malignant; where women with a lump are examined, it may be one in ten. With ``sample_weight`` each
row counts as much as it should, and the information is that in the population.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import SelectBestK

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0
share = np.where(malignant, 0.1 / malignant.mean(), 0.9 / (1 - malignant.mean()))
weighted_share = np.average(malignant, weights=share)
print(f"malignant: {malignant.mean():.0%} of the rows, {weighted_share:.0%} with weights")

# %%
# Rows of different weights say less than as many rows that count alike: as much as
# ``(sum w)^2 / sum w^2`` of them. What chance can explain is that of so many rows.

effective = share.sum() ** 2 / (share**2).sum()
print(f"{len(y)} rows, as many as {effective:.0f} that count alike")

as_sampled = SelectBestK(5).fit(X, y)
as_population = SelectBestK(5).fit(X, y, sample_weight=share)
for name, selector in (("as sampled", as_sampled), ("as in the population", as_population)):
    print(f"{name}: {', '.join(selector.get_feature_names_out())}")

# %%
# Only the ratios of weights count: a constant factor changes nothing, to the last bit.

in_thousands = SelectBestK(5).fit(X, y, sample_weight=1000 * share)
print("the same scores:", np.array_equal(in_thousands.scores_, as_population.scores_))

# %%
# In the population there is less to know about the rarer class, and every column tells less.

order = np.argsort(-as_sampled.scores_)[:12]
ax = plt.figure(layout="constrained").subplots()
for shift, (name, selector) in enumerate(
    {"as sampled": as_sampled, "as in the population": as_population}.items()
):
    ax.barh(np.arange(12) + 0.4 * shift, selector.scores_[order], 0.4, label=name)
ax.set_yticks(np.arange(12) + 0.2, X.columns[order])
ax.invert_yaxis()
ax.set_xlabel("information about the diagnosis (nats)")
ax.legend()
plt.show()
