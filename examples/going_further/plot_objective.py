"""
An objective of your own: features that cost money
==================================================

Age and sex are asked for, weight and blood pressure are measured on the spot, blood goes to a
laboratory. What is lost if cheap features are preferred? The objective is a class of ten lines,
and solvers, proofs and selectors work with it as with any other.
"""

from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestk import Quadratic, SelectBestK
from bestk.methods.quadratic import Balanced

X, y = load_diabetes(return_X_y=True, as_frame=True)
price = {"age": 0, "sex": 0, "bmi": 1, "bp": 1}
prices = np.array([price.get(name, 5) for name in X.columns])  # six serum values: 5 each

# %%
# An objective says what features and pairs are worth, in nats. This one is
# :class:`~bestk.methods.quadratic.Balanced` (relevance minus redundancy, plus
# synergy), minus a price for each feature. To change the weights of pairs alone, a class attribute
# ``measure`` is enough; see :mod:`bestk.methods.quadratic`.


@dataclass(frozen=True)
class Priced(Balanced):
    """The objective ``balanced``, less what each feature costs."""

    costs: tuple[float, ...] = ()  # nats, one for each feature

    def pairs(self, entropies):
        """What pairs and features are worth."""
        pairs = super().pairs(entropies)
        return replace(pairs, relevance=pairs.relevance - np.array(self.costs))


def selector(nats):
    """Four features, each unit of price being worth so many nats; proved the best."""
    method = Quadratic(Priced(costs=tuple(nats * prices)), "exact")
    return SelectBestK(k=4, method=method, information="gaussian", target="continuous")


# %%
# The more a unit of price counts, the cheaper the four features. The score is that of ridge
# regression in ten folds, features selected inside each.

model = make_pipeline(StandardScaler(), Ridge())
folds = KFold(10, shuffle=True, random_state=0)
rows = {}
for nats in (0.0, 0.005, 0.01, 0.02):
    fitted = selector(nats).fit(X, y)
    names = tuple(fitted.get_feature_names_out())
    score = cross_val_score(make_pipeline(selector(nats), model), X, y, cv=folds).mean()
    rows[nats] = (names, int(prices[fitted.support_].sum()), score, fitted.solution_.gap)
    print(f"{nats:.3f} nats a unit: {', '.join(names)}; price {rows[nats][1]}, R2 {score:.3f}")

# %%
fig, ax = plt.subplots(layout="constrained")
spent, scores = (np.array([row[i] for row in rows.values()]) for i in (1, 2))
ax.plot(spent, scores, "o-", color="#0072B2")
for names, cost, score, _ in rows.values():
    ax.annotate(", ".join(names), (cost, score), (6, -18), textcoords="offset points")
ax.set(xlabel="price of the four features", ylabel="$R^2$ in ten folds", xlim=(0, 16))
ax.margins(y=0.2)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
dear, cheap = rows[0.0], rows[0.02]
proved = max(row[3] for row in rows.values())
print(f"price {dear[1]} -> {cheap[1]}, R2 {dear[2]:.3f} -> {cheap[2]:.3f}")
print(f"largest gap of all selections: {proved:.1e}")

# %%
# One blood value is worth its money, a second one is not: without any the model loses a good part
# of what it explains, and with one it explains as much as with two. All of these choices are
# proved: no other four are worth more at these prices.
