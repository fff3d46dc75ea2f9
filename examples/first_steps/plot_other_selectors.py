"""
Other selectors and other scores on the same folds
==================================================

Is a joint selection better than ``SelectKBest``, ``RFE`` or the importances of a forest, on my
table and by the score that I report? :func:`bestk.error_curves` takes all of them, and any scorer,
splitter and estimator of scikit-learn.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import SelectBestKCV, error_curves, plots

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), LogisticRegression())

# %%
# A name is a method of bestk. A selector of scikit-learn is fitted anew for every k, on the
# training rows of each fold; a ranking (columns best first) or a function of X, y and k would
# do as well.

methods = {
    "auto": "auto",
    "SelectKBest": SelectKBest(),
    "RFE": RFE(LogisticRegression(max_iter=10_000), step=0.2),
    "forest": SelectFromModel(RandomForestClassifier(50, random_state=0), max_features=1),
}
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
ks = [2, 4, 8]
curves = error_curves(
    X, y, methods, ks, estimator=model, scoring="roc_auc", cv=folds, random_state=0
)
print(curves)

# %%
# The scores are those of scikit-learn's ``cross_val_score`` on a pipeline of selector and model.

ax = plots.plot_error_curves(curves)
ax.set_title("area under the ROC curve, logistic regression")
plt.show()

# %%
# A paired t-test over the folds, for each k: a small p-value is in favour of the first.

for other in ("SelectKBest", "RFE", "forest"):
    print(f"auto against {other}: p = {curves.p_values('auto', other, overlap=1 / 4).round(3)}")

# %%
# :class:`bestk.SelectBestKCV` chooses k by the same score, and predicts like ``RFECV``.

chosen = SelectBestKCV(model, ks=range(1, 11), cv=5, scoring="roc_auc", rule="one-se").fit(X, y)
print(f"{chosen.best_k_} features; the first patients: {chosen.predict(X[:5])}")
