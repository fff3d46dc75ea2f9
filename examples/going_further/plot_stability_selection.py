"""
Which of the selected features would be selected again?
=======================================================

Another sample of patients gives other features. :func:`bestk.stability_selection` selects from
fifty random halves of the rows, and counts how often each feature is taken.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import stability_selection
from bestk.evaluation import stability

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = stability_selection(X, y, k=5, n_subsamples=50, random_state=0)
print(found)

# %%
frequent = found.to_frame().head(12)[::-1]
ax = frequent.plot.barh("name", "frequency", legend=False, ylabel="", xlim=(0, 1))
ax.axvline(0.6, color="black", linestyle="--", linewidth=1)
ax.set_title("selected from random halves of the patients")
plt.tight_layout()
plt.show()

# %%
# Features that are noise reach a high frequency only by chance. Meinshausen and Buehlmann (2010)
# bound the expected number of them, for features that are exchangeable if they are noise.

for threshold in (0.6, 0.75, 0.9):
    names = [X.columns[i] for i in found.selected(threshold)]
    bound = found.false_selections(threshold)
    print(f"at {threshold:.0%}: {len(names)} features, at most {bound:.2f} by chance: {names}")

# %%
# A column that has a copy is selected about half as often: the frequency belongs to the column, and
# not to what it measures. The index over all columns shows it, too.

rng = np.random.default_rng(0)
best = X.columns[found.selected(0.0)[0]]
twin = X.assign(twin=X[best] * (1 + 0.001 * rng.normal(size=len(X))))
again = stability_selection(twin, y, k=5, n_subsamples=50, random_state=0)
shares = {name: again.frequencies[list(twin).index(name)] for name in (best, "twin")}
print("with a near copy:", {name: f"{share:.0%}" for name, share in shares.items()})
index = [stability(each.supports, len(each.names)) for each in (found, again)]
print(f"stability index {index[0]:.2f}, with the copy {index[1]:.2f}")
