"""
Strings, categories and gaps need no preparation
================================================

Customers of a telephone company, and who left: words, categories, yes and no, numbers, and gaps.
What has to be done before features can be selected? Nothing, in pandas or in polars; but columns
of many different words want a correction.

The customers are made up, so that it is known which columns matter.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl

from bestk import SelectBestK, mutual_information

rng = np.random.default_rng(0)
n = 1500
contract = rng.choice(["monthly", "one year", "two years"], n, p=[0.5, 0.3, 0.2])
months, calls, age = rng.exponential(24, n), rng.poisson(1.5, n), rng.normal(45, 15, n)
fibre = rng.random(n) < 0.4
pull = 1.2 * (contract == "monthly") - 0.03 * months + 0.5 * calls + 0.8 * fibre - 1
left = rng.random(n) < 1 / (1 + np.exp(-pull))
income = np.where(rng.random(n) < np.where(left, 0.35, 0.1), np.nan, rng.lognormal(10, 0.4, n))

# %%
# Those who leave are less willing to tell their income: the gap itself says something. The street
# says nothing, but has hundreds of names.

customers = pd.DataFrame(
    {
        "contract": contract,
        "payment": pd.Categorical(rng.choice(["card", "bank", "cash"], n)),
        "months": months,
        "calls": calls,
        "fibre": fibre,
        "age": age,
        "income": income,
        "street": [f"street {number}" for number in rng.integers(0, 400, n)],
        "colour": rng.choice(["red", "blue", None], n),
    }
)
customers.head(4)

# %%
# As it is:

selector = SelectBestK(k=5).fit(customers, left)
names = selector.get_feature_names_out().tolist()
print(names)

# %%
# The same table in polars gives the same features, and what comes out is a polars frame again.

in_polars = pl.from_pandas(customers)
twin = SelectBestK(k=5).set_output(transform="polars").fit(in_polars, left)
twin.transform(in_polars).head(3)

# %%
# The default corrects information for chance. Methods that only count, such as ``maxrel``, do not
# unless told to: with a few customers to a street, the street seems to know who left.

plain = SelectBestK(k=5, method="maxrel").fit(customers, left)
corrected = SelectBestK(k=5, method="maxrel", correction="chance").fit(customers, left)
order = np.argsort(plain.scores_)
rows = np.arange(len(order))
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.barh(rows + 0.2, plain.scores_[order], 0.4, color="#56B4E9", label="counted")
ax.barh(rows - 0.2, corrected.scores_[order], 0.4, color="#0072B2", label="less what chance gives")
ax.set(yticks=rows, yticklabels=customers.columns[order], xlabel="information about leaving, nats")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
gap = mutual_information(customers[["income"]].isna(), left)[0]
whole = corrected.scores_[customers.columns.get_loc("income")]
print("the same features in polars:", twin.get_feature_names_out().tolist() == names)
print("street among five by plain counts:", "street" in plain.get_feature_names_out())
print("street among five once corrected:", "street" in corrected.get_feature_names_out())
print(f"income says {whole:.3f} nats; that it is missing, {gap:.3f}")

# %%
# Words, categories and gaps go in as they are. Where a column has many levels, use the default or
# ``correction="chance"``: a plain count takes the street for the best column of all.
