"""
In a grid search the number of features matters more than the method
=====================================================================

A selector is a step of a pipeline like any other. Which method, and how many features? A grid
search tries all of them, and the features are chosen anew in each of its folds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import Quadratic, SelectBestK

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# %%
# A method is a name, or an objective and a solver of your choice. ``bound=None`` leaves the proof
# out, which a search has no use for.

pipeline = Pipeline(
    [
        ("select", SelectBestK(bound=None)),
        ("scale", StandardScaler()),
        ("model", LogisticRegression()),
    ]
)
methods = {
    "auto": "auto",
    "maxrel": "maxrel",
    "mrmr": "mrmr",
    "jmi": "jmi",
    "exact": "exact",
    "mrmr, exact": Quadratic("mrmr", "exact"),
}
ks = [1, 2, 3, 5, 8, 12, 20]
grid = {"select__k": ks, "select__method": list(methods.values())}
search = GridSearchCV(pipeline, grid, cv=5).fit(X, y)
print("best:", search.best_params_)

# %%
# All scores at a glance: a row for each method, a column for each number of features.

scores = search.cv_results_["mean_test_score"].reshape(len(ks), len(methods)).T
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
image = ax.imshow(scores, cmap="viridis", aspect="auto")
middle = (scores.min() + scores.max()) / 2
for (row, column), score in np.ndenumerate(scores):
    ink = "black" if score > middle else "white"
    ax.text(column, row, f"{score:.3f}", ha="center", va="center", color=ink, fontsize=9)
row, column = np.unravel_index(scores.argmax(), scores.shape)
ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, color="#D55E00", lw=2.5))
ax.set(xticks=range(len(ks)), xticklabels=ks, yticks=range(len(methods)), yticklabels=methods)
ax.set(xlabel="features", title="accuracy in five folds; framed: the best")
ax.spines[:].set_visible(False)
fig.colorbar(image, ax=ax).outline.set_visible(False)
plt.show()

# %%
# The best of many scores is a little too good. Rows that no search has seen tell how much:

held_out = search.score(X_test, y_test)
plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y).score(X_test, y_test)
of_methods, of_numbers = np.ptp(scores, axis=0), np.ptp(scores, axis=1)
print(f"accuracy in the search {search.best_score_:.3f}, on rows held out {held_out:.3f}")
print(f"all {X.shape[1]} features, on rows held out {plain:.3f}")
print(f"from the best method to the worst: {100 * of_methods.mean():.1f} points on average")
print(f"from the best number to the worst: {100 * of_numbers.mean():.1f} points on average")

# %%
# A few features already predict well, more of them slowly better, and the methods differ little
# where there are most features. On rows held out the winner does no better than all features: what
# is gained here is a shorter list. A grid pays for the same counting again and again; where only k
# is sought, :class:`bestk.SelectBestKCV` counts once for all k.
