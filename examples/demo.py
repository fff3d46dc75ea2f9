"""From a table to its pairwise information matrix, with a picture: ``make demo``."""

from time import perf_counter

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bestk import CAIM, cmi_matrix, joint_mi_matrix


def main() -> None:
    data = load_breast_cancer(as_frame=True)
    X, y, names = data.data, data.target, list(data.data.columns)
    cmi_matrix(CAIM().fit_transform(X, y), y)  # compiles, or reads what was compiled before

    start = perf_counter()
    codes = CAIM().set_output(transform="pandas").fit_transform(X, y)
    Q = cmi_matrix(codes, y)
    seconds = perf_counter() - start
    J = joint_mi_matrix(codes, y)

    n, m = len(names), len(y)
    print(f"breast cancer: {m} samples, {n} features, discretised by CAIM")
    print(f"Q, all {n * (n - 1)} conditional informations I(Xj; Y | Xi): {1e3 * seconds:.1f} ms\n")
    relevance = np.diag(Q)
    print("  feature                    I(X; Y), nats")
    for i in np.argsort(-relevance, kind="stable")[:5]:
        print(f"  {names[i]:26} {relevance[i]:.3f}")
    i, j = np.unravel_index(np.argmax(np.triu(J, 1)), J.shape)
    first, second = np.argsort(-relevance, kind="stable")[:2]
    print(f"\nbest pair:             {names[i]} + {names[j]}: {J[i, j]:.3f}")
    print(f"two best on their own: {names[first]} + {names[second]}: {J[first, second]:.3f}")
    draw(Q, names)
    print("\npicture: demo.png")


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
