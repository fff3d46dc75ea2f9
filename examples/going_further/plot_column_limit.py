"""
A selection in front of a model that takes few columns
======================================================

Some models take a limited number of columns: kernel machines and Gaussian processes become slow or
lose their way in many dimensions, and some pretrained models of tables refuse more than 100 or 500.
A :class:`bestk.SelectBestK` in front of such a model chooses which columns it sees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from bestk import SelectBestK

LIMIT = 20

# %%
# The table is wide because it was made wide: 30 measurements of cells, their squares and their
# products are 495 columns, most of which repeat each other.

X, y = load_breast_cancer(return_X_y=True)
X = PolynomialFeatures(2, include_bias=False).fit_transform(X)
print(f"{X.shape[0]} rows, {X.shape[1]} columns")


class LimitedSVC(SVC):
    """Support vectors, for at most 20 columns."""

    def fit(self, X, y):
        """Refuse more columns."""
        if X.shape[1] > LIMIT:
            raise ValueError(f"at most {LIMIT} columns, not {X.shape[1]}")
        return super().fit(X, y)


# %%
# The selection belongs in the pipeline, so that each fold selects from its own training rows.

limited = make_pipeline(StandardScaler(), SelectBestK(LIMIT), LimitedSVC())
limited.fit(X, y)
print(f"{limited[1].k_} of {X.shape[1]} columns reach the model")

# %%
# Three ways to choose the columns, and the same model without its limit on all of them:


def at_random(X, y):
    return np.random.default_rng(0).random(X.shape[1])


ways = {
    "bestk": SelectBestK(),
    "SelectKBest(f_classif)": SelectKBest(f_classif),
    "random columns": SelectKBest(at_random),
}
ks, folds = (2, 5, 10, LIMIT), RepeatedStratifiedKFold(n_splits=3, n_repeats=3, random_state=0)
accuracy = {
    name: [
        cross_val_score(
            make_pipeline(StandardScaler(), clone(way).set_params(k=k), LimitedSVC()),
            X,
            y,
            cv=folds,
        ).mean()
        for k in ks
    ]
    for name, way in ways.items()
}
whole = cross_val_score(make_pipeline(StandardScaler(), SVC()), X, y, cv=folds).mean()

# %%
ax = plt.figure(layout="constrained").subplots()
for name, means in accuracy.items():
    ax.plot(ks, means, marker="o", label=name)
ax.axhline(
    whole, color="gray", linestyle="--", label=f"all {X.shape[1]} columns, without the limit"
)
ax.set(xlabel="columns that the model sees", ylabel="accuracy", xticks=ks)
ax.set_title("Breast cancer, products of two measurements")
ax.legend()
plt.show()

# %%
# Ten columns that complement each other are nearly as good as all 495; the ten with the largest F
# statistic are products of the same few measurements.

for name, means in accuracy.items():
    print(f"{name}: {means[ks.index(10)]:.3f} with 10 columns")
print(f"all columns: {whole:.3f}")
