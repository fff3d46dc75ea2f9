"""
Columns that belong together: measurements and one-hot variables
================================================================

A laboratory pays for a measurement and not for a column: of each cell nucleus in the breast cancer
table of scikit-learn, ten quantities were measured, and each is in three columns (mean, error and
worst). Which three measurements are the best together?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from bestk import SelectBestK

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
quantity = [name.replace("mean ", "").replace("worst ", "").replace(" error", "") for name in X]
print(sorted(set(quantity)))

# %%
# A label for each column makes the groups; ``k`` counts groups. As a quadratic problem a group is
# one item: rows and columns of the matrix are added up within it, and the solver is the same.

groups = SelectBestK(k=3, column_groups=quantity).fit(X, y)
columns = SelectBestK(k=3).fit(X, y)
measured = {name: quantity[list(X).index(name)] for name in columns.get_feature_names_out()}
print("three measurements:", sorted({quantity[i] for i in groups.solution_.support}))
print("three columns:", measured)


# %%
def score(selector):
    model = make_pipeline(selector, StandardScaler(), LogisticRegression())
    return cross_val_score(model, X, y, cv=5, scoring="roc_auc").mean()


ks = [1, 2, 3, 4, 5]
by_groups = [score(SelectBestK(k=k, column_groups=quantity)) for k in ks]
by_columns = [score(SelectBestK(k=k)) for k in ks]
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(ks, by_groups, "o-", label="k measurements, three columns each")
ax.plot(ks, by_columns, "s--", label="k columns")
ax.set(xlabel="k", ylabel="area under the ROC curve", xticks=ks)
ax.legend()
plt.show()

# %%
# One-hot encoded variables are groups by their names: ``column_groups="_"`` joins the columns
# whose names agree up to the last underscore. ``k_counts="columns"`` limits the number of columns
# instead.

wine, vine = load_wine(return_X_y=True, as_frame=True)
encoder = KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
hot = encoder.set_output(transform="pandas").fit_transform(wine)
parts = SelectBestK(k=8).fit(hot, vine)
whole = SelectBestK(k=8, column_groups="_", k_counts="columns").fit(hot, vine)
for name, selector in (("without groups", parts), ("with groups", whole)):
    variables = [each.rpartition("_")[0] for each in selector.get_feature_names_out()]
    print(f"{name}: {len(variables)} columns of {len(set(variables))} variables")
sizes = np.unique([name.rpartition("_")[0] for name in whole.get_feature_names_out()],
                  return_counts=True)[1]  # fmt: skip
