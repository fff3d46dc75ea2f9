"""From a table to the best features together, proved and with a picture: ``make demo``."""

from time import perf_counter

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import CAIM, cmi_matrix, solve

K = 5


def main() -> None:
    data = load_breast_cancer()
    X, y, names = data.data, data.target, list(data.feature_names)
    print("compiling kernels, once for this machine ...", flush=True)
    cmi_matrix(CAIM().fit_transform(X, y), y)

    start = perf_counter()
    Q = cmi_matrix(CAIM().fit_transform(X, y), y)
    seconds = perf_counter() - start
    n, m = len(names), len(y)
    print(f"\nbreast cancer: {m} samples, {n} features, discretised by CAIM")
    print(f"Q, all {n * n} informations I(Xi; Y) and I(Xj; Y | Xi): {1e3 * seconds:.1f} ms\n")

    alone = np.argsort(-np.diag(Q), kind="stable")[:K]
    together = solve(Q, K, "exact", names=names)
    print(f"  best {K} one by one          I(X; Y)    best {K} together            I(X; Y), nats")
    for i, j in zip(alone, together.support, strict=True):
        print(f"  {names[i]:26} {Q[i, i]:.3f}      {names[j]:26} {Q[j, j]:.3f}")
    worth = Q[np.ix_(alone, alone)].sum()
    print(f"\n  x'Qx one by one {worth:.3f}, together {together.objective:.3f}")
    print(f"  no other {K} are worth more than {together.upper_bound:.3f}: gap {together.gap:.1%}")
    draw(Q, names)
    print("\npicture of all pairs: demo.png")


def draw(Q: np.ndarray, names: list[str]) -> None:
    """Relevance on the diagonal, off it what the column's feature adds to the row's."""
    order = np.argsort(-np.diag(Q), kind="stable")
    figure, axes = plt.subplots(figsize=(9, 8), layout="constrained")
    image = axes.imshow(Q[np.ix_(order, order)], cmap="viridis")
    axes.set_xticks(range(len(names)), [names[i] for i in order], rotation=90, fontsize=7)
    axes.set_yticks(range(len(names)), [names[i] for i in order], fontsize=7)
    axes.set_title("What the column adds once the row is known; on the diagonal, alone")
    axes.set_xlabel("feature j")
    axes.set_ylabel("feature i")
    figure.colorbar(image, label="I(Xj; Y | Xi), nats", shrink=0.8)
    figure.savefig("demo.png", dpi=120)


if __name__ == "__main__":
    main()
