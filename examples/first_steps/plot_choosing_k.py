"""
How many features? It depends on the model
==========================================

Naive Bayes assumes that features are independent within classes, so that redundant ones do not help
it; a linear model can use them. Three ways to choose k: ``k="auto"``, and
:class:`bestk.SelectBestKCV` with either of its rules.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from bestk import SelectBestK, SelectBestKCV

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

# %%
# ``k="auto"`` asks a linear model of its own, tries a few numbers, and takes the smallest whose
# log loss differs from the best by no more than a standard error. It needs no estimator of yours.

auto = SelectBestK(k="auto").fit(X, y)
for k, error in auto.k_errors_.items():
    print(f"{k:3} features: log loss {error:.3f}" + ("  <- chosen" if k == auto.k_ else ""))

# %%
# ``SelectBestKCV`` asks the model that is to be used, for every k. Each fold is counted once and
# selects for all k together. ``rule="one-se"`` is again the smallest number about as good as the
# best; ``rule="best"`` is the best itself.

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
careful = SelectBestKCV(GaussianNB(), cv=folds, rule="one-se", bound=None).fit(X, y)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
results = careful.cv_results_
ax.errorbar(results["k"], results["mean_test_score"], results["std_test_score"], capsize=2)
ax.axvline(careful.best_k_, linestyle="--", label=f"chosen: {careful.best_k_}")
ax.set(xlabel="number of features", title="accuracy of naive Bayes, mean and deviation")
ax.legend()
plt.show()

# %%
scores = dict(zip(results["k"], results["mean_test_score"], strict=True))
best = int(max(scores, key=scores.get))
chosen = {"auto": auto.k_, "one-se": careful.best_k_, "best": best, "all": X.shape[1]}
for rule, k in chosen.items():
    print(f"{rule:7} {k:3} features, accuracy of naive Bayes {scores[k]:.3f}")
print("features of one-se:", ", ".join(careful.get_feature_names_out()))

# %%
# Naive Bayes needs a handful of features, and is worse with all of them. A linear model gains from
# more, so that ``k="auto"`` takes some more. The accuracies of the three differ by less
# than the folds do. Where the model is known, choose k with it.
