"""
A report for those who were not there
=====================================

A selection is a list of names. Whoever is to act on it asks more: how well do they predict, would
other rows give the same names, is the number right, is anything wrong with the table? A report
answers in one HTML file.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from bestk import SelectBestK
from bestk.report import make_report

X, y = load_wine(return_X_y=True, as_frame=True)
print(f"{X.shape[0]} wines of {y.nunique()} growers, {X.shape[1]} measurements")

# %%
# Real tables have flaws. This one gets one: the number of the shelf, which was written down when
# the grower was known. ``fit`` warns of it, and the report repeats the warning.

shelf = 10 * y + np.random.default_rng(0).integers(0, 3, len(y))
flawed = X.assign(shelf=shelf)
with warnings.catch_warnings(action="ignore"):
    leaking = SelectBestK(k=4).fit(flawed, y)
report = make_report(leaking, flawed, y, target="grower", errors=False, stability=0)
cautions = report.facts.cautions
for caution in cautions:
    print(f"{caution.kind}: {caution.text}")

# %%
# Without that column, the report has scores in cross-validation, how often each measurement is
# selected from random halves of the wines, and what other methods select. With
# ``report.save("report.html")`` it is written to a file; on the command line it is
# ``bestk report wine.csv --target grower -o report.html``. A notebook, like this page, shows it:

selector = SelectBestK(k=4).fit(X, y)
report = make_report(selector, X, y, target="grower", stability=50)
report  # noqa: B018

# %%
# All that it shows is in ``report.facts``, for charts of your own. The frequencies are those of
# :func:`bestk.stability_selection`.

frequent = report.facts.stability.to_frame().head(10)
frequent[::-1].plot.barh("name", "frequency", legend=False, xlabel="frequency", ylabel="")
plt.tight_layout()
plt.show()
