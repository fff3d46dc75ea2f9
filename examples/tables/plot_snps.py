"""
Two genotypes that say next to nothing alone are found as a pair
================================================================

Genotypes are counts of an allele: 0, 1 or 2. Neighbours on a chromosome repeat each other, a few
places raise a risk on their own, and two act only together. Which of them does a selection find?

The table is simulated, so that the truth is known: blocks of eight places that repeat each other,
five places that act alone, and a pair that acts where exactly one of the two is mixed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif

from bestk import SelectBestK

BLOCKS, SIZE, PEOPLE = 60, 8, 2000
ALONE, PAIR = np.array([3, 11, 19, 27, 35]), np.array([45, 55])  # blocks


def chromosomes(rng):
    """One of each person: an allele is mostly that of the place before it in the block."""
    alleles = rng.random((PEOPLE, BLOCKS, SIZE)) < rng.uniform(0.25, 0.5, (BLOCKS, 1))
    for place in range(1, SIZE):
        same = rng.random((PEOPLE, BLOCKS)) < 0.9
        alleles[same, place] = alleles[same, place - 1]
    return alleles


def simulate(seed, strength=1.0):
    """Genotypes, and who is ill."""
    rng = np.random.default_rng(seed)
    genotypes = chromosomes(rng).astype(np.int8) + chromosomes(rng)
    middle = genotypes[:, :, SIZE // 2]
    risk = 0.4 * (middle[:, ALONE] - middle[:, ALONE].mean(axis=0)).sum(axis=1)
    mixed = middle[:, PAIR] == 1
    risk += strength * np.where(mixed[:, 0] != mixed[:, 1], 1, -1)
    ill = rng.random(PEOPLE) < 1 / (1 + np.exp(-risk))
    return genotypes.reshape(PEOPLE, -1), ill.astype(int)


# %%
# Fourteen places are to be chosen: twice as many as there are causes. The F-test is what most
# scans do; ``jmi`` and ``mrmr`` add one place after another; ``auto`` adds pairs as well.

selectors = {
    "F-test": SelectKBest(f_classif, k=14),
    "mrmr": SelectBestK(k=14, method="mrmr", discretizer=None),
    "jmi": SelectBestK(k=14, method="jmi", discretizer=None),
    "auto": SelectBestK(k=14, bound=None),
}
genotypes, ill = simulate(seed=0)
picked = {name: s.fit(genotypes, ill).get_support(indices=True) for name, s in selectors.items()}

# %%
# Above, what each place says alone; below, the places that each selection takes. Green blocks act
# alone, red ones only as a pair.

fig, (top, below) = plt.subplots(
    2, 1, figsize=(8, 5), sharex=True, layout="constrained", height_ratios=(2, 1.3)
)
top.plot(selectors["auto"].scores_, ".", color="#666666", markersize=4)
top.set_ylabel("information alone, nats")
for row, places in enumerate(picked.values()):
    below.plot(places, np.full(len(places), row), "|", markersize=15, color="#0072B2")
below.set(
    yticks=range(len(picked)), yticklabels=picked, xlabel="place", ylim=(len(picked) - 0.4, -0.6)
)
for ax in (top, below):
    ax.spines[["top", "right"]].set_visible(False)
    for block in [*ALONE, *PAIR]:
        colour = "#D55E00" if block in PAIR else "#009E73"
        ax.axvspan(block * SIZE, block * SIZE + SIZE - 1, color=colour, alpha=0.25, linewidth=0)
plt.show()

# %%
# Once is chance. The same over several simulated cohorts, for a pair that matters more and more.


def recall(seed, strength):
    """For each selection the shares of blocks found: that act alone, and of the pair."""
    genotypes, ill = simulate(seed, strength)
    for selector in selectors.values():
        blocks = selector.fit(genotypes, ill).get_support(indices=True) // SIZE
        yield np.isin(ALONE, blocks).mean(), np.isin(PAIR, blocks).mean()


strengths, cohorts = [0.0, 0.3, 0.6, 0.9], range(1, 5)
shares = np.array([[list(recall(seed, s)) for seed in cohorts] for s in strengths]).mean(axis=1)
found = dict(zip(selectors, shares.transpose(1, 0, 2), strict=True))

# %%
fig, panels = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
looks = {
    "F-test": ("#999999", 7),
    "mrmr": ("#E69F00", 5),
    "jmi": ("#56B4E9", 3),
    "auto": ("#0072B2", 1.5),
}
for ax, kind, title in zip(panels, (0, 1), ("places that act alone", "the pair"), strict=True):
    for name, (colour, width) in looks.items():
        ax.plot(strengths, found[name][:, kind], "o-", color=colour, linewidth=width, label=name)
    ax.set(title=title, xlabel="strength of the pair", ylim=(-0.05, 1.05), xticks=strengths)
    ax.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("share of blocks found")
panels[1].legend(frameon=False, loc="upper left")
plt.show()

# %%
for name, shares in found.items():
    alone, pair = shares[-1]
    print(f"{name:8} finds {alone:.0%} of the places that act alone, {pair:.0%} of a strong pair")

# %%
# A scan of single places does not see the pair however strong it is, and spends many of its
# choices on neighbours that repeat each other. ``auto`` finds the pair once it is strong enough for
# its synergy to be significant among all pairs. Not every place that is taken is a cause: the
# picture of one cohort shows several that are none, because more were asked for than there are.
