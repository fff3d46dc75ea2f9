"""
A table larger than memory is counted block by block
====================================================

Counts add up. A selector that counts one block of rows after the other, and forgets each, selects
as if it had seen the whole table at once. How many rows does it take until the
features are found?
"""

import matplotlib.pyplot as plt
import numpy as np

from bestk import Quadratic, SelectBestK

COLUMNS, TELLING, ROWS = 60, 6, 1500

# %%
# Blocks come from anywhere: files, a database, a queue. Here they are made up as they are asked
# for: 60 columns of three levels, of which the first six say a little about the class.


def block(number):
    """Rows of one block and their classes."""
    rng = np.random.default_rng(number)
    X = rng.integers(0, 3, (ROWS, COLUMNS), dtype=np.int8)
    push = X[:, :TELLING].sum(axis=1) - TELLING
    y = rng.random(ROWS) < 1 / (1 + np.exp(-0.12 * push))
    return X, y


# %%
# ``fit`` takes a function that returns the blocks, or the name of a file or a folder. Here it is
# given more blocks each time.

n_blocks = 20
counted = {"method": Quadratic("shared", "swap"), "information": "discrete"}
counted |= {"discretizer": None, "correction": "chance"}
selector = SelectBestK(k=TELLING, bound=None, **counted)
scores, found = [], []
for number in range(n_blocks):
    selector.fit(lambda end=number + 1: map(block, range(end)))
    scores.append(selector.scores_)
    found.append(int(selector.support_[:TELLING].sum()))
thousands = ROWS * np.arange(1, n_blocks + 1) / 1000

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.plot(thousands, np.array(scores)[:, TELLING:], color="#999999", linewidth=0.6)
left.plot(thousands, np.array(scores)[:, :TELLING], color="#0072B2", linewidth=1.4)
left.set(xlabel="thousands of rows so far", ylabel="information less chance, nats")
left.set_title("blue: the columns that tell")
right.step(thousands, found, where="post", color="#0072B2")
right.set(xlabel="thousands of rows so far", ylim=(0, TELLING + 0.3))
right.set_title(f"telling columns among the {TELLING} selected")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The same from the whole table, which fits in memory here. From blocks of more than 100,000 rows
# the default is the quadratic objective ``shared`` on counts; here it has to be named.

parts = [block(number) for number in range(n_blocks)]
X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
at_once = SelectBestK(k=TELLING, **counted).fit(X, y)

# %%
values = {s.solution_.objective for s in (selector, at_once)}
enough = int(1000 * thousands[max((i for i, n in enumerate(found) if n < TELLING), default=-1) + 1])
print(f"{selector.n_samples_seen_} rows seen, {ROWS} at a time")
print(f"all {TELLING} are found from {enough} rows on")
print("the same objective to the last bit:", len(values) == 1)

# %%
# Above 100,000 rows none is held, so that memory does not grow with them. Numbers with a fractional
# part need cut points first, which ``fit`` finds in a sample of the rows.
