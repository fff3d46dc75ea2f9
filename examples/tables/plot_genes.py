"""
Genes chosen before the folds make the error look too small
===========================================================

A table of gene expression has few tissues and thousands of genes, so that some genes fit the
labels by chance. Does it matter whether they are chosen before cross-validation or inside it?

The table is colon cancer of Alon and others (PNAS 1999), through ``experiments.datasets.load``.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from bestk import error_curves, plots, select
from experiments import datasets

colon = datasets.load("colon")
n_genes, n_tissues, _ = colon.shape
print(f"{n_tissues} tissues, {n_genes} genes; tumours: {np.mean(colon.y == 1):.0%}")

# %%
# The same folds and linear SVM, twice. First each fold chooses its genes from its training tissues
# alone. Then they are chosen once, from all tissues, those of the test among them.

folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
ks = [2, 5, 10, 20, 50]


def errors_of(methods):
    return error_curves(colon.X, colon.y, methods, ks, cv=folds, bound=None, random_state=0)


chosen = {k: select(colon.X, colon.y, k, bound=None, random_state=0).support for k in ks}
inside = errors_of(["auto", "maxrel"])
before = errors_of({"auto": lambda X, y, k: chosen[k]})
honest, too_good = inside.mean_error()["auto"], before.mean_error()["auto"]
for k, a, b in zip(ks, honest, too_good, strict=True):
    print(f"{k:3} genes: error {a:.1%} chosen inside the folds, {b:.1%} chosen before")

# %%
rows = [replace(row, method="... inside") for row in inside.rows if row.method == "auto"]
rows += [replace(row, method="... before") for row in before.rows]
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
plots.plot_error_curves(replace(inside, rows=tuple(rows)), ax=ax)
ax.set_title("error of a linear SVM on genes chosen ... the folds")
plt.show()

# %%
# The lower curve is no better classifier: it has seen the answers of the tissues it is tested on.
#
# Are the genes at least the same in every fold? Stability is 1 if they are, and 0 if they might
# as well be drawn at random. ``maxrel`` ranks genes one at a time; ``auto``, the default, chooses
# them together.

fig, ax = plt.subplots(layout="constrained")
for name, found in inside.stability().items():
    ax.plot(inside.ks, found, label=name)
ax.set(xlabel="number of genes", ylabel="stability", title="few tissues: other folds, other genes")
ax.legend()
plt.show()

# %%
single, together = (np.array(inside.stability()[name]) for name in ("maxrel", "auto"))
better = int(np.sum(inside.mean_error()["maxrel"] < honest))
leak = float(np.mean(honest - too_good))
print(f"choosing before the folds hides {100 * leak:.1f} points of error on average")
print(f"most alike from fold to fold: {max(single.max(), together.max()):.2f} of 1")
print(f"single genes predict better for {better} of {len(ks)} numbers of genes")

# %%
# So: choose inside the folds, always; a :class:`~sklearn.pipeline.Pipeline` with
# :class:`bestk.SelectBestK` does. And do not read a list of genes from so few tissues as *the*
# genes: copies of one gene stand in for each other. On this table genes ranked one at a time are
# the steadier list of up to 20 genes, and choosing them together is not the better predictor for
# every number of them; the last line above says for how many.
