"""
A table that comes in blocks of rows
====================================

A selector can be given a table block by block, and selects from all rows so far whenever it is told
to. How many rows does it take until the features are found?
"""

import matplotlib.pyplot as plt
import numpy as np

from bestk import SelectBestK

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
# ``partial_fit`` collects the rows of a block in small types. ``finalize`` selects from all rows so
# far, here after each block, and warns of columns that are no better than chance in these rows.

n_blocks = 20
selector = SelectBestK(k=TELLING)
scores, found = [], []
for number in range(n_blocks):
    selector.partial_fit(*block(number)).finalize()
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
# The same from ``fit``, which takes a function that returns the blocks, or the name of a file or a
# folder; and from the whole table.

in_blocks = SelectBestK(k=TELLING).fit(lambda: map(block, range(n_blocks)))
parts = [block(number) for number in range(n_blocks)]
X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
at_once = SelectBestK(k=TELLING).fit(X, y)

# %%
values = {s.solution_.objective for s in (selector, in_blocks, at_once)}
enough = int(1000 * thousands[max((i for i, n in enumerate(found) if n < TELLING), default=-1) + 1])
print(f"{selector.n_samples_seen_} rows seen, {ROWS} at a time")
print(f"all {TELLING} are found from {enough} rows on")
print("the same objective to the last bit:", len(values) == 1)

# %%
# Of very many rows only a random sample is held, so that memory does not grow with them; a warning
# says how many.
